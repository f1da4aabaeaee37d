/*
 * live.c - how many processes are alive.
 *
 * That is the sum of two shared counts, modulo 2^64: `submitted`, of all that
 * foreign threads have ever reserved, and `live`, what workers have reserved less
 * all that has been given back. So neither a spawn nor a submission writes what the
 * other side writes all the time. A worker reserves some at a time and keeps what
 * completions give back; it returns all of that when it runs out of work. So a sum
 * of 0 means that no process is alive and no worker is busy, and it is never less
 * than the number of the living.
 *
 * `submitted` only grows. So `live` read first and `submitted` second are no less
 * than the sum was at the first of the two, and a 0 was true then. And whoever
 * gives the last one back reads in `submitted` all that `live` has been lowered
 * for: each of these came to it with a process, or with `live`.
 */
#include "core/internal.h"

/* Reservations taken from the shared count at a time. */
#define CREDIT_BATCH 32

static uint64_t sum(struct sb_scheduler *s)
{
	const uint64_t live = sb_load_acq(&s->live);

	SB_WINDOW();
	return live + sb_load_acq(&s->submitted);
}

bool sb_live_none(struct sb_scheduler *s)
{
	return sum(s) == 0;
}

void sb_live_release(struct sb_scheduler *s, uint64_t n)
{
	uint64_t left;

	/* First, so that whoever sees 0 also sees a stamp from this time. */
	sb_store_rlx(&s->idle_since_ns, sb_clock_ns());
	SB_WINDOW();
	left = sb_sub_acq_rel(&s->live, n) - n;
	left += sb_load_acq(&s->submitted);
	SB_CHECK((int64_t)left, >=, 0);
	if (!left)
		sb_gate_notify(&s->gate);
}

/*
 * n have been reserved, by a read-modify-write. Of a worker and a foreign thread
 * that do so at the same time, one at least sees what the other has reserved.
 */
static bool fits(struct sb_scheduler *s, uint64_t n)
{
	sb_fence_after_rmw(&s->live);
	if (SB_LIKELY(sum(s) <= s->config.processes_max))
		return true;
	sb_live_release(s, n);
	return false;
}

static bool reserve(struct sb_scheduler *s, uint64_t n)
{
	if (sum(s) + n > s->config.processes_max)
		return false;
	sb_add_acq_rel(&s->live, n);
	return fits(s, n);
}

bool sb_live_reserve(struct sb_worker *w)
{
	if (!w->credit) {
		if (reserve(w->scheduler, CREDIT_BATCH))
			w->credit = CREDIT_BATCH;
		else if (reserve(w->scheduler, 1))
			w->credit = 1;
		else
			return false;
	}
	w->credit--;
	return true;
}

bool sb_live_reserve_foreign(struct sb_scheduler *s)
{
	if (sum(s) + 1 > s->config.processes_max)
		return false;
	sb_add_acq_rel(&s->submitted, 1);
	return fits(s, 1);
}

void sb_live_unreserve(struct sb_scheduler *s, struct sb_worker *w)
{
	if (w)
		w->credit++;
	else
		sb_live_release(s, 1);
}

void sb_worker_release_credit(struct sb_worker *w)
{
	const uint32_t n = w->credit;

	w->credit = 0;
	if (n)
		sb_live_release(w->scheduler, n);
}

void sb_live_complete(struct sb_worker *w)
{
	if (++w->credit <= 2 * CREDIT_BATCH)
		return;
	w->credit -= CREDIT_BATCH;
	sb_live_release(w->scheduler, CREDIT_BATCH);
}
