/*
 * relations.c - who is told when a process ends: monitors and links.
 *
 * A relation is two entries, one in the list of each side, and each entry names
 * the other side's PID. Both are added, and both are removed, under the locks of
 * both lists; so two that link each other at the same time, or one that links
 * while the other unlinks, see the whole link or none.
 *
 * Whoever takes an entry out of a list, under the lock of that list, owns it; so
 * of a process that ends and a watcher that takes its monitor back, exactly one
 * succeeds: either the watcher gets the exit event, or unmonitor returns 0 and no
 * event comes.
 *
 * A process that ends takes its whole list. Nobody may add to it afterwards, or
 * the entry would wait for ever. The adder pushes its entry and then does a
 * read-modify-write on the state word that changes nothing; the process that
 * ends makes its word Complete by an exchange and then reads its list:
 *
 *   adder                               the process that ends
 *   list = entry
 *   word |= 0     (not Complete)        word := Complete
 *                                       list: sees the entry
 *
 * Of the two read-modify-writes one is first. If it is the adder's, the exchange
 * acquires what it released, and the list is seen not to be empty; if it is the
 * exchange, the adder sees Complete and takes its entries back. So a process
 * without relations, and that is nearly every one, ends without a lock.
 *
 * Locks are chosen by PID; two are taken in the order of their addresses. A
 * process that ends takes one at a time.
 *
 * An entry is large enough to become the event that it is for: telling of an end
 * needs no memory and cannot fail.
 */
#include "core/internal.h"

struct sb_relation {
	union {
		struct {
			struct sb_relation *next;
			sb_pid peer;
			uint32_t kind; /* enum sb_relation_kind */
		};
		struct sb_event_node node;
	};
};

static enum sb_relation_kind twin_of(enum sb_relation_kind kind)
{
	switch (kind) {
	case SB_RELATION_MONITORS:
		return SB_RELATION_MONITORED;
	case SB_RELATION_MONITORED:
		return SB_RELATION_MONITORS;
	case SB_RELATION_LINK:
		break;
	}
	return SB_RELATION_LINK;
}

static struct sb_lock *lock_of(struct sb_scheduler *s, struct sb_process *p)
{
	return &s->relation_lock[p->pid % SB_RELATION_LOCKS];
}

static void lock_both(struct sb_lock *a, struct sb_lock *b)
{
	sb_lock_acquire(a < b ? a : b);
	if (a != b)
		sb_lock_acquire(a < b ? b : a);
}

static void unlock_both(struct sb_lock *a, struct sb_lock *b)
{
	sb_lock_release(a);
	if (a != b)
		sb_lock_release(b);
}

static struct sb_relation *make(struct sb_scheduler *s, struct sb_worker *w,
				enum sb_relation_kind kind, sb_pid peer)
{
	struct sb_relation *r = sb_object_alloc(s, w, sizeof(*r));

	if (r) {
		r->peer = peer;
		r->kind = kind;
	}
	return r;
}

static void push(struct sb_process *p, struct sb_relation *r)
{
	r->next = sb_load_rlx(&p->relations);
	sb_store_rlx(&p->relations, r);
}

/* Takes an entry out; NULL: there is none. Under the lock. */
static struct sb_relation *cut(struct sb_process *p, enum sb_relation_kind kind,
			       sb_pid peer)
{
	struct sb_relation *before = NULL;
	struct sb_relation *r = sb_load_rlx(&p->relations);

	while (r && (r->kind != kind || r->peer != peer)) {
		before = r;
		r = r->next;
	}
	if (r && before)
		before->next = r->next;
	else if (r)
		sb_store_rlx(&p->relations, r->next);
	return r;
}

static struct sb_relation *take_out(struct sb_scheduler *s,
				    struct sb_process *p,
				    enum sb_relation_kind kind, sb_pid peer)
{
	struct sb_relation *r;

	sb_lock_acquire(lock_of(s, p));
	r = cut(p, kind, peer);
	sb_lock_release(lock_of(s, p));
	return r;
}

static bool has(struct sb_process *p, enum sb_relation_kind kind, sb_pid peer)
{
	for (struct sb_relation *r = sb_load_rlx(&p->relations); r; r = r->next)
		if (r->kind == kind && r->peer == peer)
			return true;
	return false;
}

static void free_entry(struct sb_scheduler *s, struct sb_worker *w,
		       struct sb_relation *r)
{
	if (r)
		sb_object_free(s, w, r, sizeof(*r));
}

/*
 * Adds mine to self's list and theirs to other's, or neither. Self is running,
 * so only other can have ended. Returns 0, -EEXIST or -ESRCH. Under both locks.
 */
static int add_both(struct sb_process *self, struct sb_relation *mine,
		    struct sb_process *other, struct sb_relation *theirs)
{
	if (has(self, mine->kind, mine->peer))
		return -EEXIST;
	push(self, mine);
	push(other, theirs);
	SB_WINDOW();
	if (sb_word_state(sb_or_acq_rel(&other->word, 0)) != SB_STATE_COMPLETE)
		return 0;
	cut(self, mine->kind, mine->peer);
	cut(other, theirs->kind, theirs->peer);
	return -ESRCH;
}

int sb_relation_add(struct sb_worker *w, enum sb_relation_kind kind,
		    sb_pid peer)
{
	struct sb_scheduler *s = w->scheduler;
	struct sb_process *self = w->running;
	struct sb_process *other = sb_route_find(s, w, peer);
	struct sb_relation *mine, *theirs;
	int rc = -ENOMEM;

	if (other == self)
		return -EINVAL;
	if (!other)
		return -ESRCH;
	mine = make(s, w, kind, peer);
	theirs = make(s, w, twin_of(kind), self->pid);
	if (mine && theirs) {
		lock_both(lock_of(s, self), lock_of(s, other));
		rc = add_both(self, mine, other, theirs);
		unlock_both(lock_of(s, self), lock_of(s, other));
	}
	if (rc) {
		free_entry(s, w, mine);
		free_entry(s, w, theirs);
	}
	return rc;
}

int sb_relation_remove(struct sb_worker *w, enum sb_relation_kind kind,
		       sb_pid peer)
{
	struct sb_scheduler *s = w->scheduler;
	struct sb_process *self = w->running;
	struct sb_process *other = sb_route_find(s, w, peer);
	struct sb_relation *mine, *theirs = NULL;

	/* Without the other side, its end sees to what is left. */
	if (!other || other == self) {
		mine = take_out(s, self, kind, peer);
	} else {
		lock_both(lock_of(s, self), lock_of(s, other));
		mine = cut(self, kind, peer);
		if (mine)
			theirs = cut(other, twin_of(kind), self->pid);
		unlock_both(lock_of(s, self), lock_of(s, other));
	}
	free_entry(s, w, mine);
	free_entry(s, w, theirs);
	return mine ? 0 : -ENOENT;
}

/* ---- the end of a process ---- */

static struct sb_relation *take_all(struct sb_scheduler *s,
				    struct sb_process *p)
{
	struct sb_relation *all;

	sb_lock_acquire(lock_of(s, p));
	all = sb_load_rlx(&p->relations);
	sb_store_rlx(&p->relations, NULL);
	sb_lock_release(lock_of(s, p));
	return all;
}

/* The other side's entry, which it has not taken out itself, becomes the event. */
static void tell(struct sb_scheduler *s, struct sb_worker *w,
		 struct sb_process *peer, struct sb_relation *twin,
		 const struct sb_exit *exit)
{
	static_assert(sizeof(*twin) == sizeof(twin->node), "same object");

	switch ((enum sb_relation_kind)twin->kind) {
	case SB_RELATION_MONITORS:
		(void)sb_route_node(s, w, peer, &twin->node, SB_EVENT_EXIT,
				    exit->error, exit->pid, exit->result);
		return;
	case SB_RELATION_LINK:
		if (!exit->error)
			break;
		sb_store_rlx(&peer->terminated, 1);
		(void)sb_route_node(s, w, peer, &twin->node, SB_EVENT_TERMINATE,
				    0, 0, sb_value_u64(0));
		return;
	case SB_RELATION_MONITORED:
		break;
	}
	sb_object_free(s, w, twin, sizeof(*twin));
}

void sb_relations_end(struct sb_scheduler *s, struct sb_worker *w,
		      struct sb_process *p, const struct sb_exit *exit)
{
	struct sb_relation *r;

	if (SB_LIKELY(!sb_load_rlx(&p->relations)))
		return;
	r = take_all(s, p);
	while (r) {
		struct sb_relation *next = r->next;
		struct sb_process *peer = sb_route_find(s, w, r->peer);
		struct sb_relation *twin =
			peer ? take_out(s, peer,
					twin_of((enum sb_relation_kind)r->kind),
					p->pid)
			     : NULL;

		if (twin)
			tell(s, w, peer, twin, exit);
		sb_object_free(s, w, r, sizeof(*r));
		r = next;
	}
}
