#include "core/message/backlog.h"

#include "core/message/caller.h"

static bool is_message(const struct sb_event_node *node)
{
	return node->event.type == SB_EVENT_MESSAGE || sb_is_bundle(node);
}

static bool is_overfull(const struct sb_process *p)
{
	return p->backlog.first && p->backlog.first->event.type == SB_EVENT_MARKER;
}

static struct sb_event_list *list_of(struct sb_extra *extra, const struct sb_event_node *node)
{
	switch (node->event.type) {
	case SB_EVENT_MESSAGE:
	case SB_EVENT_BUNDLE:
		return &extra->messages;
	case SB_EVENT_CANCEL:
	case SB_EVENT_EXIT:
		return &extra->urgent;
	default:
		return &extra->other;
	}
}

void sb_backlog_overflow(struct sb_scheduler *s, struct sb_worker *w, struct sb_process *p)
{
	struct sb_extra *extra = is_overfull(p) ? NULL : sb_extra_of(s, w, p);

	if (!extra)
		return;
	extra->marker.event.type = SB_EVENT_MARKER;
	extra->marker.next = p->backlog.first;
	if (!p->backlog.first)
		p->backlog.last = &extra->marker;
	p->backlog.first = &extra->marker;
}

void sb_backlog_sort(struct sb_process *p)
{
	struct sb_event_node *node = p->backlog.first->next;

	p->backlog.first = NULL;
	while (node) {
		struct sb_event_node *next = node->next;

		node->next = NULL;
		sb_event_list_put(list_of(p->extra, node), node);
		node = next;
	}
}

void sb_backlog_append(struct sb_scheduler *s, struct sb_worker *w, struct sb_process *p,
		       struct sb_event_node *newest, uint32_t budget)
{
	struct sb_event_node *first = NULL;
	bool is_mixed = false;
	uint32_t n = 0;

	for (struct sb_event_node *node = newest; node; n++) {
		struct sb_event_node *older = node->next;

		is_mixed |= !is_message(node);
		node->next = first;
		first = node;
		node = older;
	}
	if (p->backlog.first)
		p->backlog.last->next = first;
	else
		p->backlog.first = first;
	p->backlog.last = newest;
	if (SB_UNLIKELY(is_mixed && n > budget))
		sb_backlog_overflow(s, w, p);
}

struct sb_event_node *sb_backlog_pop_any(struct sb_process *p)
{
	if (is_overfull(p))
		sb_backlog_sort(p);
	if (p->backlog.first)
		return sb_event_list_pop(&p->backlog);
	if (!p->extra)
		return NULL;
	if (p->extra->urgent.first)
		return sb_event_list_pop(&p->extra->urgent);
	if (p->extra->other.first)
		return sb_event_list_pop(&p->extra->other);
	return p->extra->messages.first ? sb_event_list_pop(&p->extra->messages) : NULL;
}

static bool has_completion(const struct sb_event_node *node, uint64_t yield)
{
	for (; node; node = node->next) {
		if (node->source == yield && (node->event.type == SB_EVENT_COMPLETION ||
					      node->event.type == SB_EVENT_BUILTIN))
			return true;
	}
	return false;
}

/* Events that others post meanwhile stay in the word until this worker takes them. */
bool sb_backlog_has_completion(struct sb_process *p, uint64_t yield)
{
	return has_completion(p->backlog.first, yield) ||
	       (p->extra && has_completion(p->extra->other.first, yield)) ||
	       has_completion(sb_word_events(sb_load_acq(&p->word)), yield);
}
