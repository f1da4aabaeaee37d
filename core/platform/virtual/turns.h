/*
 * turns.h - whose turn it is: virtual CPUs with their threads, and what happens next. Of
 * engine.h alone.
 *
 * A CPU with a thread is in the heap, by its clock, unless it is the current one, whose clock
 * is now_ps; a thread that waits until some time is there by that. An idle CPU is not.
 */
#ifndef SB_CORE_PLATFORM_VIRTUAL_TURNS_H
#define SB_CORE_PLATFORM_VIRTUAL_TURNS_H

#include "core/platform/platform.h"
#include "core/platform/virtual/engine.h"
#include "core/platform/virtual/explore.h"
#include "core/platform/virtual/fiber.h"
#include "core/platform/virtual/heap.h"

struct sb_virtual_cpu;

struct sb_virtual_thread {
	struct sb_event_time deadline; /* of a wait that has one */
	struct sb_fiber fiber;
	struct sb_virtual_cpu *cpu;
	struct sb_virtual_thread *next; /* in its CPU's queue, or in what it waits for */
	struct sb_virtual_queue *waits_for;
	bool is_pinned, was_woken, has_ended;
	uint32_t number;
	uint64_t ready_ps; /* does not run before */
	uint64_t cpu_ps;   /* until it got its CPU for the last time */
	void *(*entry)(void *);
	void *arg;
	struct sb_virtual_queue joiners;
	struct sb_virtual_thread *older; /* of all that have not been freed */
	struct sb_virtual_thread *newer;
	alignas(16) char own[SB_VIRTUAL_OWN];
	struct sb_pending pending;
};

struct sb_virtual_cpu {
	struct sb_event_time turn; /* its clock, unless it is the current one */
	struct sb_virtual_thread *running;
	struct sb_virtual_queue ready;	/* the others */
	uint64_t since_ps;		/* the running one has it */
	uint64_t until_ps;		/* the running one's slice */
	struct sb_virtual_cpu *sibling; /* the next hardware thread of the core, in a circle */
};

extern struct sb_turns {
	const struct sb_virtual_setup *setup;
	struct sb_costs cost;
	struct sb_lines lines;
	struct sb_heap heap; /* CPUs with a thread, but the current one; deadlines */
	struct sb_virtual_cpu *cpus;
	struct sb_virtual_cpu *cpu; /* the current one; NULL: no run */
	uint64_t now_ps;	    /* by its clock */
	uint64_t limit_ps;	    /* the current thread goes on until then */
	uint64_t lookahead_ps;
	struct sb_rng rng;
	struct sb_explorer explorer;
	struct sb_fiber outside;
	struct sb_virtual_thread *newest;
	uint32_t living, started;
	uint32_t movable; /* threads that wait for a CPU and are not pinned to it */
	uint64_t switches;
	uint64_t ended_cpu_ps;
} sb_turns;

static inline struct sb_virtual_thread *sb_turns_self(void)
{
	return sb_turns.cpu->running;
}

void sb_virtual_queue_append(struct sb_virtual_queue *queue, struct sb_virtual_thread *thread);

/* The first; NULL: there is none. */
struct sb_virtual_thread *sb_virtual_queue_take(struct sb_virtual_queue *queue);

void sb_turns_add_event(struct sb_event_time *event, uint64_t at_ps);

/* After a change of the heap, or of what waits for the current CPU. */
void sb_turns_set_limit(void);

/* A CPU without a thread gets one. */
void sb_turns_give_cpu(struct sb_virtual_cpu *cpu, struct sb_virtual_thread *thread,
		       uint64_t now_ps);

/* It may run from ready_ps on. */
void sb_turns_make_ready(struct sb_virtual_thread *thread, uint64_t ready_ps);

/* It is no longer in the heap, nor, unless it was taken from there, in what it waited for. */
void sb_turns_end_wait(struct sb_virtual_thread *thread, bool was_woken);

/* The current CPU's next thread gets it, if there is one: the running one has left it. */
void sb_turns_pass_cpu_on(struct sb_virtual_cpu *cpu);

/* me has left its CPU, or goes on when its turn comes: returns then. */
void sb_turns_go_on(struct sb_virtual_thread *me);

/* Another thread of this CPU; one waits for it. */
void sb_turns_swap(void);

/* The limit has passed: somebody else is behind, or next. */
void sb_turns_pass_on(void);

/* The time of code that takes ps on an otherwise idle core, with the hardware threads busy now. */
uint64_t sb_turns_shared_ps(uint64_t ps);

/* Each CPU's sibling is the next one of its core. */
void sb_turns_join_siblings(void);

static inline void sb_turns_look(void)
{
	if (SB_UNLIKELY(sb_turns.now_ps > sb_turns.limit_ps))
		sb_turns_pass_on();
}

#endif
