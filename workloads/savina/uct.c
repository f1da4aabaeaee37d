/*
 * savina-uct - Savina benchmark 19, Unbalanced cobwebbed tree.
 *
 * First the tree grows. Each node is a process; it works a little, then asks the
 * root whether it may have children. The root throws a coin, and while there is
 * room for --children more below --nodes, heads is a grant. A node with a grant
 * tells its parent, and spawns its children. When no node may grow any more, the
 * tree is traversed: each node gets a message from its parent, works for its
 * cost (normally distributed, --cost and --cost-deviation), sends one to each of
 * its children, and ends. One of the children can be urgent: it is sent its
 * message first. One operation is one node but the root.
 *
 * Different from Savina, whose root answers in the order in which it is asked, so
 * that the tree depends on timing: here its shape is a pure function of
 * --tree-seed. The root answers in the order of the nodes' numbers, and holds
 * back what is asked earlier; the children of a grant get the next numbers. Coin,
 * cost and urgent child of a node are hashes of its number and the seed. A node
 * without a grant is not told. Also different: the traversal begins when all
 * nodes have asked, not when the first is refused; a node ends after its
 * traversal instead of by one more wave of messages; urgent children are sent
 * for where Savina never does; and the unit of work is one multiplication and
 * addition, --work of them, where Savina counts to 40000 for each unit, which its
 * compiler removes.
 *
 * Check: of the tree that is computed from the seed alone, each node was there
 * once, at its height, with its cost and urgency, did its work, and has heard of
 * as many children with children; and there were no others.
 */
#include "workloads/savina/uct.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "workloads/lib/actor.h"
#include "workloads/lib/failure.h"
#include "workloads/lib/savina.h"

enum { NODES, CHILDREN, COST, COST_DEVIATION, URGENT, WORK, TREE_SEED };

static const struct sb_param params[] = {
	[NODES] = { "nodes", 200000, 65, 1 << 22, NULL, "most nodes" },
	[CHILDREN] = { "children", 10, 1, 64, NULL, "children of a node that has any" },
	[COST] = { "cost", 500, 1, 1000000, NULL, "mean cost of a node's traversal" },
	[COST_DEVIATION] = { "cost-deviation", 100, 0, 1000000, NULL, "its standard deviation" },
	[URGENT] = { "urgent", 50, 0, 100, NULL, "percentage of nodes with an urgent child" },
	[WORK] = { "work", 1, 0, 1000000, NULL, "multiplications for each unit of cost" },
	[TREE_SEED] = { "tree-seed", 2, 0, UINT32_MAX, NULL, "what the tree is made from" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

/* A message is one of these, and a number: */
enum kind {
	ASK,   /* of the node that asks */
	GRANT, /* of its first child */
	GREW,  /* of the child, to its parent */
	VISIT, /* 1: urgent */
};

#define KIND_SHIFT 56

/* ---- what a node's number says ---- */

uint64_t sb_uct_work(const struct sb_uct_tree *tree, uint64_t work, uint64_t cost)
{
	for (uint64_t i = cost * tree->work; i; i--)
		work = work * UINT64_C(6364136223846793005) + 1;
	return work;
}

/* ---- a node ---- */

/* Also the input of init, which copies it. */
struct process {
	struct sb_uct *data;
	sb_pid parent;
	uint32_t number;
	uint32_t first_child; /* SB_UCT_NONE: has no children */
	struct sb_uct_node node;
	bool has_asked;
};

static const struct sb_process_ops node_ops;

SB_ACTOR_INIT(init, struct process)

static union sb_value make_message(enum kind kind, uint32_t number)
{
	return sb_value_u64((uint64_t)kind << KIND_SHIFT | number);
}

static enum kind kind_of(union sb_value message)
{
	return (enum kind)(message.u64 >> KIND_SHIFT);
}

static uint32_t number_of(union sb_value message)
{
	return (uint32_t)message.u64;
}

static int spawn_children(const struct process *parent, struct sb_step *step)
{
	struct sb_uct *data = parent->data;
	const uint32_t cost = sb_uct_cost_below(&data->tree, parent->number);
	int rc = 0;

	for (uint32_t i = 0; i < data->tree.children && !rc; i++) {
		const uint32_t number = parent->first_child + i;
		struct process child = {
			.data = data,
			.parent = sb_step_self(step),
			.number = number,
			.first_child = SB_UCT_NONE,
			.node = { .height = parent->node.height + 1, .cost = cost },
		};

		rc = sb_step_spawn(step, &node_ops, "main", sb_value_ptr(&child), NULL);
	}
	return rc;
}

static int visit_child(const struct process *parent, struct sb_step *step, uint32_t place,
		       bool is_urgent)
{
	return sb_step_send(step, parent->data->pid[parent->first_child + place],
			    make_message(VISIT, is_urgent));
}

/* The urgent one first. */
static int visit_children(const struct process *parent, struct sb_step *step)
{
	const struct sb_uct_tree *tree = &parent->data->tree;
	const uint32_t urgent = sb_uct_urgent_child(tree, parent->number);
	int rc = 0;

	if (parent->first_child == SB_UCT_NONE)
		return 0;
	if (urgent != SB_UCT_NONE)
		rc = visit_child(parent, step, urgent, true);
	for (uint32_t i = 0; i < tree->children && !rc; i++) {
		if (i != urgent)
			rc = visit_child(parent, step, i, false);
	}
	return rc;
}

static int on_grant(struct process *process, struct sb_step *step, uint32_t first_child)
{
	const int rc = sb_step_send(step, process->parent, make_message(GREW, process->number));

	process->first_child = first_child;
	return rc ? rc : spawn_children(process, step);
}

static int on_visit(struct process *process, struct sb_step *step, bool is_urgent)
{
	struct sb_uct_node *node = &process->node;

	node->visits = ++process->data->node[process->number].visits;
	node->is_urgent = is_urgent;
	node->work = sb_uct_work(&process->data->tree, node->work, node->cost);
	process->data->node[process->number] = *node;
	return visit_children(process, step);
}

static int ask(struct process *process, struct sb_step *step)
{
	process->has_asked = true;
	process->data->pid[process->number] = sb_step_self(step);
	process->node.work = sb_uct_work(&process->data->tree, process->number, SB_UCT_ASKING_COST);
	return sb_step_send(step, process->data->root, make_message(ASK, process->number));
}

static int on_message(struct process *process, struct sb_step *step, union sb_value message)
{
	switch (kind_of(message)) {
	case GRANT:
		return on_grant(process, step, number_of(message));
	case GREW:
		process->node.grown_children++;
		return 0;
	case VISIT:
		return on_visit(process, step, number_of(message));
	case ASK:
		break;
	}
	return -EPROTO;
}

static int node_advance(void *state, struct sb_step *step, const struct sb_event *events,
			uint32_t count)
{
	struct process *process = state;
	bool is_visited = false;
	int rc = 0;

	if (!sb_actor_only_messages(events, count))
		return -ECANCELED;
	if (!process->has_asked)
		rc = ask(process, step);
	for (uint32_t i = 0; i < count && !rc; i++) {
		rc = on_message(process, step, events[i].data);
		is_visited |= kind_of(events[i].data) == VISIT;
	}
	if (rc)
		return rc;
	return is_visited ? SB_DONE : SB_IDLE;
}

SB_FAILURE_STEP(node)

static const struct sb_process_ops node_ops = {
	.name = "node",
	.state_bytes = sizeof(struct process),
	.init = init,
	.step = node_step,
};

/* ---- the root ---- */

struct root {
	struct process process; /* number 0 */
	uint32_t size;		/* nodes, the root included */
	uint32_t answered;	/* all below have been */
};

SB_ACTOR_INIT(root_init, struct root)

bool sb_uct_has_room(const struct sb_uct_tree *tree, uint32_t size)
{
	return size + tree->children <= tree->nodes_max;
}

static int grow(struct root *root, struct sb_step *step)
{
	root->process.data->root = sb_step_self(step);
	root->process.has_asked = true;
	root->process.first_child = 1;
	root->size = 1 + root->process.data->tree.children;
	root->answered = 1;
	return spawn_children(&root->process, step);
}

/* Answers those that have asked, up to the first that has not. */
static int answer(struct root *root, struct sb_step *step)
{
	struct sb_uct *data = root->process.data;
	int rc = 0;

	for (; root->answered < root->size && data->asked[root->answered] && !rc;
	     root->answered++) {
		if (!sb_uct_has_room(&data->tree, root->size) ||
		    !sb_uct_is_heads(&data->tree, root->answered))
			continue;
		rc = sb_step_send(step, data->pid[root->answered], make_message(GRANT, root->size));
		root->size += data->tree.children;
	}
	return rc;
}

static int on_root_message(struct root *root, union sb_value message)
{
	struct sb_uct *data = root->process.data;
	const uint32_t number = number_of(message);

	switch (kind_of(message)) {
	case ASK:
		if (number >= root->size || data->asked[number])
			return -EPROTO;
		data->asked[number] = true;
		return 0;
	case GREW:
		root->process.node.grown_children++;
		return 0;
	case GRANT:
	case VISIT:
		break;
	}
	return -EPROTO;
}

static int root_advance(void *state, struct sb_step *step, const struct sb_event *events,
			uint32_t count)
{
	struct root *root = state;
	struct sb_uct *data = root->process.data;
	int rc = 0;

	if (!sb_actor_only_messages(events, count))
		return -ECANCELED;
	if (!root->process.has_asked)
		rc = grow(root, step);
	for (uint32_t i = 0; i < count && !rc; i++)
		rc = on_root_message(root, events[i].data);
	if (!rc)
		rc = answer(root, step);
	if (rc || root->answered < root->size)
		return rc ? rc : SB_IDLE;
	data->size = root->size;
	data->node[0] = root->process.node;
	rc = visit_children(&root->process, step);
	return rc ? rc : SB_DONE;
}

SB_FAILURE_STEP(root)

static const struct sb_process_ops root_ops = {
	.name = "root",
	.state_bytes = sizeof(struct root),
	.init = root_init,
	.step = root_step,
};

/* ---- the workload ---- */

static void teardown(struct sb_workload_run *run)
{
	struct sb_uct *data = run->data;

	free(data->expected);
	free(data->node);
	free(data->pid);
	free(data->asked);
}

static int allocate(struct sb_uct *data)
{
	const size_t n = data->tree.nodes_max;

	data->expected = calloc(n, sizeof(*data->expected));
	data->node = calloc(n, sizeof(*data->node));
	data->pid = calloc(n, sizeof(*data->pid));
	data->asked = calloc(n, sizeof(*data->asked));
	return data->expected && data->node && data->pid && data->asked ? 0 : -ENOMEM;
}

static int setup(struct sb_workload_run *run)
{
	struct sb_uct *data = run->data;
	uint32_t *parent = calloc(run->param[NODES], sizeof(*parent));

	data->tree = (struct sb_uct_tree){
		.seed = run->param[TREE_SEED],
		.children = (uint32_t)run->param[CHILDREN],
		.cost = (uint32_t)run->param[COST],
		.cost_deviation = (uint32_t)run->param[COST_DEVIATION],
		.urgent = (uint32_t)run->param[URGENT],
		.nodes_max = (uint32_t)run->param[NODES],
		.work = (uint32_t)run->param[WORK],
	};
	if (!parent || allocate(data)) {
		free(parent);
		teardown(run);
		return -ENOMEM;
	}
	sb_uct_compute_expected(data, parent);
	free(parent);
	return 0;
}

static int start(struct sb_workload_run *run)
{
	struct sb_uct *data = run->data;
	struct root root = { .process = { .data = data } };
	const size_t n = data->tree.nodes_max;

	sb_failure_clear(run);
	data->size = 0;
	memset(data->node, 0, n * sizeof(*data->node));
	memset(data->asked, 0, n * sizeof(*data->asked));
	return sb_scheduler_submit(run->scheduler, &root_ops, "main", sb_value_ptr(&root), NULL);
}

/* The tree is the same in every round. */
static uint64_t operations(const struct sb_workload_run *run)
{
	return ((const struct sb_uct *)run->data)->nodes - 1;
}

static bool is_same(const struct sb_uct_node *a, const struct sb_uct_node *b)
{
	return a->visits == b->visits && a->height == b->height && a->cost == b->cost &&
	       a->work == b->work && a->grown_children == b->grown_children &&
	       a->is_urgent == b->is_urgent;
}

static bool check_node(const struct sb_uct *data, uint32_t number, char *why, size_t why_bytes)
{
	const struct sb_uct_node *is = &data->node[number];
	const struct sb_uct_node *expected = &data->expected[number];

	if (is_same(is, expected))
		return true;
	snprintf(why, why_bytes,
		 "node %" PRIu32 ": visits %" PRIu32 " height %" PRIu32 " cost %" PRIu32
		 " work %" PRIx64 " grown children %" PRIu32 "; expected %" PRIu32 " %" PRIu32
		 " %" PRIu32 " %" PRIx64 " %" PRIu32,
		 number, is->visits, is->height, is->cost, is->work, is->grown_children,
		 expected->visits, expected->height, expected->cost, expected->work,
		 expected->grown_children);
	return false;
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct sb_uct *data = run->data;

	if (!sb_failure_check(run, why, why_bytes))
		return false;
	if (data->size != data->nodes) {
		snprintf(why, why_bytes, "%" PRIu32 " nodes, expected %" PRIu32, data->size,
			 data->nodes);
		return false;
	}
	for (uint32_t i = 0; i < data->nodes; i++) {
		if (!check_node(data, i, why, why_bytes))
			return false;
	}
	return true;
}

const struct sb_workload sb_workload_savina_uct = {
	.name = "savina-uct",
	.operation = "node",
	.doc = "an unbalanced tree of processes that grows, then is traversed",
	.source = SB_SAVINA("19: Unbalanced Cobwebbed Tree"),
	.params = params,
	.data_bytes = sizeof(struct sb_uct),
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
