/*
 * memory.c - small objects from a worker's pool, freed there or by another
 * worker, and blocks from an arena.
 *
 * Check: each object was there, could be written and read back, and at the end
 * nothing is in use.
 */
#include <errno.h>

#include "core/memory/arena.h"
#include "core/memory/pool.h"
#include "harness/micro/kind.h"

/* Objects alive at a time where another pool frees them: as many as go home
 * together. */
#define WAVE SB_POOL_CHAIN_MAX

struct pools {
	struct sb_pool own;
	struct sb_pool other;
	struct sb_arena *arena;
	uint64_t right;
	bool made; /* the pools are */
};

static int set_up(struct sb_micro *m)
{
	struct pools *p = m->state;
	const struct sb_page_policy policy = { .huge_pages = SB_HUGE_PAGES_NONE };
	const int rc = sb_arena_create(&p->arena, &policy);

	if (rc)
		return rc;
	sb_pool_init(&p->own, &(struct sb_pool_owner){ p->arena, -1, NULL });
	sb_pool_init(&p->other, &(struct sb_pool_owner){ p->arena, -1, NULL });
	p->made = true;
	return 0;
}

static void tear_down(struct sb_micro *m)
{
	struct pools *p = m->state;

	if (p->made) {
		sb_pool_fini(&p->own);
		sb_pool_fini(&p->other);
	}
	sb_arena_destroy(p->arena);
}

/* The compiler does not know that what is read is what was written. */
static inline void write_to(void *object, uint64_t number)
{
	*(volatile uint64_t *)object = number;
}

static inline bool holds(const void *object, uint64_t number)
{
	return *(const volatile uint64_t *)object == number;
}

static void run_local(struct sb_micro *m, uint32_t thread, uint64_t n)
{
	struct pools *p = m->state;
	const size_t bytes = (size_t)m->arg;

	(void)thread;
	while (n--) {
		void *object = sb_pool_alloc(&p->own, bytes);

		if (!object)
			continue;
		write_to(object, n);
		p->right += holds(object, n);
		sb_pool_free(&p->own, object, bytes);
	}
}

/* Objects that another worker frees go home in a chain, and are used again. */
static void run_remote(struct sb_micro *m, uint32_t thread, uint64_t n)
{
	struct pools *p = m->state;
	const size_t bytes = (size_t)m->arg;
	void *object[WAVE];

	(void)thread;
	while (n) {
		const uint64_t wave = sb_min_u64(n, WAVE);

		for (uint64_t i = 0; i < wave; i++) {
			object[i] = sb_pool_alloc(&p->own, bytes);
			if (object[i])
				write_to(object[i], n + i);
		}
		for (uint64_t i = 0; i < wave; i++) {
			if (!object[i])
				continue;
			p->right += holds(object[i], n + i);
			sb_pool_free(&p->other, object[i], bytes);
		}
		n -= wave;
	}
}

static const char *check_pools(struct sb_micro *m, uint64_t operations)
{
	struct pools *p = m->state;

	sb_pool_flush(&p->other);
	if (sb_counter_read(&p->own.used_bytes) + sb_counter_read(&p->other.used_bytes))
		return "objects are still in use";
	return p->right == operations ? NULL : "objects were not there, or shared";
}

static void run_arena(struct sb_micro *m, uint32_t thread, uint64_t n)
{
	struct pools *p = m->state;
	const size_t bytes = (size_t)m->arg;

	(void)thread;
	while (n--) {
		void *block = sb_mem_alloc(p->arena, bytes, 16);

		if (!block)
			continue;
		write_to(block, n);
		p->right += holds(block, n);
		sb_mem_free(block);
	}
}

#define POOL(...)                                                                                  \
	.state_bytes = sizeof(struct pools), .set_up = set_up, .tear_down = tear_down,             \
	.check = check_pools, __VA_ARGS__

const struct sb_micro_kind sb_micro_memory[] = {
	{ POOL(.name = "pool/alloc_free", .doc = "an object, freed by its owner",
	       .arg_name = "bytes", .arg = { 64, 1024 }, .run = run_local) },
	{ POOL(.name = "pool/remote_free", .doc = "an object, freed by another worker, comes home",
	       .arg_name = "bytes", .arg = { 64, 1024 }, .run = run_remote) },
	{ POOL(.name = "arena/alloc_free", .doc = "a block straight from an arena, and back",
	       .arg_name = "bytes", .arg = { 64, 4096, 65536 },
	       .uncounted = "the allocator gives pages back by the clock", .run = run_arena) },
	{ .name = NULL },
};
