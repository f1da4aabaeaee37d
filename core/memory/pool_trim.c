/*
 * pool_trim.c - giving back what a peak has taken.
 *
 * The memory of a peak goes back to the system (sb_pool_trim). A slab that waits
 * through a whole period without its turn was not needed in it; at the period's end
 * its pages are discarded if all of its objects are free, header included. So a
 * workload that needs its slabs once in a period keeps them. A slab that was
 * discarded is as good as new, for any class. Which slabs of a block are in use
 * stands in a record outside of them, with a bit for each. A parcel that a whole
 * period has not needed is put back to its slabs first: they could not be discarded
 * without its objects.
 */
#include "core/memory/slab.h"

/* The work of one call, in objects of parcels that are put back; what else there is
 * to do is converted: to count the free objects of a slab, and to see that it is as
 * it was. */
#define WORK_MAX     4096
#define WORK_OF_SLAB 64
#define WORK_OF_SEEN 4

/* Objects in parcels are in no slab's list, and so not counted. */
static size_t count_free(const struct sb_slab *slab)
{
	const size_t bytes = sb_pool_class_bytes(slab->class);
	struct sb_pool_item *item = slab->free;
	size_t count = 0;

	while (item) {
		struct sb_pool_item *next;

		SB_MARK_USED(item, bytes);
		next = item->next;
		SB_MARK_FREE(item, bytes);
		item = next;
		count++;
	}
	return count;
}

/* The slab has had no turn for a period, and is on no list. Returns the work. */
static uint32_t give_back(struct sb_pool *pool, struct sb_slab *slab)
{
	if (slab->seen == slab->free) {
		sb_slab_wait_longer(pool, slab);
		return WORK_OF_SEEN;
	}
	if (count_free(slab) < sb_slab_objects(slab->class)) {
		slab->seen = slab->free;
		sb_slab_wait_longer(pool, slab);
	} else if (pool->spared < SB_POOL_SPARE_SLABS) {
		pool->spared++;
		sb_slab_wait_longer(pool, slab);
	} else if (!sb_slab_discard(pool, slab)) {
		/* Its pages are locked (mlockall), and so are the others'. */
		pool->is_fixed = true;
		sb_slab_wait_longer(pool, slab);
	}
	return WORK_OF_SLAB;
}

/* Returns whether nothing is left to look at in this period. */
static bool examine(struct sb_pool *pool)
{
	uint32_t work = 0;

	while (pool->stale && work < WORK_MAX) {
		struct sb_parcel *parcel = pool->stale;

		pool->stale = parcel->next;
		work += parcel->count + 1;
		sb_parcel_put_all(pool, parcel);
	}
	while (pool->class_examined < SB_POOL_CLASSES && work < WORK_MAX) {
		struct sb_slab **first = &pool->older[pool->class_examined];
		struct sb_slab *slab = *first;

		if (!slab) {
			pool->class_examined++;
			continue;
		}
		*first = slab->next_waiting;
		work += give_back(pool, slab);
	}
	return pool->class_examined == SB_POOL_CLASSES;
}

/* Since the period began, but for what others have returned. */
static bool is_unchanged(const struct sb_pool *pool)
{
	return pool->is_quiet && pool->period_used == sb_load_rlx(&pool->used_bytes);
}

/* Parcels that have been there since the period began are not needed. */
static void end_period(struct sb_pool *pool)
{
	if (pool->arrived_old) {
		pool->stale = pool->arrived;
		pool->arrived = NULL;
	}
	for (size_t class = 0; class < SB_POOL_CLASSES; class ++) {
		struct sb_parcel *parcel = pool->hand[class];

		if (!parcel || !(pool->hands_old >> class & 1))
			continue;
		parcel->next = pool->stale;
		pool->stale = parcel;
		pool->hand[class] = NULL;
	}
	/* The slabs of stale parcels wait for a whole period first. */
	pool->is_settled = !pool->stale && is_unchanged(pool);
	pool->is_examining = true;
	pool->class_examined = 0;
	pool->spared = 0;
}

static void begin_period(struct sb_pool *pool)
{
	for (size_t class = 0; class < SB_POOL_CLASSES; class ++) {
		pool->older[class] = pool->waiting[class];
		pool->waiting[class] = NULL;
	}
	sb_pool_receive(pool);
	pool->arrived_old = pool->arrived;
	pool->hands_old = UINT64_MAX;
	pool->is_settled &= is_unchanged(pool);
	pool->is_quiet = true;
	pool->period_used = sb_counter_read(&pool->used_bytes);
	pool->is_examining = false;
}

void sb_pool_trim_now(struct sb_pool *pool, uint64_t now_ns)
{
	uint64_t pause_ns = SB_POOL_TRIM_PAUSE_NS;

	if (!pool->is_examining)
		end_period(pool);
	if (examine(pool)) {
		begin_period(pool);
		pause_ns = SB_POOL_PERIOD_NS;
	}
	pool->trim_ns = pool->is_fixed ? UINT64_MAX : now_ns + pause_ns;
}

uint64_t sb_pool_trim_due(const struct sb_pool *pool)
{
	const bool is_settled = pool->is_settled && is_unchanged(pool) && !pool->is_examining &&
				!pool->arrived && !sb_pool_has_returned(pool);

	return is_settled ? UINT64_MAX : pool->trim_ns;
}
