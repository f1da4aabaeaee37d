#include "workloads/lib/work.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/platform/platform.h"
#include "workloads/lib/cputime.h"

/* Knuth's MMIX generator: any chain that does not end in a fixed point does. */
#define FACTOR UINT64_C(6364136223846793005)
#define ADDEND UINT64_C(1442695040888963407)

uint64_t sb_work_spin(uint64_t units)
{
	uint64_t x = 1;

	/* In virtual time a unit is a nanosecond. */
	if (sb_cpu_works(units))
		return x;
	for (; units; units--) {
		x = x * FACTOR + ADDEND;
		/* Or the compiler does several steps as one. */
		__asm__ __volatile__("" : "+r"(x));
	}
	return x;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a;
	const double y = *(const double *)b;

	return (x > y) - (x < y);
}

#define SAMPLE_NS 200000

/* The quickest of three, as a pause can only make it longer. */
static uint64_t least_ns(uint64_t units)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 3; i++) {
		const uint64_t start = sb_clock_ns();

		sb_work_spin(units);
		least = sb_min_u64(least, sb_clock_ns() - start);
	}
	return least;
}

/* So many that they take about SAMPLE_NS. */
static uint64_t find_amount(void)
{
	uint64_t units = 2000;

	while (least_ns(units) < SAMPLE_NS / 2)
		units *= 2;
	return units;
}

void sb_work_calibrate(struct sb_work_rate *rate)
{
	const uint64_t units = find_amount();
	double sorted[SB_WORK_SAMPLES];

	rate->samples = SB_WORK_SAMPLES;
	for (uint32_t i = 0; i < rate->samples; i++) {
		const uint64_t start = sb_clock_ns();

		sb_work_spin(units);
		rate->sample[i] =
			(double)units * 1000 / (double)sb_max_u64(sb_clock_ns() - start, 1);
	}
	memcpy(sorted, rate->sample, sizeof(sorted));
	qsort(sorted, rate->samples, sizeof(sorted[0]), compare);
	rate->units_per_us = sorted[SB_WORK_SAMPLES / 2];
}

static uint64_t units_per_ms;

static void spin(void *unused, uint64_t units)
{
	(void)unused;
	(void)sb_work_spin(units);
}

static void measure_once(void)
{
	units_per_ms = sb_cputime_units_per_ms(spin, NULL);
}

uint64_t sb_work_units_per_ms(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, measure_once);
	return units_per_ms;
}
