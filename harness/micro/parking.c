/*
 * parking.c - sleeping and waking: the parker, over a futex and over a condition
 * variable, and the word that says who sleeps.
 */
#include "core/platform/platform.h"
#include "core/wake/idle.h"
#include "harness/micro/kind.h"

/* ---- the parker ---- */

/* Two that take turns: even ones are thread 0's. */
struct seats {
	struct sb_parker parker[2];
	alignas(SB_LINE) _Atomic(uint64_t) turn;
	uint64_t rounds[2]; /* written by one thread each */
};

static int set_up_seats(struct sb_micro *m)
{
	struct seats *s = m->state;

	for (int i = 0; i < 2; i++)
		sb_parker_init(&s->parker[i], (enum sb_parking)m->kind->variant);
	return 0;
}

static void tear_down_seats(struct sb_micro *m)
{
	struct seats *s = m->state;

	for (int i = 0; i < 2; i++)
		sb_parker_fini(&s->parker[i]);
}

/* The token is there before the park, which so returns at once. */
static void run_token(struct sb_micro *m, uint32_t thread, uint64_t n)
{
	struct seats *s = m->state;

	(void)thread;
	while (n--) {
		sb_unpark(&s->parker[0]);
		s->rounds[0] += sb_load_rlx(&s->parker[0].state) != 0;
		sb_park(&s->parker[0], UINT64_MAX);
	}
}

static const char *check_token(struct sb_micro *m, uint64_t operations)
{
	struct seats *s = m->state;

	if (sb_load_rlx(&s->parker[0].state))
		return "a token is left";
	return s->rounds[0] == operations ? NULL : "a token was not there";
}

static void wait_for_turn(struct seats *s, uint32_t thread)
{
	while (sb_load_acq(&s->turn) % 2 != thread)
		sb_park(&s->parker[thread], UINT64_MAX);
}

static void run_hand_over(struct sb_micro *m, uint32_t thread, uint64_t n)
{
	struct seats *s = m->state;

	while (n--) {
		wait_for_turn(s, thread);
		s->rounds[thread]++;
		sb_store_rel(&s->turn, sb_load_rlx(&s->turn) + 1);
		sb_unpark(&s->parker[1 - thread]);
	}
}

static const char *check_hand_over(struct sb_micro *m, uint64_t operations)
{
	struct seats *s = m->state;

	return s->rounds[0] == s->rounds[1] && sb_load_rlx(&s->turn) == operations
		       ? NULL
		       : "a turn was lost, or taken twice";
}

/* ---- the word that says who sleeps ---- */

struct sleepers {
	struct sb_idle idle;
	uint64_t right;
};

/* Of two workers, number 1 is to sleep. */
static int set_up_idle(struct sb_micro *m)
{
	return sb_idle_init(&((struct sleepers *)m->state)->idle, 2, 0);
}

static int set_up_asleep(struct sb_micro *m)
{
	const int rc = set_up_idle(m);

	if (!rc)
		sb_idle_announce(&((struct sleepers *)m->state)->idle, 1, false);
	return rc;
}

static void tear_down_idle(struct sb_micro *m)
{
	sb_idle_fini(&((struct sleepers *)m->state)->idle);
}

/* A thread that makes work visible looks for a worker to wake. */
static void run_look(struct sb_micro *m, uint32_t thread, uint64_t n)
{
	struct sleepers *s = m->state;

	(void)thread;
	while (n--) {
		sb_fence_store_load(&s->idle.counts);
		s->right += sb_idle_wake_wanted(&s->idle);
	}
}

static void run_claim(struct sb_micro *m, uint32_t thread, uint64_t n)
{
	struct sleepers *s = m->state;

	(void)thread;
	while (n--) {
		sb_idle_announce(&s->idle, 1, false);
		sb_fence_store_load(&s->idle.counts);
		s->right += sb_idle_claim(&s->idle, 0) == 1;
		(void)sb_idle_search_end(&s->idle);
	}
}

static const char *check_idle(struct sb_micro *m, uint64_t operations)
{
	const struct sleepers *s = m->state;

	return s->right == operations ? NULL : "a sleeper was not seen";
}

#define PARK(how, id, ...)                                                                         \
	{                                                                                          \
		.name = "park/" how, .variant = id, .state_bytes = sizeof(struct seats),           \
		.set_up = set_up_seats, .tear_down = tear_down_seats, __VA_ARGS__                  \
	}
#define BOTH(how, ...)                                                                             \
	PARK(how "/futex", SB_PARKING_FUTEX, __VA_ARGS__),                                         \
		PARK(how "/condvar", SB_PARKING_CONDVAR, __VA_ARGS__)

const struct sb_micro_kind sb_micro_parking[] = {
	BOTH("token", .doc = "an unpark, then a park that finds its token", .run = run_token,
	     .check = check_token),
	BOTH("hand_over", .doc = "two threads wake each other, sleep; per wake", .threads = { 2 },
	     .elsewhere = true, .run = run_hand_over, .check = check_hand_over),
	{ .name = "idle/look",
	  .doc = "the fence and the look for sleepers of a publish",
	  .state_bytes = sizeof(struct sleepers),
	  .set_up = set_up_asleep,
	  .run = run_look,
	  .check = check_idle,
	  .tear_down = tear_down_idle },
	{ .name = "idle/announce_claim",
	  .doc = "a worker says that it sleeps, and is claimed",
	  .state_bytes = sizeof(struct sleepers),
	  .set_up = set_up_idle,
	  .run = run_claim,
	  .check = check_idle,
	  .tear_down = tear_down_idle },
	{ .name = NULL },
};
