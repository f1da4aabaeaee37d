/*
 * timers.c - the timers of processes: one wheel for each worker, under a lock
 * that nearly always is its owner's alone.
 *
 * A timer starts in the wheel of the worker that runs its process. Any worker
 * may see to any wheel, and does: its own on every tick, all of them while it
 * searches for work. So a due timer waits for its worker's current step at most
 * while every other worker is in a step, too.
 *
 * All timers of a process end with it: it keeps their ids, and the worker that
 * runs it is the only one to touch these. An id whose timer has fired or been
 * stopped stays until the array is full. Then such ids are dropped, and the array
 * is doubled only if more than half of them remain. So a start costs O(1) on
 * average, and a process that sleeps again and again needs no more memory.
 *
 * Memory for the wheel is allocated and freed without its lock.
 */
#include "core/timers/timers.h"

#include <errno.h>
#include <string.h>

#include "core/message/caller.h"
#include "core/message/mailbox.h"
#include "core/state.h"
#include "core/timers/wheel.h"
#include "core/wake/publish.h"

/* id of a timer: { worker:12 | index:26 | generation:26 }. */
#define WORKER_SHIFT	52
#define INDEX_SHIFT	26
#define INDEX_MASK	((UINT64_C(1) << 26) - 1)
#define GENERATION_MASK ((UINT64_C(1) << 26) - 1)

void sb_timers_init(struct sb_timers *timers, struct sb_arena *arena)
{
	sb_lock_init(&timers->lock);
	sb_wheel_init(&timers->wheel, arena, sb_clock_ns());
	sb_store_rlx(&timers->next_ns, SB_WHEEL_NEVER);
}

void sb_timers_fini(struct sb_timers *timers)
{
	sb_wheel_fini(&timers->wheel);
}

/* Whatever has been done to the wheel under the lock. */
static void unlock(struct sb_timers *timers)
{
	struct sb_wheel_chunk *surplus = sb_wheel_take_surplus(&timers->wheel);

	sb_store_rlx(&timers->next_ns, sb_wheel_next_ns(&timers->wheel));
	sb_lock_release(&timers->lock);
	sb_wheel_chunks_free(surplus);
}

static uint64_t id_of(uint32_t worker, const struct sb_timer *timer)
{
	return (uint64_t)worker << WORKER_SHIFT | (uint64_t)timer->index << INDEX_SHIFT |
	       (timer->generation & GENERATION_MASK);
}

static uint64_t later(uint64_t now, uint64_t ns)
{
	return ns > UINT64_MAX - now ? UINT64_MAX : now + ns;
}

/* Under the lock. NULL: no pending timer of process pid has this id. */
static struct sb_timer *find_timer(struct sb_timers *timers, uint64_t id, sb_pid pid)
{
	struct sb_timer *timer =
		sb_wheel_find(&timers->wheel, (uint32_t)(id >> INDEX_SHIFT & INDEX_MASK));

	if (!timer || timer->pid != pid || ((timer->generation ^ id) & GENERATION_MASK))
		return NULL;
	return timer;
}

/* ---- the timers of one process ---- */

#define IDS_MIN 4

/* At most so many look-ups under one lock. */
#define RUN_MAX 32

/* How many of the first ids name timers of the same wheel, up to RUN_MAX. */
static uint32_t run_of(const uint64_t *id, uint32_t n)
{
	uint32_t i = 1;

	while (i < n && i < RUN_MAX && id[i] >> WORKER_SHIFT == id[0] >> WORKER_SHIFT)
		i++;
	return i;
}

static struct sb_timers *timers_of(struct sb_scheduler *s, uint64_t id)
{
	return &s->worker[id >> WORKER_SHIFT]->timers;
}

/* Stops n timers of one wheel. Returns how many were pending. */
static uint32_t stop_run(struct sb_timers *timers, const uint64_t *id, uint32_t n, sb_pid pid)
{
	uint32_t stopped = 0;

	sb_lock_acquire(&timers->lock);
	for (uint32_t i = 0; i < n; i++) {
		struct sb_timer *timer = find_timer(timers, id[i], pid);

		if (!timer)
			continue;
		sb_wheel_release(&timers->wheel, timer);
		stopped++;
	}
	unlock(timers);
	return stopped;
}

/* Copies the ids of those of n timers of one wheel that are pending; to may be
 * before id in the same array. Returns how many. */
static uint32_t keep_pending(struct sb_timers *timers, const uint64_t *id, uint32_t n, sb_pid pid,
			     uint64_t *to)
{
	uint32_t kept = 0;

	sb_lock_acquire(&timers->lock);
	for (uint32_t i = 0; i < n; i++) {
		if (find_timer(timers, id[i], pid))
			to[kept++] = id[i];
	}
	sb_lock_release(&timers->lock);
	return kept;
}

static void drop_ended(struct sb_scheduler *s, struct sb_extra *extra, sb_pid pid)
{
	uint32_t kept = 0;
	uint32_t n;

	for (uint32_t i = 0; i < extra->timers; i += n) {
		const uint64_t *id = &extra->timer_id[i];

		n = run_of(id, extra->timers - i);
		kept += keep_pending(timers_of(s, *id), id, n, pid, &extra->timer_id[kept]);
	}
	extra->timers = kept;
}

/* Without memory for it the array stays as it is. */
static void resize(struct sb_worker *w, struct sb_extra *extra, uint32_t room)
{
	const size_t bytes = extra->timer_room * sizeof(*extra->timer_id);
	uint64_t *id = sb_object_alloc(w->scheduler, w, room * sizeof(*id));

	if (!id)
		return;
	if (bytes) {
		memcpy(id, extra->timer_id, extra->timers * sizeof(*id));
		sb_object_free(w->scheduler, w, extra->timer_id, bytes);
	}
	extra->timer_id = id;
	extra->timer_room = room;
}

/* For the id of one more timer of the process that the worker runs. */
static bool make_room(struct sb_worker *w, struct sb_extra *extra)
{
	const uint32_t room = extra->timer_room;

	if (SB_LIKELY(extra->timers < room))
		return true;
	drop_ended(w->scheduler, extra, w->running->pid);
	if (!room)
		resize(w, extra, IDS_MIN);
	else if (extra->timers > room / 2)
		resize(w, extra, 2 * room);
	else if (extra->timers < room / 8)
		resize(w, extra, room / 2);
	return extra->timers < extra->timer_room;
}

void sb_timers_end(struct sb_scheduler *s, struct sb_worker *w, struct sb_process *p)
{
	struct sb_extra *extra = p->extra;
	uint32_t n;

	if (!extra->timer_id)
		return;
	for (uint32_t i = 0; i < extra->timers; i += n) {
		const uint64_t *id = &extra->timer_id[i];

		n = run_of(id, extra->timers - i);
		(void)stop_run(timers_of(s, *id), id, n, p->pid);
	}
	sb_object_free(s, w, extra->timer_id, extra->timer_room * sizeof(*extra->timer_id));
}

/* ---- start and stop ---- */

/* A free timer of the wheel. Under the lock, which is not held while memory is
 * allocated. */
static struct sb_timer *take(struct sb_timers *timers)
{
	struct sb_timer *timer = sb_wheel_take_free(&timers->wheel);
	struct sb_wheel_chunk *chunk;

	if (SB_LIKELY(timer))
		return timer;
	sb_lock_release(&timers->lock);
	chunk = sb_wheel_chunk_create(timers->wheel.arena);
	sb_lock_acquire(&timers->lock);
	sb_wheel_add(&timers->wheel, chunk);
	return sb_wheel_take_free(&timers->wheel);
}

int sb_timers_start(struct sb_worker *w, const struct sb_timer_spec *spec, uint64_t *id)
{
	struct sb_extra *extra = sb_extra_of(w->scheduler, w, w->running);
	const uint64_t due = later(sb_clock_ns(), spec->delay_ns);
	struct sb_timers *timers = &w->timers;
	struct sb_timer *timer;

	if (!extra || !make_room(w, extra))
		return -ENOMEM;
	sb_lock_acquire(&timers->lock);
	timer = take(timers);
	if (timer) {
		timer->due_ns = due;
		timer->period_ns = spec->period_ns;
		timer->pid = spec->pid;
		timer->start_ns = w->running->start_ns;
		timer->tag = spec->tag;
		timer->missed = 0;
		timer->is_queued = false;
		timer->type = (uint8_t)spec->type;
		*id = id_of(w->id, timer);
		sb_wheel_start(&timers->wheel, timer);
	}
	unlock(timers);
	if (!timer)
		return -ENOMEM;
	extra->timer_id[extra->timers++] = *id;
	sb_counter_add(&w->counters.timers_started, 1);
	if (SB_UNLIKELY(!sb_load_rlx(&w->scheduler->timekeeper.needed)))
		sb_store_rlx(&w->scheduler->timekeeper.needed, 1);
	w->untold.what |= SB_UNTOLD_TIMER;
	return 0;
}

int sb_timers_stop(struct sb_scheduler *s, uint64_t id, sb_pid pid)
{
	if (id >> WORKER_SHIFT >= s->workers)
		return -ENOENT;
	return stop_run(timers_of(s, id), &id, 1, pid) ? 0 : -ENOENT;
}

uint64_t sb_timers_take_missed(struct sb_scheduler *s, uint64_t id, const struct sb_process *p)
{
	struct sb_timers *timers = timers_of(s, id);
	struct sb_timer *timer;
	uint64_t missed = 0;

	sb_lock_acquire(&timers->lock);
	timer = find_timer(timers, id, p->pid);
	if (timer) { /* it has not been stopped */
		missed = timer->missed;
		timer->missed = 0;
		timer->is_queued = false;
	}
	sb_lock_release(&timers->lock);
	return missed;
}

/* ---- firing ---- */

/* The event to send once the lock is released. */
struct fired {
	struct sb_timer *timer; /* fires once; NULL: it has been restarted */
	uint64_t id;
	sb_pid pid;
	uint64_t start_ns;
	uint64_t tag;
	uint64_t periods;
	uint8_t type;
	bool sent; /* or there is nobody to send it to */
};

/* At most so many under one lock. */
#define FIRED_MAX 32

/* Without memory for the event, the same again in a while. */
#define RETRY_NS UINT64_C(1000000)

/* The worker that advanced the wheel may have read the clock after this worker, and left
 * timers that are not due by its own time. */
static uint64_t periods_passed(const struct sb_timer *timer, uint64_t now)
{
	if (!timer->period_ns || now < timer->due_ns)
		return 1;
	return 1 + (now - timer->due_ns) / timer->period_ns;
}

/* Starts the next period, or keeps a timer that fires once from being stopped
 * until its event has been sent. */
static struct sb_timer *wind_up(struct sb_wheel *wheel, struct sb_timer *timer, uint64_t periods)
{
	if (!timer->period_ns) {
		timer->pid = 0;
		return timer;
	}
	timer->due_ns += periods * timer->period_ns;
	sb_wheel_start(wheel, timer);
	return NULL;
}

/*
 * A ticker has one tick queued at most. The periods that pass until its process gets that
 * one are added to it, so a process that is slower than its ticker has no queue of ticks.
 */
static bool adds_to_queued(struct sb_timer *timer, uint64_t periods)
{
	const bool was_queued = timer->is_queued;

	timer->is_queued = timer->period_ns;
	if (was_queued)
		timer->missed += periods;
	return was_queued;
}

static uint32_t take_due(struct sb_timers *timers, uint32_t worker, uint64_t now,
			 struct fired *fired)
{
	struct sb_timer *timer;
	uint32_t n = 0;

	sb_lock_acquire(&timers->lock);
	sb_wheel_advance(&timers->wheel, now);
	for (int i = 0; i < FIRED_MAX && (timer = sb_wheel_pop(&timers->wheel)); i++) {
		const uint64_t periods = periods_passed(timer, now);

		if (adds_to_queued(timer, periods)) {
			(void)wind_up(&timers->wheel, timer, periods);
			continue;
		}
		fired[n] = (struct fired){
			.id = id_of(worker, timer),
			.pid = timer->pid,
			.start_ns = timer->start_ns,
			.tag = timer->tag,
			.periods = periods,
			.type = timer->type,
		};
		fired[n++].timer = wind_up(&timers->wheel, timer, periods);
	}
	unlock(timers);
	return n;
}

static void send_fired(struct sb_worker *w, struct fired *fired)
{
	struct sb_scheduler *s = w->scheduler;
	const struct sb_event event = {
		.type = fired->type,
		.tag = fired->tag,
		.data.u64 = fired->type == SB_EVENT_BUILTIN ? 0 : fired->periods,
	};
	struct sb_process *p = sb_route_find(s, w, fired->pid);
	int rc;

	/* Its process may have ended since the timer fired, and another one have its PID. */
	if (p && p->start_ns != fired->start_ns)
		p = NULL;
	rc = sb_route_timer(s, w, p, &event, fired->id);
	fired->sent = rc != -ENOMEM;
	if (fired->sent)
		sb_counter_add(&w->counters.timers_fired, 1);
	if (rc == -ESRCH && !fired->timer)
		(void)sb_timers_stop(s, fired->id, fired->pid);
}

/* There was no memory for the tick; the periods go into the next one. */
static void put_tick_back(struct sb_timers *timers, const struct fired *fired)
{
	struct sb_timer *timer = find_timer(timers, fired->id, fired->pid);

	if (!timer)
		return;
	timer->is_queued = false;
	timer->missed += fired->periods;
}

/*
 * Frees the timers that fire once. One whose event could not be sent is started
 * again under its id, so its process can stop it; if that has ended, or has dropped
 * the id meanwhile, it is freed when it finds nobody.
 */
static void end_fired(struct sb_timers *timers, const struct fired *fired, uint32_t n, uint64_t now)
{
	sb_lock_acquire(&timers->lock);
	for (uint32_t i = 0; i < n; i++) {
		struct sb_timer *timer = fired[i].timer;

		if (!timer) {
			if (!fired[i].sent)
				put_tick_back(timers, &fired[i]);
			continue;
		}
		if (SB_LIKELY(fired[i].sent)) {
			sb_wheel_release(&timers->wheel, timer);
			continue;
		}
		timer->pid = fired[i].pid;
		timer->due_ns = later(now, RETRY_NS);
		sb_wheel_start(&timers->wheel, timer);
	}
	unlock(timers);
}

void sb_timers_run(struct sb_worker *w, struct sb_worker *owner, uint64_t now)
{
	struct fired fired[FIRED_MAX];
	const uint32_t n = take_due(&owner->timers, owner->id, now, fired);

	for (uint32_t i = 0; i < n; i++)
		send_fired(w, &fired[i]);
	if (n)
		end_fired(&owner->timers, fired, n, now);
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
