#include "core/memory/pool.h"

#include "core/counters.h"
#include "core/memory/arena.h"
#include "core/memory/slab.h"

/* The first object starts on a line of its own. */
#define SLAB_HEADER_BYTES 64

static_assert(sizeof(struct sb_slab) <= SLAB_HEADER_BYTES, "header fits");

void sb_pool_init(struct sb_pool *pool, const struct sb_pool_owner *owner)
{
	*pool = (struct sb_pool){
		.owner = *owner,
		.is_settled = true,
		.is_quiet = true,
	};
	if (!sb_arena_can_discard(owner->arena, SB_SLAB_BYTES))
		pool->trim_ns = UINT64_MAX;
	for (size_t class = 0; class < SB_POOL_CLASSES; class ++)
		pool->current[class] = &pool->none;
}

void sb_pool_fini(struct sb_pool *pool)
{
	while (pool->blocks) {
		struct sb_pool_block *block = pool->blocks;

		pool->blocks = block->next;
		SB_MARK_USED(block->slabs, SB_BLOCK_SLABS * SB_SLAB_BYTES);
		sb_mem_free(block->slabs);
		sb_mem_free(block);
	}
}

/* Whole blocks: the pages of slabs that are not in use are not resident. */
int sb_pool_locate(const struct sb_pool *pool, int os_node, struct sb_page_count *count)
{
	int rc = 0;

	for (struct sb_pool_block *b = pool->blocks; b && !rc; b = b->next)
		rc = sb_pages_locate(b->slabs, SB_BLOCK_SLABS * SB_SLAB_BYTES, os_node, count);
	return rc;
}

/* ---- slabs that wait for their turn ---- */

static void wait_for_turn(struct sb_pool *pool, struct sb_slab *slab)
{
	struct sb_slab **first = &pool->waiting[slab->class];

	slab->in_turn = true;
	slab->next_waiting = *first;
	if (!*first)
		pool->waiting_last[slab->class] = slab;
	*first = slab;
}

void sb_slab_wait_longer(struct sb_pool *pool, struct sb_slab *slab)
{
	struct sb_slab **last = &pool->waiting_last[slab->class];

	if (!pool->waiting[slab->class]) {
		wait_for_turn(pool, slab);
		return;
	}
	slab->next_waiting = NULL;
	(*last)->next_waiting = slab;
	*last = slab;
}

/* The one whose turn it is, or NULL. */
static struct sb_slab *take_waiting(struct sb_pool *pool, size_t class)
{
	struct sb_slab **first = pool->waiting[class] ? &pool->waiting[class] : &pool->older[class];
	struct sb_slab *slab = *first;

	if (slab)
		*first = slab->next_waiting;
	return slab;
}

static void put_local(struct sb_pool *pool, struct sb_pool_item *item)
{
	struct sb_slab *slab = sb_slab_of(item);

	item->next = slab->free;
	slab->free = item;
	SB_MARK_FREE(item, sb_pool_class_bytes(slab->class));
	if (!slab->in_turn)
		wait_for_turn(pool, slab);
}

/* ---- what others returned ---- */

/* Objects of a parcel that are fetched ahead. */
#define AHEAD 4

/* Only objects of the parcel's own size may stay in it. */
static void take_in_hand(struct sb_pool *pool, struct sb_parcel *parcel, size_t class)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < parcel->count; i++) {
		struct sb_pool_item *item = parcel->item[i];

		if (SB_UNLIKELY(sb_slab_of(item)->class != class)) {
			put_local(pool, item);
			continue;
		}
		SB_MARK_FREE(item, sb_pool_class_bytes(class));
		parcel->item[kept++] = item;
	}
	parcel->count = kept;
	pool->hand[class] = parcel;
	pool->hands_old &= ~(UINT64_C(1) << class);
	/* Of a small one nothing has been seen ahead. */
	for (uint32_t i = 0; i < kept && i < AHEAD; i++)
		sb_prefetch_object(parcel->item[kept - 1 - i]);
}

void sb_parcel_put_all(struct sb_pool *pool, struct sb_parcel *parcel)
{
	for (uint32_t i = 0; i < parcel->count; i++) {
		struct sb_pool_item *item = parcel->item[i];

		/* It is marked free if it has been in hand. */
		SB_MARK_USED(item, sb_pool_class_bytes(sb_slab_of(item)->class));
		put_local(pool, item);
	}
	put_local(pool, (struct sb_pool_item *)parcel);
}

void sb_pool_receive(struct sb_pool *pool)
{
	if (!pool->arrived && sb_load_rlx(&pool->returned)) {
		pool->arrived = sb_xchg_acq(&pool->returned, NULL);
		pool->arrived_old = false;
	}
	if (pool->arrived)
		sb_prefetch_object(pool->arrived);
}

/* Parcels until there is one of that class; others' objects go to their slabs. */
static void unpack(struct sb_pool *pool, size_t class)
{
	sb_pool_receive(pool);
	while (pool->arrived && !pool->hand[class]) {
		struct sb_parcel *parcel = pool->arrived;
		const size_t its_class = sb_slab_of(parcel)->class;

		pool->arrived = parcel->next;
		sb_pool_receive(pool);
		if (pool->hand[its_class])
			sb_parcel_put_all(pool, parcel);
		else
			take_in_hand(pool, parcel, its_class);
	}
}

/* Fetches what is likely to be taken a while later, from this parcel or the next. */
static void look_ahead(const struct sb_pool *pool, const struct sb_parcel *parcel)
{
	const struct sb_parcel *next = pool->arrived;
	uint32_t behind;

	if (parcel->count > AHEAD) {
		sb_prefetch_object(parcel->item[parcel->count - 1 - AHEAD]);
		return;
	}
	behind = AHEAD - parcel->count;
	if (next && next->count > behind)
		sb_prefetch_object(next->item[next->count - 1 - behind]);
}

/* The last one is the parcel itself. NULL: none has been returned. */
static struct sb_pool_item *take_returned(struct sb_pool *pool, size_t class)
{
	struct sb_parcel *parcel = pool->hand[class];

	if (!parcel) {
		unpack(pool, class);
		parcel = pool->hand[class];
		if (!parcel)
			return NULL;
	}
	look_ahead(pool, parcel);
	if (!parcel->count) {
		pool->hand[class] = NULL;
		unpack(pool, class);
		return (struct sb_pool_item *)parcel;
	}
	return parcel->item[--parcel->count];
}

/* ---- slabs and blocks ---- */

/* Returns false when there is no memory. */
static bool add_block(struct sb_pool *pool)
{
	struct sb_arena *arena = pool->owner.arena;
	struct sb_pool_block *block = sb_mem_zalloc(arena, sizeof(*block), alignof(max_align_t));

	if (!block)
		return false;
	block->slabs = sb_mem_alloc(arena, SB_BLOCK_SLABS * SB_SLAB_BYTES, SB_SLAB_BYTES);
	if (!block->slabs) {
		sb_mem_free(block);
		return false;
	}
	block->next = pool->blocks;
	pool->blocks = pool->roomy = block;
	return true;
}

/* The number of the first slab that is not in use, which it is then. */
static uint32_t use_slab(struct sb_pool_block *block)
{
	uint32_t word = 0;
	uint32_t bit;

	while (!~block->in_use[word])
		word++;
	bit = (uint32_t)__builtin_ctzll(~block->in_use[word]);
	block->in_use[word] |= UINT64_C(1) << bit;
	block->used++;
	return 64 * word + bit;
}

/* A slab with all but its header undefined, or NULL. */
static struct sb_slab *take_fresh(struct sb_pool *pool, size_t class)
{
	struct sb_pool_block *block;
	struct sb_slab *slab;

	if (!pool->roomy && !add_block(pool))
		return NULL;
	block = pool->roomy;
	slab = (void *)(block->slabs + (size_t)use_slab(block) * SB_SLAB_BYTES);
	if (block->used == SB_BLOCK_SLABS)
		pool->roomy = block->next_roomy;
	SB_MARK_USED(slab, SB_SLAB_BYTES);
	*slab = (struct sb_slab){ .owner = pool, .block = block, .class = (uint32_t) class };
	return slab;
}

bool sb_slab_discard(struct sb_pool *pool, struct sb_slab *slab)
{
	struct sb_pool_block *block = slab->block;
	const size_t number = (size_t)((char *)slab - block->slabs) / SB_SLAB_BYTES;

	if (sb_pages_discard(slab, SB_SLAB_BYTES))
		return false;
	SB_MARK_FREE(slab, SB_SLAB_BYTES);
	if (block->used-- == SB_BLOCK_SLABS) {
		block->next_roomy = pool->roomy;
		pool->roomy = block;
	}
	block->in_use[number / 64] &= ~(UINT64_C(1) << number % 64);
	sb_counter_add(&pool->held_bytes, -(uint64_t)SB_SLAB_BYTES);
	return true;
}

size_t sb_slab_objects(size_t class)
{
	return (SB_SLAB_BYTES - SLAB_HEADER_BYTES) / sb_pool_class_bytes(class);
}

/* Carves a new slab into objects, lowest address first in the list. */
static void add_slab(struct sb_pool *pool, size_t class)
{
	const size_t bytes = sb_pool_class_bytes(class);
	struct sb_slab *slab = take_fresh(pool, class);
	size_t count;

	if (!slab)
		return;
	sb_counter_add(&pool->held_bytes, SB_SLAB_BYTES);
	count = sb_slab_objects(class);
	while (count--)
		put_local(pool, (void *)((char *)slab + SLAB_HEADER_BYTES + count * bytes));
}

/* Nothing of the current slab is free. */
static void change_slab(struct sb_pool *pool, size_t class)
{
	struct sb_slab *next = take_waiting(pool, class);

	if (!next) {
		add_slab(pool, class);
		next = take_waiting(pool, class);
	}
	if (!next)
		return;
	next->seen = NULL;
	pool->current[class]->in_turn = false;
	pool->current[class] = next;
	pool->is_quiet = false;
}

/* The caller frees memory that another owner allocated. */
static void count_remote(struct sb_pool *mine, const struct sb_pool *other, size_t bytes)
{
	struct sb_counters *counters = mine->owner.counters;
	const int node = other->owner.node;

	if (!counters)
		return;
	sb_counter_add(&counters->remote_frees, 1);
	sb_counter_add(&counters->remote_bytes, bytes);
	if (node < 0 || mine->owner.node < 0 || node == mine->owner.node)
		return;
	sb_counter_add(&counters->remote_node_frees, 1);
	sb_counter_add(&counters->remote_node_bytes, bytes);
}

/* ---- objects too large for a slab ---- */

/* The header in front of one. */
struct large {
	struct sb_pool *owner;
};

#define LARGE_HEADER_BYTES 64

static_assert(sizeof(struct large) <= LARGE_HEADER_BYTES, "header fits");

static void count_large(struct sb_pool *pool, uint64_t bytes)
{
	sb_counter_add(&pool->used_bytes, bytes);
	sb_counter_add(&pool->held_bytes, bytes);
}

static void *alloc_large(struct sb_pool *pool, size_t size)
{
	struct large *large = sb_mem_alloc(pool->owner.arena, LARGE_HEADER_BYTES + size, SB_LINE);

	if (!large)
		return NULL;
	large->owner = pool;
	count_large(pool, size);
	return (char *)large + LARGE_HEADER_BYTES;
}

static void free_large(struct sb_pool *mine, void *object, size_t size)
{
	struct large *large = (void *)((char *)object - LARGE_HEADER_BYTES);

	if (large->owner != mine)
		count_remote(mine, large->owner, size);
	sb_mem_free(large);
	count_large(mine, -(uint64_t)size);
}

/* ---- all objects ---- */

void *sb_pool_alloc_slowly(struct sb_pool *pool, size_t size)
{
	const size_t class = sb_pool_class(size);
	struct sb_pool_item *item;

	if (SB_UNLIKELY(size > SB_POOL_BYTES_MAX))
		return alloc_large(pool, size);
	item = pool->current[class]->free ? NULL : take_returned(pool, class);
	if (!item) {
		if (!pool->current[class]->free)
			change_slab(pool, class);
		item = pool->current[class]->free;
		if (!item)
			return NULL;
		SB_MARK_USED(item, sb_pool_class_bytes(class));
		pool->current[class]->free = item->next;
	}
	SB_MARK_USED(item, sb_pool_class_bytes(class));
	sb_counter_add(&pool->used_bytes, sb_pool_class_bytes(class));
	return item;
}

void sb_pool_flush(struct sb_pool *pool)
{
	struct sb_parcel *top;

	if (!pool->chain_count)
		return;
	top = sb_load_rlx(&pool->chain_to->returned);
	do {
		pool->chain_last->next = top;
	} while (!sb_cas_weak_acq_rel(&pool->chain_to->returned, &top, pool->chain_first));
	pool->chain_count = 0;
	pool->chain_room = 0;
}

static void begin_parcel(struct sb_pool *pool, struct sb_pool_item *item)
{
	struct sb_parcel *parcel = (struct sb_parcel *)item;

	parcel->next = pool->chain_first;
	parcel->count = 0;
	pool->chain_first = parcel;
	pool->chain_room =
		(uint32_t)((sb_pool_class_bytes(sb_slab_of(item)->class) - sizeof(*parcel)) /
			   sizeof(parcel->item[0]));
}

static void put_remote(struct sb_pool *mine, struct sb_pool *owner, struct sb_pool_item *item)
{
	if (mine->chain_count && mine->chain_to != owner)
		sb_pool_flush(mine);
	if (mine->chain_room) {
		mine->chain_room--;
		mine->chain_first->item[mine->chain_first->count++] = item;
	} else {
		begin_parcel(mine, item);
	}
	if (!mine->chain_count) {
		mine->chain_to = owner;
		mine->chain_last = mine->chain_first;
	}
	if (++mine->chain_count == SB_POOL_CHAIN_MAX)
		sb_pool_flush(mine);
}

void sb_pool_free_slowly(struct sb_pool *mine, void *object, size_t size)
{
	struct sb_slab *slab;

	if (SB_UNLIKELY(size > SB_POOL_BYTES_MAX)) {
		free_large(mine, object, size);
		return;
	}
	sb_counter_add(&mine->used_bytes, -(uint64_t)sb_pool_class_bytes(sb_pool_class(size)));
	slab = sb_slab_of(object);
	if (SB_LIKELY(slab->owner == mine)) {
		put_local(mine, object);
		return;
	}
	count_remote(mine, slab->owner, sb_pool_class_bytes(slab->class));
	put_remote(mine, slab->owner, object);
}
