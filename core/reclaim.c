#include "core/reclaim.h"

#include <pthread.h>
#include <time.h>
#include <urcu/urcu-qsbr.h>

#include "core/atomic.h"
#include "core/platform.h"

/* Stands for the grace periods in the happens-before graph. */
static char domain;

#if SB_TSAN
#include <sanitizer/tsan_interface.h>

void sb_rcu_tsan_release(const void *address)
{
	__tsan_release((void *)(uintptr_t)address);
}

void sb_rcu_tsan_acquire(const void *address)
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
void sb_rcu_tsan_release(const void *address)
{
	(void)address;
}

void sb_rcu_tsan_acquire(const void *address)
{
	(void)address;
}
#endif

static _Thread_local bool is_worker;

void sb_rcu_worker_register(void)
{
	is_worker = true;
	urcu_qsbr_register_thread();
}

void sb_rcu_worker_unregister(void)
{
	sb_rcu_tsan_release(&domain);
	urcu_qsbr_unregister_thread();
	is_worker = false;
}

void sb_rcu_quiescent(void)
{
	sb_rcu_tsan_release(&domain);
	urcu_qsbr_quiescent_state();
}

void sb_rcu_offline(void)
{
	sb_rcu_tsan_release(&domain);
	urcu_qsbr_thread_offline();
}

void sb_rcu_online(void)
{
	urcu_qsbr_thread_online();
}

/* ---- foreign threads ---- */

static pthread_key_t foreign_key;
static pthread_once_t foreign_once = PTHREAD_ONCE_INIT;
static _Thread_local unsigned int foreign_depth;
static _Thread_local bool foreign_registered;

static void foreign_leave(void *unused)
{
	(void)unused;
	urcu_qsbr_unregister_thread();
	foreign_registered = false;
}

static void make_foreign_key(void)
{
	SB_CHECK(pthread_key_create(&foreign_key, foreign_leave), ==, 0);
}

static void foreign_register(void)
{
	pthread_once(&foreign_once, make_foreign_key);
	/* Any value but NULL makes the destructor run at the thread's end. */
	SB_CHECK(pthread_setspecific(foreign_key, &foreign_key), ==, 0);
	urcu_qsbr_register_thread();
	urcu_qsbr_thread_offline();
	foreign_registered = true;
}

void sb_rcu_foreign_enter(void)
{
	if (is_worker)
		return;
	if (!foreign_registered)
		foreign_register();
	if (foreign_depth++ == 0)
		urcu_qsbr_thread_online();
}

void sb_rcu_foreign_exit(void)
{
	if (is_worker)
		return;
	if (--foreign_depth == 0)
		sb_rcu_offline();
}

bool sb_rcu_foreign_inside(void)
{
	return foreign_depth > 0;
}

/* ---- deferred calls ---- */

/*
 * Our own helper thread, and not liburcu's: that one rests for 10 ms after each
 * grace period. A million short processes a second are 10 000 then that are dead
 * and not yet free, more than a core's caches hold, and each new one takes memory
 * that has gone cold.
 */

/* Between two grace periods, so that they do not take a core to themselves. */
#define REST_NS 500000

/* Rests without anything to do, after which it sleeps until there is. */
#define RESTS_MAX 20

static struct {
	alignas(SB_LINE) _Atomic(struct sb_rcu_head *) newest;
	struct sb_parker parker;
} calls;

static pthread_once_t helper_once = PTHREAD_ONCE_INIT;

/* What deferred calls have done, for those who wait for all of them. */
static char deferred;

/* From the oldest to the newest they are linked then. */
static struct sb_rcu_head *turn_round(struct sb_rcu_head *newest)
{
	struct sb_rcu_head *first = NULL;

	while (newest) {
		struct sb_rcu_head *older = newest->older;

		newest->older = first;
		first = newest;
		newest = older;
	}
	return first;
}

static void run_calls(struct sb_rcu_head *newest)
{
	struct sb_rcu_head *head = turn_round(newest);

	sb_rcu_tsan_acquire(&domain);
	while (head) {
		struct sb_rcu_head *next = head->older;

		head->function(head);
		head = next;
	}
	sb_rcu_tsan_release(&deferred);
}

static void rest(void)
{
	const struct timespec time = { .tv_nsec = REST_NS };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

static void *help(void *unused)
{
	uint32_t rests = 0;

	(void)unused;
	for (;;) {
		struct sb_rcu_head *newest = sb_xchg_acq(&calls.newest, NULL);

		if (newest) {
			urcu_qsbr_synchronize_rcu();
			run_calls(newest);
			rests = 0;
		}
		if (rests++ < RESTS_MAX)
			rest();
		else
			sb_park(&calls.parker, UINT64_MAX);
	}
	return NULL;
}

static void start_helper(void)
{
	struct sb_thread thread;

	sb_parker_init(&calls.parker, SB_PARKING_FUTEX);
	SB_CHECK(sb_thread_start(&thread, -1, help, NULL), ==, 0);
	pthread_detach(thread.handle);
}

void sb_rcu_prepare(void)
{
	pthread_once(&helper_once, start_helper);
}

void sb_rcu_defer(struct sb_rcu_head *head,
		  void (*function)(struct sb_rcu_head *head))
{
	struct sb_rcu_head *newest = sb_load_rlx(&calls.newest);

	head->function = function;
	sb_rcu_tsan_release(&domain);
	do {
		head->older = newest;
	} while (!sb_cas_weak_acq_rel(&calls.newest, &newest, head));
	/* A token sticks, so it does not matter what the helper is at. */
	if (!newest)
		sb_unpark(&calls.parker);
}

/* ---- waiting for them ---- */

struct barrier {
	struct sb_rcu_head head;
	struct sb_gate gate;
	bool passed;
};

static void pass(struct sb_rcu_head *head)
{
	struct barrier *barrier = sb_container_of(head, struct barrier, head);

	sb_gate_lock(&barrier->gate);
	barrier->passed = true;
	sb_gate_notify_and_unlock(&barrier->gate);
}

static bool has_passed(void *barrier)
{
	return ((struct barrier *)barrier)->passed;
}

void sb_rcu_barrier(void)
{
	struct barrier barrier = { .passed = false };

	sb_rcu_prepare();
	sb_gate_init(&barrier.gate);
	sb_rcu_defer(&barrier.head, pass);
	sb_gate_wait(&barrier.gate, has_passed, &barrier, UINT64_MAX);
	sb_gate_fini(&barrier.gate);
	sb_rcu_tsan_acquire(&deferred);
}

void sb_rcu_synchronize(void)
{
	sb_rcu_tsan_release(&domain);
	urcu_qsbr_synchronize_rcu();
	sb_rcu_tsan_acquire(&domain);
}
