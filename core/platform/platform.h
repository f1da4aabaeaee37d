/*
 * platform.h - the only door of core/ to time, randomness, thread creation,
 * thread yields, parking and waking; clock.h is its part for time. The scheduler's
 * policy code calls nothing else of that kind, so that with SB_VIRTUAL the same
 * files run in virtual time (core/platform/virtual/).
 */
#ifndef SB_CORE_PLATFORM_PLATFORM_H
#define SB_CORE_PLATFORM_PLATFORM_H

#include "core/platform/atomic.h"
#include "core/platform/base.h"
#include "core/platform/clock.h"
#include "core/platform/straight.h"

/* A parker sleeps on one of these. */
enum sb_parking { SB_PARKING_CONDVAR, SB_PARKING_FUTEX };

#if SB_VIRTUAL
#include "core/platform/virtual/threads.h"
#else
#include "core/platform/threads.h"
#endif

/* CPU time of the whole process, all threads, in nanoseconds. Any thread. */
uint64_t sb_clock_process_cpu_ns(void);

/* Of the calling thread. */
uint64_t sb_clock_thread_cpu_ns(void);

/*
 * The counters that the operating system keeps of the calling thread. The thread itself opens, reads
 * and closes a source; a read takes about two microseconds. In virtual time there are no page
 * faults, and switches are not counted.
 */
struct sb_usage {
	uint64_t cpu_ns;
	uint64_t delay_ns; /* ready to run, and without a CPU; SB_USAGE_UNKNOWN */
	uint64_t faults;   /* of pages */
	uint64_t preempted;
	uint64_t gave_up; /* its CPU, to wait for something */
};

struct sb_usage_source {
	int fd;
};

#define SB_USAGE_UNKNOWN UINT64_MAX

void sb_usage_open(struct sb_usage_source *source);
void sb_usage_close(struct sb_usage_source *source);
void sb_usage_read(const struct sb_usage_source *source, struct sb_usage *out);

/*
 * Pseudo-random numbers: xorshift64* (Vigna, "An experimental exploration of
 * Marsaglia's xorshift generators, scrambled", 2016, section 3). One owner.
 */
struct sb_rng {
	uint64_t state;
};

void sb_rng_seed(struct sb_rng *rng, uint64_t seed);

static inline uint64_t sb_rng_next(struct sb_rng *rng)
{
	uint64_t x = rng->state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	rng->state = x;
	return x * UINT64_C(0x2545F4914F6CDD1D);
}

/* Uniform in [0, bound); bound > 0. Lemire's multiply-shift, no division. */
static inline uint32_t sb_rng_below(struct sb_rng *rng, uint32_t bound)
{
	return (uint32_t)(((sb_rng_next(rng) >> 32) * bound) >> 32);
}

/*
 * In threads.h:
 *   void sb_cpu_pause(void)                    tells the processor that this is a spin loop
 *   struct sb_thread_own *sb_thread_own(void)  of the calling thread; all zero when it starts
 * and marks, which are nothing in real time and cost what the machine's model says in
 * virtual time:
 *   sb_straight(kind)        straight code of an operation of straight.def
 *   bool sb_cpu_works(ns)    true: that much time has passed, as busy work; false: do the work
 *   sb_touch(object, bytes)  plain accesses to an object that may lie in another CPU's cache
 */
struct sb_thread_own {
	struct sb_worker *worker; /* which it is, or NULL; see caller.h */
	uint32_t submissions;	  /* under way; see caller.c */
	uint32_t sections;	  /* that it is in, and callbacks that may not wait; see caller.h */
	uint32_t stripe;	  /* a worker's number plus 1, or 0; see reclaim.c */
};

/* Gives the processor to another thread that is ready to run on it. */
void sb_thread_yield(void);

/* Sleeps for about that long; a signal may end it early. */
void sb_thread_sleep(uint64_t ns);

/*
 * A thread, pinned to operating system CPU os_cpu from its first instruction
 * on (os_cpu < 0: not pinned). Returns 0, -EINVAL when that CPU cannot be used,
 * or another -errno of pthread_create. sb_thread_join waits for its end.
 *
 * It blocks all signals but those of a fault (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP,
 * SIGABRT, SIGSYS), so that no handler of the program that embeds the scheduler runs on it.
 * The mask of the calling thread stays as it is.
 */
struct sb_thread;

SB_MUST_CHECK int sb_thread_start(struct sb_thread *thread, int os_cpu, void *(*entry)(void *),
				  void *arg);
void sb_thread_join(struct sb_thread *thread);

/* Threads that start from now on do not block this signal either. The command asks each thread
 * for its stack by SIGQUIT (harness/system/crash.h); the library never calls this. */
void sb_thread_open_signal(int number);

/* Names the calling thread PREFIX-ROLE or, if number >= 0, PREFIX-ROLENUMBER, as top -H and perf show
 * it; the system keeps 15 bytes. */
void sb_thread_name(const char *prefix, const char *role, int number);

/* The operating system's number of the calling thread, by which others may look
 * at it. */
int sb_thread_self_id(void);

/* Whether a thread that has not been joined may run on that CPU and on no
 * other. Any thread. */
bool sb_thread_is_pinned(const struct sb_thread *thread, int os_cpu);

/*
 * Parker: one sleeping place for one thread, over a condition variable or a
 * futex. Both share the word and its orders; only the kernel call differs.
 *
 * The token sticks: an unpark before the park makes that park return at once,
 * and any number of unparks before a park count as one. park may also return
 * without a token (spurious), so callers look again for what they wait for.
 *
 *   state     EMPTY --park--> PARKED --unpark--> NOTIFIED --park returns--> EMPTY
 *             EMPTY --unpark--> NOTIFIED
 *
 * Everything before an unpark happens before the return of the park that takes
 * its token (release by unpark's exchange, acquire by park's).
 *
 * sb_park: only the owning thread. sb_unpark: any thread; it makes a system
 * call only when the owner is PARKED.
 */
struct sb_parker;

void sb_parker_init(struct sb_parker *parker, enum sb_parking parking);
void sb_parker_fini(struct sb_parker *parker);

/* Until there is a token, or sb_clock_ns() >= deadline_ns (UINT64_MAX: never). */
void sb_park(struct sb_parker *parker, uint64_t deadline_ns);
void sb_unpark(struct sb_parker *parker);

/*
 * Gate: any number of threads wait until some thread says that a condition may
 * have changed. sb_gate_wait returns true when done(arg) is true, false when
 * timeout_ns has passed first (UINT64_MAX: never). done is called under the
 * gate's lock; sb_gate_notify takes it, so no change goes unseen.
 */
struct sb_gate;

void sb_gate_init(struct sb_gate *gate);
void sb_gate_fini(struct sb_gate *gate);
void sb_gate_notify(struct sb_gate *gate);

/* For a condition that is not atomic: change it between these two. */
void sb_gate_lock(struct sb_gate *gate);
void sb_gate_notify_and_unlock(struct sb_gate *gate);

bool sb_gate_wait(struct sb_gate *gate, bool (*done)(void *), void *arg, uint64_t timeout_ns);

/*
 * The expensive half of an asymmetric pair of full fences: when it returns,
 * every thread of the program has passed a full fence since the call, if it
 * runs (membarrier(2), private expedited). It costs some microseconds, and an
 * interrupt of each processor that runs a thread of the program.
 *
 * sb_fence_heavy_works: false where the kernel refuses it. Then nobody may rely
 * on sb_fence_light(). Any thread; the first call asks the kernel.
 */
void sb_fence_heavy(void);
bool sb_fence_heavy_works(void);

/*
 * Lock for a short section, in which memory may be allocated: a thread that waits
 * spins, then yields the thread so that a preempted holder can finish, and
 * then sleeps for growing times, so that it neither takes the processor from
 * the holder nor waits for one of lower priority for ever. Nobody is woken, and
 * nothing that may wait for long for another thread is called, while it is held.
 */
struct sb_lock {
	_Atomic(uint32_t) held;
};

static inline void sb_lock_init(struct sb_lock *lock)
{
	sb_store_rlx(&lock->held, 0);
}

void sb_lock_contended(struct sb_lock *lock);

/* A macro, so that the profile of waiting of virtual time names the caller. */
#define sb_lock_acquire(lock)                                                                      \
	((void)(SB_UNLIKELY(sb_xchg_acq(&(lock)->held, 1)) ? sb_lock_contended(lock) : (void)0))

static inline void sb_lock_release(struct sb_lock *lock)
{
	sb_store_rel(&lock->held, 0);
}

#endif
