/*
 * orders.c - the inline functions of core/ whose memory orders matter, each as
 * a function of its own, so that tests/modules/test_orders.sh can look at the
 * instructions that they become. Compiled for arm64; never linked or run.
 */
#include "core/platform/platform.h"
#include "core/queue/deque.h"
#include "core/word.h"

/* Declared and defined: a function that nobody calls has to be declared. */
#define OUTLINE(type, name, parameters, call)                                                      \
	type name parameters;                                                                      \
	type name parameters                                                                       \
	{                                                                                          \
		call;                                                                              \
	}

OUTLINE(bool, counted_push, (struct sb_counted * d, void *item), return sb_counted_push(d, item))
OUTLINE(void *, counted_pop, (struct sb_counted * d), return sb_counted_pop(d))
OUTLINE(enum sb_steal_result, counted_steal_half,
	(struct sb_counted * d, uint32_t max, void **items, uint32_t *count),
	return sb_counted_steal(d, SB_STEAL_HALF, max, items, count))
OUTLINE(uint32_t, counted_size, (struct sb_counted * d), return sb_counted_size(d))

OUTLINE(bool, chase_lev_push, (struct sb_chase_lev * d, void *item),
	return sb_chase_lev_push(d, item))
OUTLINE(void *, chase_lev_pop, (struct sb_chase_lev * d), return sb_chase_lev_pop(d))
OUTLINE(enum sb_steal_result, chase_lev_steal_one, (struct sb_chase_lev * d, void **item),
	return sb_chase_lev_steal_one(d, item))
OUTLINE(uint32_t, chase_lev_size, (struct sb_chase_lev * d), return sb_chase_lev_size(d))

OUTLINE(enum sb_post_result, word_post, (struct sb_process * p, struct sb_event_node *node),
	return sb_word_post(p, node))
OUTLINE(bool, word_claim, (struct sb_process * p), return sb_word_claim(p))
OUTLINE(struct sb_event_node *, word_take, (struct sb_process * p), return sb_word_take(p))
OUTLINE(bool, word_release, (struct sb_process * p, enum sb_state to),
	return sb_word_release(p, to))
OUTLINE(void, word_requeue, (struct sb_process * p), sb_word_requeue(p))
OUTLINE(struct sb_event_node *, word_complete, (struct sb_process * p), return sb_word_complete(p))

OUTLINE(void, lock_acquire, (struct sb_lock * lock), sb_lock_acquire(lock))
OUTLINE(void, lock_release, (struct sb_lock * lock), sb_lock_release(lock))
