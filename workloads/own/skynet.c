/*
 * skynet - the "skynet 1M" benchmark (A. Temerev, github.com/atemerev/skynet).
 *
 * A root process spawns a tree in which every inner process has ten children,
 * down to --leaves leaves. Leaf number i sends i to its parent; an inner
 * process adds up what its children send and sends that to its own parent. One
 * operation is one process: 1 111 111 with a million leaves.
 *
 * Check: the root's sum is leaves * (leaves - 1) / 2.
 */
#include <inttypes.h>
#include <stdio.h>

#include "workloads/lib/actor.h"

#define CHILDREN 10

enum { LEAVES };

static const char *const powers[] = { "10", "100", "1000", "10000", "100000", "1000000", NULL };

static const struct sb_param params[] = {
	[LEAVES] = { "leaves", 5, 0, 5, powers, "leaves of the tree" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

struct data {
	bool answered;
	uint64_t sum;
};

/* A subtree: the leaves [first, first + leaves). Also the input of init, which
 * copies it; parent 0 is the root, which leaves its sum in *data. */
struct node {
	sb_pid parent;
	struct data *data;
	uint64_t first;
	uint64_t leaves;
	uint64_t sum;
	uint32_t missing; /* children that have not answered */
	bool spawned;
};

static const struct sb_process_ops node_ops;

SB_ACTOR_INIT(init, struct node)

static int answer(struct node *node, struct sb_step *step, uint64_t sum)
{
	if (node->parent) {
		const int rc = sb_step_send(step, node->parent, sb_value_u64(sum));

		return rc ? rc : SB_DONE;
	}
	node->data->sum = sum;
	node->data->answered = true;
	return SB_DONE;
}

static int spawn_children(struct node *node, struct sb_step *step)
{
	const uint64_t leaves = node->leaves / CHILDREN;

	for (uint32_t i = 0; i < CHILDREN; i++) {
		struct node child = { .parent = step->self,
				      .first = node->first + i * leaves,
				      .leaves = leaves };
		const int rc = sb_step_spawn(step, &node_ops, "main", sb_value_ptr(&child), NULL);

		if (rc)
			return rc;
	}
	node->spawned = true;
	node->missing = CHILDREN;
	return SB_IDLE;
}

static int step(void *state, struct sb_step *step, const struct sb_event *events, uint32_t count)
{
	struct node *node = state;

	if (!sb_actor_only_messages(events, count))
		return -ECANCELED;
	for (uint32_t i = 0; i < count; i++)
		node->sum += events[i].data.u64;
	node->missing -= count;
	if (node->leaves == 1)
		return answer(node, step, node->first);
	if (!node->spawned)
		return spawn_children(node, step);
	return node->missing ? SB_IDLE : answer(node, step, node->sum);
}

static const struct sb_process_ops node_ops = {
	.name = "skynet",
	.state_bytes = sizeof(struct node),
	.init = init,
	.step = step,
};

static uint64_t leaves(const struct sb_workload_run *run)
{
	uint64_t n = CHILDREN;

	for (uint64_t i = 0; i < run->param[LEAVES]; i++)
		n *= CHILDREN;
	return n;
}

static int start(struct sb_workload_run *run)
{
	struct node root = { .data = run->data, .leaves = leaves(run) };

	*(struct data *)run->data = (struct data){ .answered = false };
	return sb_scheduler_submit(run->scheduler, &node_ops, "main", sb_value_ptr(&root), NULL);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	uint64_t sum = 0;

	for (uint64_t level = leaves(run); level; level /= CHILDREN)
		sum += level;
	return sum;
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct data *data = run->data;
	const uint64_t expected = leaves(run) * (leaves(run) - 1) / 2;

	if (data->answered && data->sum == expected)
		return true;
	if (!data->answered)
		snprintf(why, why_bytes, "the root has not answered");
	else
		snprintf(why, why_bytes, "the sum is %" PRIu64 ", expected %" PRIu64, data->sum,
			 expected);
	return false;
}

const struct sb_workload sb_workload_skynet = {
	.name = "skynet",
	.operation = "process",
	.doc = "10-ary tree of processes that sums by message (skynet 1M)",
	.source = "A. Temerev, github.com/atemerev/skynet",
	.params = params,
	.data_bytes = sizeof(struct data),
	.start = start,
	.operations = operations,
	.check = check,
};
