/*
 * Links that are added and removed while their targets end on other workers.
 *
 * Property: a link ends the other side if and only if one side has failed, and its
 *   two sides agree, whatever runs at the same time.
 * Method: exact counting. The pools' balance, checked at each destroy, finds entries
 *   that were left behind.
 * Bound: 8 workers.
 */
#include "tests/process/relations.h"

/* ---- linkers ---- */

enum linker_stage { NEW, LINKING, UNLINKING, SAFE, LOST };

/* Links itself with a target, and may undo that in time, or not. */
struct linker {
	struct arena *arena;
	enum linker_stage stage;
	uint32_t slot;
	sb_pid pid;
	uint32_t rest; /* steps, when it is safe */
	struct sb_rng rng;
};

static int linker_init(void *state, const char *method, union sb_value input)
{
	struct linker *l = state;

	(void)method;
	l->arena = input.ptr;
	sb_rng_seed(&l->rng,
		    sb_test_seed() ^ (uintptr_t)state ^ sb_load_rlx(&l->arena->safe) << 20);
	l->slot = sb_rng_below(&l->rng, SLOTS);
	return 0;
}

/* It must not be ended by its link, from now on. */
static int linker_safe(struct linker *l)
{
	l->stage = SAFE;
	l->rest = sb_rng_below(&l->rng, 8);
	sb_add_rlx(&l->arena->safe, 1);
	return SB_CONTINUE;
}

static int linker_linked(struct linker *l, struct sb_step *step, int error)
{
	const bool fails = l->slot % 2;

	if (error) {
		CHECK_EQ(error, -ESRCH);
		return linker_safe(l);
	}
	if (sb_rng_below(&l->rng, 4)) {
		l->stage = UNLINKING;
		CHECK_EQ(sb_step_yield(step, SB_COMMAND_UNLINK, sb_value_u64(l->pid), 0), 0);
		return SB_YIELD;
	}
	if (!fails)
		return linker_safe(l);
	l->stage = LOST;
	return SB_IDLE;
}

/* -ENOENT: too late. If the target has failed, so does this one. */
static int linker_unlinked(struct linker *l, int error)
{
	if (error)
		CHECK_EQ(error, -ENOENT);
	if (!error || l->slot % 2 == 0)
		return linker_safe(l);
	l->stage = LOST;
	return SB_IDLE;
}

static int linker_step(void *state, struct sb_step *step, const struct sb_event *events,
		       uint32_t count)
{
	struct linker *l = state;

	switch (l->stage) {
	case NEW:
		l->pid = arena_pick(l->arena, l->slot);
		l->stage = LINKING;
		CHECK_EQ(sb_step_yield(step, SB_COMMAND_LINK, sb_value_u64(l->pid), 0), 0);
		return SB_YIELD;
	case LINKING:
		CHECK_EQ(count, 1);
		return linker_linked(l, step, events[0].error);
	case UNLINKING:
		CHECK_EQ(count, 1);
		return linker_unlinked(l, events[0].error);
	case SAFE:
		if (l->rest--)
			return SB_CONTINUE;
		sb_add_rlx(&l->arena->finished, 1);
		return SB_DONE;
	case LOST:
		break;
	}
	fail(); /* it is not to be stepped again */
	return -EINVAL;
}

static const struct sb_process_ops linker_ops = {
	.name = "linker",
	.state_bytes = sizeof(struct linker),
	.init = linker_init,
	.step = linker_step,
};

/* Starts linkers until the targets are through. */
static int spawn_linkers(struct script *script, struct sb_step *step, const struct sb_event *events,
			 uint32_t count)
{
	struct arena *a = (void *)(uintptr_t)script->other;

	(void)events;
	(void)count;
	if (!script->seen)
		return SB_DONE;
	for (int i = 0; i < 4 && script->seen; i++, script->seen--)
		CHECK_EQ(sb_step_spawn(step, &linker_ops, "main", sb_value_ptr(a), NULL), 0);
	return SB_CONTINUE;
}

static void every_link_does_its_work(void **state)
{
	static struct arena a;
	const uint32_t successors = SB_SCALE(4000);
	const uint32_t linkers = SB_SCALE(40000);

	(void)state;
	for (uint32_t workers = 4; workers <= 8; workers += 4) {
		struct script spawner = {
			.f = &a.f, .step = spawn_linkers, .other = (uintptr_t)&a, .seen = linkers
		};

		arena_start(&a, workers, successors);
		fixture_submit(&a.f, &scripted, &spawner);
		arena_run(&a, successors);
		CHECK_EQ(sb_load_rlx(&a.finished), sb_load_rlx(&a.safe));
		CHECK_EQ(sb_load_rlx(&a.finished) + sb_load_rlx(&a.cancelled), linkers);
	}
}

/* ---- two that link each other at the same time ---- */

struct pair;

struct partner {
	struct script script;
	struct pair *pair;
	uint32_t side;
	uint32_t stage;
	uint32_t kind;	 /* of this round */
	uint32_t passed; /* barriers */
	uint32_t results;
	int result[3];
	int check; /* of the unlink at the end of a round */
	struct sb_rng rng;
};

struct pair {
	struct partner partner[2];
	_Atomic(sb_pid) pid[2];
	_Atomic(uint32_t) arrived;
	uint32_t rounds;
	uint32_t one_sided; /* rounds that went wrong */
	uint32_t unlinked;
};

static void barrier(struct partner *me)
{
	sb_add_acq_rel(&me->pair->arrived, 1);
	me->passed++;
	for (uint32_t spins = 1; sb_load_acq(&me->pair->arrived) < 2 * me->passed; spins++) {
		if (spins % 512)
			sb_cpu_pause();
		else
			sb_thread_yield();
	}
}

static int partner_yield(struct partner *me, struct sb_step *step, uint32_t command)
{
	const sb_pid peer = sb_load_acq(&me->pair->pid[1 - me->side]);

	CHECK_EQ(sb_step_yield(step, command, sb_value_u64(peer), 0), 0);
	return SB_YIELD;
}

/* Kind 0: both link, and nothing else. Else whatever comes. */
static int partner_act(struct partner *me, struct sb_step *step)
{
	if (me->kind == 0)
		return partner_yield(me, step, SB_COMMAND_LINK);
	for (uint32_t n = 1 + sb_rng_below(&me->rng, 3); n; n--)
		partner_yield(me, step,
			      sb_rng_below(&me->rng, 2) ? SB_COMMAND_LINK : SB_COMMAND_UNLINK);
	return SB_YIELD;
}

/*
 * After a round both have undone the link, one after the other: the first for
 * both, so there is none for the second. If both had linked and done nothing
 * else, there was a link to be undone, and one of the two had made it.
 */
static void judge_round(struct pair *pair)
{
	const struct partner *a = &pair->partner[0];
	const struct partner *b = &pair->partner[1];

	pair->one_sided += b->check != -ENOENT;
	if (a->kind == 0)
		pair->unlinked += a->check || (a->result[0] && b->result[0]);
}

static int partner_check(struct partner *me, struct sb_step *step)
{
	barrier(me); /* both have done what they would */
	if (me->side == 1)
		barrier(me); /* the other has undone it */
	return partner_yield(me, step, SB_COMMAND_UNLINK);
}

static void partner_round_ends(struct partner *me)
{
	struct pair *pair = me->pair;

	if (me->side == 0)
		barrier(me);
	barrier(me); /* both have undone it */
	if (me->side == 0)
		judge_round(pair);
	me->kind = me->passed / 4 % 2;
}

static int partner_step(struct script *script, struct sb_step *step, const struct sb_event *events,
			uint32_t count)
{
	struct partner *me = sb_container_of(script, struct partner, script);

	switch (me->stage++ % 3) {
	case 0:
		sb_store_rel(&me->pair->pid[me->side], step->self);
		barrier(me);
		return partner_act(me, step);
	case 1:
		for (uint32_t i = 0; i < count; i++)
			me->result[i] = events[i].error;
		return partner_check(me, step);
	default:
		CHECK_EQ(count, 1);
		me->check = events[0].error;
		partner_round_ends(me);
		return me->passed < 4 * me->pair->rounds ? SB_CONTINUE : SB_DONE;
	}
}

static void both_sides_of_a_link_agree(void **state)
{
	static struct pair pair;
	struct fixture f;

	(void)state;
	memset(&pair, 0, sizeof(pair));
	pair.rounds = SB_SCALE(8000);
	fixture_defaults(&f);
	fixture_create(&f, 2);
	for (uint32_t i = 0; i < 2; i++) {
		pair.partner[i] =
			(struct partner){ .script = { .f = &f }, .pair = &pair, .side = i };
		pair.partner[i].script.step = partner_step;
		sb_rng_seed(&pair.partner[i].rng, sb_test_seed() + i);
		fixture_submit(&f, &scripted, &pair.partner[i].script);
	}
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	fixture_wait(&f);
	CHECK_EQ(pair.one_sided, 0);
	CHECK_EQ(pair.unlinked, 0);
	fixture_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_link_does_its_work),
		cmocka_unit_test(both_sides_of_a_link_agree),
	};

	return cmocka_run_group_tests_name("relations", tests, NULL, NULL);
}
