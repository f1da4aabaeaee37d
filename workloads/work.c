#include "workloads/work.h"

#include <pthread.h>

#include "workloads/cputime.h"

/* A chain of multiplications, each of which needs the one before it. */
void sb_work_spin(uint64_t units)
{
	uint64_t x = units;

	for (uint64_t i = 0; i < units; i++) {
		x = x * UINT64_C(0x5851F42D4C957F2D) + 1;
		__asm__ __volatile__("" : "+r"(x));
	}
}

static uint64_t units_per_ms;

static void spin(void *unused, uint64_t units)
{
	(void)unused;
	sb_work_spin(units);
}

static void calibrate(void)
{
	units_per_ms = sb_cputime_units_per_ms(spin, NULL);
}

uint64_t sb_work_units_per_ms(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, calibrate);
	return units_per_ms;
}
