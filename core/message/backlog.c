#include "core/message/backlog.h"

#include "core/message/caller.h"

static bool is_message(const struct sb_event_node *node)
{
	return node->event.type == SB_EVENT_MESSAGE || sb_is_bundle(node);
}

static struct sb_event_list *list_of(struct sb_process *p, const struct sb_event_node *node)
{
	switch (node->event.type) {
	case SB_EVENT_MESSAGE:
	case SB_EVENT_BUNDLE:
		return &p->backlog;
	case SB_EVENT_CANCEL:
	case SB_EVENT_EXIT:
		return &p->extra->urgent;
	default:
		return &p->extra->other;
	}
}

void sb_backlog_sort_in(struct sb_process *p, struct sb_event_node *node)
{
	node->next = NULL;
	sb_event_list_put(list_of(p, node), node);
}

void sb_backlog_overflow(struct sb_scheduler *s, struct sb_worker *w, struct sb_process *p)
{
	if (!p->overfull && sb_extra_of(s, w, p))
		p->overfull = true;
}

/* Whether an overfull process has to get these events one by one. */
static bool needs_sorting(struct sb_scheduler *s, struct sb_worker *w, struct sb_process *p,
			  bool is_mixed, bool is_long)
{
	if (SB_LIKELY(!is_mixed))
		return false;
	if (is_long)
		sb_backlog_overflow(s, w, p);
	return p->overfull;
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
	if (needs_sorting(s, w, p, is_mixed, n > budget)) {
		while (first) {
			struct sb_event_node *next = first->next;

			sb_backlog_sort_in(p, first);
			first = next;
		}
		return;
	}
	if (p->backlog.first)
		p->backlog.last->next = first;
	else
		p->backlog.first = first;
	p->backlog.last = newest;
}

struct sb_event_node *sb_backlog_pop_any(struct sb_process *p)
{
	if (p->backlog.first)
		return sb_event_list_pop(&p->backlog);
	if (!p->overfull)
		return NULL;
	if (p->extra->urgent.first)
		return sb_event_list_pop(&p->extra->urgent);
	return p->extra->other.first ? sb_event_list_pop(&p->extra->other) : NULL;
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
	       (p->overfull && has_completion(p->extra->other.first, yield)) ||
	       has_completion(sb_word_events(sb_load_acq(&p->word)), yield);
}
