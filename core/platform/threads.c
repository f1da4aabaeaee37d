#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/platform/platform.h"

#define NS_PER_S UINT64_C(1000000000)

_Thread_local struct sb_thread_own sb_thread_own_data;

static uint64_t read_clock(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

static struct timespec as_timespec(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / NS_PER_S),
				  .tv_nsec = (long)(ns % NS_PER_S) };
}

uint64_t sb_clock_process_cpu_ns(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t sb_clock_thread_cpu_ns(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

/* ---- usage ---- */

void sb_usage_open(struct sb_usage_source *source)
{
	source->fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
}

void sb_usage_close(struct sb_usage_source *source)
{
	if (source->fd >= 0)
		close(source->fd);
}

/* The second of three numbers: time with a CPU, time waiting for one, times that it got one. */
static uint64_t read_delay(int fd)
{
	char text[80];
	const ssize_t bytes = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);
	char *rest;

	if (bytes <= 0)
		return SB_USAGE_UNKNOWN;
	text[bytes] = '\0';
	(void)strtoull(text, &rest, 10);
	return strtoull(rest, NULL, 10);
}

void sb_usage_read(const struct sb_usage_source *source, struct sb_usage *out)
{
	struct rusage counts = { .ru_minflt = 0 };

	(void)getrusage(RUSAGE_THREAD, &counts);
	*out = (struct sb_usage){ .cpu_ns = sb_clock_thread_cpu_ns(),
				  .delay_ns = read_delay(source->fd),
				  .faults = (uint64_t)counts.ru_minflt + (uint64_t)counts.ru_majflt,
				  .preempted = (uint64_t)counts.ru_nivcsw,
				  .gave_up = (uint64_t)counts.ru_nvcsw };
}

/* ---- threads ---- */

void sb_thread_yield(void)
{
	sched_yield();
}

void sb_thread_sleep(uint64_t ns)
{
	const struct timespec time = as_timespec(ns);

	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

/* The kernel wants room for all CPUs that it is built for. */
#define CPU_SETS 16

static _Atomic(int32_t) open_signal;

void sb_thread_open_signal(int number)
{
	sb_store_rlx(&open_signal, number);
}

/* A fault that is blocked ends the program, whatever handles it. */
static int block_signals(pthread_attr_t *attr)
{
	const int passes[] = { SIGSEGV, SIGBUS,	 SIGFPE, SIGILL,
			       SIGTRAP, SIGABRT, SIGSYS, sb_load_rlx(&open_signal) };
	sigset_t blocked;

	sigfillset(&blocked);
	for (size_t i = 0; i < SB_ARRAY_SIZE(passes); i++)
		(void)sigdelset(&blocked, passes[i]);
	return pthread_attr_setsigmask_np(attr, &blocked);
}

static int pin(pthread_attr_t *attr, int os_cpu)
{
	const size_t size = CPU_ALLOC_SIZE(os_cpu + 1);
	cpu_set_t *set = CPU_ALLOC(os_cpu + 1);
	int rc;

	if (!set)
		return ENOMEM;
	CPU_ZERO_S(size, set);
	CPU_SET_S(os_cpu, size, set);
	rc = pthread_attr_setaffinity_np(attr, size, set);
	CPU_FREE(set);
	return rc;
}

int sb_thread_start(struct sb_thread *thread, int os_cpu, void *(*entry)(void *), void *arg)
{
	pthread_attr_t attr;
	int rc;

	if (os_cpu >= CPU_SETS * CPU_SETSIZE)
		return -EINVAL;
	rc = pthread_attr_init(&attr);
	if (rc)
		return -rc;
	rc = block_signals(&attr);
	if (!rc && os_cpu >= 0)
		rc = pin(&attr, os_cpu);
	if (!rc)
		rc = pthread_create(&thread->handle, &attr, entry, arg);
	pthread_attr_destroy(&attr);
	return -rc;
}

void sb_thread_join(struct sb_thread *thread)
{
	pthread_join(thread->handle, NULL);
}

void sb_thread_name(const char *prefix, const char *role, int number)
{
	char name[16];

	snprintf(name, sizeof(name), number < 0 ? "%s-%s" : "%s-%s%d", prefix, role, number);
	(void)pthread_setname_np(pthread_self(), name);
}

int sb_thread_self_id(void)
{
	return gettid();
}

bool sb_thread_is_pinned(const struct sb_thread *thread, int os_cpu)
{
	cpu_set_t set[CPU_SETS];

	return os_cpu >= 0 && !pthread_getaffinity_np(thread->handle, sizeof(set), set) &&
	       CPU_ISSET_S((size_t)os_cpu, sizeof(set), set) && CPU_COUNT_S(sizeof(set), set) == 1;
}

/*
 * ---- parker ----
 * With a condition variable, the waiter decides to sleep with a CAS made under
 * the mutex. A waker that sees PARKED takes and drops the mutex before it
 * signals, so it cannot signal between that CAS and the wait:
 *
 *   owner                               waker
 *   lock; EMPTY -> PARKED
 *                                       NOTIFIED (was PARKED)
 *                                       lock ... blocks until the wait
 *   cond_wait (drops the mutex)
 *                                       unlock; signal
 */
enum parker_state { EMPTY, PARKED, NOTIFIED };

static void init_monotonic(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

void sb_parker_init(struct sb_parker *parker, enum sb_parking parking)
{
	sb_store_rlx(&parker->state, EMPTY);
	parker->parking = parking;
	pthread_mutex_init(&parker->mutex, NULL);
	init_monotonic(&parker->cond);
}

void sb_parker_fini(struct sb_parker *parker)
{
	pthread_cond_destroy(&parker->cond);
	pthread_mutex_destroy(&parker->mutex);
}

/* A wait longer than that ends early by a share of it, and the rest is waited
 * for anew. */
#define LONG_WAIT_NS	UINT64_C(100000000)
#define EARLY_SHIFT	10
/* So that no sum overflows; then the wait goes on. */
#define LONGEST_WAIT_NS (UINT64_C(1) << 60)

/*
 * When the kernel is to wake a thread that waits until deadline_ns by
 * sb_clock_ns, by its own clock. False: the deadline has passed.
 *
 * The two clocks run apart, by up to 500 ppm (see clock.h), so what is left is
 * counted from now on, and a woken thread asks again:
 *   the kernel's clock is fast   the thread is woken too early, here it is seen
 *                                that something is left, and it waits for that;
 *                                of an hour 2 s, then 1 ms, then nothing
 *   it is slow                   the thread would be woken too late, an hour
 *                                by 2 s. So a long wait is cut short by twice
 *                                as much as the clocks can run apart, and ends
 *                                up in the case above. Of less than a long
 *                                wait it is at most 50 us, as much as the
 *                                kernel's own slack.
 * No wait ends before its deadline by sb_clock_ns.
 */
static bool until_when(uint64_t deadline_ns, struct timespec *until)
{
	const uint64_t now = sb_clock_ns();
	uint64_t left;

	if (now >= deadline_ns)
		return false;
	left = sb_min_u64(deadline_ns - now, LONGEST_WAIT_NS);
	if (left > LONG_WAIT_NS)
		left -= left >> EARLY_SHIFT;
	*until = as_timespec(sb_clock_kernel_ns() + left);
	return true;
}

/* False: the deadline has passed. True says nothing. */
static bool wait_on(pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t deadline_ns)
{
	struct timespec until;

	if (deadline_ns == UINT64_MAX) {
		pthread_cond_wait(cond, mutex);
		return true;
	}
	if (!until_when(deadline_ns, &until))
		return false;
	pthread_cond_timedwait(cond, mutex, &until);
	return true;
}

static void wait_condvar(struct sb_parker *parker, uint64_t deadline_ns)
{
	uint32_t expected = EMPTY;

	pthread_mutex_lock(&parker->mutex);
	if (sb_cas_acq_rel(&parker->state, &expected, PARKED)) {
		while (sb_load_rlx(&parker->state) == PARKED &&
		       wait_on(&parker->cond, &parker->mutex, deadline_ns))
			;
	}
	pthread_mutex_unlock(&parker->mutex);
}

static void wake_condvar(struct sb_parker *parker)
{
	pthread_mutex_lock(&parker->mutex);
	pthread_mutex_unlock(&parker->mutex);
	pthread_cond_signal(&parker->cond);
}

/*
 * The kernel compares the word with PARKED and sleeps in one step, so a wake
 * between our CAS and the call makes the call return at once.
 */
static void wait_futex(struct sb_parker *parker, uint64_t deadline_ns)
{
	const bool is_timed = deadline_ns != UINT64_MAX;
	struct timespec until;
	uint32_t expected = EMPTY;

	if (!sb_cas_acq_rel(&parker->state, &expected, PARKED))
		return;
	/* The bitset form takes an absolute time of the monotonic clock. */
	while (sb_load_rlx(&parker->state) == PARKED &&
	       (!is_timed || until_when(deadline_ns, &until)))
		syscall(SYS_futex, &parker->state, FUTEX_WAIT_BITSET_PRIVATE, PARKED,
			is_timed ? &until : NULL, NULL, FUTEX_BITSET_MATCH_ANY);
}

static void wake_futex(struct sb_parker *parker)
{
	syscall(SYS_futex, &parker->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void sb_park(struct sb_parker *parker, uint64_t deadline_ns)
{
	if (sb_load_rlx(&parker->state) == EMPTY) {
		if (parker->parking == SB_PARKING_FUTEX)
			wait_futex(parker, deadline_ns);
		else
			wait_condvar(parker, deadline_ns);
	}
	/* An exchange, to synchronize with the latest of several unparks. */
	sb_xchg_acq(&parker->state, EMPTY);
}

void sb_unpark(struct sb_parker *parker)
{
	if (sb_xchg_acq_rel(&parker->state, NOTIFIED) != PARKED)
		return;
	if (parker->parking == SB_PARKING_FUTEX)
		wake_futex(parker);
	else
		wake_condvar(parker);
}

/* ---- gate ---- */

void sb_gate_init(struct sb_gate *gate)
{
	pthread_mutex_init(&gate->mutex, NULL);
	init_monotonic(&gate->cond);
}

void sb_gate_fini(struct sb_gate *gate)
{
	pthread_cond_destroy(&gate->cond);
	pthread_mutex_destroy(&gate->mutex);
}

void sb_gate_lock(struct sb_gate *gate)
{
	pthread_mutex_lock(&gate->mutex);
}

void sb_gate_notify_and_unlock(struct sb_gate *gate)
{
	pthread_cond_broadcast(&gate->cond);
	pthread_mutex_unlock(&gate->mutex);
}

void sb_gate_notify(struct sb_gate *gate)
{
	sb_gate_lock(gate);
	sb_gate_notify_and_unlock(gate);
}

bool sb_gate_wait(struct sb_gate *gate, bool (*done)(void *), void *arg, uint64_t timeout_ns)
{
	const uint64_t now = sb_clock_ns();
	const uint64_t end = timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
	bool ok;

	pthread_mutex_lock(&gate->mutex);
	while (!(ok = done(arg)) && wait_on(&gate->cond, &gate->mutex, end))
		;
	pthread_mutex_unlock(&gate->mutex);
	return ok;
}

/* ---- asymmetric fences ---- */

enum heavy_fence { UNKNOWN, WORKS, MISSING };

static _Atomic(uint32_t) heavy_fence;

static long membarrier(int command)
{
	return syscall(SYS_membarrier, command, 0, 0);
}

/* Registering twice is harmless. */
bool sb_fence_heavy_works(void)
{
	uint32_t known = sb_load_rlx(&heavy_fence);

	if (known == UNKNOWN) {
		known = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) ? MISSING : WORKS;
		sb_store_rlx(&heavy_fence, known);
	}
	return known == WORKS;
}

void sb_fence_heavy(void)
{
	SB_CHECK(membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED), ==, 0);
}
