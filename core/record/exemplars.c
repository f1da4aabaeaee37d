#include "core/record/exemplars.h"

#include <errno.h>
#include <string.h>

#include "core/hist.h"
#include "core/memory/arena.h"
#include "core/state.h"

/* Between two looks at what the system counts: a look takes some two microseconds. */
#define LOOK_NS UINT64_C(1000000)

/* To a faster event neither what the system counts nor who sleeps has anything to say: it takes
 * longer to switch between threads, or to wake one. */
#define WORTH_NS UINT64_C(20000)

/* Of more workers each would keep a file open. */
#define LOOK_WORKERS 128

int sb_keeper_init(struct sb_worker *w, struct sb_arena *arena)
{
	const struct sb_config *config = &w->scheduler->config;
	const size_t bytes =
		SB_EXEMPLAR_KINDS * (size_t)config->exemplars * sizeof(struct sb_exemplar);
	struct sb_keeper *k;

	if (!config->sample_every || !config->exemplars)
		return 0;
	k = sb_mem_zalloc(arena, sizeof(*k) + bytes, SB_LINE);
	if (!k)
		return -ENOMEM;
	k->exemplar = (struct sb_exemplar *)(k + 1);
	k->room = config->exemplars;
	k->looks = config->park != SB_PARK_POLL && w->scheduler->workers <= LOOK_WORKERS;
	w->keeper = k;
	return 0;
}

void sb_keeper_fini(struct sb_worker *w)
{
	sb_mem_free(w->keeper);
}

/* ---- what goes on ---- */

static uint64_t parked_ns(struct sb_worker *w)
{
	return sb_counter_read(&w->counters.blocked_ns);
}

SB_COLD static void look(struct sb_worker *w, uint64_t now)
{
	struct sb_keeper *k = w->keeper;
	struct sb_looked *to = &k->look[k->next];
	const struct sb_usage before = k->usage;
	const uint64_t parked_before = k->parked_ns;

	sb_usage_read(&k->source, &k->usage);
	k->parked_ns = parked_ns(w);
	*to = (struct sb_looked){
		.begin_ns = k->looked_ns,
		.usage = { .cpu_ns = k->usage.cpu_ns - before.cpu_ns,
			   .delay_ns = k->usage.delay_ns - before.delay_ns,
			   .faults = k->usage.faults - before.faults,
			   .preempted = k->usage.preempted - before.preempted,
			   .gave_up = k->usage.gave_up - before.gave_up },
		.parked_ns = k->parked_ns - parked_before,
	};
	k->looked_ns = now;
	k->look_at_ns = now + LOOK_NS;
	k->next = (k->next + 1) % SB_LOOKS;
}

void sb_keeper_begin(struct sb_worker *w)
{
	struct sb_keeper *k = w->keeper;

	if (!k)
		return;
	k->noted_ns = k->busy_ns = sb_clock_ns();
	k->noted_steps = sb_counter_read(&w->counters.steps);
	k->last_worker = SB_WORKER_NONE;
	memset(k->run, 0, sizeof(k->run));
	memset(k->look, 0, sizeof(k->look));
	k->look_at_ns = k->looks ? k->noted_ns + LOOK_NS : UINT64_MAX;
	if (!k->looks)
		return;
	sb_usage_open(&k->source);
	sb_usage_read(&k->source, &k->usage);
	k->looked_ns = k->noted_ns;
	k->parked_ns = parked_ns(w);
}

void sb_keeper_end(struct sb_worker *w)
{
	if (w->keeper && w->keeper->looks)
		sb_usage_close(&w->keeper->source);
}

static void note_time(struct sb_worker *w, uint64_t now)
{
	struct sb_keeper *k = w->keeper;

	k->noted_ns = now;
	k->noted_steps = sb_counter_read(&w->counters.steps);
	if (now >= k->look_at_ns)
		look(w, now);
}

static void add_run(struct sb_keeper *k, const struct sb_run_of_steps *run)
{
	const uint64_t ns = sb_clock_passed(run->begin_ns, run->end_ns);

	if (ns >= SB_RUN_NS && run->steps)
		k->run[63 - __builtin_clzll(ns)] = *run;
}

/* Since the last note, but for the step that goes on or has just ended. */
static uint32_t steps_since(struct sb_worker *w, bool has_begun)
{
	const uint64_t steps = sb_counter_read(&w->counters.steps) - w->keeper->noted_steps;

	return (uint32_t)(steps - (has_begun && steps));
}

void sb_keeper_note(struct sb_worker *w, uint64_t now)
{
	struct sb_keeper *k = w->keeper;

	add_run(k,
		&(struct sb_run_of_steps){ k->noted_ns, now, w->step.self, steps_since(w, false) });
	note_time(w, now);
}

void sb_keeper_note_step(struct sb_worker *w, uint64_t start, uint64_t end)
{
	struct sb_keeper *k = w->keeper;

	add_run(k,
		&(struct sb_run_of_steps){ k->noted_ns, start, k->before, steps_since(w, true) });
	add_run(k, &(struct sb_run_of_steps){ start, end, w->step.self, 1 });
	note_time(w, end);
}

void sb_keeper_busy(struct sb_worker *w, uint64_t now)
{
	w->keeper->busy_ns = now;
	w->keeper->was_parked = w->search.woken;
	note_time(w, now);
}

/* ---- an event that is kept ---- */

static void consider_run(struct sb_exemplar *to, const struct sb_timed_event *m,
			 const struct sb_run_of_steps *run)
{
	const uint64_t begin = sb_max_u64(run->begin_ns, m->begin_ns);
	const uint64_t ns = sb_clock_passed(begin, sb_min_u64(run->end_ns, m->start_ns));

	if (ns <= to->front_ns || !run->steps)
		return;
	to->front_ns = ns;
	to->front_pid = run->pid;
	to->front_steps = run->steps;
}

/* Whose step was the last before the event's; 0: nobody has looked. */
static sb_pid pid_before(const struct sb_worker *w, const struct sb_timed_event *m)
{
	if (!m->has_begun)
		return w->step.self;
	return m->process && m->process->ready_ns ? w->keeper->before : 0;
}

/* The runs that are known, and the one that went on when the step began. */
static void fill_front(struct sb_worker *w, struct sb_exemplar *to, const struct sb_timed_event *m)
{
	const struct sb_keeper *k = w->keeper;
	const struct sb_run_of_steps now = { k->noted_ns, m->start_ns, pid_before(w, m),
					     steps_since(w, m->has_begun) };

	for (size_t i = 0; i < SB_ARRAY_SIZE(k->run); i++)
		consider_run(to, m, &k->run[i]);
	consider_run(to, m, &now);
}

/* Lines of other workers, at most; what reads them all would be dear where there are many. */
#define SLEEPERS 4

/* One that has been parked for most of the wait, and still is. */
static void fill_sleeper(struct sb_worker *w, struct sb_exemplar *to,
			 const struct sb_timed_event *m)
{
	struct sb_scheduler *s = w->scheduler;
	uint32_t tries = 0;

	if (to->wait_ns < WORTH_NS || !sb_idle_sleeping(sb_load_rlx(&s->idle.counts)))
		return;
	for (uint32_t i = 0; i < s->workers && tries < SLEEPERS && !to->has_sleeper; i++) {
		if (!sb_idle_is_announced(&s->idle, i))
			continue;
		tries++;
		to->has_sleeper = sb_account_is_parked_since(&s->worker[i]->account,
							     m->begin_ns + to->wait_ns / 2);
		to->sleeper = i;
	}
}

static void add_look(struct sb_exemplar *to, const struct sb_looked *from)
{
	to->cpu_ns += from->usage.cpu_ns;
	to->delay_ns += from->usage.delay_ns;
	to->parked_ns += from->parked_ns;
	to->faults += (uint32_t)from->usage.faults;
	to->preempted += (uint32_t)from->usage.preempted;
	to->gave_up += (uint32_t)from->usage.gave_up;
}

/* The looks that reach into the event, the latest first. */
static void fill_looked(struct sb_worker *w, struct sb_exemplar *to, const struct sb_timed_event *m)
{
	struct sb_keeper *k = w->keeper;
	uint64_t begin;
	uint64_t now;

	if (!k->looks || to->took_ns < WORTH_NS)
		return;
	now = sb_clock_ns();
	if (sb_clock_passed(k->looked_ns, now) >= WORTH_NS)
		look(w, now);
	begin = k->looked_ns;
	for (uint32_t i = 1; i <= SB_LOOKS && begin > m->begin_ns; i++) {
		const struct sb_looked *from = &k->look[(k->next + SB_LOOKS - i) % SB_LOOKS];

		if (!from->begin_ns)
			break;
		if (from->begin_ns < m->end_ns) {
			add_look(to, from);
			to->looked_ns += begin - from->begin_ns;
		}
		begin = from->begin_ns;
	}
	/* A thread that has given nothing up, and had no CPU, has waited for one. */
	if (k->usage.delay_ns == SB_USAGE_UNKNOWN && !to->gave_up)
		to->delay_ns = sb_clock_passed(to->cpu_ns + to->parked_ns, to->looked_ns);
}

static void fill(struct sb_worker *w, struct sb_exemplar *to, const struct sb_timed_event *m)
{
	const struct sb_keeper *k = w->keeper;

	*to = (struct sb_exemplar){
		.begin_ns = m->begin_ns,
		.took_ns = sb_clock_passed(m->begin_ns, m->end_ns),
		.late_ns = m->late_ns,
		.visible_ns = m->ready_ns ? sb_clock_passed(m->begin_ns, m->ready_ns) : 0,
		.wait_ns = sb_clock_passed(m->begin_ns, m->start_ns),
		.worker = w->id,
		.last_worker = m->last_worker,
	};
	to->idle_ns = sb_clock_passed(m->begin_ns, sb_min_u64(k->busy_ns, m->start_ns));
	to->was_parked = to->idle_ns && k->was_parked;
	if (m->process) {
		to->pid = m->process->pid;
		if (m->process->ops->name)
			strncpy(to->name, m->process->ops->name, sizeof(to->name) - 1);
	}
	fill_front(w, to, m);
	fill_sleeper(w, to, m);
	fill_looked(w, to, m);
}

static struct sb_exemplar *fastest(const struct sb_keeper *k, enum sb_exemplar_kind kind)
{
	struct sb_exemplar *first = &k->exemplar[kind * k->room];
	struct sb_exemplar *least = first;

	for (uint32_t i = 1; i < k->kept[kind]; i++) {
		if (first[i].took_ns < least->took_ns)
			least = &first[i];
	}
	return least;
}

/* The first such event ends all traces: after a quarter of what it took, to see what came then. */
static void end_traces(struct sb_scheduler *s, const struct sb_timed_event *m)
{
	uint64_t none = UINT64_MAX;

	(void)sb_cas_acq_rel(&s->trace_end_ns, &none,
			     m->end_ns + sb_clock_passed(m->begin_ns, m->end_ns) / 4);
}

static bool is_full(const struct sb_keeper *k, enum sb_exemplar_kind kind)
{
	return k->kept[kind] == k->room;
}

void sb_keeper_keep(struct sb_worker *w, enum sb_exemplar_kind kind, const struct sb_timed_event *m)
{
	struct sb_keeper *k = w->keeper;
	const struct sb_trace_bound *bound = &w->scheduler->trace_bound;
	const uint64_t took = sb_clock_passed(m->begin_ns, m->end_ns);

	if (SB_UNLIKELY(bound->ns < UINT64_MAX)) {
		if (kind == bound->kind && took > bound->ns)
			end_traces(w->scheduler, m);
		/* The traces do not have it, and are to keep what they have. */
		if (m->end_ns > sb_load_rlx(&w->scheduler->trace_end_ns))
			return;
	}
	if (!is_full(k, kind))
		fill(w, &k->exemplar[kind * k->room + k->kept[kind]++], m);
	else if (took > fastest(k, kind)->took_ns)
		fill(w, fastest(k, kind), m);
	k->bound_ns[kind] = is_full(k, kind) ? fastest(k, kind)->took_ns : 0;
	if (kind == bound->kind)
		k->bound_ns[kind] = sb_min_u64(k->bound_ns[kind], bound->ns);
}
