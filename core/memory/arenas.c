/*
 * arenas.c - which worker's memory comes from where: the arenas, the policy of
 * their pages, and what became of it.
 */
#include "core/memory/arenas.h"

#include <errno.h>

#include "core/memory/arena.h"
#include "core/state.h"

/* ---- arenas ---- */

/* A node's number at the operating system; -1: there is nothing to bind to. On
 * a machine with one node all memory is where it should be. */
static int os_node(const struct sb_placement *p, int node)
{
	if (!p->os_node || p->nodes < 2 || node < 0 || (uint32_t)node >= p->nodes)
		return -1;
	return p->os_node[node];
}

/* node: of the arena's users, if they have one in common; else -1. */
static int add_arena(struct sb_scheduler *s, int node, struct sb_arena **arena)
{
	const int own = os_node(&s->placement, node);
	struct sb_page_policy policy = { .huge_pages = s->config.huge_pages };
	int rc;

	if (s->config.membind == SB_MEMBIND_INTERLEAVE && os_node(&s->placement, 0) >= 0) {
		policy.nodes = s->placement.nodes;
		policy.os_node = s->placement.os_node;
	} else if (s->config.membind == SB_MEMBIND_LOCAL && own >= 0) {
		policy.nodes = 1;
		policy.os_node = &own;
	}
	rc = sb_arena_create(arena, &policy);
	if (!rc)
		s->arena[s->arenas++] = *arena;
	return rc;
}

/* The arena of an earlier worker that this one shares, or NULL. */
static struct sb_arena *find_arena(const struct sb_scheduler *s, uint32_t id)
{
	const struct sb_place *place = s->placement.place;

	if (s->config.arenas == SB_ARENAS_PER_WORKER)
		return NULL;
	if (s->config.arenas == SB_ARENAS_SHARED)
		return s->arena[0];
	for (uint32_t i = 0; i < id; i++) {
		if (place[i].node == place[id].node)
			return s->worker_thread[i].arena;
	}
	return NULL;
}

/* The first arena is that of foreign threads: they have no node. */
int sb_arenas_init(struct sb_scheduler *s)
{
	struct sb_arena *foreign;
	int rc;

	s->arena = sb_mem_zalloc(SB_HEAP, ((size_t)s->workers + 1) * sizeof(*s->arena), SB_LINE);
	if (!s->arena)
		return -ENOMEM;
	rc = add_arena(s, -1, &foreign);
	for (uint32_t i = 0; i < s->workers && !rc; i++) {
		struct sb_worker_thread *t = &s->worker_thread[i];

		t->arena = find_arena(s, i);
		if (!t->arena)
			rc = add_arena(s, s->placement.place[i].node, &t->arena);
	}
	return rc;
}

void sb_arenas_fini(struct sb_scheduler *s)
{
	for (uint32_t i = 0; i < s->arenas; i++)
		sb_arena_destroy(s->arena[i]);
	sb_mem_free(s->arena);
}

/* ---- how much ---- */

static void add_pool(struct sb_memory *memory, struct sb_pool *pool)
{
	memory->held_bytes += sb_counter_read(&pool->held_bytes);
	memory->used_bytes += sb_counter_read(&pool->used_bytes);
}

static void add_arenas(struct sb_memory *memory, struct sb_scheduler *s)
{
	for (uint32_t i = 0; i < s->arenas; i++) {
		struct sb_arena_reading reading;

		sb_arena_read(s->arena[i], &reading);
		memory->mapped_bytes += reading.mapped_bytes;
		memory->explicit_bytes += reading.explicit_bytes;
		memory->missed_bytes += reading.missed_bytes;
		memory->is_bound |= reading.is_bound;
		if (reading.bind_error)
			memory->bind_error = reading.bind_error;
	}
}

void sb_scheduler_read_memory(struct sb_scheduler *s, struct sb_memory *out)
{
	*out = (struct sb_memory){ 0 };
	add_arenas(out, s);
	add_pool(out, &s->foreign_pool);
	for (uint32_t i = 0; s->worker && i < s->workers; i++) {
		if (s->worker[i])
			add_pool(out, &s->worker[i]->pool);
	}
	/* The shares were read one after another, while others changed. */
	if ((int64_t)out->used_bytes < 0)
		out->used_bytes = 0;
	out->used_bytes = sb_min_u64(out->used_bytes, out->held_bytes);
}

/* ---- where it lies ---- */

static int locate_ring(const struct sb_deque *deque, int node, struct sb_page_count *count)
{
	const struct sb_ring *ring = sb_deque_ring(deque);

	return sb_pages_locate(ring, sb_ring_bytes(ring), node, count);
}

static int locate_deques(const struct sb_worker *w, int node, struct sb_page_count *count)
{
	const int rc = locate_ring(&w->deque, node, count);

	return rc ? rc : locate_ring(&w->cold, node, count);
}

static int locate_worker(const struct sb_worker *w, int node, struct sb_page_count *count)
{
	return sb_pages_locate(w, sb_worker_bytes(w->scheduler), node, count);
}

static int locate_processes(const struct sb_worker *w, int node, struct sb_page_count *count)
{
	return sb_pool_locate(&w->pool, node, count);
}

static int locate_arena(const struct sb_worker *w, int node, struct sb_page_count *count)
{
	return sb_arena_locate(w->pool.owner.arena, node, count);
}

void sb_scheduler_locate(struct sb_scheduler *s, uint32_t worker, struct sb_residence *out)
{
	static int (*const locate[SB_MEMORY_KINDS])(const struct sb_worker *w, int node,
						    struct sb_page_count *count) = {
		[SB_MEMORY_DEQUES] = locate_deques,
		[SB_MEMORY_WORKER] = locate_worker,
		[SB_MEMORY_PROCESSES] = locate_processes,
		[SB_MEMORY_ARENA] = locate_arena,
	};
	const struct sb_placement *p = &s->placement;
	const struct sb_worker *w = s->worker[worker];
	const int node = p->place[worker].node;

	*out = (struct sb_residence){ 0 };
	if (!p->os_node || node < 0 || (uint32_t)node >= p->nodes)
		out->error = -ENOTSUP;
	for (int kind = 0; kind < SB_MEMORY_KINDS && !out->error; kind++)
		out->error = locate[kind](w, p->os_node[node], &out->kind[kind]);
}

uint32_t sb_step_worker(const struct sb_step *step)
{
	return step->worker->id;
}

void *sb_step_alloc(const struct sb_step *step, size_t bytes)
{
	const struct sb_worker *worker = step->worker;

	return sb_mem_alloc(worker->scheduler->worker_thread[worker->id].arena, bytes, SB_LINE);
}
