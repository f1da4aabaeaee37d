#include "core/reclaim.h"

#include <pthread.h>
#include <urcu/urcu-qsbr.h>

#include "core/atomic.h"

static_assert(offsetof(struct sb_rcu_head, opaque) == 0, "cast back and forth");
static_assert(sizeof(((struct sb_rcu_head *)0)->opaque) ==
		      sizeof(struct rcu_head),
	      "room for liburcu's head");
static_assert(alignof(struct sb_rcu_head) >= alignof(struct rcu_head), "align");

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

/* What deferred calls have done, for those who wait for all of them. */
static char deferred;

/* On liburcu's helper thread, after the grace period. */
static void run_deferred(struct rcu_head *opaque)
{
	struct sb_rcu_head *head = (struct sb_rcu_head *)(void *)opaque;

	sb_rcu_tsan_acquire(&domain);
	head->function(head);
	sb_rcu_tsan_release(&deferred);
}

void sb_rcu_defer(struct sb_rcu_head *head,
		  void (*function)(struct sb_rcu_head *head))
{
	head->function = function;
	sb_rcu_tsan_release(&domain);
	urcu_qsbr_call_rcu((struct rcu_head *)(void *)head->opaque,
			   run_deferred);
}

void sb_rcu_prepare(void)
{
	SB_CHECK(urcu_qsbr_get_default_call_rcu_data() != NULL, ==, 1);
}

void sb_rcu_barrier(void)
{
	urcu_qsbr_barrier();
	sb_rcu_tsan_acquire(&deferred);
}

void sb_rcu_synchronize(void)
{
	urcu_qsbr_synchronize_rcu();
	sb_rcu_tsan_acquire(&domain);
}
