#include "harness/kernel/switches.h"

#include <stdlib.h>
#include <string.h>

#include "core/platform/clock.h"
#include "harness/kernel/tracepoint.h"

#define TRACEPOINT "sched/sched_switch"

/* Runnable still: preempted (which has a number of its own since Linux 4.14), or it gave way; and
 * not for lack of anything else to run. */
#define FILTER "(prev_state == 0 || prev_state == 256) && next_pid != 0"

/* Some five hundred for each worker. */
#define RING_PAGES 16

struct sb_switches {
	uint32_t workers;
	uint32_t name, pid; /* offsets of the next thread's */
	struct sb_tracepoint ring[];
};

struct sb_switches *sb_switches_open(const char *root, const int *thread_id, uint32_t workers)
{
	struct sb_switches *s = calloc(1, sizeof(*s) + workers * sizeof(*s->ring));
	bool ok = s && sb_tracepoint_field(root, TRACEPOINT, "next_comm", &s->name) &&
		  sb_tracepoint_field(root, TRACEPOINT, "next_pid", &s->pid);

	while (ok && s->workers < workers) {
		ok = sb_tracepoint_open(&s->ring[s->workers],
					&(struct sb_tracepoint_request){
						.root = root,
						.name = TRACEPOINT,
						.filter = FILTER,
						.thread_id = thread_id[s->workers],
						.pages = RING_PAGES,
						.has_data = true,
					});
		s->workers += ok;
	}
	if (ok)
		return s;
	sb_switches_close(s);
	return NULL;
}

void sb_switches_close(struct sb_switches *s)
{
	for (uint32_t i = 0; s && i < s->workers; i++)
		sb_tracepoint_close(&s->ring[i]);
	free(s);
}

/* ---- records ---- */

struct taking {
	const struct sb_switches *switches;
	uint32_t worker;
	uint64_t ahead_ns; /* of sb_clock_ns before CLOCK_MONOTONIC, modulo 2^64 */
	struct sb_thief *thief;
	uint32_t n;
};

static void take(void *arg, const struct sb_tracepoint_record *record)
{
	struct taking *t = arg;
	const struct sb_switches *s = t->switches;
	struct sb_thief *all;
	struct sb_thief *thief;

	if (record->lost || record->bytes < s->pid + sizeof(thief->thread_id) ||
	    record->bytes < s->name + sizeof(thief->name))
		return;
	all = reallocarray(t->thief, t->n + 1, sizeof(*all));
	if (!all)
		return;
	t->thief = all;
	thief = &all[t->n++];
	*thief = (struct sb_thief){ .at_ns = record->at_ns + t->ahead_ns, .worker = t->worker };
	memcpy(&thief->thread_id, &record->data[s->pid], sizeof(thief->thread_id));
	memcpy(thief->name, &record->data[s->name], sizeof(thief->name) - 1);
}

struct sb_thief *sb_switches_take(struct sb_switches *s, uint32_t *n)
{
	struct taking t = { .switches = s, .ahead_ns = sb_clock_ns() - sb_clock_kernel_ns() };

	for (; t.worker < s->workers; t.worker++)
		sb_tracepoint_take(&s->ring[t.worker], take, &t);
	*n = t.n;
	return t.thief;
}
