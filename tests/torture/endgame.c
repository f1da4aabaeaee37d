/*
 * endgame.c - destroy at the end of a round, also while other threads are inside a call.
 *
 * A call that begins after destroy has begun is the caller's mistake, so a thread must be known to
 * be inside: init, a step or a visitor of its own call says so, or the thread sleeps in a call that
 * waits.
 * The flag is a relaxed atomic, so it orders nothing that the library has to order.
 */
#include <errno.h>

#include "tests/torture/driver.h"
#include "tests/torture/host.h"

#define CALLERS_MAX 3

static void wait_inside(const struct scheduler_model *s, uint32_t callers)
{
	const uint64_t until_ns = host_now_ns() + host_patience_ns();

	while (get(&s->inside) < callers) {
		expect(host_now_ns() < until_ns, "no thread comes into its call");
		host_yield();
	}
}

static void *caller(void *arg)
{
	const uint32_t i = (uint32_t)(uintptr_t)arg;
	struct scheduler_model *s = &world->scheduler[i];
	const struct context context = { .who = THREAD };
	int rc;

	switch (script_endgame(&world->script, i)) {
	case ENDGAME_SUBMIT:
		(void)call_submit(i, PLAIN_TYPE, &context, ENDGAME_SUBMIT);
		break;
	case ENDGAME_EXECUTE:
		call_execute(i, PLAIN_TYPE, ENDGAME_EXECUTE);
		break;
	case ENDGAME_WAIT:
		add(&s->inside, 1);
		rc = sb_scheduler_wait_idle(s->scheduler, UINT64_MAX);
		expect(!rc || rc == -ESHUTDOWN, "wait_idle beside destroy returned %d", rc);
		break;
	default:
		call_list(s, true);
	}
	return NULL;
}

/* Submits a process that stays until stop cancels it: the callers wait for it, or list it. */
static void submit_one(uint32_t i)
{
	struct life *life = life_new(i, PLAIN_TYPE, 0);

	if (!life)
		return;
	put(&life->is_probe, true);
	life_submitted(life,
		       sb_scheduler_submit(world->scheduler[i].scheduler, &world->ops[PLAIN_TYPE],
					   "main", sb_value_ptr(life), NULL));
}

static void destroy_beside(uint32_t i, enum endgame endgame)
{
	struct scheduler_model *s = &world->scheduler[i];
	const uint32_t most = (uint32_t)min_u64(s->config.processes_max, CALLERS_MAX);
	const uint32_t callers = 1 + rng_below(&own()->rng, most);
	struct host_thread thread[CALLERS_MAX];
	int rc;

	rc = sb_scheduler_start(s->scheduler, NULL);
	expect(!rc, "start returned %d", rc);
	put(&s->inside, 0);
	if (endgame == ENDGAME_WAIT || endgame == ENDGAME_LIST)
		submit_one(i);
	for (uint32_t k = 0; k < callers; k++)
		host_start(&thread[k], caller, (void *)(uintptr_t)i);
	wait_inside(s, callers);
	for (uint32_t k = 0; k < callers && endgame == ENDGAME_WAIT; k++)
		host_wait_asleep(&thread[k]);
	rc = sb_scheduler_stop(s->scheduler, 10 * host_patience_ns());
	expect(!rc, "stop needed force: %d", rc);
	sb_scheduler_destroy(s->scheduler);
	for (uint32_t k = 0; k < callers; k++)
		host_join(&thread[k]);
}

/* Destroys a scheduler with processes and messages that wait for a start. */
static void destroy_unstarted(uint32_t i)
{
	struct scheduler_model *s = &world->scheduler[i];
	const struct context context = { .who = THREAD };

	put(&s->is_forced, true);
	for (int n = 0; n < 3; n++) {
		struct life *life = call_submit(i, PLAIN_TYPE, &context, ENDGAME_PLAIN);

		if (life)
			(void)call_send(life, &context, false);
	}
	sb_scheduler_destroy(s->scheduler);
}

static void destroy(uint32_t i, enum endgame endgame)
{
	if (endgame == ENDGAME_PLAIN)
		sb_scheduler_destroy(world->scheduler[i].scheduler);
	else if (endgame == ENDGAME_UNSTARTED)
		destroy_unstarted(i);
	else
		destroy_beside(i, endgame);
}

/* Destroys the scheduler of the round, and then others with the same configuration: the race is
 * short, and a try takes milliseconds. */
#define TIMES 4

void endgame_run(uint32_t i)
{
	const enum endgame endgame = script_endgame(&world->script, i);

	world->phase = "destroying";
	for (int n = 0; n < (endgame == ENDGAME_PLAIN || host_is_virtual() ? 1 : TIMES); n++) {
		const bool has_room = get(&world->lives) + 2 * CALLERS_MAX < LIVES_MAX;

		if (n)
			scheduler_create(i);
		destroy(i, has_room ? endgame : ENDGAME_PLAIN);
		model_check_ended(i);
	}
}
