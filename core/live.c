/*
 * live.c - how many processes are alive.
 *
 * That is one shared count, `live`. So that a spawn need not touch it, a worker
 * reserves some at a time and keeps what completions give back; it
 * returns all of that when it runs out of work. So live == 0 means that no
 * process is alive and no worker is busy, and live is never less than the
 * number of the living.
 */
#include "core/internal.h"

/* Reservations taken from the shared count at a time. */
#define CREDIT_BATCH 32

void sb_live_release(struct sb_scheduler *s, uint64_t n)
{
	uint64_t before;

	/* First, so that whoever sees 0 also sees a stamp from this time. */
	sb_store_rlx(&s->idle_since_ns, sb_clock_ns());
	SB_WINDOW();
	before = sb_sub_acq_rel(&s->live, n);
	SB_CHECK(before, >=, n);
	if (before == n)
		sb_gate_notify(&s->gate);
}

static bool reserve(struct sb_scheduler *s, uint64_t n)
{
	uint64_t live = sb_load_rlx(&s->live);

	do {
		if (live + n > s->config.processes_max)
			return false;
	} while (!sb_cas_weak_acq_rel(&s->live, &live, live + n));
	return true;
}

bool sb_live_reserve(struct sb_scheduler *s, struct sb_worker *w)
{
	if (!w)
		return reserve(s, 1);
	if (!w->credit) {
		if (reserve(s, CREDIT_BATCH))
			w->credit = CREDIT_BATCH;
		else if (reserve(s, 1))
			w->credit = 1;
		else
			return false;
	}
	w->credit--;
	return true;
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
