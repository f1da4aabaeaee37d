#include "core/platform/virtual/engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/platform/virtual/turns.h"

#define STACK_BYTES	  ((size_t)256 << 10)
#define FIRST_STACK_BYTES ((size_t)8 << 20)

/* ---- operations ---- */

void sb_virtual_charge(uint64_t ps)
{
	sb_turns.now_ps += ps;
	sb_turns_look();
}

static uint32_t current_cpu(void)
{
	return (uint32_t)(sb_turns.cpu - sb_turns.cpus);
}

/* The state of the core's other hardware threads is read again after this time. */
#define SHARED_PS UINT64_C(10000000)

void sb_virtual_compute(uint64_t ps)
{
	while (sb_turns.cpu->sibling != sb_turns.cpu && ps) {
		const uint64_t part = sb_min_u64(ps, SHARED_PS);

		sb_virtual_charge(sb_turns_shared_ps(part));
		ps -= part;
	}
	sb_virtual_charge(ps);
}

#define COLUMN 28

/* The order of the lines is that in which operations take place: this one comes next. */
static void show(enum sb_access access, const struct sb_site *site)
{
	static const char *const names[] = { "read", "write", "rmw", "touch" };
	const int indent = (int)(sb_turns_self()->number - 1) * COLUMN;

	fprintf(stderr, "%*s%s %s\n", indent, "", names[access], site->function);
}

static void explore(enum sb_access access, const struct sb_site *site)
{
	if (sb_virtual_delays_stores && sb_explorer_lets_go(&sb_turns.explorer))
		sb_pending_let_go(&sb_turns_self()->pending);
	sb_virtual_charge(sb_explorer_operation_ps(&sb_turns.explorer));
	if (sb_turns.setup->explore->shows)
		show(access, site);
}

void sb_virtual_access(const volatile void *address, enum sb_access access, struct sb_site *site)
{
	if (SB_UNLIKELY(!sb_turns.cpu))
		return;
	if (SB_UNLIKELY(sb_turns.setup->explore)) {
		explore(access, site);
		return;
	}
	/* The host fetches the object while it looks into the tables. */
	__builtin_prefetch((const void *)(uintptr_t)address);
	sb_turns.now_ps = sb_lines_access(&sb_turns.lines, current_cpu(), address, access, site,
					  sb_turns.now_ps);
	sb_turns_look();
}

void sb_virtual_touch(const void *object, size_t bytes, struct sb_site *site)
{
	const uint64_t first = sb_region_line(object);
	const uint64_t last = sb_region_line((const char *)object + bytes - 1);
	uint64_t now_ps = sb_turns.now_ps;

	if (!sb_turns.cpu || !bytes || last >= SB_REGION_LINES)
		return;
	for (uint64_t line = first; line <= last; line++)
		sb_lines_expect(&sb_turns.lines, current_cpu(), line);
	/* They come at the same time. */
	for (uint64_t line = first; line <= last; line++)
		now_ps = sb_max_u64(now_ps, sb_lines_reach(&sb_turns.lines, current_cpu(), line,
							   SB_ACCESS_TOUCH, site, sb_turns.now_ps));
	sb_turns.now_ps = now_ps;
	sb_turns_look();
}

void sb_virtual_prefetch(const void *address, struct sb_site *site)
{
	const uint64_t line = sb_region_line(address);

	if (!sb_turns.cpu || sb_turns.setup->explore || line >= SB_REGION_LINES)
		return;
	sb_lines_expect(&sb_turns.lines, current_cpu(), line);
	sb_turns.now_ps =
		sb_lines_prefetch(&sb_turns.lines, current_cpu(), line, site, sb_turns.now_ps);
}

void sb_virtual_straight(enum sb_straight kind)
{
	const struct sb_model_place *place;
	uint64_t ps;

	if (!sb_turns.cpu)
		return;
	ps = sb_turns.setup->model->straight_ps[kind];
	place = sb_turns.setup->model->place;
	if (place && place[current_cpu()].slow_permille)
		ps = ps * place[current_cpu()].slow_permille / 1000;
	sb_virtual_compute(ps);
}

void sb_virtual_fence(void)
{
	if (!sb_turns.cpu)
		return;
	sb_virtual_drain();
	sb_turns.now_ps = sb_lines_drain(&sb_turns.lines, current_cpu(), sb_turns.now_ps);
	sb_virtual_charge(sb_turns.cost.fence_ps);
}

/* ---- stores that wait ---- */

bool sb_virtual_delays_stores;

bool sb_virtual_delay(volatile void *address, const void *value, uint32_t bytes)
{
	if (!sb_turns.cpu)
		return false;
	if (sb_region_line(address) >= SB_REGION_LINES) {
		sb_virtual_drain();
		return false;
	}
	sb_pending_add(&sb_turns_self()->pending, address, value, bytes);
	return true;
}

const volatile void *sb_virtual_latest(const volatile void *address)
{
	const void *own = sb_turns.cpu ? sb_pending_find(&sb_turns_self()->pending, address) : NULL;

	return own ? own : address;
}

void sb_virtual_drain(void)
{
	if (sb_virtual_delays_stores && sb_turns.cpu)
		sb_pending_let_all_go(&sb_turns_self()->pending);
}

void sb_virtual_drain_all(void)
{
	for (struct sb_virtual_thread *t = sb_turns.newest; t; t = t->older)
		sb_pending_let_all_go(&t->pending);
}

void sb_virtual_spoil(void *memory, size_t bytes)
{
	if (!sb_turns.cpu || !sb_turns.setup->explore)
		return;
	sb_virtual_drain();
	memset(memory, 0xa5, bytes);
}

/* ---- waits ---- */

void sb_virtual_yield(void)
{
	sb_virtual_drain();
	sb_turns.now_ps += sb_turns.cost.yield_ps;
	if (sb_turns.cpu->ready.first)
		sb_turns_swap();
	else
		sb_turns_look();
}

bool sb_virtual_wait(struct sb_virtual_queue *queue, uint64_t deadline_ps)
{
	struct sb_virtual_thread *me = sb_turns_self();

	sb_virtual_drain();
	sb_turns.now_ps += sb_turns.cost.block_ps;
	me->waits_for = queue;
	if (queue)
		sb_virtual_queue_append(queue, me);
	if (deadline_ps != UINT64_MAX)
		sb_turns_add_event(&me->deadline, sb_max_u64(deadline_ps, sb_turns.now_ps));
	sb_turns_pass_cpu_on(sb_turns.cpu);
	sb_turns_go_on(me);
	return me->was_woken;
}

/* Until a thread runs that is woken or started. */
static uint64_t delay_of(uint64_t ps)
{
	return sb_turns.setup->explore ? sb_explorer_wake_ps(&sb_turns.explorer) : ps;
}

static bool wake_after(struct sb_virtual_queue *queue, uint64_t delay_ps)
{
	struct sb_virtual_thread *thread = sb_virtual_queue_take(queue);

	if (!thread)
		return false;
	sb_turns_end_wait(thread, true);
	sb_turns_make_ready(thread, sb_turns.now_ps + delay_of(delay_ps));
	return true;
}

bool sb_virtual_wake_quietly(struct sb_virtual_queue *queue)
{
	if (!queue->first)
		return false;
	sb_turns.now_ps += sb_turns.cost.wake_ps;
	return wake_after(queue, sb_turns.cost.wake_delay_ps);
}

bool sb_virtual_wake(struct sb_virtual_queue *queue)
{
	if (!sb_virtual_wake_quietly(queue))
		return false;
	sb_turns_look();
	return true;
}

/* ---- threads ---- */

static void finish(struct sb_virtual_thread *me)
{
	sb_virtual_drain();
	me->has_ended = true;
	while (wake_after(&me->joiners, sb_turns.cost.wake_delay_ps))
		;
	sb_turns.living--;
	sb_turns_pass_cpu_on(sb_turns.cpu);
	sb_turns.ended_cpu_ps += me->cpu_ps;
	if (sb_turns.living)
		sb_turns_go_on(me);
	sb_fiber_switch(&me->fiber, &sb_turns.outside);
}

static void run_thread(void)
{
	struct sb_virtual_thread *me = sb_turns_self();

	me->entry(me->arg);
	finish(me);
}

static struct sb_virtual_thread *create(size_t stack_bytes, void *(*entry)(void *), void *arg)
{
	struct sb_virtual_thread *thread = calloc(1, sizeof(*thread));

	if (!thread)
		return NULL;
	if (sb_fiber_init(&thread->fiber, stack_bytes, run_thread)) {
		free(thread);
		return NULL;
	}
	thread->entry = entry;
	thread->arg = arg;
	thread->number = ++sb_turns.started;
	thread->older = sb_turns.newest;
	if (sb_turns.newest)
		sb_turns.newest->newer = thread;
	sb_turns.newest = thread;
	sb_turns.living++;
	return thread;
}

static void destroy(struct sb_virtual_thread *thread)
{
	if (thread->newer)
		thread->newer->older = thread->older;
	else
		sb_turns.newest = thread->older;
	if (thread->older)
		thread->older->newer = thread->newer;
	sb_fiber_fini(&thread->fiber);
	free(thread);
}

struct sb_virtual_thread *sb_virtual_start(int cpu, void *(*entry)(void *), void *arg)
{
	struct sb_virtual_thread *thread;

	sb_virtual_drain();
	if (cpu >= (int)sb_turns.setup->model->cpus)
		return NULL;
	thread = create(STACK_BYTES, entry, arg);
	if (!thread)
		return NULL;
	thread->is_pinned = cpu >= 0;
	thread->cpu = thread->is_pinned ? &sb_turns.cpus[cpu] : sb_turns.cpu;
	sb_turns.now_ps += sb_turns.cost.thread_start_ps;
	sb_turns_make_ready(thread, sb_turns.now_ps + delay_of(sb_turns.cost.thread_start_ps));
	sb_turns_look();
	return thread;
}

void sb_virtual_join(struct sb_virtual_thread *thread)
{
	while (!thread->has_ended)
		sb_virtual_wait(&thread->joiners, UINT64_MAX);
	destroy(thread);
}

uint32_t sb_virtual_self(void)
{
	return sb_turns_self()->number;
}

void *sb_virtual_own(void)
{
	return sb_turns_self()->own;
}

bool sb_virtual_is_pinned(const struct sb_virtual_thread *thread, int cpu)
{
	return thread->is_pinned && cpu >= 0 && thread->cpu == &sb_turns.cpus[cpu];
}

/* ---- time ---- */

uint64_t sb_virtual_now_ps(void)
{
	uint64_t now_ps;

	sb_virtual_charge(sb_turns.cost.clock_read_ps);
	now_ps = sb_turns.now_ps;
	/* A thread may run on for so long that others see what it does before that, by their own
	 * clocks. By the clock that they read it has been before. */
	if (sb_virtual_runs() && sb_turns.setup->explore)
		now_ps = sb_turns.explorer.read_ps = sb_max_u64(sb_turns.explorer.read_ps, now_ps);
	return now_ps;
}

uint64_t sb_virtual_cpu_ps(void)
{
	sb_virtual_charge(sb_turns.cost.clock_read_ps);
	return sb_turns_self()->cpu_ps + sb_turns.now_ps - sb_turns.cpu->since_ps;
}

/* Of a CPU that is not the current one: until where it has come. */
static uint64_t run_of(const struct sb_virtual_cpu *cpu)
{
	const uint64_t now_ps = cpu == sb_turns.cpu ? sb_turns.now_ps : cpu->turn.at_ps;

	return cpu->running && now_ps > cpu->since_ps ? now_ps - cpu->since_ps : 0;
}

uint64_t sb_virtual_all_cpus_ps(void)
{
	uint64_t sum = sb_turns.ended_cpu_ps;

	sb_virtual_charge(sb_turns.cost.clock_read_ps);
	for (const struct sb_virtual_thread *t = sb_turns.newest; t; t = t->older)
		sum += t->has_ended ? 0 : t->cpu_ps;
	for (uint32_t i = 0; i < sb_turns.setup->model->cpus; i++)
		sum += run_of(&sb_turns.cpus[i]);
	return sum;
}

const struct sb_costs *sb_virtual_costs(void)
{
	return &sb_turns.cost;
}

uint32_t sb_virtual_cpus(void)
{
	return sb_turns.setup->model->cpus;
}

bool sb_virtual_runs(void)
{
	return sb_turns.cpu;
}

/* ---- a run ---- */

static struct sb_virtual_counts count(void)
{
	struct sb_virtual_counts counts = {
		.end_ps = sb_turns.now_ps,
		.switches = sb_turns.switches,
		.threads = sb_turns.started,
		.lines = sb_turns.lines.counts,
	};

	for (uint32_t i = 0; i < sb_turns.setup->model->cpus; i++)
		counts.end_ps = sb_max_u64(counts.end_ps, sb_turns.cpus[i].turn.at_ps);
	return counts;
}

const struct sb_site *sb_virtual_sites(void)
{
	return sb_turns.lines.site;
}

static int begin(const struct sb_virtual_setup *setup)
{
	if (sb_turns.cpu)
		return -EBUSY;
	sb_turns = (struct sb_turns){ .setup = setup,
				      .cost = setup->model->cost,
				      .lookahead_ps = setup->lookahead_ps };
	sb_rng_seed(&sb_turns.rng, setup->seed);
	if (setup->explore) {
		sb_explorer_init(&sb_turns.explorer, setup->explore, setup->seed);
		sb_turns.lookahead_ps = sb_explore_lookahead_ps(setup->explore);
		/* What the kernel does would take longer than all the rest. */
		sb_turns.cost.block_ps = sb_turns.cost.wake_ps = 0;
		sb_turns.cost.switch_ps = sb_turns.cost.thread_start_ps = 0;
		sb_turns.cost.heavy_fence_ps = 0;
	}
	sb_virtual_delays_stores = setup->explore && setup->explore->stores;
	sb_turns.cpus = calloc(setup->model->cpus, sizeof(*sb_turns.cpus));
	if (!sb_turns.cpus || sb_region_begin() || sb_lines_begin(&sb_turns.lines, setup->model))
		return -ENOMEM;
	for (uint32_t i = 0; i < setup->model->cpus; i++)
		sb_turns.cpus[i].turn.is_cpu = true;
	sb_turns_join_siblings();
	return 0;
}

static void end(void)
{
	while (sb_turns.newest)
		destroy(sb_turns.newest);
	sb_heap_fini(&sb_turns.heap);
	sb_lines_end(&sb_turns.lines);
	sb_region_end();
	sb_virtual_delays_stores = false;
	free(sb_turns.cpus);
	sb_turns.cpu = NULL;
}

int sb_virtual_run(const struct sb_virtual_setup *setup, void *(*entry)(void *), void *arg,
		   struct sb_virtual_counts *counts)
{
	struct sb_virtual_thread *first;
	int rc = begin(setup);

	if (rc == -EBUSY)
		return rc;
	first = rc ? NULL : create(FIRST_STACK_BYTES, entry, arg);
	if (first) {
		sb_turns.cpu =
			&sb_turns.cpus[setup->may_run ? setup->first_cpu : setup->model->cpus - 1];
		sb_turns_give_cpu(sb_turns.cpu, first, 0);
		sb_turns_set_limit();
		sb_fiber_switch(&sb_turns.outside, &first->fiber);
		*counts = count();
	}
	end();
	return first ? 0 : -ENOMEM;
}
