/*
 * steal.c - whom a worker steals from, and how much.
 */
#include "core/worker/steal.h"

#include <errno.h>

#include "core/hist.h"
#include "core/memory/arena.h"
#include "core/record/events.h"
#include "core/state.h"
#include "core/trace.h"
#include "core/wake/publish.h"
#include "core/worker/distance.h"
#include "core/worker/take.h"

/* ---- victims ---- */

/* How far a victim is; equal is the same ring. */
static uint64_t remoteness(const struct sb_worker *w, uint32_t victim)
{
	const struct sb_placement *p = &w->scheduler->placement;

	if (w->scheduler->config.victim != SB_VICTIM_NEAR)
		return 0;
	return sb_place_remoteness(p, &p->place[w->id], &p->place[victim]);
}

/* Appends the victims that far, and finds the next distance, UINT64_MAX for
 * none. Returns the new end. */
static uint32_t append_ring(struct sb_worker *w, uint64_t far, uint32_t n, uint64_t *next)
{
	*next = UINT64_MAX;
	for (uint32_t i = 0; i < w->scheduler->workers; i++) {
		const uint64_t other = remoteness(w, i);

		if (i != w->id && other == far)
			w->victims.worker[n++] = i;
		if (i != w->id && other > far && other < *next)
			*next = other;
	}
	return n;
}

int sb_victims_init(struct sb_worker *w)
{
	struct sb_victims *v = &w->victims;
	const uint32_t workers = w->scheduler->workers;
	uint32_t n = 0;
	uint64_t next;

	v->last = SB_WORKER_NONE;
	/* Both tables in one: no more rings than victims. */
	v->worker = sb_mem_alloc(w->pool.owner.arena, 2 * workers * sizeof(*v->worker), SB_LINE);
	if (!v->worker)
		return -ENOMEM;
	v->ring_end = v->worker + workers;
	for (uint64_t far = 0; far < UINT64_MAX; far = next) {
		const uint32_t end = append_ring(w, far, n, &next);

		if (end > n)
			v->ring_end[v->rings++] = end;
		n = end;
	}
	return 0;
}

void sb_victims_fini(struct sb_worker *w)
{
	sb_mem_free(w->victims.worker);
}

/* ---- from one victim ---- */

/*
 * A lost race means that the lines are warm now: it is worth one more try. But with many
 * thieves most races are lost, and each try keeps the owner waiting. So a worker that has lost
 * CROWD of them looks again before it tries, and tries once.
 */
#define STEAL_TRIES 2
#define CROWD	    3

/* Some of one deque into items; counts the races it lost. */
static enum sb_steal_result steal_some(struct sb_worker *w, struct sb_deque *deque, void **items,
				       uint32_t *n, uint32_t victim)
{
	const struct sb_config *config = &w->scheduler->config;
	const bool is_crowded = w->victims.crowd >= CROWD;
	const int tries = is_crowded ? 1 : STEAL_TRIES;
	enum sb_steal_result result = SB_STEAL_LOST;

	for (int i = 0; i < tries && result == SB_STEAL_LOST; i++) {
		result = sb_deque_steal(deque, config->steal, config->steal_cap, is_crowded, items,
					n);
		if (result == SB_STEAL_LOST) {
			sb_record_steal(w, victim, result, 0);
			w->victims.crowd++;
		}
	}
	if (result == SB_STEAL_OK)
		w->victims.crowd /= 2;
	return result;
}

/* From the victim's deque, or if that is empty from those that continue. */
static struct sb_process *steal_deque(struct sb_worker *w, struct sb_worker *victim)
{
	void *items[SB_STEAL_MAX];
	enum sb_steal_result result;
	uint32_t n = 0;

	items[0] = NULL;
	result = steal_some(w, &victim->deque, items, &n, victim->id);
	if (result == SB_STEAL_EMPTY)
		result = steal_some(w, &victim->cold, items, &n, victim->id);
	if (result == SB_STEAL_LOST) {
		sb_trace_note(&w->trace, SB_TRACE_LOST, victim->id, 0);
		return NULL;
	}
	sb_record_steal(w, victim->id, result, n);
	if (result == SB_STEAL_EMPTY)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		sb_prefetch_object(items[i]); /* as above */
	sb_record_stolen(w, victim->id, items, n);
	SB_WINDOW();
	for (uint32_t i = n; i > 1; i--)
		sb_route_local(w, items[i - 1], false);
	sb_route_stolen(w, n);
	return items[0];
}

/* Half of another's inject queue: its owner may be in a long step. */
static struct sb_process *steal_inject(struct sb_worker *w, struct sb_worker *victim)
{
	const uint32_t n = sb_runq_take(&victim->inject, w->taken_max, 2, w->taken);

	if (!n)
		return NULL;
	sb_record_take_remote(w, victim->id, n);
	return sb_keep_rest(w, n);
}

static struct sb_process *steal_from(struct sb_worker *w, uint32_t id)
{
	struct sb_worker *victim = w->scheduler->worker[id];
	struct sb_process *p = steal_deque(w, victim);

	if (!p)
		p = steal_inject(w, victim);
	if (p)
		w->victims.last = id;
	return p;
}

/* ---- from all of them ---- */

void sb_steal_begin(struct sb_worker *w)
{
	w->victims.reach = 1;
}

/*
 * Victims that one round looks at, at most, in a ring. On large machines there are many thieves,
 * who begin at different victims and together look at all; and each looks at all before it sleeps
 * (spin.c).
 */
#define RING_LOOKS 256

/* Once round a ring, from a random victim on; in a large one to every second, third, ... victim. */
static struct sb_process *steal_ring(struct sb_worker *w, uint32_t begin, uint32_t end)
{
	const uint32_t size = end - begin;
	const uint32_t stride = (size + RING_LOOKS - 1) / RING_LOOKS;
	const uint32_t start = sb_rng_below(&w->rng, size);
	struct sb_process *p = NULL;

	for (uint32_t i = 0; i < size && !p; i += stride)
		p = steal_from(w, w->victims.worker[begin + (start + i) % size]);
	return p;
}

struct sb_process *sb_steal_round(struct sb_worker *w)
{
	struct sb_victims *v = &w->victims;
	struct sb_process *p = NULL;
	uint32_t begin = 0;

	if (w->scheduler->config.victim == SB_VICTIM_LAST && v->last != SB_WORKER_NONE)
		p = steal_from(w, v->last);
	for (uint32_t r = 0; r < v->rings && r < v->reach && !p; r++) {
		p = steal_ring(w, begin, v->ring_end[r]);
		begin = v->ring_end[r];
	}
	v->reach++;
	return p;
}
