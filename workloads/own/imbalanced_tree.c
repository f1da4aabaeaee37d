/*
 * imbalanced-tree - a tree whose shape nobody can foresee: the binomial trees of
 * S. Olivier, J. Huan, J. Liu, J. Prins, J. Dinan, P. Sadayappan, C.-W. Tseng,
 * "UTS: an unbalanced tree search benchmark", LCPC 2006. The root has
 * --root-children children; every other node has --children with probability q,
 * else none, where q is --mean-ppm / 1000000 / --children. How many nodes lie
 * under a child of the root varies without a bound that helps, so work has to
 * move all the time. Every node is a process that spawns its children in its one
 * step. One operation is one node.
 *
 * What a node has below it follows from its number alone, which is a hash of its
 * parent's number and its place among the siblings; the root's is --tree. So the
 * tree is the same in every run. Where it differs from UTS: the hash is the
 * finalizer of SplitMix64, not SHA-1, so trees are not those of UTS's samples.
 * --children and q are those of its T3, which has 2000 children of the root and
 * 4.1 million nodes; the default here has 500 and 165 517.
 *
 * Check: nodes, leaves, the sum of depths and the sum of numbers are those that
 * a sequential walk finds before the first round.
 */
#include <stdlib.h>

#include "core/platform/platform.h"
#include "workloads/lib/actor.h"
#include "workloads/lib/check.h"

enum { TREE, ROOT_CHILDREN, CHILDREN, MEAN_PPM };

#define PPM 1000000

static const struct sb_param params[] = {
	[TREE] = { "tree", 1, 0, UINT64_MAX, NULL, "which tree of the kind" },
	[ROOT_CHILDREN] = { "root-children", 500, 1, 1 << 20, NULL, "children of the root" },
	[CHILDREN] = { "children", 8, 1, 1024, NULL, "children of a node that has some" },
	[MEAN_PPM] = { "mean-ppm", 999000, 0, 999900, NULL,
		       "children of a node on average, millionths" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

/* The sums over the nodes. */
struct totals {
	uint64_t nodes;
	uint64_t leaves;
	uint64_t depths;
	uint64_t numbers;
};

/* One counter would be what workers wait for. A node's shard is in its number. */
#define SHARDS 64

struct shard {
	alignas(SB_LINE) _Atomic(uint64_t) nodes;
	_Atomic(uint64_t) leaves;
	_Atomic(uint64_t) depths;
	_Atomic(uint64_t) numbers;
};

struct tree {
	uint64_t number; /* of the root */
	uint64_t root_children;
	uint64_t children;
	uint64_t threshold; /* numbers below it have children */
	struct totals expected;
	struct shard *shard; /* [SHARDS] */
};

/* ---- the tree ---- */

struct node {
	struct tree *tree;
	uint64_t number;
	uint64_t depth;
};

static uint64_t mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

static struct node make_root(struct tree *tree)
{
	return (struct node){ .tree = tree, .number = tree->number };
}

static struct node make_child(const struct node *node, uint64_t place)
{
	return (struct node){
		.tree = node->tree,
		.number = mix(node->number + (place + 1) * UINT64_C(0x9E3779B97F4A7C15)),
		.depth = node->depth + 1,
	};
}

static uint64_t count_children(const struct node *node)
{
	if (!node->depth)
		return node->tree->root_children;
	return node->number < node->tree->threshold ? node->tree->children : 0;
}

/* ---- the sequential walk ---- */

struct stack {
	struct node *node;
	size_t depth;
	size_t room;
};

static int push(struct stack *stack, struct node node)
{
	if (stack->depth == stack->room) {
		const size_t room = stack->room ? 2 * stack->room : 1024;
		struct node *more = reallocarray(stack->node, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		stack->node = more;
		stack->room = room;
	}
	stack->node[stack->depth++] = node;
	return 0;
}

static int walk(struct tree *tree, struct totals *totals)
{
	struct stack stack = { 0 };
	int rc = push(&stack, make_root(tree));

	while (!rc && stack.depth) {
		const struct node node = stack.node[--stack.depth];
		const uint64_t children = count_children(&node);

		totals->nodes++;
		totals->leaves += !children;
		totals->depths += node.depth;
		totals->numbers += node.number;
		for (uint64_t i = 0; i < children && !rc; i++)
			rc = push(&stack, make_child(&node, i));
	}
	free(stack.node);
	return rc;
}

/* ---- the same by processes ---- */

static const struct sb_process_ops node_ops;

SB_ACTOR_INIT(init, struct node)

static void count_node(const struct node *node, uint64_t children)
{
	struct shard *shard = &node->tree->shard[node->number % SHARDS];

	sb_add_rlx(&shard->nodes, 1);
	sb_add_rlx(&shard->leaves, !children);
	sb_add_rlx(&shard->depths, node->depth);
	sb_add_rlx(&shard->numbers, node->number);
}

static int step(void *state, struct sb_step *step, const struct sb_event *events, uint32_t count)
{
	const struct node *node = state;
	const uint64_t children = count_children(node);
	int rc = 0;

	(void)events;
	if (count)
		return -ECANCELED;
	count_node(node, children);
	for (uint64_t i = 0; i < children && !rc; i++) {
		struct node child = make_child(node, i);

		rc = sb_step_spawn(step, &node_ops, "main", sb_value_ptr(&child), NULL);
	}
	return rc ? rc : SB_DONE;
}

static const struct sb_process_ops node_ops = {
	.name = "node",
	.state_bytes = sizeof(struct node),
	.init = init,
	.step = step,
};

/* ---- the workload ---- */

static int setup(struct sb_workload_run *run)
{
	struct tree *tree = run->data;
	int rc;

	tree->number = mix(run->param[TREE]);
	tree->root_children = run->param[ROOT_CHILDREN];
	tree->children = run->param[CHILDREN];
	/* q of 2^64. The mean is below one child, so the tree is finite. */
	tree->threshold = UINT64_MAX / PPM / tree->children * run->param[MEAN_PPM];
	rc = walk(tree, &tree->expected);
	if (rc)
		return rc;
	tree->shard = aligned_alloc(SB_LINE, SHARDS * sizeof(*tree->shard));
	return tree->shard ? 0 : -ENOMEM;
}

static int start(struct sb_workload_run *run)
{
	struct tree *tree = run->data;
	struct node root = make_root(tree);

	memset(tree->shard, 0, SHARDS * sizeof(*tree->shard));
	return sb_scheduler_submit(run->scheduler, &node_ops, "main", sb_value_ptr(&root), NULL);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	const struct tree *tree = run->data;

	return tree->expected.nodes;
}

static struct totals add_shards(struct tree *tree)
{
	struct totals sum = { 0 };

	for (int i = 0; i < SHARDS; i++) {
		sum.nodes += sb_load_rlx(&tree->shard[i].nodes);
		sum.leaves += sb_load_rlx(&tree->shard[i].leaves);
		sum.depths += sb_load_rlx(&tree->shard[i].depths);
		sum.numbers += sb_load_rlx(&tree->shard[i].numbers);
	}
	return sum;
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	struct tree *tree = run->data;
	const struct totals *expected = &tree->expected;
	const struct totals sum = add_shards(tree);

	return sb_expect(why, why_bytes, "nodes", sum.nodes, expected->nodes) &&
	       sb_expect(why, why_bytes, "leaves", sum.leaves, expected->leaves) &&
	       sb_expect(why, why_bytes, "as the sum of depths", sum.depths, expected->depths) &&
	       sb_expect(why, why_bytes, "as the sum of numbers", sum.numbers, expected->numbers);
}

static void teardown(struct sb_workload_run *run)
{
	struct tree *tree = run->data;

	free(tree->shard);
}

const struct sb_workload sb_workload_imbalanced_tree = {
	.name = "imbalanced-tree",
	.operation = "node",
	.doc = "an unbalanced tree of processes, the same in every run",
	.source = "Olivier et al., UTS, LCPC 2006; binomial trees",
	.params = params,
	.data_bytes = sizeof(struct tree),
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
