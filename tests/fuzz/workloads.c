/* Files that say what a workload does. */
#include "harness/plugin/description.h"
#include "tests/fuzz/fuzz.h"
#include "workloads/load/distribution.h"
#include "workloads/replay/actors.h"

void fuzz_description(const struct fuzz_input *input)
{
	struct sb_description *d;
	const int status = sb_description_read(input->path, NULL, &d);

	fuzz_check_status(status);
	if (status)
		return;
	FUZZ_CHECK(d->doc && d->kinds);
	fuzz_check_limits(INPUT_description, input->bytes, 0, d->kinds);
	for (uint32_t k = 0; k < d->kinds; k++) {
		FUZZ_CHECK(d->params[k].initial >= d->params[k].min);
		for (uint32_t i = 0; i < d->kind[k].actions; i++) {
			const struct sb_action *action = &d->kind[k].action[i];

			FUZZ_CHECK(action->share > 0 && action->share <= 1);
			/* Calls do not go in circles. */
			for (uint32_t t = 0; t < action->targets; t++)
				FUZZ_CHECK(action->target[t].kind > k);
		}
	}
	sb_description_free(d);
}

void fuzz_actors(const struct fuzz_input *input)
{
	struct sb_actors actors;
	char why[SB_WHY_BYTES] = "";
	uint64_t steps = 0;

	if (sb_actors_read(&actors, input->path, why)) {
		fuzz_check_why(why);
		return;
	}
	fuzz_check_limits(INPUT_actors, input->bytes, 0, actors.actors);
	/* A step is at least "step 0 0 0 0" and its line's end. */
	FUZZ_CHECK(13 * actors.steps <=
		   sb_max_u64(SB_ACTORS_PLAIN_BYTES,
			      fuzz_expansion(INPUT_actors) * (input->bytes + 1)));
	for (uint32_t i = 0; i < actors.actors; i++) {
		FUZZ_CHECK(actors.actor[i].first_step == steps);
		steps += actors.actor[i].steps;
	}
	FUZZ_CHECK(steps == actors.steps);
	for (uint64_t i = 0; i < steps; i++)
		FUZZ_CHECK(actors.step[i].first_act + actors.step[i].acts <= actors.acts);
	for (uint64_t i = 0; i < actors.acts; i++)
		FUZZ_CHECK(actors.act[i].process < actors.actors);
	for (uint64_t i = 0; i < actors.arrivals; i++)
		FUZZ_CHECK(actors.arrival[i].act.process < actors.actors);
	sb_actors_free(&actors);
}
