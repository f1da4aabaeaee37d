/*
 * processes.c - finding a process by its PID, and the transitions of its state
 * word.
 */
#include <errno.h>

#include "core/memory/arena.h"
#include "core/memory/pidmap.h"
#include "core/word.h"
#include "harness/micro/kind.h"

/* ---- the map of PIDs ---- */

struct map {
	struct sb_reclaim *reclaim;
	struct sb_pidmap *map;
	struct sb_process *process;
	uint64_t processes;
	uint64_t found;
};

/* They get the PIDs from 1 up. */
static int add_process(struct map *map, struct sb_pids *pids)
{
	struct sb_process *process = &map->process[map->processes];

	process->name = sb_pids_take(map->map, pids);
	if (!process->pid)
		return -ENOMEM;
	sb_pidmap_add(process->name, process);
	map->processes++;
	return 0;
}

static int set_up_map(struct sb_micro *m)
{
	struct map *map = m->state;
	struct sb_pids pids;
	int rc = 0;

	map->process = sb_mem_zalloc(SB_HEAP, (size_t)m->arg * sizeof(*map->process), SB_LINE);
	rc = sb_reclaim_create(&map->reclaim, 0, &(struct sb_reclaim_look){ 0 });
	if (rc)
		return rc;
	map->map = sb_pidmap_create(map->reclaim, 0);
	if (!map->process || !map->map)
		return -ENOMEM;
	sb_pids_init(&pids, SB_HEAP);
	for (int64_t i = 0; i < m->arg && !rc; i++)
		rc = add_process(map, &pids);
	sb_reclaim_barrier(map->reclaim); /* the table has grown */
	return rc;
}

static void tear_down_map(struct sb_micro *m)
{
	struct map *map = m->state;

	for (uint64_t i = 0; i < map->processes; i++) {
		struct sb_process *process = &map->process[i];

		sb_pidmap_remove(map->map, &process, 1);
	}
	if (map->map)
		sb_pidmap_destroy(map->map);
	sb_reclaim_destroy(map->reclaim);
	sb_mem_free(map->process);
}

/* Odd, so that all PIDs of a map whose size is a power of two have their turn;
 * and far from the last one's memory. */
#define STRIDE UINT64_C(0x9E3779B1)

static void run_look_up(struct sb_micro *m, uint32_t thread, uint64_t n)
{
	struct map *map = m->state;
	const uint64_t mask = (uint64_t)m->arg - 1;
	uint64_t found = 0;
	uint32_t side;

	(void)thread;
	side = sb_reclaim_enter(map->reclaim);
	for (uint64_t i = 0; i < n; i++) {
		const sb_pid pid = 1 + (i * STRIDE & mask);
		const struct sb_process *process = sb_pidmap_lookup(map->map, pid);

		found += process && process->pid == pid;
	}
	sb_reclaim_exit(map->reclaim, side);
	map->found += found;
}

static const char *check_look_up(struct sb_micro *m, uint64_t operations)
{
	const struct map *map = m->state;

	return map->found == operations ? NULL : "not every look-up has found its process";
}

/* ---- the state word ---- */

struct word {
	struct sb_event_node node;
	uint64_t right; /* transitions that went as they should */
	struct sb_process process;
};

static int set_up_ready(struct sb_micro *m)
{
	struct word *w = m->state;

	sb_store_rlx(&w->process.word, (uint64_t)SB_STATE_READY);
	return 0;
}

static int set_up_idle(struct sb_micro *m)
{
	struct word *w = m->state;

	sb_store_rlx(&w->process.word, (uint64_t)SB_STATE_IDLE);
	return 0;
}

static void run_continue(struct sb_micro *m, uint32_t thread, uint64_t n)
{
	struct word *w = m->state;

	(void)thread;
	while (n--) {
		w->right += !sb_word_take(&w->process);
		sb_word_requeue(&w->process);
	}
}

static void run_wake(struct sb_micro *m, uint32_t thread, uint64_t n)
{
	struct word *w = m->state;

	(void)thread;
	while (n--) {
		const bool wakes = sb_word_post(&w->process, &w->node) == SB_POST_WAKE;
		const bool there = sb_word_take(&w->process) == &w->node;

		w->right += wakes & there & sb_word_release(&w->process, SB_STATE_IDLE);
	}
}

/* The event comes while it runs, so that it cannot let go. */
static void run_wakeup_flag(struct sb_micro *m, uint32_t thread, uint64_t n)
{
	struct word *w = m->state;

	(void)thread;
	while (n--) {
		const bool empty = !sb_word_take(&w->process);
		const bool quiet = sb_word_post(&w->process, &w->node) == SB_POST_QUIET;
		const bool kept = !sb_word_release(&w->process, SB_STATE_IDLE);

		sb_word_requeue(&w->process);
		w->right += empty & quiet & kept & (sb_word_take(&w->process) == &w->node);
		sb_word_requeue(&w->process);
	}
}

static const char *check_word(struct sb_micro *m, uint64_t operations)
{
	const struct word *w = m->state;

	return w->right == operations ? NULL
				      : "a transition has led to another state, or lost its event";
}

#define WORD(...) .state_bytes = sizeof(struct word), .check = check_word, __VA_ARGS__

const struct sb_micro_kind sb_micro_processes[] = {
	{ .name = "pid_map/look_up",
	  .doc = "a process found among so many",
	  .arg_name = "processes",
	  .arg = { 1024, 8192, 65536 },
	  .fit = SB_MICRO_FIT_1,
	  .state_bytes = sizeof(struct map),
	  .set_up = set_up_map,
	  .run = run_look_up,
	  .check = check_look_up,
	  .tear_down = tear_down_map },
	{ WORD(.name = "state/continue", .doc = "Ready, Running, Ready", .set_up = set_up_ready,
	       .run = run_continue) },
	{ WORD(.name = "state/wake", .doc = "Idle, Ready with an event, Running, Idle",
	       .set_up = set_up_idle, .run = run_wake) },
	{ WORD(.name = "state/wakeup_flag",
	       .doc = "an event while Running, which keeps it from Idle", .set_up = set_up_ready,
	       .run = run_wakeup_flag) },
	{ .name = NULL },
};
