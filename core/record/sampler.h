/* sampler.h - which events are timed. */
#ifndef SB_CORE_RECORD_SAMPLER_H
#define SB_CORE_RECORD_SAMPLER_H

#include "core/platform/platform.h"

/*
 * Chooses what is timed: one in `every` on average (0: none), at random
 * distances. Even ones would alias with a workload's own rhythm: of a send and
 * a queueing in turn, every 64th is always of the same kind.
 */
struct sb_sampler {
	uint32_t left; /* until the next one */
	uint32_t every;
	struct sb_rng rng;
};

void sb_sampler_init(struct sb_sampler *sampler, uint32_t every, uint64_t seed);

/* The next distance: uniform in 1 .. 2 x every - 1, so `every` on average. */
void sb_sampler_advance(struct sb_sampler *sampler);

/* Whether this one is to be timed. Its owner only. */
static inline bool sb_sampler_chooses(struct sb_sampler *sampler)
{
	if (SB_LIKELY(--sampler->left))
		return false;
	if (sampler->every == 1)
		sampler->left = 1;
	else
		sb_sampler_advance(sampler);
	return sampler->every;
}

#endif
