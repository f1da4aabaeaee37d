/* event.h - queued events: their nodes, bundles of messages, and lists. Private to core/. */
#ifndef SB_CORE_MESSAGE_EVENT_H
#define SB_CORE_MESSAGE_EVENT_H

#include "core/platform/base.h"
#include "core/process.h"

/* Types of events that are queued; a step never gets one of them. */
enum sb_queued_type {
	SB_EVENT_TERMINATE = SB_EVENT_CANCEL + 1, /* only wakes */
	SB_EVENT_BUILTIN, /* a completion of a built-in command: on_drop does not get it */
	SB_EVENT_TICK,	  /* a ticker's SB_EVENT_TIMER */
	SB_EVENT_BUNDLE,  /* several messages of one step */
	SB_EVENT_MARKER,  /* no event: what follows is to be sorted; see backlog.h */
};

/* A queued event: a link of a process's event queue. Aligned, because the
 * state word keeps its flags in the low bits of a node's address. */
struct sb_event_node {
	alignas(16) struct sb_event_node *next;
	uint64_t sent_ns; /* a completion: when it was yielded; 0: not timed */
	struct sb_event event;
	uint64_t source; /* a completion's yield, or a timer's id; else not set */
};

static_assert(sizeof(struct sb_event_node) == 48, "no larger than its alignment makes it");

/*
 * ---- bundles ----
 *
 * Messages that one step has sent to one process, in the order in which they were
 * sent: they cost one object, and one link of the queue, instead of one each. Its
 * event is of the type SB_EVENT_BUNDLE; `error` counts its messages, `tag` those that
 * steps have got already, and the messages begin at `data`. Never with a bounded
 * mailbox, and never timed: such a message has a node of its own.
 */
#define SB_BUNDLE_BYTES	   128
#define SB_BUNDLE_MESSAGES ((SB_BUNDLE_BYTES - offsetof(struct sb_event_node, event.data)) / 8)

static inline bool sb_is_bundle(const struct sb_event_node *node)
{
	return node->event.type == SB_EVENT_BUNDLE;
}

static inline union sb_value *sb_bundle_messages(struct sb_event_node *node)
{
	return (union sb_value *)((char *)node + offsetof(struct sb_event_node, event.data));
}

/* Also of those that steps have got. */
static inline uint32_t sb_bundle_count(const struct sb_event_node *bundle)
{
	return (uint32_t)bundle->event.error;
}

static inline bool sb_bundle_has_room(const struct sb_event_node *node)
{
	return sb_is_bundle(node) && sb_bundle_count(node) < SB_BUNDLE_MESSAGES;
}

static inline void sb_bundle_add(struct sb_event_node *bundle, union sb_value message)
{
	sb_bundle_messages(bundle)[bundle->event.error++] = message;
}

/* In so many bytes; the first message is in it. */
static inline void sb_bundle_begin(struct sb_event_node *bundle, union sb_value message)
{
	bundle->sent_ns = 0;
	bundle->event.type = SB_EVENT_BUNDLE;
	bundle->event.error = 0;
	bundle->event.tag = 0;
	sb_bundle_add(bundle, message);
}

/* As allocated, and to be freed. */
static inline size_t sb_node_bytes(const struct sb_event_node *node)
{
	return sb_is_bundle(node) ? SB_BUNDLE_BYTES : sizeof(*node);
}

/* ---- lists ---- */

/* Oldest first. */
struct sb_event_list {
	struct sb_event_node *first;
	struct sb_event_node *last; /* if there is a first */
};

static inline void sb_event_list_put(struct sb_event_list *list, struct sb_event_node *node)
{
	if (list->first)
		list->last->next = node;
	else
		list->first = node;
	list->last = node;
}

static inline struct sb_event_node *sb_event_list_pop(struct sb_event_list *list)
{
	struct sb_event_node *node = list->first;

	list->first = node->next;
	return node;
}

#endif
