/*
 * savina.h - what several of the Savina workloads share (S. Imam and V. Sarkar,
 * "Savina - An Actor Benchmark Suite", AGERE 2014).
 *
 * Savina's random numbers are one sequence of period 65536 for every language;
 * each process that needs some has its own generator and its own seed, so that
 * what a process draws does not depend on what others do.
 */
#ifndef SB_WORKLOADS_SAVINA_SAVINA_H
#define SB_WORKLOADS_SAVINA_SAVINA_H

#include <math.h>
#include <stdint.h>

#include "core/platform.h"

#define SB_SAVINA(number_and_name)                                             \
	"Savina benchmarks (Imam and Sarkar, AGERE 2014), " number_and_name

/* What Savina seeds a generator with when it says nothing. */
#define SB_SAVINA_SEED 74755

struct sb_savina_random {
	uint64_t value;
};

static inline void sb_savina_random_seed(struct sb_savina_random *random,
					 uint64_t seed)
{
	random->value = seed;
}

/* In [0, 65535]. */
static inline uint32_t sb_savina_random_next(struct sb_savina_random *random)
{
	random->value = (random->value * 1309 + 13849) & 65535;
	return (uint32_t)random->value;
}

/* In [0, bound), if bound is at most 65536; bound > 0. */
static inline uint32_t sb_savina_random_below(struct sb_savina_random *random,
					      uint32_t bound)
{
	return sb_savina_random_next(random) % bound;
}

/* The square of theta's sine. Not inlined, so that it is computed each time;
 * SB_SAVINA_THETA is the angle that Savina's fork-join benchmarks take. */
#define SB_SAVINA_THETA 37.2

__attribute__((noinline)) static inline double sb_savina_sin2(double theta)
{
	const double sine = sin(theta);

	return sine * sine;
}

/* A wait that Savina counts in draws of a random number. Returns the last, so
 * that the draws are made. */
static inline uint64_t sb_savina_busy_wait(struct sb_rng *rng, uint32_t draws)
{
	uint64_t last = 0;

	while (draws--)
		last = sb_rng_next(rng);
	return last;
}

#endif
