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
 */
#include "core/internal.h"

/* Reservations taken from the shared count at a time. */
#define CREDIT_BATCH 32

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

	while (noted < since_ns &&
	       !sb_cas_weak_acq_rel(&s->idle_since_ns, &noted, since_ns))
		;
}

void sb_live_release(struct sb_scheduler *s, uint64_t n, uint64_t since_ns)
{
	/* First, so that whoever sees 0 also sees a time from this time. */
	note_idleness(s, since_ns);
	SB_WINDOW();
	if (give_back(s, n))
		sb_gate_notify(&s->gate);
}

/* ---- in advance ---- */

/* One of what has been reserved ahead; if that is none, of up to `most` more. */
static bool take_credit(struct sb_scheduler *s, uint32_t *credit, uint32_t most)
{
	if (SB_UNLIKELY(!*credit)) {
		if (reserve(s, most))
			*credit = most;
		else if (reserve(s, 1))
			*credit = 1;
		else
			return false;
	}
	--*credit;
	return true;
}

bool sb_live_reserve_foreign(struct sb_scheduler *s)
{
	return take_credit(s, &s->foreign_credit,
			   s->waiters ? 1 : CREDIT_BATCH);
}

/* What foreign threads have reserved is not to keep a worker from the last ones. They
 * may have given it back since the worker looked. */
SB_COLD static bool take_foreign_credit(struct sb_scheduler *s)
{
	bool taken;

	sb_lock_acquire(&s->foreign_lock);
	taken = s->foreign_credit || reserve(s, 1);
	if (s->foreign_credit)
		s->foreign_credit--;
	sb_lock_release(&s->foreign_lock);
	return taken;
}

bool sb_live_reserve(struct sb_worker *w)
{
	return take_credit(w->scheduler, &w->credit, CREDIT_BATCH) ||
	       take_foreign_credit(w->scheduler);
}

void sb_live_unreserve(struct sb_scheduler *s, struct sb_worker *w)
{
	if (w)
		w->credit++;
	else
		sb_live_release(s, 1, sb_clock_ns());
}

void sb_worker_release_credit(struct sb_worker *w, uint64_t since_ns)
{
	const uint32_t n = w->credit;

	w->credit = 0;
	if (n)
		sb_live_release(w->scheduler, n, since_ns);
}

void sb_live_complete(struct sb_worker *w)
{
	if (++w->credit <= 2 * CREDIT_BATCH)
		return;
	w->credit -= CREDIT_BATCH;
	sb_live_release(w->scheduler, CREDIT_BATCH, sb_clock_ns());
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
