/*
 * main.c - runs a test program in virtual time, on a machine of 16 CPUs: its threads are
 * fibers, in an order that the seed chooses. One seed is for that and for the test.
 */
#include "tests/virtual/main.h"
#undef main

#include <time.h>

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
	if (sb_virtual_run(&setup, run, &status, &counts))
		return 1;
	fprintf(stderr, "# %.3f ms of virtual time, %u threads\n", (double)counts.end_ps * 1e-9,
		counts.threads);
	return status;
}
