/*
 * wrong_kinds.c - a kind of micro benchmark for the tests whose loop loses an
 * item, and one that cannot be set up. Both must have no numbers, and the exit
 * status is 2.
 */
#include <errno.h>

#include "core/memory/arena.h"
#include "core/queue/deque.h"
#include "harness/micro/kind.h"

struct loser {
	struct sb_deque deque;
	uint64_t popped;
	bool lost;
};

static int set_up(struct sb_micro *m)
{
	return sb_deque_init(&((struct loser *)m->state)->deque, SB_DEQUE_COUNTED, SB_HEAP);
}

static int set_up_never(struct sb_micro *m)
{
	(void)m;
	return -ENOMEM;
}

/* The first item that is popped is forgotten. */
static void run(struct sb_micro *m, uint32_t thread, uint64_t n)
{
	struct loser *l = m->state;

	(void)thread;
	while (n--) {
		(void)sb_deque_push(&l->deque, l);
		l->popped += sb_deque_pop(&l->deque) && l->lost;
		l->lost = true;
	}
}

static const char *check(struct sb_micro *m, uint64_t operations)
{
	return ((struct loser *)m->state)->popped == operations ? NULL : "an item was lost";
}

static void tear_down(struct sb_micro *m)
{
	sb_deque_fini(&((struct loser *)m->state)->deque);
}

static void tear_down_nothing(struct sb_micro *m)
{
	(void)m;
}

const struct sb_micro_kind sb_micro_wrong[] = {
	{ .name = "wrong/loses_one",
	  .doc = "forgets the first item",
	  .state_bytes = sizeof(struct loser),
	  .set_up = set_up,
	  .run = run,
	  .check = check,
	  .tear_down = tear_down },
	{ .name = "wrong/no_set_up",
	  .doc = "has no memory",
	  .threads = { 2 },
	  .state_bytes = sizeof(struct loser),
	  .set_up = set_up_never,
	  .run = run,
	  .check = check,
	  .tear_down = tear_down_nothing },
	{ .name = NULL },
};
