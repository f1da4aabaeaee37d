/*
 * relations.c - who is told when a process ends: monitors and links.
 *
 * A relation is one object in two lists, one of each side. Each list has a lock,
 * chosen by the process's PID; a thread that puts a relation into its lists or takes
 * it out holds the locks of both. So of a process that ends and a watcher that
 * takes its monitor back, exactly one takes it out: either the watcher gets the
 * exit event, or unmonitor returns 0 and no event comes. A search walks both
 * lists side by side and ends with the shorter: a supervisor may have a million
 * children.
 *
 * A process that ends takes its whole list out. Nobody may add to it afterwards,
 * or the relation would wait for ever. The adder pushes it and then does a
 * read-modify-write on the state word that changes nothing; the process that
 * ends makes its word Complete by an exchange and then reads its list, without
 * the lock:
 *
 *   adder                               the process that ends
 *   list = relation
 *   word |= 0     (not Complete)        word := Complete
 *                                       list: sees the relation
 *
 * Of the two read-modify-writes one is first. If it is the adder's, the exchange
 * acquires what it released, and the list is seen not to be empty; if it is the
 * exchange, the adder sees Complete and takes its relation out again. So a
 * process without relations, and that is nearly every one, ends without a lock.
 *
 * The process at the other side is there while the relation is in its list: it
 * would have taken it out when it ended.
 *
 * A relation brings the event along that it may lead to: telling of an end needs
 * no memory and cannot fail.
 */
#include "core/process/relations.h"

#include <errno.h>

#include "core/message/caller.h"
#include "core/message/mailbox.h"
#include "core/state.h"

/* Of a monitor, side 0 watches side 1. Of a link, either is either. */
enum { WATCHER, WATCHED, SIDES };

struct sb_relation {
	struct {
		struct sb_process *process;
		struct sb_relation *next;
		struct sb_relation *prev;
	} side[SIDES];
	struct sb_event_node *node;
	enum sb_relation_kind kind;
};

static int side_of(const struct sb_relation *r, const struct sb_process *p)
{
	return r->side[WATCHER].process == p ? WATCHER : WATCHED;
}

static struct sb_relation *next_of(const struct sb_relation *r, const struct sb_process *p)
{
	return r->side[side_of(r, p)].next;
}

/* ---- locks ---- */

static struct sb_lock *lock_of(struct sb_scheduler *s, const struct sb_process *p)
{
	return &s->relation_lock[p->pid % SB_RELATION_LOCKS];
}

/* Both, or the one, in the order of their addresses: no circle. */
static void acquire_both(struct sb_lock *a, struct sb_lock *b)
{
	sb_lock_acquire(a < b ? a : b);
	if (a != b)
		sb_lock_acquire(a < b ? b : a);
}

static void release_both(struct sb_lock *a, struct sb_lock *b)
{
	sb_lock_release(a);
	if (a != b)
		sb_lock_release(b);
}

/* ---- lists, under the locks ---- */

static void push(struct sb_relation *r, int i)
{
	struct sb_process *p = r->side[i].process;
	struct sb_relation *first = sb_load_rlx(&p->relations);

	r->side[i].prev = NULL;
	r->side[i].next = first;
	if (first)
		first->side[side_of(first, p)].prev = r;
	sb_store_rlx(&p->relations, r);
}

static void cut(struct sb_relation *r, int i)
{
	struct sb_process *p = r->side[i].process;
	struct sb_relation *next = r->side[i].next;
	struct sb_relation *prev = r->side[i].prev;

	if (prev)
		prev->side[side_of(prev, p)].next = next;
	else
		sb_store_rlx(&p->relations, next);
	if (next)
		next->side[side_of(next, p)].prev = prev;
}

static bool is_between(const struct sb_relation *r, enum sb_relation_kind kind,
		       const struct sb_process *self, const struct sb_process *other)
{
	const int i = side_of(r, self);

	if (r->kind != kind || r->side[i].process != self || r->side[!i].process != other)
		return false;
	return kind == SB_RELATION_LINK || i == WATCHER;
}

/* The relation of that kind in which self is (to other), or NULL. */
static struct sb_relation *find(enum sb_relation_kind kind, const struct sb_process *self,
				const struct sb_process *other)
{
	struct sb_relation *a = sb_load_rlx(&self->relations);
	struct sb_relation *b = sb_load_rlx(&other->relations);

	while (a && b) {
		if (is_between(a, kind, self, other))
			return a;
		if (is_between(b, kind, self, other))
			return b;
		a = next_of(a, self);
		b = next_of(b, other);
	}
	return NULL;
}

/* ---- adding and removing ---- */

static struct sb_relation *make(struct sb_worker *w, enum sb_relation_kind kind,
				struct sb_process *self, struct sb_process *other)
{
	struct sb_relation *r = sb_pool_alloc(&w->pool, sizeof(*r));

	if (!r)
		return NULL;
	r->node = sb_pool_alloc(&w->pool, sizeof(*r->node));
	if (!r->node) {
		sb_pool_free(&w->pool, r, sizeof(*r));
		return NULL;
	}
	r->kind = kind;
	r->side[WATCHER].process = self;
	r->side[WATCHED].process = other;
	return r;
}

static void discard(struct sb_scheduler *s, struct sb_worker *w, struct sb_relation *r)
{
	if (r->node)
		sb_object_free(s, w, r->node, sizeof(*r->node));
	sb_object_free(s, w, r, sizeof(*r));
}

/* Under both locks. Returns 0, -EEXIST, or -ESRCH: the other has ended. */
static int insert(struct sb_relation *r)
{
	struct sb_process *self = r->side[WATCHER].process;
	struct sb_process *other = r->side[WATCHED].process;

	if (find(r->kind, self, other))
		return -EEXIST;
	push(r, WATCHER);
	push(r, WATCHED);
	SB_WINDOW();
	if (sb_word_state(sb_or_acq_rel(&other->word, 0)) != SB_STATE_COMPLETE)
		return 0;
	cut(r, WATCHER);
	cut(r, WATCHED);
	return -ESRCH;
}

int sb_relation_add(struct sb_worker *w, enum sb_relation_kind kind, sb_pid peer)
{
	struct sb_scheduler *s = w->scheduler;
	struct sb_process *self = w->running;
	struct sb_process *other = sb_route_find(s, w, peer);
	struct sb_relation *r;
	int rc;

	if (other == self)
		return -EINVAL;
	if (!other)
		return -ESRCH;
	r = make(w, kind, self, other);
	if (!r)
		return -ENOMEM;
	acquire_both(lock_of(s, self), lock_of(s, other));
	rc = insert(r);
	release_both(lock_of(s, self), lock_of(s, other));
	if (rc)
		discard(s, w, r);
	return rc;
}

int sb_relation_remove(struct sb_worker *w, enum sb_relation_kind kind, sb_pid peer)
{
	struct sb_scheduler *s = w->scheduler;
	struct sb_process *self = w->running;
	struct sb_process *other = sb_route_find(s, w, peer);
	struct sb_relation *r;

	if (!other || other == self)
		return -ENOENT;
	acquire_both(lock_of(s, self), lock_of(s, other));
	r = find(kind, self, other);
	if (r) {
		cut(r, WATCHER);
		cut(r, WATCHED);
	}
	release_both(lock_of(s, self), lock_of(s, other));
	if (!r)
		return -ENOENT;
	discard(s, w, r);
	return 0;
}

/* ---- the end of a process ---- */

/* Takes the first relation of p out of both lists; NULL: there is none. */
static struct sb_relation *take_first(struct sb_scheduler *s, struct sb_process *p)
{
	struct sb_lock *mine = lock_of(s, p);
	struct sb_relation *r;
	bool taken = false;

	do {
		struct sb_lock *other = mine;

		sb_lock_acquire(mine);
		r = sb_load_rlx(&p->relations);
		if (r)
			other = lock_of(s, r->side[!side_of(r, p)].process);
		sb_lock_release(mine);
		if (!r)
			return NULL;
		SB_WINDOW();
		acquire_both(mine, other);
		/* The other side may have taken it out meanwhile. */
		taken = sb_load_rlx(&p->relations) == r;
		if (taken) {
			cut(r, WATCHER);
			cut(r, WATCHED);
		}
		release_both(mine, other);
	} while (!taken);
	return r;
}

/* The relation's purpose; it is in no list any more. */
static void tell(struct sb_scheduler *s, struct sb_worker *w, struct sb_relation *r, int ended,
		 const struct sb_exit *exit)
{
	struct sb_process *other = r->side[!ended].process;
	struct sb_event_node *node = r->node;

	if (r->kind == SB_RELATION_MONITOR && ended == WATCHED) {
		sb_event_fill(node, sb_kind(SB_EVENT_EXIT, exit->error), exit->pid, exit->result);
	} else if (r->kind == SB_RELATION_LINK && exit->error) {
		sb_store_rlx(&other->terminated, 1);
		sb_event_fill(node, sb_kind(SB_EVENT_TERMINATE, 0), 0, sb_value_u64(0));
	} else {
		return;
	}
	r->node = NULL;
	(void)sb_route_deliver(s, w, other, node);
}

void sb_relations_end(struct sb_scheduler *s, struct sb_worker *w, struct sb_process *p,
		      const struct sb_exit *exit)
{
	struct sb_relation *r;

	while (sb_load_rlx(&p->relations) && (r = take_first(s, p))) {
		tell(s, w, r, side_of(r, p), exit);
		discard(s, w, r);
	}
}
