#include "core/record/sampler.h"

#include "core/record/marks.h"
#include "core/state.h"

void sb_sampler_init(struct sb_sampler *sampler, uint32_t every, uint64_t seed)
{
	sampler->every = every;
	sb_rng_seed(&sampler->rng, ~seed);
	sb_sampler_advance(sampler);
}

void sb_sampler_advance(struct sb_sampler *sampler)
{
	if (sampler->every)
		sampler->left = 1 + sb_rng_below(&sampler->rng, 2 * sampler->every - 1);
	else
		sampler->left = UINT32_MAX;
}

uint64_t sb_foreign_mark_some(struct sb_scheduler *s)
{
	bool chosen;

	if (!s->config.sample_every)
		return 0;
	sb_lock_acquire(&s->foreign_lock);
	chosen = sb_sampler_chooses(&s->foreign_sampler);
	sb_lock_release(&s->foreign_lock);
	return chosen ? sb_clock_ns() : 0;
}
