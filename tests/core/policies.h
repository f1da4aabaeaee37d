/* policies.h - shared by the tests test_policies, test_victims, test_amount. */
#ifndef SB_TESTS_POLICIES_H
#define SB_TESTS_POLICIES_H

#include "core/hist.h"
#include "core/placement.h"
#include "core/state.h"
#include "core/worker/steal.h"
#include "tests/script.h"

/* ---- a job under every policy ---- */

enum { FAN = 3, DEPTH = 4, LEAVES = 81 };

struct node {
	sb_pid parent;
	uint32_t depth;
	uint32_t waits_for;
	uint64_t sum;
	bool has_continued;
};

/* depth:8 | the parent's PID:56 */
static inline int node_init(void *state, const char *method, union sb_value input)
{
	struct node *node = state;

	(void)method;
	node->depth = (uint32_t)(input.u64 >> 56);
	node->parent = input.u64 & (UINT64_MAX >> 8);
	return 0;
}

static const struct sb_process_ops nodes;

static inline void spawn_children(struct node *node, struct sb_step *step)
{
	const uint64_t depth = node->depth + 1;

	for (int i = 0; i < FAN; i++)
		CHECK_EQ(sb_step_spawn(step, &nodes, "main", sb_value_u64(depth << 56 | step->self),
				       NULL),
			 0);
	node->waits_for = FAN;
}

static inline int answer(const struct node *node, struct sb_step *step)
{
	sb_step_result(step, sb_value_u64(node->sum));
	if (node->parent)
		CHECK_EQ(sb_step_send(step, node->parent, sb_value_u64(node->sum)), 0);
	return SB_DONE;
}

static inline int node_step(void *state, struct sb_step *step, const struct sb_event *events,
			    uint32_t count)
{
	struct node *node = state;

	if (!node->has_continued) {
		node->has_continued = true;
		if (node->depth == DEPTH)
			node->sum = 1;
		else
			spawn_children(node, step);
		return SB_CONTINUE;
	}
	for (uint32_t i = 0; i < count; i++)
		node->sum += events[i].data.u64;
	node->waits_for -= count;
	return node->waits_for ? SB_IDLE : answer(node, step);
}

static const struct sb_process_ops nodes = {
	.name = "node",
	.state_bytes = sizeof(struct node),
	.init = node_init,
	.step = node_step,
};

struct amount {
	enum sb_steal_amount steal;
	uint32_t cap;
};

#endif
