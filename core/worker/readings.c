/*
 * readings.c - what anyone may read while everything goes on.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/hist.h"
#include "core/message/caller.h"
#include "core/state.h"

uint32_t sb_scheduler_workers(const struct sb_scheduler *s)
{
	return s->workers;
}

static void read_yields(struct sb_worker *w, struct sb_worker_reading *out)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < SB_YIELD_COUNTS; i++) {
		out->yields[i] = sb_counter_read(&w->yields[i]);
		sum += out->yields[i];
	}
	out->counter[SB_COUNTER_yields] = sum;
}

static void read_counters(struct sb_worker *w, struct sb_worker_reading *out)
{
	sb_counter *counter = (sb_counter *)&w->counters;

	for (uint32_t i = 0; i < SB_COUNTERS; i++)
		out->counter[i] = sb_counter_read(&counter[i]);
	out->recorded = w->records;
	sb_account_read(&w->account, &w->counters, out);
}

static struct sb_steal_counts read_cell(struct sb_steal_cell *cell)
{
	return (struct sb_steal_counts){
#define X(name, doc) .name = sb_counter_read(&cell->name),
#include "core/steals.def"
#undef X
	};
}

void sb_scheduler_read(struct sb_scheduler *s, uint32_t worker, struct sb_worker_reading *out)
{
	struct sb_worker *w = s->worker[worker];

	read_counters(w, out);
	read_yields(w, out);
	for (uint32_t i = 0; i < s->workers; i++)
		out->steals[i] = read_cell(&w->steals[i]);
}

static void glance_at(struct sb_worker *w, uint32_t workers, struct sb_glance *sum)
{
	struct sb_worker_reading reading;

	read_counters(w, &reading);
	for (uint32_t i = 0; i < SB_COUNTERS; i++)
		sum->counter[i] += reading.counter[i];
	for (uint32_t i = 0; i < workers && w->records; i++) {
		const struct sb_steal_counts cell = read_cell(&w->steals[i]);

		sb_steal_add(&sum->steals, &cell);
	}
	sum->depth_own += (uint64_t)sb_deque_size(&w->deque) + sb_deque_size(&w->cold);
	sum->depth_inject += sb_runq_length(&w->inject);
}

void sb_scheduler_glance(struct sb_scheduler *s, struct sb_glance *out)
{
	*out = (struct sb_glance){ .depth_global = sb_runq_length(&s->global) };
	for (uint32_t i = 0; i < s->workers; i++)
		glance_at(s->worker[i], s->workers, out);
}

void sb_scheduler_read_hist(struct sb_scheduler *s, enum sb_hist_id id, struct sb_hist_counts *out)
{
	memset(out, 0, sizeof(*out));
	for (uint32_t i = 0; i < s->workers; i++)
		sb_hist_read((struct sb_hist *)&s->worker[i]->hists + id, out);
}

void sb_scheduler_forget_maxima(struct sb_scheduler *s)
{
	for (uint32_t i = 0; i < s->workers; i++) {
		for (int h = 0; h < SB_HISTS; h++)
			sb_hist_forget_max((struct sb_hist *)&s->worker[i]->hists + h);
	}
}

const struct sb_exemplar *sb_scheduler_read_exemplars(struct sb_scheduler *s, uint32_t worker,
						      enum sb_exemplar_kind kind, uint32_t *n)
{
	const struct sb_keeper *k = s->worker[worker]->keeper;

	*n = k ? k->kept[kind] : 0;
	return k ? &k->exemplar[kind * k->room] : NULL;
}

void sb_scheduler_forget_exemplars(struct sb_scheduler *s)
{
	for (uint32_t i = 0; i < s->workers; i++) {
		struct sb_keeper *k = s->worker[i]->keeper;

		if (!k)
			continue;
		memset(k->kept, 0, sizeof(k->kept));
		memset(k->bound_ns, 0, sizeof(k->bound_ns));
	}
}

const struct sb_trace *sb_scheduler_read_trace(struct sb_scheduler *s, uint32_t worker)
{
	return &s->worker[worker]->trace;
}

/* ---- from the next start on ---- */

int sb_scheduler_trace(struct sb_scheduler *s, uint32_t events)
{
	if (!sb_phase_is_at_rest(sb_load_acq(&s->phase)))
		return -EBUSY;
	s->trace_events = events;
	return 0;
}

int sb_scheduler_trace_sends(struct sb_scheduler *s, bool has_sends)
{
	if (!sb_phase_is_at_rest(sb_load_acq(&s->phase)))
		return -EBUSY;
	s->trace_sends = has_sends;
	return 0;
}

int sb_scheduler_trace_until(struct sb_scheduler *s, const struct sb_trace_bound *bound)
{
	if (!sb_phase_is_at_rest(sb_load_acq(&s->phase)))
		return -EBUSY;
	s->trace_bound = bound ? *bound : (struct sb_trace_bound){ .ns = UINT64_MAX };
	sb_store_rlx(&s->trace_end_ns, UINT64_MAX);
	return 0;
}

int sb_scheduler_slow_down(struct sb_scheduler *s, uint32_t ppm)
{
	if (!sb_phase_is_at_rest(sb_load_acq(&s->phase)))
		return -EBUSY;
	s->slowdown_ppm = ppm;
	return 0;
}

bool sb_scheduler_trace_has_ended(const struct sb_scheduler *s)
{
	return sb_load_rlx((_Atomic(uint64_t) *)(uintptr_t)&s->trace_end_ns) != UINT64_MAX;
}

int sb_scheduler_thread_id(const struct sb_scheduler *s, uint32_t worker)
{
	return s->worker_thread[worker].thread_id;
}

bool sb_scheduler_is_pinned(const struct sb_scheduler *s, uint32_t worker)
{
	const int os_cpu = s->placement.place[worker].os_cpu;

	return os_cpu < 0 || sb_thread_is_pinned(&s->worker_thread[worker].thread, os_cpu);
}

/* ---- the list of processes ---- */

struct listing {
	struct sb_scheduler *scheduler;
	void (*visit)(void *arg, const struct sb_process_info *info);
	void *arg;
	char name[SB_LISTED_NAME_BYTES]; /* of the process that is visited */
};

/*
 * Copies what the list shows of a process. Its operations may be freed as soon as it
 * has been closed. A process that is found alive under the lock is not closed before
 * the lock is released: its end makes the word Complete first, and then waits for the
 * listing (wait_for_listing() in core/process/finish.c). The visit itself is under no
 * lock, so it may call whatever any thread may call.
 */
static struct sb_process_info read_process(struct listing *listing, struct sb_process *p)
{
	struct sb_process_info info = { .pid = p->pid,
					.name = listing->name,
					.start_ns = p->start_ns };

	sb_lock_acquire(&listing->scheduler->list_lock);
	info.state = sb_word_state(sb_load_acq(&p->word));
	if (info.state != SB_STATE_COMPLETE) {
		(void)snprintf(listing->name, sizeof(listing->name), "%s",
			       p->ops->name ? p->ops->name : "");
		info.steps = sb_counter_read(&p->steps);
	}
	sb_lock_release(&listing->scheduler->list_lock);
	return info;
}

static void list_one(void *arg, struct sb_process *p)
{
	struct listing *listing = arg;
	const struct sb_process_info info = read_process(listing, p);

	if (info.state == SB_STATE_COMPLETE)
		return;
	sb_callback_begin();
	listing->visit(listing->arg, &info);
	sb_callback_end();
}

void sb_scheduler_list(struct sb_scheduler *s,
		       void (*visit)(void *arg, const struct sb_process_info *info), void *arg)
{
	struct listing listing = { .scheduler = s, .visit = visit, .arg = arg };
	const struct sb_caller caller = sb_caller_enter(s);

	sb_add_acq_rel(&s->listings, 1);
	sb_fence_after_rmw(&s->listings);
	sb_pidmap_for_each(s->pidmap, list_one, &listing);
	sb_sub_acq_rel(&s->listings, 1);
	sb_caller_leave(s, &caller);
}
