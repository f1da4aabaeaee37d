#include "core/memory/domain.h"

#include <errno.h>

#include "core/memory/arena.h"
#include "core/platform/platform.h"

#if SB_TSAN
#include <sanitizer/tsan_interface.h>

void sb_tsan_release(const void *address)
{
	__tsan_release((void *)(uintptr_t)address);
}

void sb_tsan_acquire(const void *address)
{
	__tsan_acquire((void *)(uintptr_t)address);
}

/*
 * liburcu frees on its helper threads what it allocated on ours, ordered by
 * inline assembly in code that is not instrumented. Only its own calls into the
 * allocator are meant here; every access of this project is checked.
 */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
	return "called_from_lib:liburcu-qsbr.so\n"
	       "called_from_lib:liburcu-cds.so\n";
}
#else
void sb_tsan_release(const void *address)
{
	(void)address;
}

void sb_tsan_acquire(const void *address)
{
	(void)address;
}
#endif

/* Least time between two drives of readers. The second part bounds the share of time that scanning
 * the readers takes. A period takes two or three drives, so retired memory is reused while it is in
 * the caches. */
#define DRIVE_NS	    50000
#define DRIVE_NS_PER_READER 1000

/* Time between two watches of the readers. */
#define WATCH_NS 1000000

/* A reader wakes the helper if another reader went offline less than BRIEF_NS ago: at that rate of
 * wakeups the helper would be woken soon in any case. left_ns is exact to LEFT_EVERY_NS. */
#define BRIEF_NS      1000000
#define LEFT_EVERY_NS 250000

struct sb_reader *sb_reclaim_reader(struct sb_reclaim *r, uint32_t i)
{
	return &r->reader[i];
}

struct sb_period *sb_reclaim_period(struct sb_reclaim *r)
{
	return &r->period;
}

bool sb_reclaim_is_online(struct sb_reclaim *r, uint32_t i)
{
	return sb_load_acq(&r->reader[i].seen) != SB_READER_OFFLINE;
}

/* ---- stripes ---- */

/*
 * Deferred calls and the counts of visitors are kept in stripes: one for each worker, and one for
 * all other threads. Shared by all they were written by all: with 256 workers (virtual
 * time, two sockets of 64 cores) waits for them were half of skynet's time.
 */
uint32_t sb_reclaim_stripes(const struct sb_reclaim *r)
{
	return r->readers + 1;
}

uint32_t sb_reclaim_stripe(const struct sb_reclaim *r)
{
	const uint32_t stripe = sb_thread_own()->stripe;

	return stripe <= r->readers ? stripe : 0;
}

static _Atomic(struct sb_deferred *) *stack_of(struct sb_reclaim *r, uint32_t stripe)
{
	return stripe ? &r->reader[stripe - 1].newest : &r->newest;
}

static _Atomic(uint32_t) *count_of(struct sb_reclaim *r, uint32_t stripe, uint32_t side)
{
	return stripe ? &r->reader[stripe - 1].inside[side] : &r->inside[side];
}

/* ---- visitors ---- */

uint32_t sb_reclaim_enter(struct sb_reclaim *r)
{
	const uint32_t side = sb_load_rlx(&r->side) & 1;

	sb_thread_own()->sections++;
	sb_add_acq_rel(count_of(r, sb_reclaim_stripe(r), side), 1);
	sb_fence_after_rmw(&r->side);
	return side;
}

void sb_reclaim_exit(struct sb_reclaim *r, uint32_t side)
{
	sb_sub_acq_rel(count_of(r, sb_reclaim_stripe(r), side), 1);
	sb_thread_own()->sections--;
}

bool sb_reclaim_inside(void)
{
	return sb_thread_own()->sections > 0;
}

/* The other count becomes current. */
static void flip(struct sb_reclaim *r)
{
	sb_add_acq_rel(&r->side, 1);
}

/* Each stripe was empty at some moment of the call, and nobody changes stripes. */
static bool is_empty(struct sb_reclaim *r, uint32_t side)
{
	for (uint32_t stripe = 0; stripe <= r->readers; stripe++) {
		if (sb_load_acq(count_of(r, stripe, side)))
			return false;
	}
	return true;
}

/* A side that was empty once since the period began has no visitor from before
 * it. It becomes empty in the end, because newcomers go to the other one. */
static bool side_is_done(struct sb_reclaim *r, uint32_t side)
{
	if (is_empty(r, side))
		return true;
	if ((sb_load_rlx(&r->side) & 1) == side)
		flip(r);
	return is_empty(r, side);
}

/* Those who are in a section are there for a short time. */
void sb_reclaim_wait_visitors(struct sb_reclaim *r)
{
	for (uint32_t side = 0; side < 2; side++) {
		while (!side_is_done(r, side))
			sb_thread_yield();
	}
}

/* ---- deferring ---- */

bool sb_reclaim_sleeps(struct sb_reclaim *r)
{
	return sb_load_rlx(&r->sleeps);
}

void sb_reclaim_wake(struct sb_reclaim *r)
{
	sb_unpark(&r->parker);
}

static void defer(struct sb_reclaim *r, uint32_t stripe, struct sb_deferred *deferred,
		  void (*function)(struct sb_deferred *deferred))
{
	_Atomic(struct sb_deferred *) *top = stack_of(r, stripe);
	struct sb_deferred *newest = sb_load_rlx(top);

	deferred->function = function;
	do {
		deferred->older = newest;
	} while (!sb_cas_weak_acq_rel(top, &newest, deferred));
	sb_fence_after_rmw(&r->sleeps);
	/* A reader that is online drives at its next tick, or when it leaves. */
	if (SB_UNLIKELY(sb_reclaim_sleeps(r)) && !(stripe && sb_reclaim_is_online(r, stripe - 1)))
		sb_reclaim_wake(r);
}

void sb_reclaim_defer(struct sb_reclaim *r, struct sb_deferred *deferred,
		      void (*function)(struct sb_deferred *deferred))
{
	defer(r, sb_reclaim_stripe(r), deferred, function);
}

bool sb_domain_is_anything_deferred(struct sb_reclaim *r)
{
	for (uint32_t stripe = 0; stripe <= r->readers; stripe++) {
		if (sb_load_rlx(stack_of(r, stripe)))
			return true;
	}
	return false;
}

/*
 * All stripes, as one list. A barrier is in the common one, which is taken first and runs last:
 * what had been deferred before the barrier is in a stripe by then, and runs before it.
 */
static struct sb_deferred *take_deferred(struct sb_reclaim *r)
{
	struct sb_deferred *first = NULL;
	struct sb_deferred **end = &first;

	for (uint32_t stripe = 0; stripe <= r->readers; stripe++) {
		_Atomic(struct sb_deferred *) *top = stack_of(r, stripe);

		if (sb_load_rlx(top))
			*end = sb_xchg_acq(top, NULL);
		while (*end)
			end = &(*end)->older;
	}
	return first;
}

void sb_reclaim_errand(struct sb_reclaim *r, struct sb_deferred *errand,
		       void (*function)(struct sb_deferred *errand))
{
	struct sb_deferred *newest = sb_load_rlx(&r->errands);

	errand->function = function;
	do {
		errand->older = newest;
	} while (!sb_cas_weak_acq_rel(&r->errands, &newest, errand));
	sb_reclaim_wake(r);
}

struct barrier {
	struct sb_deferred deferred;
	struct sb_gate gate;
	bool passed;
};

static void pass(struct sb_deferred *deferred)
{
	struct barrier *barrier = sb_container_of(deferred, struct barrier, deferred);

	sb_gate_lock(&barrier->gate);
	barrier->passed = true;
	sb_gate_notify_and_unlock(&barrier->gate);
}

static bool has_passed(void *barrier)
{
	return ((struct barrier *)barrier)->passed;
}

void sb_reclaim_barrier(struct sb_reclaim *r)
{
	struct barrier barrier = { .passed = false };

	sb_gate_init(&barrier.gate);
	defer(r, 0, &barrier.deferred, pass);
	sb_reclaim_wake(r);
	sb_gate_wait(&barrier.gate, has_passed, &barrier, UINT64_MAX);
	barrier.passed = false;
	sb_reclaim_errand(r, &barrier.deferred, pass);
	sb_gate_wait(&barrier.gate, has_passed, &barrier, UINT64_MAX);
	sb_gate_fini(&barrier.gate);
}

/* ---- the driver ---- */

static bool lags(struct sb_reclaim *r, uint32_t i)
{
	/* Offline is later than any period. */
	return sb_load_acq(&r->reader[i].seen) < sb_load_rlx(&r->period.now);
}

bool sb_reclaim_waits_for(struct sb_reclaim *r, uint32_t i)
{
	return sb_load_rlx(&r->stage) != SB_STAGE_NOTHING && lags(r, i);
}

static bool all_are_quiescent(struct sb_reclaim *r)
{
	for (uint32_t i = 0; i < r->readers; i++) {
		if (lags(r, i))
			return false;
	}
	return true;
}

static bool readers_have_passed(struct sb_reclaim *r, int spins)
{
	for (int i = 0; i < spins; i++) {
		if (all_are_quiescent(r))
			return true;
		sb_cpu_pause();
	}
	return false;
}

/* Newest first is how they were taken; those of a stripe run in the order of their coming. */
static struct sb_deferred *reverse(struct sb_deferred *newest)
{
	struct sb_deferred *first = NULL;

	while (newest) {
		struct sb_deferred *older = newest->older;

		newest->older = first;
		first = newest;
		newest = older;
	}
	return first;
}

void sb_domain_run_calls(struct sb_deferred *newest)
{
	struct sb_deferred *call = reverse(newest);

	while (call) {
		struct sb_deferred *next = call->older;

		call->function(call);
		call = next;
	}
}

/* Takes what is deferred, and begins the period that it has to wait for. */
static bool begin_period(struct sb_reclaim *r)
{
	if (!sb_domain_is_anything_deferred(r))
		return false;
	r->taken = take_deferred(r);
	sb_store_rel(&r->period.now, sb_load_rlx(&r->period.now) + 1);
	sb_fence_store_load(&r->period.now);
	return true;
}

/* Advances by one stage; false: a reader or visitor has to pass first. reader: the driver's own, which
 * is quiescent; or NULL. */
static bool advance(struct sb_reclaim *r, struct sb_reader *reader, int spins)
{
	const enum sb_stage stage = sb_load_rlx(&r->stage);
	struct sb_deferred *taken = r->taken;

	switch (stage) {
	case SB_STAGE_NOTHING:
		if (!begin_period(r))
			return false;
		if (reader)
			sb_reader_quiescent(reader, &r->period);
		break;
	case SB_STAGE_FIRST_SIDE:
		if (!side_is_done(r, 0))
			return false;
		break;
	case SB_STAGE_SECOND_SIDE:
		if (!side_is_done(r, 1))
			return false;
		break;
	case SB_STAGE_READERS:
		if (!readers_have_passed(r, spins))
			return false;
		r->taken = NULL;
		sb_store_rlx(&r->stage, SB_STAGE_NOTHING);
		sb_domain_run_calls(taken);
		return false;
	}
	sb_store_rlx(&r->stage, stage + 1);
	return true;
}

/* Watches all online readers except the driver's own. */
static void watch(struct sb_reclaim *r, const struct sb_reader *reader, uint64_t now)
{
	const uint32_t own = reader ? (uint32_t)(reader - r->reader) : r->readers;

	if (r->look.watch && now >= sb_load_rlx(&r->watch_ns))
		sb_store_rlx(&r->watch_ns,
			     sb_min_u64(r->look.watch(r->look.arg, own, now), now + WATCH_NS));
}

void sb_domain_drive(struct sb_reclaim *r, struct sb_reader *reader, int spins, uint64_t now)
{
	if (sb_load_rlx(&r->role) || sb_xchg_acq(&r->role, 1))
		return;
	watch(r, reader, now);
	while (advance(r, reader, spins))
		;
	sb_store_rel(&r->role, 0);
}

void sb_reclaim_drive(struct sb_reclaim *r, struct sb_reader *reader, uint64_t now)
{
	/* Stored first, so that other readers do not try to get the role. */
	sb_store_rlx(&r->period.drive_ns, now + DRIVE_NS + DRIVE_NS_PER_READER * r->readers);
	sb_store_rlx(&r->driven_ns, now);
	/* A worker that is offline must not watch: on_drop would look up processes unprotected, and
	 * would make processes ready for a worker that is about to park. */
	sb_domain_drive(r, reader, 1, reader ? now : 0);
}

bool sb_domain_is_pending(struct sb_reclaim *r)
{
	return sb_load_rlx(&r->stage) != SB_STAGE_NOTHING || sb_domain_is_anything_deferred(r);
}

/* Completes the current period; if a reader or visitor has to pass first, wakes the helper. */
SB_COLD static void finish_or_wake(struct sb_reclaim *r)
{
	if (!sb_domain_is_pending(r))
		return;
	sb_domain_drive(r, NULL, 1, 0);
	sb_fence_store_load(&r->role);
	if (sb_domain_is_pending(r))
		sb_reclaim_wake(r);
}

bool sb_reclaim_is_quiet(struct sb_reclaim *r, uint64_t now)
{
	return sb_clock_passed(sb_load_rlx(&r->left_ns), now) >= BRIEF_NS;
}

void sb_reclaim_leave(struct sb_reclaim *r, struct sb_reader *reader, uint64_t now)
{
	if (sb_clock_passed(sb_load_rlx(&r->left_ns), now) >= LEFT_EVERY_NS)
		sb_store_rlx(&r->left_ns, now);
	sb_reader_offline(reader);
	sb_fence_store_load(&reader->seen);
	if (SB_LIKELY(!sb_reclaim_sleeps(r))) {
		if (now >= sb_load_rlx(&r->period.drive_ns))
			sb_reclaim_drive(r, NULL, now);
	} else if (now < sb_load_rlx(&r->chores_ns)) {
		finish_or_wake(r);
	} else {
		sb_store_rlx(&r->chores_ns, now + SB_CHORES_NS);
		sb_reclaim_wake(r);
	}
}

/* ---- domains ---- */

int sb_reclaim_create(struct sb_reclaim **out, uint32_t readers, const struct sb_reclaim_look *look)
{
	struct sb_reclaim *r =
		sb_mem_zalloc(SB_HEAP, sizeof(*r) + readers * sizeof(r->reader[0]), SB_LINE);
	int rc;

	if (!r)
		return -ENOMEM;
	r->readers = readers;
	/* 0 is no period: that of routes that are empty (core/message/lookup.h). */
	sb_store_rlx(&r->period.now, (uint64_t)1);
	r->look = *look;
	r->next_chores_ns = UINT64_MAX;
	sb_store_rlx(&r->watch_ns, (uint64_t)1); /* any time of a clock is later */
	sb_parker_init(&r->parker, SB_PARKING_FUTEX);
	for (uint32_t i = 0; i < readers; i++)
		sb_reader_offline(&r->reader[i]);
	rc = sb_thread_start(&r->thread, -1, sb_domain_help, r);
	if (rc) {
		sb_parker_fini(&r->parker);
		sb_mem_free(r);
		return rc;
	}
	*out = r;
	return 0;
}

void sb_reclaim_destroy(struct sb_reclaim *r)
{
	if (!r)
		return;
	sb_reclaim_barrier(r);
	sb_store_rel(&r->ends, 1);
	sb_reclaim_wake(r);
	sb_thread_join(&r->thread);
	sb_parker_fini(&r->parker);
	sb_mem_free(r);
}
