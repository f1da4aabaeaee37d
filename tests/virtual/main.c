/*
 * main.c - runs a test program in virtual time, on a machine of 16 CPUs: its threads are
 * fibers, in an order that the seed chooses. One seed is for that and for the test.
 */
#include "tests/virtual/main.h"
#undef main

#include <string.h>
#include <time.h>

#include "core/platform/virtual/explore.h"
#include "tests/test.h"

#define CPUS 16

/* In virtual time, when each run begins at the same time, a test would choose the same. */
static void choose_seed(void)
{
	struct timespec now;
	char text[24];

	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(text, sizeof(text), "%lu", (unsigned long)(now.tv_sec ^ now.tv_nsec << 8) | 1);
	setenv("SB_SEED", text, 0);
}

/* SB_EXPLORE, if it is set: "random", or "preempt:N" with N interruptions; and ",stores", which
 * wait. */
static const struct sb_explore *choose_schedule(void)
{
	static struct sb_explore explore;
	const char *text = getenv("SB_EXPLORE");

	if (!text)
		return NULL;
	explore.stores = strstr(text, ",stores");
	if (!strncmp(text, "random", strlen("random"))) {
		explore.kind = SB_EXPLORE_RANDOM;
		return &explore;
	}
	if (!strncmp(text, "preempt:", strlen("preempt:")))
		explore.depth = (uint32_t)strtoul(text + strlen("preempt:"), NULL, 10);
	if (!explore.depth || explore.depth > SB_EXPLORE_DEPTH_MAX) {
		fprintf(stderr,
			"SB_EXPLORE: '%s' is not valid; expected random or preempt:N, N from 1 to "
			"%d, "
			"and ,stores\n",
			text, SB_EXPLORE_DEPTH_MAX);
		exit(2);
	}
	explore.kind = SB_EXPLORE_PREEMPT;
	return &explore;
}

static void *run(void *status)
{
	*(int *)status = sb_test_main();
	return NULL;
}

int main(void)
{
	const struct sb_model model = sb_model_plain(CPUS);
	struct sb_virtual_setup setup = { .model = &model };
	struct sb_virtual_counts counts;
	int status = 1;

	choose_seed();
	setup.seed = sb_test_seed();
	setup.explore = choose_schedule();
	if (sb_virtual_run(&setup, run, &status, &counts))
		return 1;
	fprintf(stderr, "# %.3f ms of virtual time, %u threads\n", (double)counts.end_ps * 1e-9,
		counts.threads);
	return status;
}
