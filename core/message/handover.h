/*
 * handover.h - what a running step has sent and nobody has seen yet, and how
 * others can take it.
 *
 * The last message of a step, and those before it to the same process, are held
 * until the step ends: the worker is likely to run that process next, and then
 * neither a queue nor a wake is needed. A step may go on for long after a send,
 * so the watcher (core/worker/watch.c) takes what a step has held for longer than
 * config.hold_ns, and makes it visible as the worker would.
 *
 * The worker pays plain stores for that: the two sides are an asymmetric Dekker
 * pair (as liburcu's memb flavour; Goldblatt, P1202 "Asymmetric Fences", 2018).
 *
 * Roles
 *   owner     the worker. Its slot says where it is: INSIDE, the code of the
 *             scheduler, in which what is held is its own; or outside, in the
 *             code of a step, and then the slot is what is held, or NULL.
 *   watcher   one thread, which takes what is held while the owner is outside.
 *             An owner that is outside reads nothing that it has looked up, so
 *             the watcher passes a quiescent state on its behalf at the same
 *             time (core/memory/reclaim.h).
 *
 *   claimed   FREE -> CLAIMING   watcher
 *             CLAIMING -> FREE   watcher, the owner was inside: it gives up
 *             CLAIMING -> AWAY   watcher: what was held has been taken
 *             AWAY -> CLAIMING   watcher, once more: the owner is still outside
 *             AWAY -> FREE       owner, when it comes back
 *
 * The owner says that it is inside before it looks at `claimed`; the watcher
 * says that it claims before it looks at the slot. Without the fence between the
 * watcher's two steps, which makes the owner's processor pass one, too, both
 * could miss each other:
 *
 *   owner                               watcher
 *   slot = INSIDE       (buffered)      claimed = CLAIMING
 *   claimed: FREE                       slot: still what is held
 *   hands it to its receiver            makes it visible: sent twice
 *
 * With it, either the watcher sees INSIDE and gives up, or the owner sees the
 * claim and waits for its end: some instructions of the watcher's, no system
 * call. A message that is taken is in its receiver's mailbox before the claim ends, so
 * what the owner sends later comes behind it.
 *
 * AWAY lasts until the owner comes back. So of a step that takes seconds the
 * watcher learns with one CAS, and no system call, that it is still outside.
 *
 * Where sb_fence_heavy() does not work nothing is held.
 *
 * Model: tests/models/handover.pml.
 */
#ifndef SB_CORE_MESSAGE_HANDOVER_H
#define SB_CORE_MESSAGE_HANDOVER_H

#include "core/platform/atomic.h"
#include "core/platform/base.h"
#include "core/word.h"

enum sb_claim { SB_CLAIM_FREE, SB_CLAIM_CLAIMING, SB_CLAIM_AWAY };

#define SB_SLOT_INSIDE ((struct sb_event_node *)(uintptr_t)1)

struct sb_handover {
	/* The owner stores; the watcher loads. Release: what is held is
	 * complete. */
	_Atomic(struct sb_event_node *) slot;
	_Atomic(uint32_t) claimed; /* enum sb_claim; both */
	bool holds;		   /* constant in a step: whether steps hold */

	/* The owner's; the watcher's while it has the claim. */
	struct sb_process *to;	      /* of what is held */
	sb_pid pid;		      /* its PID */
	struct sb_event_node *oldest; /* likewise */
	/* While the owner is inside: what is held, newest first, or NULL. */
	struct sb_event_node *newest;
};

/* The slot was in the way of a claim: waits for its end. Returns what is held. */
struct sb_event_node *sb_handover_enter_slowly(struct sb_handover *handover,
					       struct sb_event_node *held);

/* The owner begins, or goes on with, the code of a step. held: as enter
 * returned, or what has been added to that. */
static inline void sb_handover_leave(struct sb_handover *handover, struct sb_event_node *held)
{
	sb_store_rel(&handover->slot, held);
}

/* The first half of enter, for callers that call nothing in the common case: what it
 * returns is the owner's own once sb_handover_is_claimed has said no, or
 * sb_handover_enter_slowly has returned it. SB_SLOT_INSIDE: it was inside already. */
static inline struct sb_event_node *sb_handover_begin_enter(struct sb_handover *handover)
{
	struct sb_event_node *held = sb_load_rlx(&handover->slot);

	sb_store_rlx(&handover->slot, SB_SLOT_INSIDE);
	sb_fence_light();
	SB_WINDOW();
	return held;
}

static inline bool sb_handover_is_claimed(struct sb_handover *handover)
{
	return SB_UNLIKELY(sb_load_acq(&handover->claimed) != SB_CLAIM_FREE);
}

/* Is inside from here on. Returns what is held, or NULL. Not while it is inside. */
static inline struct sb_event_node *sb_handover_enter(struct sb_handover *handover)
{
	struct sb_event_node *held = sb_handover_begin_enter(handover);

	SB_ASSERT((uintptr_t)held, !=, (uintptr_t)SB_SLOT_INSIDE);
	return sb_handover_is_claimed(handover) ? sb_handover_enter_slowly(handover, held) : held;
}

/* The same for what may be called inside, too, by a callback: then it returns
 * false, and nothing changes. */
static inline bool sb_handover_try_enter(struct sb_handover *handover)
{
	if (sb_load_rlx(&handover->slot) == SB_SLOT_INSIDE)
		return false;
	handover->newest = sb_handover_enter(handover);
	return true;
}

/* has_entered: what try_enter returned. */
static inline void sb_handover_end(struct sb_handover *handover, bool has_entered)
{
	struct sb_event_node *held = handover->newest;

	if (!has_entered)
		return;
	handover->newest = NULL;
	sb_handover_leave(handover, held);
}

/* ---- the watcher ---- */

/* Whether it is worth a claim. */
static inline bool sb_handover_is_outside(struct sb_handover *handover)
{
	return sb_load_rlx(&handover->slot) != SB_SLOT_INSIDE;
}

static inline bool sb_handover_has_held(struct sb_handover *handover)
{
	struct sb_event_node *held = sb_load_rlx(&handover->slot);

	return held && held != SB_SLOT_INSIDE && sb_load_rlx(&handover->claimed) == SB_CLAIM_FREE;
}

/*
 * Claims the slot. False: the owner is inside. True: it stays outside until
 * sb_handover_release; *held is what it holds, or NULL.
 */
bool sb_handover_claim(struct sb_handover *handover, struct sb_event_node **held);

/* Ends a claim: the watcher has taken the held messages. */
static inline void sb_handover_release(struct sb_handover *handover)
{
	sb_store_rel(&handover->claimed, SB_CLAIM_AWAY);
}

#endif
