/*
 * bench.h - what the programs that time something share: the median of 9
 * repetitions, with the smallest and the largest.
 */
#ifndef SB_TESTS_BENCH_H
#define SB_TESTS_BENCH_H

#include <stdlib.h>

#include "core/platform.h"

#define BENCH_REPETITIONS 9

/* Nanoseconds for one of the loops. */
struct bench_ns {
	double median, min, max;
};

static inline int bench_compare(const void *a, const void *b)
{
	const double x = *(const double *)a;
	const double y = *(const double *)b;

	return (x > y) - (x < y);
}

/* run does its work so often as it is told. */
static inline struct bench_ns bench_time(void (*run)(uint32_t n), uint32_t n)
{
	double ns[BENCH_REPETITIONS];

	run(n / 10);
	for (int i = 0; i < BENCH_REPETITIONS; i++) {
		const uint64_t start = sb_clock_ns();

		run(n);
		ns[i] = (double)(sb_clock_ns() - start) / n;
	}
	qsort(ns, BENCH_REPETITIONS, sizeof(ns[0]), bench_compare);
	return (struct bench_ns){ ns[BENCH_REPETITIONS / 2], ns[0],
				  ns[BENCH_REPETITIONS - 1] };
}

#endif
