/* torture.c - the torture driver's scripts at small sizes, as a scenario; see tests/torture/. */
#include <inttypes.h>

#include "tests/explore/explore.h"
#include "tests/torture/driver.h"

static uint64_t number_from(const char *variable, uint64_t otherwise)
{
	const char *text = getenv(variable);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

static void torture(void)
{
	static const struct script_limits limits = { .small = true };
	const uint64_t calls = number_from("SB_CALLS", UINT64_MAX);

	world = calloc(1, sizeof(*world));
	assert_non_null(world);
	script_draw(&world->script, number_from("SB_SEQUENCE", sb_test_seed()), &limits);
	for (uint32_t i = 0; i < TORTURE_CALLS && i < script_parts(&world->script); i++) {
		if (!(calls >> i & 1))
			script_leave_out(&world->script, i, true);
	}
	script_put(&world->script, stderr);
	round_run();
	free(world);
}

const struct scenario torture_scenarios[] = {
	{ "torture", "a small script of the torture driver", torture },
	{ NULL, NULL, NULL },
};
