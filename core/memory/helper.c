/* helper.c - the helper thread of a domain: when it drives and when it rests; see reclaim.h. */
#include "core/memory/domain.h"

/* A reader drove so short a time ago: the helper leaves periods and the watch to the readers. */
#define DRIVEN_NS 2000000

/*
 * The helper's rests: while it waits for readers, while something is deferred, and otherwise. While
 * the readers drive it rests REST_NS if one of them is offline, because then there is one that
 * nobody watches, and a processor for the helper. Otherwise LONG_REST_NS: it would preempt a reader,
 * and what it would find is that all of them are in long steps.
 */
#define WAIT_NS	      50000
#define SHORT_REST_NS 300000
#define REST_NS	      1000000
#define LONG_REST_NS  40000000

/* The helper sleeps if no reader has been online for that long. */
#define QUIET_NS 2000000

/* Spins of the helper until all readers have been quiescent: those that run short steps are
 * within microseconds. */
#define SPINS 200

static uint32_t count_online(struct sb_reclaim *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->readers; i++)
		n += sb_reclaim_is_online(r, i);
	return n;
}

/* A thread that comes online, or defers, sees that it sleeps, or is seen here. */
static void sleep_until_woken(struct sb_reclaim *r)
{
	sb_store_rlx(&r->sleeps, 1);
	sb_fence_store_load(&r->sleeps);
	if (!sb_load_acq(&r->ends) && !sb_load_rlx(&r->errands) && !count_online(r) &&
	    !sb_domain_is_pending(r))
		sb_park(&r->parker, r->next_chores_ns);
	sb_store_rlx(&r->sleeps, 0);
}

/* The watch may be overdue, because a driver has lost its CPU while it has the role. */
static uint64_t rest_end_ns(struct sb_reclaim *r, uint64_t now)
{
	const bool is_short = sb_domain_is_anything_deferred(r);
	const uint64_t watch_ns = sb_max_u64(sb_load_rlx(&r->watch_ns), now + WAIT_NS);

	return sb_min_u64(now + (is_short ? SHORT_REST_NS : REST_NS), watch_ns);
}

static void rest(struct sb_reclaim *r, uint64_t now)
{
	const bool is_driven = now < sb_load_rlx(&r->driven_ns) + DRIVEN_NS;
	const bool is_quiet = sb_clock_passed(sb_load_rlx(&r->left_ns), now) >= QUIET_NS;
	const uint32_t online = count_online(r);

	if (!online && !sb_domain_is_pending(r) && is_quiet)
		sleep_until_woken(r);
	else if (is_driven && online == r->readers && r->readers > 1)
		sb_park(&r->parker, sb_min_u64(now + LONG_REST_NS, r->next_chores_ns));
	else if (!is_driven && sb_load_rlx(&r->stage) != SB_STAGE_NOTHING)
		/* Nobody can wake it: a reader it waits for may need this CPU. */
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
		rest(r, now);
	}
	return NULL;
}
