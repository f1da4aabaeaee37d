#include "core/memory/arena.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef SB_ALLOC_LIBC
#define SB_ALLOC_LIBC 0
#endif

#ifdef SB_TEST_DELAYS
_Atomic(int64_t) sb_test_allocations = -1;

static bool may_allocate(void)
{
	int64_t left = sb_load_rlx(&sb_test_allocations);

	while (left > 0 && !sb_cas_weak_acq_rel(&sb_test_allocations, &left, left - 1))
		continue;
	return left != 0;
}
#else
static bool may_allocate(void)
{
	return true;
}
#endif

/* From the C library's heap, whose aligned_alloc wants a multiple of the alignment. */
static void *take_from_heap(size_t size, size_t alignment)
{
	if (size > PTRDIFF_MAX)
		return NULL;
	return aligned_alloc(alignment, (size + alignment - 1) & ~(alignment - 1));
}

#if SB_ALLOC_LIBC

struct sb_arena {
	char unused;
};

int sb_arena_create(struct sb_arena **arena, const struct sb_page_policy *policy)
{
	(void)policy;
	*arena = sb_mem_alloc(SB_HEAP, sizeof(**arena), 1);
	return *arena ? 0 : -ENOMEM;
}

void sb_arena_destroy(struct sb_arena *arena)
{
	free(arena);
}

void sb_arena_decay(struct sb_arena *arena)
{
	(void)arena;
}

static bool is_of_explicit_pages(const struct sb_arena *arena)
{
	(void)arena;
	return false;
}

void sb_arena_read(struct sb_arena *arena, struct sb_arena_reading *out)
{
	(void)arena;
	*out = (struct sb_arena_reading){ 0 };
}

int sb_arena_locate(struct sb_arena *arena, int os_node, struct sb_page_count *count)
{
	(void)arena;
	(void)os_node;
	(void)count;
	return 0;
}

static void *take(struct sb_arena *arena, size_t size, size_t alignment)
{
	(void)arena;
	return take_from_heap(size, alignment);
}

void sb_mem_free(void *block)
{
	free(block);
}

#else

#include <jemalloc/jemalloc.h>
#include <stdio.h>

#include "core/platform/platform.h"

/*
 * Weak, so that a program without jemalloc can use the library, and load it with dlopen, which
 * jemalloc's static TLS makes impossible for a library that needs it. The dynamic linker decides
 * when it loads the library, once for all blocks: each is freed by the allocator that gave it.
 */
#pragma weak mallocx
#pragma weak dallocx
#pragma weak mallctl

static bool has_jemalloc(void)
{
	return mallocx && dallocx && mallctl;
}

/* ---- an arena's pages ---- */

/*
 * Every mapping, noted outside of any heap, for jemalloc may not be entered
 * again from its hooks. jemalloc splits and merges what it was given, and keeps
 * it when it is free; the mappings go back whole, when the arena dies.
 */
#define LEDGER_BYTES 4096
#define LEDGER_LINES ((LEDGER_BYTES - 2 * sizeof(void *)) / sizeof(struct sb_pages))

struct ledger {
	struct ledger *previous;
	size_t lines;
	struct sb_pages line[LEDGER_LINES];
};

static_assert(sizeof(struct ledger) <= LEDGER_BYTES, "a page");

struct sb_arena {
	extent_hooks_t hooks;
	unsigned int index; /* jemalloc's */
	bool is_complete;   /* jemalloc has it; false without jemalloc */
	struct sb_page_policy policy;
	int os_node[SB_OS_NODES]; /* the policy's */

	struct sb_lock lock; /* of all below */
	struct ledger *ledger;
	struct sb_arena_reading reading;
};

static struct sb_arena *arena_of(extent_hooks_t *hooks)
{
	return sb_container_of(hooks, struct sb_arena, hooks);
}

static bool is_of_explicit_pages(const struct sb_arena *arena)
{
	return arena->policy.huge_pages == SB_HUGE_PAGES_EXPLICIT;
}

/* A line of the ledger to fill in; NULL: no memory. Under the lock. */
static struct sb_pages *new_line(struct sb_arena *arena)
{
	static const struct sb_page_policy plain = { .huge_pages = SB_HUGE_PAGES_NONE };
	struct ledger *ledger = arena->ledger;

	if (!ledger || ledger->lines == LEDGER_LINES) {
		ledger = sb_pages_map(sizeof(*ledger), LEDGER_BYTES, &plain).start;
		if (!ledger)
			return NULL;
		ledger->previous = arena->ledger;
		arena->ledger = ledger;
	}
	return &ledger->line[ledger->lines];
}

static void add_to_reading(struct sb_arena_reading *reading, const struct sb_pages *pages,
			   bool is_missed)
{
	reading->mapped_bytes += pages->bytes;
	if (pages->is_explicit)
		reading->explicit_bytes += pages->bytes;
	else if (is_missed)
		reading->missed_bytes += pages->bytes;
	if (pages->bind_error)
		reading->bind_error = pages->bind_error;
}

/* Returns false when there is no memory for the line. */
static bool enter(struct sb_arena *arena, const struct sb_pages *pages,
		  const struct sb_page_policy *policy)
{
	struct sb_pages *line;

	sb_lock_acquire(&arena->lock);
	line = new_line(arena);
	if (line) {
		*line = *pages;
		arena->ledger->lines++;
		add_to_reading(&arena->reading, pages,
			       policy->huge_pages == SB_HUGE_PAGES_EXPLICIT);
	}
	sb_lock_release(&arena->lock);
	return line;
}

static void unmap_all(struct sb_arena *arena)
{
	struct ledger *ledger = arena->ledger;

	while (ledger) {
		const struct sb_pages own = { .start = ledger, .bytes = LEDGER_BYTES };

		for (size_t i = 0; i < ledger->lines; i++)
			sb_pages_unmap(&ledger->line[i]);
		ledger = ledger->previous;
		sb_pages_unmap(&own);
	}
}

/*
 * ---- what jemalloc calls (see jemalloc(3), arena.<i>.extent_hooks) ----
 * The signatures are as they are. NOLINTBEGIN(readability-function-size)
 */

/* The first mapping, made while the arena is, is jemalloc's own: its two
 * megabytes are not worth an explicit huge page. */
static void *hook_alloc(extent_hooks_t *hooks, void *wanted, size_t size, size_t alignment,
			bool *zero, bool *commit, unsigned int index)
{
	struct sb_arena *arena = arena_of(hooks);
	struct sb_page_policy policy = arena->policy;
	struct sb_pages pages;

	(void)index;
	if (wanted)
		return NULL; /* to grow in place is never necessary */
	if (!arena->is_complete && policy.huge_pages == SB_HUGE_PAGES_EXPLICIT)
		policy.huge_pages = SB_HUGE_PAGES_NONE;
	pages = sb_pages_map(size, alignment, &policy);
	if (!pages.start)
		return NULL;
	if (!enter(arena, &pages, &policy)) {
		sb_pages_unmap(&pages);
		return NULL;
	}
	*zero = true;
	*commit = true;
	return pages.start;
}

static bool hook_purge(extent_hooks_t *hooks, void *start, size_t size, size_t offset,
		       size_t length, unsigned int index)
{
	(void)size;
	(void)index;
	return is_of_explicit_pages(arena_of(hooks)) ||
	       sb_pages_discard((char *)start + offset, length);
}

static bool hook_split(extent_hooks_t *hooks, void *start, size_t size, size_t size_a,
		       size_t size_b, bool committed, unsigned int index)
{
	(void)hooks;
	(void)start;
	(void)size;
	(void)size_a;
	(void)size_b;
	(void)committed;
	(void)index;
	return false;
}

static bool hook_merge(extent_hooks_t *hooks, void *a, size_t size_a, void *b, size_t size_b,
		       bool committed, unsigned int index)
{
	(void)hooks;
	(void)a;
	(void)size_a;
	(void)b;
	(void)size_b;
	(void)committed;
	(void)index;
	return false;
}

/* NOLINTEND(readability-function-size) */

/* Those that are missing say that jemalloc keeps what it has. */
static const extent_hooks_t hooks = {
	.alloc = hook_alloc,
	.purge_forced = hook_purge,
	.split = hook_split,
	.merge = hook_merge,
};

/* ---- arenas ---- */

/* Explicit huge pages are there at once, so jemalloc is not to ask for more of
 * them at a time the more it has. */
static void limit_growth(struct sb_arena *arena)
{
	size_t most = SB_HUGE_PAGE_BYTES;
	char name[48];

	if (!is_of_explicit_pages(arena))
		return;
	snprintf(name, sizeof(name), "arena.%u.retain_grow_limit", arena->index);
	SB_CHECK(mallctl(name, NULL, NULL, &most, sizeof(most)), ==, 0);
}

/* Of pages that are free: they keep their memory (dirty) for about a second, then
 * it is given back at once. Lazily, as muzzy ones, it cannot be: there is no hook. */
static void set_decay(struct sb_arena *arena)
{
	static const struct {
		const char *kind;
		ssize_t ms;
	} decay[] = { { "dirty", 1000 }, { "muzzy", 0 } };
	char name[48];

	for (size_t i = 0; i < SB_ARRAY_SIZE(decay); i++) {
		ssize_t ms = decay[i].ms;

		snprintf(name, sizeof(name), "arena.%u.%s_decay_ms", arena->index, decay[i].kind);
		SB_CHECK(mallctl(name, NULL, NULL, &ms, sizeof(ms)), ==, 0);
	}
}

static void set_policy(struct sb_arena *arena, const struct sb_page_policy *policy)
{
	SB_CHECK(policy->nodes, <=, SB_OS_NODES);
	arena->policy = *policy;
	arena->policy.os_node = arena->os_node;
	arena->reading.is_bound = policy->nodes > 0;
	memcpy(arena->os_node, policy->os_node, policy->nodes * sizeof(*policy->os_node));
}

/* Without jemalloc the pages are the heap's: neither bound nor huge, and nobody counts them. */
static void set_no_policy(struct sb_arena *arena, const struct sb_page_policy *policy)
{
	arena->policy.huge_pages = SB_HUGE_PAGES_NONE;
	arena->reading.is_bound = policy->nodes > 0;
	arena->reading.bind_error = policy->nodes > 0 ? -ENOTSUP : 0;
}

static int add_to_jemalloc(struct sb_arena *arena)
{
	extent_hooks_t *own = &arena->hooks;
	size_t bytes = sizeof(arena->index);

	*own = hooks;
	if (!may_allocate() || mallctl("arenas.create", &arena->index, &bytes, &own, sizeof(own)))
		return -ENOMEM;
	arena->is_complete = true;
	limit_growth(arena);
	set_decay(arena);
	return 0;
}

int sb_arena_create(struct sb_arena **out, const struct sb_page_policy *policy)
{
	struct sb_arena *arena = sb_mem_zalloc(SB_HEAP, sizeof(*arena), SB_LINE);

	if (!arena)
		return -ENOMEM;
	sb_lock_init(&arena->lock);
	if (!has_jemalloc()) {
		set_no_policy(arena, policy);
	} else {
		set_policy(arena, policy);
		if (add_to_jemalloc(arena)) {
			unmap_all(arena);
			sb_mem_free(arena);
			return -ENOMEM;
		}
	}
	*out = arena;
	return 0;
}

/* Has jemalloc do something with an arena that it has. */
static void order(const struct sb_arena *arena, const char *what)
{
	char name[40];

	if (!arena->is_complete)
		return;
	snprintf(name, sizeof(name), "arena.%u.%s", arena->index, what);
	SB_CHECK(mallctl(name, NULL, NULL, NULL, 0), ==, 0);
}

void sb_arena_destroy(struct sb_arena *arena)
{
	if (!arena)
		return;
	order(arena, "destroy");
	unmap_all(arena);
	sb_mem_free(arena);
}

void sb_arena_decay(struct sb_arena *arena)
{
	order(arena, "decay");
}

void sb_arena_read(struct sb_arena *arena, struct sb_arena_reading *out)
{
	sb_lock_acquire(&arena->lock);
	*out = arena->reading;
	sb_lock_release(&arena->lock);
}

int sb_arena_locate(struct sb_arena *arena, int os_node, struct sb_page_count *count)
{
	int rc = 0;

	sb_lock_acquire(&arena->lock);
	for (struct ledger *l = arena->ledger; l && !rc; l = l->previous) {
		for (size_t i = 0; i < l->lines && !rc; i++)
			rc = sb_pages_locate(l->line[i].start, l->line[i].bytes, os_node, count);
	}
	sb_lock_release(&arena->lock);
	return rc;
}

/*
 * No thread cache: its blocks could come from another arena. That costs about
 * 140 ns a call, so hot paths take slabs from here and carve them (core/pool).
 */
static void *take(struct sb_arena *arena, size_t size, size_t alignment)
{
	const int where = arena ? MALLOCX_ARENA(arena->index) : 0;

	if (SB_UNLIKELY(!has_jemalloc()))
		return take_from_heap(size, alignment);
	return mallocx(size, MALLOCX_ALIGN(alignment) | MALLOCX_TCACHE_NONE | where);
}

void sb_mem_free(void *block)
{
	if (SB_UNLIKELY(!has_jemalloc()))
		free(block);
	else if (block)
		dallocx(block, MALLOCX_TCACHE_NONE);
}

#endif

/* ---- whichever it is ---- */

bool sb_arena_can_discard(const struct sb_arena *arena, size_t bytes)
{
	return bytes % (size_t)sysconf(_SC_PAGESIZE) == 0 &&
	       (!arena || !is_of_explicit_pages(arena));
}

void *sb_mem_alloc(struct sb_arena *arena, size_t size, size_t alignment)
{
	return may_allocate() ? take(arena, size, alignment) : NULL;
}

#ifdef sb_aligned_calloc /* a heap that knows which memory nobody has written to */
static void *take_zeroed(struct sb_arena *arena, size_t size, size_t alignment)
{
	(void)arena;
	return sb_aligned_calloc(alignment, size);
}
#else
/* Touches it, so that no page is missing when it is used. */
static void *take_zeroed(struct sb_arena *arena, size_t size, size_t alignment)
{
	void *block = take(arena, size, alignment);

	if (block)
		memset(block, 0, size);
	return block;
}
#endif

void *sb_mem_zalloc(struct sb_arena *arena, size_t size, size_t alignment)
{
	return may_allocate() ? take_zeroed(arena, size, alignment) : NULL;
}
