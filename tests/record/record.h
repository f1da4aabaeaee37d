/* record.h - shared by the tests test_record, test_account. */
#ifndef SB_TESTS_RECORD_H
#define SB_TESTS_RECORD_H

#include "core/commands.h"
#include "core/counters.h"
#include "core/dispatch.h"
#include "core/hist.h"
#include "core/platform/atomic.h"
#include "core/platform/base.h"
#include "core/platform/clock.h"
#include "core/platform/platform.h"
#include "core/process.h"
#include "core/readings.h"
#include "core/record/sampler.h"
#include "tests/script.h"

static const enum sb_counter_id account[] = {
	SB_COUNTER_busy_ns, SB_COUNTER_steal_ns,   SB_COUNTER_steal_failed_ns,
	SB_COUNTER_spin_ns, SB_COUNTER_blocked_ns,
};

static inline void await_block(struct fixture *f, uint64_t blocks)
{
	while (fixture_counter(f, SB_COUNTER_blocks) <= blocks)
		sb_thread_yield();
}

#endif
