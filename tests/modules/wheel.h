/* wheel.h - a wheel and its clock, for its tests. */
#ifndef SB_TESTS_WHEEL_H
#define SB_TESTS_WHEEL_H

#include <string.h>

#include "core/memory/arena.h"
#include "core/timers/wheel.h"
#include "tests/test.h"

/* Frees what the wheel has given up. Returns whether there was any. */
static inline bool free_surplus(struct sb_wheel *wheel)
{
	struct sb_wheel_chunk *surplus = sb_wheel_take_surplus(wheel);

	sb_wheel_chunks_free(surplus);
	return surplus;
}

#endif
