#include "core/platform/virtual/turns.h"

#include <stdio.h>
#include <stdlib.h>

/* Of a CPU that threads share, and the least of it before one that is woken gets it. */
#define SLICE_PS UINT64_C(3000000000)
#define SHARE_PS UINT64_C(1000000000)

struct sb_turns sb_turns;

/* ---- queues ---- */

void sb_virtual_queue_append(struct sb_virtual_queue *queue, struct sb_virtual_thread *thread)
{
	thread->next = NULL;
	if (queue->first)
		queue->last->next = thread;
	else
		queue->first = thread;
	queue->last = thread;
}

static void prepend(struct sb_virtual_queue *queue, struct sb_virtual_thread *thread)
{
	thread->next = queue->first;
	if (!queue->first)
		queue->last = thread;
	queue->first = thread;
}

struct sb_virtual_thread *sb_virtual_queue_take(struct sb_virtual_queue *queue)
{
	struct sb_virtual_thread *thread = queue->first;

	if (thread)
		queue->first = thread->next;
	return thread;
}

static void take_out(struct sb_virtual_queue *queue, struct sb_virtual_thread *thread)
{
	struct sb_virtual_thread *before = NULL;

	for (struct sb_virtual_thread *t = queue->first; t != thread; t = t->next)
		before = t;
	if (before)
		before->next = thread->next;
	else
		queue->first = thread->next;
	if (queue->last == thread)
		queue->last = before;
}

/* ---- what happens next ---- */

void sb_turns_add_event(struct sb_event_time *event, uint64_t at_ps)
{
	event->at_ps = at_ps;
	event->tie = sb_rng_next(&sb_turns.rng);
	sb_heap_add(&sb_turns.heap, event);
}

void sb_turns_set_limit(void)
{
	const struct sb_event_time *first = sb_heap_first(&sb_turns.heap);
	const struct sb_virtual_cpu *cpu = sb_turns.cpu;

	sb_turns.limit_ps = first ? first->at_ps + sb_turns.lookahead_ps : UINT64_MAX;
	if (cpu->ready.first)
		sb_turns.limit_ps = sb_min_u64(sb_turns.limit_ps, cpu->until_ps);
}

/* A CPU without a thread gets one. */
void sb_turns_give_cpu(struct sb_virtual_cpu *cpu, struct sb_virtual_thread *thread,
		       uint64_t now_ps)
{
	thread->cpu = cpu;
	cpu->running = thread;
	cpu->since_ps = sb_max_u64(now_ps, thread->ready_ps);
	cpu->until_ps = cpu->since_ps + SLICE_PS;
}

static bool is_idle(const struct sb_virtual_cpu *cpu)
{
	return !cpu->running;
}

static struct sb_virtual_cpu *choose_cpu(const struct sb_virtual_thread *thread)
{
	const bool *may_run = sb_turns.setup->may_run;

	if (thread->is_pinned || is_idle(thread->cpu))
		return thread->cpu;
	for (uint32_t i = sb_turns.setup->model->cpus; i-- > 0;) {
		if ((!may_run || may_run[i]) && is_idle(&sb_turns.cpus[i]))
			return &sb_turns.cpus[i];
	}
	return thread->cpu;
}

/* It may run from ready_ps on. */
void sb_turns_make_ready(struct sb_virtual_thread *thread, uint64_t ready_ps)
{
	struct sb_virtual_cpu *cpu = choose_cpu(thread);

	thread->ready_ps = ready_ps;
	if (is_idle(cpu)) {
		sb_turns_give_cpu(cpu, thread, cpu->turn.at_ps);
		sb_turns_add_event(&cpu->turn, cpu->since_ps);
	} else {
		thread->cpu = cpu;
		sb_turns.movable += !thread->is_pinned;
		prepend(&cpu->ready, thread);
		cpu->until_ps =
			sb_min_u64(cpu->until_ps, sb_max_u64(ready_ps, cpu->since_ps + SHARE_PS));
	}
	sb_turns_set_limit();
}

void sb_turns_end_wait(struct sb_virtual_thread *thread, bool was_woken)
{
	if (thread->waits_for && !was_woken)
		take_out(thread->waits_for, thread);
	if (thread->deadline.place)
		sb_heap_remove(&sb_turns.heap, &thread->deadline);
	thread->waits_for = NULL;
	thread->was_woken = was_woken;
}

static _Noreturn void all_wait(void)
{
	for (struct sb_virtual_thread *t = sb_turns.newest; t; t = t->older) {
		if (!t->has_ended)
			fprintf(stderr,
				"virtual time %llu ns: thread %u waits, and nobody can wake it\n",
				(unsigned long long)(sb_turns.now_ps / 1000), t->number);
	}
	abort();
}

/* The CPU whose turn it is becomes the current one. */
static void take_turn(void)
{
	for (;;) {
		struct sb_event_time *event = sb_heap_first(&sb_turns.heap);

		if (!event)
			all_wait();
		if (event->is_cpu) {
			sb_heap_remove(&sb_turns.heap, event);
			sb_turns.cpu = sb_container_of(event, struct sb_virtual_cpu, turn);
			sb_turns.now_ps = event->at_ps;
			sb_turns_set_limit();
			return;
		}
		struct sb_virtual_thread *thread =
			sb_container_of(event, struct sb_virtual_thread, deadline);
		const uint64_t at_ps = event->at_ps;

		sb_turns_end_wait(thread, false);
		sb_turns_make_ready(thread, at_ps);
	}
}

/* me has left its CPU, or is to go on when its turn comes. */
void sb_turns_go_on(struct sb_virtual_thread *me)
{
	take_turn();
	if (sb_turns_self() == me)
		return;
	sb_turns.switches++;
	sb_fiber_switch(&me->fiber, &sb_turns_self()->fiber);
}

static void stop_running(struct sb_virtual_cpu *cpu)
{
	cpu->running->cpu_ps += sb_turns.now_ps - cpu->since_ps;
	cpu->running = NULL;
}

/* A thread that waits for another CPU and may run on this one; NULL: there is none. */
static struct sb_virtual_thread *pull(const struct sb_virtual_cpu *cpu)
{
	const bool *may_run = sb_turns.setup->may_run;

	if (!sb_turns.movable || (may_run && !may_run[cpu - sb_turns.cpus]))
		return NULL;
	for (uint32_t i = 0; i < sb_turns.setup->model->cpus; i++) {
		struct sb_virtual_queue *ready = &sb_turns.cpus[i].ready;

		for (struct sb_virtual_thread *t = ready->first; t; t = t->next) {
			if (t->is_pinned)
				continue;
			take_out(ready, t);
			return t;
		}
	}
	return NULL;
}

/* The current CPU's next thread, if it has one; its clock stands where it is. */
void sb_turns_pass_cpu_on(struct sb_virtual_cpu *cpu)
{
	struct sb_virtual_thread *next = sb_virtual_queue_take(&cpu->ready);

	stop_running(cpu);
	cpu->turn.at_ps = sb_turns.now_ps;
	if (!next)
		next = pull(cpu);
	if (next)
		sb_turns.movable -= !next->is_pinned;
	if (!next)
		return;
	sb_turns_give_cpu(cpu, next, sb_turns.now_ps + sb_turns.cost.switch_ps);
	sb_turns_add_event(&cpu->turn, cpu->since_ps);
}

/* Another thread of this CPU, if one waits for it. */
void sb_turns_swap(void)
{
	struct sb_virtual_thread *me = sb_turns_self();

	sb_turns.movable += !me->is_pinned;
	sb_virtual_queue_append(&sb_turns.cpu->ready, me);
	sb_turns_pass_cpu_on(sb_turns.cpu);
	sb_turns_go_on(me);
}

/* The limit has passed: somebody else is behind, or next. */
void sb_turns_pass_on(void)
{
	struct sb_virtual_cpu *cpu = sb_turns.cpu;

	if (cpu->ready.first && sb_turns.now_ps >= cpu->until_ps) {
		sb_turns_swap();
		return;
	}
	sb_turns_add_event(&cpu->turn, sb_turns.now_ps);
	sb_turns_go_on(cpu->running);
}

/* ---- hardware threads of one core ---- */

/* A CPU without a thread was busy until its thread stopped, which may be later than now. */
static bool is_busy(const struct sb_virtual_cpu *cpu)
{
	return cpu->running ? cpu->since_ps <= sb_turns.now_ps : cpu->turn.at_ps > sb_turns.now_ps;
}

/* As all busy ones get the same part of what the core does. */
uint64_t sb_turns_shared_ps(uint64_t ps)
{
	uint64_t busy = 1;

	for (const struct sb_virtual_cpu *c = sb_turns.cpu->sibling; c != sb_turns.cpu;
	     c = c->sibling)
		busy += is_busy(c);
	return ps * busy * 1000 /
	       (1000 + (busy - 1) * (sb_turns.setup->model->smt_permille - UINT64_C(1000)));
}

void sb_turns_join_siblings(void)
{
	const struct sb_model *model = sb_turns.setup->model;
	struct sb_virtual_cpu *cpus = sb_turns.cpus;

	for (uint32_t i = 0; i < model->cpus; i++) {
		uint32_t k = model->place && model->smt_permille ? i : 0;

		cpus[i].sibling = &cpus[i];
		while (k > 0 && sb_model_hop(model, k - 1, i) != SB_HOP_CORE)
			k--;
		if (!k)
			continue;
		cpus[i].sibling = cpus[k - 1].sibling;
		cpus[k - 1].sibling = &cpus[i];
	}
}
