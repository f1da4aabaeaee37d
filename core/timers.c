/*
 * timers.c - the timers of processes: one wheel for each worker, under a lock
 * that nearly always is its owner's alone.
 *
 * A timer starts in the wheel of the worker that runs its process. Any worker
 * may see to any wheel, and does: its own on every tick, all of them while it
 * searches for work. So a due timer waits for its worker's current step at most
 * while every other worker is in a step, too.
 *
 * Of the workers that sleep one keeps the time: it parks with the earliest
 * deadline of all wheels, the others park without. It looks once more after it
 * has said until when it sleeps, and a worker that has started a timer and goes
 * on to other work looks at that after a fence; so one sees the other, and an
 * earlier timer wakes the timekeeper:
 *
 *   starter                             timekeeper
 *   next = due                          until = deadline
 *   fence                               fence
 *   read until; wake it if later        read next of all; sleep till then
 *
 * A starter that goes to sleep itself looks then: it keeps the time if nobody
 * does, and else it tells the one who does. And a worker that has found work
 * looks whether somebody keeps the time; if not, because it was the one or
 * because a starter relied on its searching, it wakes another who will. That
 * costs a wake for every timer that ends a sleep, and without it a long step
 * would hold up the timers of all while others sleep.
 */
#include "core/internal.h"

/* id of a timer: { worker:12 | index:26 | generation:26 }. */
#define WORKER_SHIFT	52
#define INDEX_SHIFT	26
#define INDEX_MASK	((UINT64_C(1) << 26) - 1)
#define GENERATION_MASK ((UINT64_C(1) << 26) - 1)

#define NOBODY UINT32_MAX

void sb_timers_init(struct sb_timers *timers, struct sb_arena *arena)
{
	sb_lock_init(&timers->lock);
	sb_wheel_init(&timers->wheel, arena, sb_clock_ns());
	sb_store_rlx(&timers->next_ns, SB_WHEEL_NEVER);
}

void sb_timers_clear(struct sb_timers *timers)
{
	struct sb_arena *const arena = timers->wheel.arena;

	sb_wheel_fini(&timers->wheel);
	sb_timers_init(timers, arena);
}

void sb_timers_fini(struct sb_timers *timers)
{
	sb_wheel_fini(&timers->wheel);
}

static void note_next(struct sb_timers *timers)
{
	sb_store_rlx(&timers->next_ns, sb_wheel_next_ns(&timers->wheel));
}

static uint64_t id_of(uint32_t worker, const struct sb_timer *timer)
{
	return (uint64_t)worker << WORKER_SHIFT |
	       (uint64_t)timer->index << INDEX_SHIFT |
	       (timer->generation & GENERATION_MASK);
}

static uint64_t later(uint64_t now, uint64_t ns)
{
	return ns > UINT64_MAX - now ? UINT64_MAX : now + ns;
}

/* ---- start and stop ---- */

/* For a timer of the process that the worker runs; a retry has none. Without
 * memory for it the timer stays, and finds nobody. */
static void remember_last(struct sb_worker *w, uint64_t due, uint64_t id)
{
	struct sb_extra *extra =
		w->running ? sb_extra_of(w->scheduler, w, w->running) : NULL;

	if (extra && due > extra->timer_due_ns) {
		extra->timer_due_ns = due;
		extra->timer_id = id;
	}
}

int sb_timers_start(struct sb_worker *w, const struct sb_timer_spec *spec,
		    uint64_t *id)
{
	struct sb_timers *timers = &w->timers;
	const uint64_t due = later(sb_clock_ns(), spec->delay_ns);
	struct sb_timer *timer;

	sb_lock_acquire(&timers->lock);
	timer = sb_wheel_take(&timers->wheel);
	if (timer) {
		timer->due_ns = due;
		timer->period_ns = spec->period_ns;
		timer->pid = spec->pid;
		timer->tag = spec->tag;
		timer->type = (uint8_t)spec->type;
		*id = id_of(w->id, timer);
		sb_wheel_start(&timers->wheel, timer);
		note_next(timers);
	}
	sb_lock_release(&timers->lock);
	if (!timer)
		return -ENOMEM;
	sb_counter_add(&w->counters.timers_started, 1);
	remember_last(w, due, *id);
	if (SB_UNLIKELY(!sb_load_rlx(&w->scheduler->timekeeper.needed)))
		sb_store_rlx(&w->scheduler->timekeeper.needed, 1);
	w->untold |= SB_UNTOLD_TIMER;
	return 0;
}

void sb_timers_end(struct sb_scheduler *s, struct sb_process *p)
{
	if (p->extra->timer_due_ns)
		(void)sb_timers_stop(s, p->extra->timer_id, p->pid);
}

static struct sb_timer *find_timer(struct sb_timers *timers, uint64_t id,
				   sb_pid pid)
{
	struct sb_timer *timer = sb_wheel_find(
		&timers->wheel, (uint32_t)(id >> INDEX_SHIFT & INDEX_MASK));

	if (!timer || timer->pid != pid ||
	    ((timer->generation ^ id) & GENERATION_MASK))
		return NULL;
	return timer;
}

int sb_timers_stop(struct sb_scheduler *s, uint64_t id, sb_pid pid)
{
	const uint64_t worker = id >> WORKER_SHIFT;
	struct sb_timers *timers;
	struct sb_timer *timer;

	if (worker >= s->workers)
		return -ENOENT;
	timers = &s->worker[worker]->timers;
	sb_lock_acquire(&timers->lock);
	timer = find_timer(timers, id, pid);
	if (timer) {
		sb_wheel_release(&timers->wheel, timer);
		note_next(timers);
	}
	sb_lock_release(&timers->lock);
	return timer ? 0 : -ENOENT;
}

/* ---- firing ---- */

/* What is to be sent, once the lock is released. */
struct fired {
	uint64_t id;
	sb_pid pid;
	uint64_t tag;
	uint64_t periods;
	uint8_t type;
	bool repeats;
};

/* At most so many under one lock. */
#define FIRED_MAX 32

/* Whoever advanced the wheel may have read the clock after this worker, and left
 * timers that are not due by its own time. */
static uint64_t periods_passed(const struct sb_timer *timer, uint64_t now)
{
	if (!timer->period_ns || now < timer->due_ns)
		return 1;
	return 1 + (now - timer->due_ns) / timer->period_ns;
}

/* Frees a timer that has fired, or starts its next period. */
static void wind_up(struct sb_wheel *wheel, struct sb_timer *timer,
		    uint64_t periods)
{
	if (!timer->period_ns) {
		sb_wheel_release(wheel, timer);
		return;
	}
	timer->due_ns += periods * timer->period_ns;
	sb_wheel_start(wheel, timer);
}

static uint32_t take_due(struct sb_timers *timers, uint32_t worker,
			 uint64_t now, struct fired *fired)
{
	struct sb_timer *timer;
	uint32_t n = 0;

	sb_lock_acquire(&timers->lock);
	sb_wheel_advance(&timers->wheel, now);
	while (n < FIRED_MAX && (timer = sb_wheel_pop(&timers->wheel))) {
		const uint64_t periods = periods_passed(timer, now);

		fired[n++] = (struct fired){
			.id = id_of(worker, timer),
			.pid = timer->pid,
			.tag = timer->tag,
			.periods = periods,
			.type = timer->type,
			.repeats = timer->period_ns != 0,
		};
		wind_up(&timers->wheel, timer, periods);
	}
	note_next(timers);
	sb_lock_release(&timers->lock);
	return n;
}

/* Without memory for the event, the same again in a while. */
#define RETRY_NS UINT64_C(1000000)

static void try_again(struct sb_worker *w, const struct fired *fired)
{
	const struct sb_timer_spec spec = { .delay_ns = RETRY_NS,
					    .pid = fired->pid,
					    .tag = fired->tag,
					    .type = fired->type };
	uint64_t id;

	/* It has just freed a timer, so there nearly always is one. */
	(void)sb_timers_start(w, &spec, &id);
}

static void send_fired(struct sb_worker *w, const struct fired *fired)
{
	struct sb_scheduler *s = w->scheduler;
	const union sb_value data = sb_value_u64(
		fired->type == SB_EVENT_TIMER ? fired->periods : 0);
	const int rc =
		sb_route_event(s, w, sb_route_find(s, w, fired->pid),
			       sb_kind(fired->type, 0), fired->tag, data);

	sb_counter_add(&w->counters.timers_fired, 1);
	if (rc == -ESRCH && fired->repeats)
		(void)sb_timers_stop(s, fired->id, fired->pid);
	else if (rc == -ENOMEM && !fired->repeats)
		try_again(w, fired);
}

void sb_timers_run(struct sb_worker *w, struct sb_worker *owner, uint64_t now)
{
	struct fired fired[FIRED_MAX];
	const uint32_t n = take_due(&owner->timers, owner->id, now, fired);

	for (uint32_t i = 0; i < n; i++)
		send_fired(w, &fired[i]);
}

static bool is_due(struct sb_worker *owner, uint64_t now)
{
	return sb_load_rlx(&owner->timers.next_ns) <= now;
}

void sb_timers_run_all(struct sb_worker *w)
{
	struct sb_scheduler *s = w->scheduler;
	uint64_t now;

	if (SB_LIKELY(!sb_load_rlx(&s->timekeeper.needed)))
		return;
	now = sb_clock_ns();
	for (uint32_t i = 0; i < s->workers; i++) {
		if (SB_UNLIKELY(is_due(s->worker[i], now)))
			sb_timers_run(w, s->worker[i], now);
	}
}

/* ---- the timekeeper ---- */

void sb_timekeeper_init(struct sb_timekeeper *keeper)
{
	sb_store_rlx(&keeper->who, NOBODY);
	sb_store_rlx(&keeper->until_ns, SB_WHEEL_NEVER);
}

static uint64_t earliest(struct sb_scheduler *s)
{
	uint64_t first = SB_WHEEL_NEVER;

	for (uint32_t i = 0; i < s->workers; i++)
		first = sb_min_u64(first,
				   sb_load_rlx(&s->worker[i]->timers.next_ns));
	return first;
}

uint64_t sb_timekeeper_begin(struct sb_worker *w)
{
	struct sb_scheduler *s = w->scheduler;
	uint32_t who = NOBODY;
	uint64_t until;

	if (!sb_load_rlx(&s->timekeeper.needed))
		return SB_WHEEL_NEVER;
	if (sb_load_rlx(&s->timekeeper.who) != w->id &&
	    !sb_cas_acq_rel(&s->timekeeper.who, &who, w->id)) {
		sb_timekeeper_tell(w);
		return SB_WHEEL_NEVER;
	}
	until = earliest(s);
	SB_WINDOW();
	sb_store_rlx(&s->timekeeper.until_ns, until);
	sb_fence_store_load(&s->timekeeper.until_ns);
	/* Not later than it has said, even if that timer is gone: whoever starts
	 * one that is due in between relies on it. */
	return sb_min_u64(until, earliest(s));
}

void sb_timekeeper_end(struct sb_worker *w)
{
	struct sb_timekeeper *keeper = &w->scheduler->timekeeper;

	if (sb_load_rlx(&keeper->who) == w->id)
		sb_store_rel(&keeper->who, NOBODY);
}

void sb_timekeeper_tell(struct sb_worker *w)
{
	struct sb_scheduler *s = w->scheduler;
	const uint64_t next = sb_load_rlx(&w->timers.next_ns);
	uint32_t who;

	if (next == SB_WHEEL_NEVER)
		return;
	sb_fence_store_load(&s->timekeeper.until_ns);
	who = sb_load_acq(&s->timekeeper.who);
	if (who == NOBODY)
		sb_route_publish(s, w, w->id); /* one to keep the time */
	else if (sb_load_rlx(&s->timekeeper.until_ns) > next)
		sb_route_unpark(s, w, who);
}

void sb_timekeeper_replace(struct sb_worker *w)
{
	struct sb_scheduler *s = w->scheduler;

	if (SB_LIKELY(!sb_load_rlx(&s->timekeeper.needed)))
		return;
	sb_fence_store_load(&s->timekeeper.until_ns);
	if (sb_load_acq(&s->timekeeper.who) == NOBODY &&
	    earliest(s) != SB_WHEEL_NEVER)
		sb_route_publish(s, w, w->id);
}
