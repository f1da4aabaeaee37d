/* load.h - what the tests of open loops share. */
#ifndef SB_TESTS_LOAD_H
#define SB_TESTS_LOAD_H

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "harness/run/load.h"
#include "harness/run/slo.h"
#include "harness/terminal/status.h"
#include "results/record/validity.h"
#include "tests/test.h"
#include "workloads/lib/service_set.h"
#include "workloads/load/generator.h"
#include "workloads/load/level.h"
#include "workloads/load/replay.h"

#define Z_MAX 5.0

static inline struct sb_load make_load(const char *arrival, double rate, uint32_t generators)
{
	struct sb_load load = { .kind = SB_LOAD_OPEN,
				.rate_per_s = rate,
				.generators = generators,
				.seed = sb_test_seed() };
	char why[SB_WHY_BYTES];

	if (sb_load_set_arrival(&load, arrival, why))
		fail_msg("%s: %s", arrival, why);
	return load;
}

#endif
