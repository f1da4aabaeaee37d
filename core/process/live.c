/*
 * live.c - how many processes are alive.
 *
 * That is one shared count, `live`. So that neither a spawn nor a submission need
 * touch it, a worker reserves some at a time and keeps what completions give back,
 * and so do foreign threads, under their lock. A worker returns all of that when it
 * runs out of work. Foreign threads return theirs when somebody waits for none to
 * live, and keep nothing as long as somebody does. So live is never less than the
 * number of the living, and to somebody who waits live == 0 means that no process is
 * alive and no worker is busy.
 *
 * The limit is exact. When a reservation fails because of what others have reserved
 * ahead, all of that is recalled: `recall` is set, each worker's credit is taken
 * from it, wherever it is, and as long as recall is set nobody reserves ahead; then
 * live is the number of the living, and of submissions under way. It is cleared
 * when the limit is far.
 *
 * The credit costs its owner plain stores: an asymmetric Dekker pair as in
 * core/message/handover.h.
 *
 *   owner                               collector, under recall_lock
 *   touched = 1                         recall = 1
 *   (light fence)                       (heavy fence)
 *   recall? else change credit          wait while touched
 *   touched = 0                         take credit
 *
 * Without the fences the owner could miss the recall, and the collector that it is
 * at its credit: then a place would be given twice. `touched` is not a bit of the
 * credit: the owner would put back what the collector has taken. Where there is no
 * heavy fence recall is set for ever. Model: tests/models/live.pml.
 */
#include "core/process/live.h"

#include "core/state.h"

/* Reservations taken from the shared count at a time. */
#define CREDIT_BATCH 32

/* Most that a worker keeps. */
#define CREDIT_MAX (2 * CREDIT_BATCH)

/* ---- the count ---- */

static bool reserve(struct sb_scheduler *s, uint64_t n)
{
	uint64_t live = sb_load_rlx(&s->live);

	do {
		if (live + n > s->config.processes_max)
			return false;
	} while (!sb_cas_weak_acq_rel(&s->live, &live, live + n));
	return true;
}

/* With all that may be reserved ahead the limit would still be far. */
static bool is_far(struct sb_scheduler *s)
{
	const uint64_t ahead = (uint64_t)s->workers * CREDIT_MAX + CREDIT_BATCH;

	return sb_load_rlx(&s->live) + 2 * ahead <= s->config.processes_max;
}

SB_COLD static void end_recall(struct sb_scheduler *s)
{
	if (!sb_fence_heavy_works())
		return;
	sb_lock_acquire(&s->recall_lock);
	if (is_far(s))
		sb_store_rlx(&s->recall, 0);
	sb_lock_release(&s->recall_lock);
}

/* True: that was the last one; the gate is to be told, under no lock. */
static bool give_back(struct sb_scheduler *s, uint64_t n)
{
	const uint64_t before = sb_sub_acq_rel(&s->live, n);

	SB_CHECK(before, >=, n);
	return before == n;
}

/* The latest time of those who release at the same time. */
static void note_idleness(struct sb_scheduler *s, uint64_t since_ns)
{
	uint64_t noted = sb_load_rlx(&s->idle_since_ns);

	while (noted < since_ns && !sb_cas_weak_acq_rel(&s->idle_since_ns, &noted, since_ns))
		;
}

/* What was no process, so that it says nothing of when the last one ended. */
static void give_back_unused(struct sb_scheduler *s, uint64_t n)
{
	if (give_back(s, n))
		sb_gate_notify(&s->gate);
	if (SB_UNLIKELY(sb_load_rlx(&s->recall)) && is_far(s))
		end_recall(s);
}

void sb_live_release(struct sb_scheduler *s, uint64_t n, uint64_t since_ns)
{
	/* First, so that a thread that sees 0 also sees a time from this time. */
	note_idleness(s, since_ns);
	SB_WINDOW();
	give_back_unused(s, n);
}

/* ---- a worker's credit ---- */

/* Whether the worker may change its credit, until end_touch(). */
static bool begin_touch(struct sb_worker *w)
{
	sb_store_rlx(&w->credit.touched, 1);
	sb_fence_light();
	SB_WINDOW();
	return SB_LIKELY(!sb_load_acq(&w->scheduler->recall));
}

static void end_touch(struct sb_worker *w)
{
	sb_store_rel(&w->credit.touched, 0);
}

/* Takes one of what the worker has reserved ahead, if there is any. */
SB_INLINE bool take_one(struct sb_worker *w)
{
	uint32_t n = 0;

	if (begin_touch(w)) {
		n = sb_load_rlx(&w->credit.n);
		if (SB_LIKELY(n))
			sb_store_rlx(&w->credit.n, n - 1);
	}
	end_touch(w);
	return n;
}

/*
 * Adds one, or returns what is too much. What goes between credit and count does
 * so while the collector waits: it never is in neither. False: there is a recall,
 * and the one is still the caller's.
 */
SB_INLINE bool add_one(struct sb_worker *w)
{
	const bool may_touch = begin_touch(w);

	if (may_touch) {
		uint32_t n = sb_load_rlx(&w->credit.n) + 1;

		if (SB_UNLIKELY(n > CREDIT_MAX)) {
			/* Not the last ones: it keeps some. */
			(void)give_back(w->scheduler, CREDIT_BATCH);
			n -= CREDIT_BATCH;
		}
		sb_store_rlx(&w->credit.n, n);
	}
	end_touch(w);
	return may_touch;
}

/* ---- recalling ---- */

static uint32_t collect_from(struct sb_worker *w)
{
	uint32_t n;

	/* Some instructions; their thread may be descheduled. */
	while (sb_load_acq(&w->credit.touched))
		sb_thread_yield();
	n = sb_load_rlx(&w->credit.n);
	sb_store_rlx(&w->credit.n, 0);
	return n;
}

static uint32_t collect_foreign(struct sb_scheduler *s)
{
	uint32_t n;

	sb_lock_acquire(&s->foreign_lock);
	n = s->foreign_credit;
	s->foreign_credit = 0;
	sb_lock_release(&s->foreign_lock);
	return n;
}

/* Under recall_lock, although it waits for others: these are at their credit for
 * some instructions, in which they take no lock. True: as give_back(). */
static bool begin_recall(struct sb_scheduler *s)
{
	uint64_t n;

	sb_store_rlx(&s->recall, 1);
	SB_WINDOW();
	sb_fence_heavy();
	n = collect_foreign(s);
	for (uint32_t i = 0; i < s->workers; i++) {
		/* A worker that is offline has none: it has returned them, if need be under
		 * recall_lock (release_recalled()), and sees the recall later. */
		if (sb_reclaim_is_online(s->reclaim, i))
			n += collect_from(s->worker[i]);
	}
	return n && give_back(s, n);
}

void sb_live_init(struct sb_scheduler *s)
{
	sb_lock_init(&s->recall_lock);
	sb_store_rlx(&s->recall, !sb_fence_heavy_works());
}

bool sb_live_reserve_exactly(struct sb_scheduler *s)
{
	bool was_last = false;
	bool reserved;

	if (sb_load_rlx(&s->recall) && reserve(s, 1))
		return true;
	sb_lock_acquire(&s->recall_lock);
	if (!sb_load_rlx(&s->recall))
		was_last = begin_recall(s);
	reserved = reserve(s, 1);
	sb_lock_release(&s->recall_lock);
	if (was_last)
		sb_gate_notify(&s->gate);
	return reserved;
}

/* ---- reserving ---- */

bool sb_live_reserve_foreign(struct sb_scheduler *s)
{
	const bool is_exact = s->waiters || sb_load_rlx(&s->recall);
	const uint32_t most = is_exact ? 1 : CREDIT_BATCH;

	if (!s->foreign_credit) {
		if (!reserve(s, most))
			return false;
		s->foreign_credit = most;
	}
	s->foreign_credit--;
	return true;
}

/* A batch at a time, unless there is a recall. */
SB_COLD static bool reserve_ahead(struct sb_worker *w)
{
	bool reserved = false;

	if (begin_touch(w)) {
		reserved = reserve(w->scheduler, CREDIT_BATCH);
		if (reserved)
			sb_store_rlx(&w->credit.n, CREDIT_BATCH - 1);
	}
	end_touch(w);
	return reserved || sb_live_reserve_exactly(w->scheduler);
}

bool sb_live_reserve(struct sb_worker *w)
{
	return SB_LIKELY(take_one(w)) || reserve_ahead(w);
}

void sb_live_unreserve(struct sb_scheduler *s, struct sb_worker *w)
{
	if (!w || !add_one(w))
		give_back_unused(s, 1);
}

/*
 * There is a recall. Its collector skips workers that are offline, and this one is about to
 * go offline: what it has not collected is returned here, under its lock.
 */
SB_COLD static void release_recalled(struct sb_worker *w, uint64_t since_ns)
{
	struct sb_scheduler *s = w->scheduler;
	uint32_t n;

	sb_lock_acquire(&s->recall_lock);
	n = sb_load_rlx(&w->credit.n);
	sb_store_rlx(&w->credit.n, 0);
	sb_lock_release(&s->recall_lock);
	if (n)
		sb_live_release(s, n, since_ns);
}

void sb_worker_release_credit(struct sb_worker *w, uint64_t since_ns)
{
	struct sb_scheduler *s = w->scheduler;
	bool was_last = false;
	bool is_recalled = false;

	if (begin_touch(w)) {
		const uint32_t n = sb_load_rlx(&w->credit.n);

		if (n) {
			note_idleness(s, since_ns);
			SB_WINDOW();
			was_last = give_back(s, n);
			sb_store_rlx(&w->credit.n, 0);
		}
	} else {
		is_recalled = true;
	}
	end_touch(w);
	if (was_last)
		sb_gate_notify(&s->gate);
	if (SB_UNLIKELY(is_recalled && sb_load_rlx(&w->credit.n)))
		release_recalled(w, since_ns);
}

void sb_live_complete(struct sb_worker *w)
{
	if (SB_UNLIKELY(!add_one(w)))
		sb_live_release(w->scheduler, 1, sb_clock_ns());
}

/* ---- waiting ---- */

static bool is_none(void *arg)
{
	struct sb_scheduler *s = arg;

	return sb_load_acq(&s->live) == 0;
}

/*
 * From now on nothing is reserved ahead. What was is given back under the lock, so
 * that it is never neither in the count nor in the credit; and it says nothing about
 * when the last process has ended.
 */
static void begin_to_wait(struct sb_scheduler *s)
{
	bool was_last = false;

	sb_lock_acquire(&s->foreign_lock);
	s->waiters++;
	if (s->foreign_credit)
		was_last = give_back(s, s->foreign_credit);
	s->foreign_credit = 0;
	sb_lock_release(&s->foreign_lock);
	if (was_last)
		sb_gate_notify(&s->gate);
}

static void end_waiting(struct sb_scheduler *s)
{
	sb_lock_acquire(&s->foreign_lock);
	s->waiters--;
	sb_lock_release(&s->foreign_lock);
}

bool sb_live_wait_none(struct sb_scheduler *s, uint64_t timeout_ns)
{
	bool none;

	begin_to_wait(s);
	none = sb_gate_wait(&s->gate, is_none, s, timeout_ns);
	end_waiting(s);
	return none;
}
