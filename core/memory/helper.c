/* helper.c - the helper thread of a domain drives and rests; reclaim.h describes its role. */
#include "core/memory/domain.h"

/* If a reader drove less than DRIVEN_NS ago, the helper leaves the periods and the watch to the readers. */
#define DRIVEN_NS 2000000

/*
 * The helper rests WAIT_NS while a period waits for readers, SHORT_REST_NS while a call is deferred, and
 * REST_NS otherwise. While the readers drive and all of them are online, it rests LONG_REST_NS: each
 * wakeup would preempt a reader, and the helper is needed only if all readers run long steps. If a
 * reader is offline, its processor is free for the helper, and the last reader that ticks has no
 * other reader to watch it.
 */
#define WAIT_NS	      50000
#define SHORT_REST_NS 300000
#define REST_NS	      1000000
#define LONG_REST_NS  40000000

/* The helper sleeps when no reader has been online for QUIET_NS. */
#define QUIET_NS 2000000

/* How often the helper checks whether all readers have been quiescent. Readers that run short steps
 * are quiescent within microseconds. */
#define SPINS 200

static uint32_t count_online(struct sb_reclaim *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->readers; i++)
		n += sb_reclaim_is_online(r, i);
	return n;
}

/* A thread that comes online or defers a call sees `sleeps` set, or its store is visible here. */
static void sleep_until_woken(struct sb_reclaim *r)
{
	sb_store_rlx(&r->sleeps, 1);
	sb_fence_store_load(&r->sleeps);
	if (!sb_load_acq(&r->ends) && !sb_load_rlx(&r->errands) && !count_online(r) &&
	    !sb_domain_is_pending(r))
		sb_park(&r->parker, r->next_chores_ns);
	sb_store_rlx(&r->sleeps, 0);
}

/* The watch is overdue if the kernel has preempted the thread that has the role. */
static uint64_t rest_end_ns(struct sb_reclaim *r, uint64_t now)
{
	const bool is_short = sb_domain_is_anything_deferred(r);
	const uint64_t watch_ns = sb_max_u64(sb_load_rlx(&r->watch_ns), now + WAIT_NS);

	return sb_min_u64(now + (is_short ? SHORT_REST_NS : REST_NS), watch_ns);
}

static void rest(struct sb_reclaim *r, uint64_t now, bool is_driven)
{
	const bool is_quiet = sb_clock_passed(sb_load_rlx(&r->left_ns), now) >= QUIET_NS;
	const uint32_t online = count_online(r);

	if (!online && !sb_domain_is_pending(r) && is_quiet)
		sleep_until_woken(r);
	else if (is_driven && online == r->readers && r->readers > 1)
		sb_park(&r->parker, sb_min_u64(now + LONG_REST_NS, r->next_chores_ns));
	else if (!is_driven && sb_load_rlx(&r->stage) != SB_STAGE_NOTHING)
		/* No thread can end this sleep: a reader that has to be quiescent may need this CPU. */
		sb_thread_sleep(WAIT_NS);
	else
		sb_park(&r->parker, sb_min_u64(rest_end_ns(r, now), r->next_chores_ns));
}

void *sb_domain_help(void *arg)
{
	struct sb_reclaim *r = arg;

	sb_thread_name(r->look.thread_prefix, "watch", -1);
	/* No callback that runs here may wait for a grace period, which may only end here. */
	sb_thread_own()->sections++;
	while (!sb_load_acq(&r->ends)) {
		const uint64_t now = sb_clock_ns();
		const bool is_driven = now < sb_load_rlx(&r->driven_ns) + DRIVEN_NS;

		if (r->look.chores)
			r->next_chores_ns = r->look.chores(r->look.arg, now);
		sb_store_rlx(&r->chores_ns, now + SB_CHORES_NS);
		sb_domain_run_calls(sb_xchg_acq(&r->errands, NULL));
		sb_domain_drive(r, NULL, is_driven ? 1 : SPINS, now);
		rest(r, now, is_driven);
	}
	return NULL;
}
