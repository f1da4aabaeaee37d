/*
 * threads.c - platform.h's threads, parkers, gates and fences in virtual time, and the
 * clock of core/platform/clock.h.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "core/platform/platform.h"

#define PS_PER_NS 1000

/* When a run begins, by its own clock: no time is 0. */
#define START_NS UINT64_C(1000000000)

static_assert(sizeof(struct sb_thread_own) <= SB_VIRTUAL_OWN, "it has room");

/* ---- time ---- */

static uint64_t as_deadline(uint64_t ns)
{
	if (ns == UINT64_MAX)
		return UINT64_MAX;
	return ns > START_NS ? sb_min_u64(ns - START_NS, UINT64_MAX / PS_PER_NS / 2) * PS_PER_NS
			     : 0;
}

uint64_t sb_clock_kernel_ns(void)
{
	return START_NS + sb_virtual_now_ps() / PS_PER_NS;
}

uint64_t sb_clock_process_cpu_ns(void)
{
	return sb_virtual_all_cpus_ps() / PS_PER_NS;
}

uint64_t sb_clock_thread_cpu_ns(void)
{
	return sb_virtual_cpu_ps() / PS_PER_NS;
}

void sb_usage_open(struct sb_usage_source *source)
{
	source->fd = -1;
}

void sb_usage_close(struct sb_usage_source *source)
{
	(void)source;
}

void sb_usage_read(const struct sb_usage_source *source, struct sb_usage *out)
{
	(void)source;
	*out = (struct sb_usage){ .cpu_ns = sb_clock_thread_cpu_ns(),
				  .delay_ns = SB_USAGE_UNKNOWN };
}

void sb_clock_describe(struct sb_clock_info *info)
{
	*info = (struct sb_clock_info){ .source = "virtual",
					.hz = NAN,
					.error_ppm = NAN,
					.offset_ns = 0,
					.offset_bound_ns = 0 };
	snprintf(info->reason, sizeof(info->reason), "this is virtual time");
}

int sb_clock_calibrate(const int *cpu, uint32_t cpus, struct sb_clock_info *info)
{
	(void)cpu;
	(void)cpus;
	if (info)
		sb_clock_describe(info);
	return -ENOTSUP;
}

double sb_clock_drift_ppm(void)
{
	return NAN;
}

struct sb_clock_cost sb_clock_cost(uint64_t (*read_ns)(void))
{
	(void)read_ns;
	return (struct sb_clock_cost){
		.read_ns = (double)sb_virtual_costs()->clock_read_ps / PS_PER_NS, .step_ns = 1
	};
}

/* It cannot be switched. */
void sb_clock_hold(void)
{
}

void sb_clock_release(void)
{
}

/* ---- threads ---- */

void sb_thread_yield(void)
{
	sb_virtual_yield();
}

void sb_thread_sleep(uint64_t ns)
{
	sb_virtual_wait(NULL, as_deadline(sb_clock_ns() + ns));
}

int sb_thread_start(struct sb_thread *thread, int os_cpu, void *(*entry)(void *), void *arg)
{
	if (os_cpu >= (int)sb_virtual_cpus())
		return -EINVAL;
	thread->handle = sb_virtual_start(os_cpu, entry, arg);
	return thread->handle ? 0 : -EAGAIN;
}

void sb_thread_join(struct sb_thread *thread)
{
	sb_virtual_join(thread->handle);
}

void sb_thread_name(const char *prefix, const char *role, int number)
{
	(void)prefix;
	(void)role;
	(void)number;
}

int sb_thread_self_id(void)
{
	return (int)sb_virtual_self();
}

bool sb_thread_is_pinned(const struct sb_thread *thread, int os_cpu)
{
	return sb_virtual_is_pinned(thread->handle, os_cpu);
}

/* ---- parker ---- */

enum parker_state { EMPTY, PARKED, NOTIFIED };

void sb_parker_init(struct sb_parker *parker, enum sb_parking parking)
{
	*parker = (struct sb_parker){ .parking = parking };
}

void sb_parker_fini(struct sb_parker *parker)
{
	(void)parker;
}

/* Nobody runs between the look at the state and the wait. */
void sb_park(struct sb_parker *parker, uint64_t deadline_ns)
{
	uint32_t expected = EMPTY;

	if (sb_cas_acq_rel(&parker->state, &expected, PARKED)) {
		while (parker->state == PARKED &&
		       sb_virtual_wait(&parker->waiting, as_deadline(deadline_ns)))
			;
	}
	sb_xchg_acq(&parker->state, EMPTY);
}

void sb_unpark(struct sb_parker *parker)
{
	if (sb_xchg_acq_rel(&parker->state, NOTIFIED) == PARKED)
		sb_virtual_wake(&parker->waiting);
}

/* ---- gate ---- */

void sb_gate_init(struct sb_gate *gate)
{
	*gate = (struct sb_gate){ .is_locked = false };
}

void sb_gate_fini(struct sb_gate *gate)
{
	(void)gate;
}

void sb_gate_lock(struct sb_gate *gate)
{
	sb_virtual_access(gate, SB_ACCESS_RMW, SB_SITE());
	sb_virtual_drain();
	while (gate->is_locked)
		sb_virtual_wait(&gate->locking, UINT64_MAX);
	gate->is_locked = true;
}

static void unlock(struct sb_gate *gate)
{
	gate->is_locked = false;
	sb_virtual_wake(&gate->locking);
}

void sb_gate_notify_and_unlock(struct sb_gate *gate)
{
	while (sb_virtual_wake(&gate->waiting))
		;
	unlock(gate);
}

void sb_gate_notify(struct sb_gate *gate)
{
	sb_gate_lock(gate);
	sb_gate_notify_and_unlock(gate);
}

/* Nobody runs between done's answer and the wait: the lock is given back without a
 * switch, or there would be one between the two. */
static bool wait_unlocked(struct sb_gate *gate, uint64_t end_ns)
{
	bool in_time;

	gate->is_locked = false;
	sb_virtual_wake_quietly(&gate->locking);
	in_time = sb_virtual_wait(&gate->waiting, as_deadline(end_ns));
	sb_gate_lock(gate);
	return in_time;
}

bool sb_gate_wait(struct sb_gate *gate, bool (*done)(void *), void *arg, uint64_t timeout_ns)
{
	const uint64_t now = sb_clock_ns();
	const uint64_t end_ns = timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
	bool in_time = true;
	bool ok;

	sb_gate_lock(gate);
	while (!(ok = done(arg)) && in_time)
		in_time = wait_unlocked(gate, end_ns);
	unlock(gate);
	return ok;
}

/* ---- asymmetric fences ---- */

bool sb_fence_heavy_works(void)
{
	return true;
}

void sb_fence_heavy(void)
{
	if (sb_virtual_delays_stores)
		sb_virtual_drain_all();
	sb_virtual_charge(sb_virtual_costs()->heavy_fence_ps);
}
