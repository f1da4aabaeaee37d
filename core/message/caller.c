/*
 * caller.c - what the calling thread has of its own, be it a worker or a
 * foreign thread: which worker it is, and its objects.
 */
#include "core/message/caller.h"

#include "core/state.h"

void sb_caller_submits(bool begins)
{
	sb_thread_own()->submissions += begins ? 1 : -1U;
}

void sb_call_begin(struct sb_scheduler *s)
{
	sb_lock_acquire(&s->foreign_lock);
	s->calls_begun++;
	sb_lock_release(&s->foreign_lock);
}

void sb_call_end(struct sb_scheduler *s)
{
	sb_lock_acquire(&s->global.push_lock);
	s->calls_ended++;
	sb_lock_release(&s->global.push_lock);
}

bool sb_calls_under_way(struct sb_scheduler *s)
{
	bool any;

	sb_lock_acquire(&s->foreign_lock);
	sb_lock_acquire(&s->global.push_lock);
	any = s->calls_begun != s->calls_ended;
	sb_lock_release(&s->global.push_lock);
	sb_lock_release(&s->foreign_lock);
	return any;
}

bool sb_caller_may_wait(void)
{
	return !sb_worker_current() && !sb_thread_own()->submissions && !sb_reclaim_inside();
}

void *sb_object_alloc(struct sb_scheduler *s, struct sb_worker *w, size_t size)
{
	void *object;

	if (w)
		return sb_pool_alloc(&w->pool, size);
	sb_lock_acquire(&s->foreign_lock);
	object = sb_pool_alloc(&s->foreign_pool, size);
	sb_lock_release(&s->foreign_lock);
	return object;
}

void sb_object_free(struct sb_scheduler *s, struct sb_worker *w, void *object, size_t size)
{
	if (w) {
		sb_pool_free(&w->pool, object, size);
		return;
	}
	sb_lock_acquire(&s->foreign_lock);
	sb_pool_free(&s->foreign_pool, object, size);
	sb_pool_flush(&s->foreign_pool);
	sb_lock_release(&s->foreign_lock);
}

struct sb_extra *sb_extra_of(struct sb_scheduler *s, struct sb_worker *w, struct sb_process *p)
{
	if (!p->extra) {
		p->extra = sb_object_alloc(s, w, sizeof(*p->extra));
		if (p->extra)
			*p->extra = (struct sb_extra){ .waiter = NULL };
	}
	return p->extra;
}
