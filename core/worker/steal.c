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

/* ---- turns ---- */

/*
 * Each look at a deque in use takes its line from the owner, whose next push has to fetch it
 * back. With many thieves that is the largest cost of the owner, and each thief finds one
 * process at most. So thieves that meet others take turns at a victim: one has it for
 * TURN_NS, and the others leave it alone, while its deque fills. A thief that finds no more
 * than one process ends its turn at once: there, waiting gains nothing. Turns end by the
 * clock, so a thief that is descheduled in its turn delays the others by no more than that.
 * Thieves of other packages that have met anybody leave a victim alone for as long as a turn
 * lasts, and TURN_NS longer. So while thieves of the victim's own package take turn after
 * turn, the deque's lines stay in that package, where they are nearer. A cohort lock does
 * the same (Dice, Marathe and Shavit, Lock cohorting, PPoPP 2012).
 * Turns are advice: nothing but speed depends on them, so it does no harm if a thief ends
 * another's. Before it sleeps, a worker looks at all deques, whoever's turn it is (spin.c).
 */
#define TURN_NS 2000

/* A thief takes turns after CROWD meetings more than successes; it counts CROWD_MAX at most. */
#define CROWD	  3
#define CROWD_MAX 8

/* It has lost a race, or it is another's turn. With two workers there is one thief: it has raced
 * the owner, and if it took turns, it would wait for its own to end. */
static void note_meeting(struct sb_worker *w)
{
	if (w->scheduler->workers > 2 && w->victims.crowd < CROWD_MAX)
		w->victims.crowd++;
}

static void note_success(struct sb_worker *w)
{
	if (w->victims.crowd)
		w->victims.crowd--;
}

/* How long after a turn this thief may come. */
static uint64_t turn_delay_ns(const struct sb_worker *w, const struct sb_worker *victim)
{
	const struct sb_place *place = w->scheduler->placement.place;

	return place[w->id].package == place[victim->id].package ? 0 : TURN_NS;
}

/* Whether this thief, which takes no turns, leaves the victim to one that does. As long as it
 * meets nobody it does not ask: it would fetch one more line from each victim. */
static bool gives_way(struct sb_worker *w, struct sb_worker *victim)
{
	const uint64_t delay = turn_delay_ns(w, victim);
	const uint64_t turn = delay && w->victims.crowd ? sb_load_rlx(&victim->turn_ns) : 0;

	if (!turn || sb_clock_ns() >= turn + delay)
		return false;
	note_meeting(w);
	return true;
}

/* Whether it is this thief's turn now. It takes none at a victim without work. */
static bool take_turn(struct sb_worker *w, struct sb_worker *victim)
{
	const uint64_t delay = turn_delay_ns(w, victim);
	uint64_t turn = sb_load_rlx(&victim->turn_ns);
	uint64_t now;

	if (!turn && !sb_has_queued(victim)) {
		sb_record_steal(w, victim->id, SB_STEAL_EMPTY, 0);
		return false;
	}
	now = sb_clock_ns();
	if (now >= turn + delay && sb_cas_acq_rel(&victim->turn_ns, &turn, now + TURN_NS))
		return true;
	note_meeting(w);
	return false;
}

static void end_turn(struct sb_worker *victim, uint32_t stolen)
{
	if (stolen <= 1)
		sb_store_rlx(&victim->turn_ns, 0);
}

/* ---- from one victim ---- */

/* A lost race means that the lines are warm now: it is worth one more try. */
#define STEAL_TRIES 2

/* Some of one deque into items; counts the races it lost. */
static enum sb_steal_result steal_some(struct sb_worker *w, struct sb_deque *deque, void **items,
				       uint32_t *n, uint32_t victim)
{
	const struct sb_config *config = &w->scheduler->config;
	enum sb_steal_result result = SB_STEAL_LOST;

	for (int i = 0; i < STEAL_TRIES && result == SB_STEAL_LOST; i++) {
		result = sb_deque_steal(deque, config->steal, config->steal_cap, items, n);
		if (result == SB_STEAL_LOST) {
			sb_record_steal(w, victim, result, 0);
			note_meeting(w);
		}
	}
	if (result == SB_STEAL_OK)
		note_success(w);
	return result;
}

/* From the victim's deque, or if that is empty from those that continue. */
static struct sb_process *steal_deque(struct sb_worker *w, struct sb_worker *victim)
{
	void *items[SB_STEAL_MAX];
	const bool takes_turns = w->victims.crowd >= CROWD;
	enum sb_steal_result result;
	uint32_t n = 0;

	items[0] = NULL;
	if (takes_turns ? !take_turn(w, victim) : gives_way(w, victim))
		return NULL;
	result = steal_some(w, &victim->deque, items, &n, victim->id);
	if (result == SB_STEAL_EMPTY)
		result = steal_some(w, &victim->cold, items, &n, victim->id);
	if (takes_turns)
		end_turn(victim, n);
	if (result == SB_STEAL_LOST) {
		sb_trace_note(&w->trace, SB_TRACE_LOST, victim->id, 0);
		return NULL;
	}
	sb_record_steal(w, victim->id, result, n);
	if (result == SB_STEAL_EMPTY)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		sb_prefetch_object(items[i]);
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
