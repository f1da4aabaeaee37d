/* uct.h - the tree of uct. */
#ifndef SB_WORKLOADS_SAVINA_UCT_H
#define SB_WORKLOADS_SAVINA_UCT_H

#include "workloads/lib/failure.h"

/* Units of work before a node asks. */
#define SB_UCT_ASKING_COST 100

/* No node's number, and no place among children. */
#define SB_UCT_NONE UINT32_MAX

/* The data of a node, whether it was or should be. */
struct sb_uct_node {
	uint32_t visits;
	uint32_t height;
	uint32_t cost;
	uint32_t grown_children;
	uint64_t work;
	bool is_urgent;
};

struct sb_uct_tree {
	uint64_t seed;
	uint32_t children;
	uint32_t cost;
	uint32_t cost_deviation;
	uint32_t urgent; /* per cent */
	uint32_t nodes_max;
	uint32_t work;
};

struct sb_uct {
	struct sb_failure failure;
	struct sb_uct_tree tree;
	sb_pid root;
	uint32_t nodes;		      /* what the tree should have, the root included */
	struct sb_uct_node *expected; /* [nodes] */
	struct sb_uct_node *node;     /* [nodes_max]: written by the node itself */
	sb_pid *pid;		      /* [nodes_max]: written by the node before it asks */
	bool *asked;		      /* [nodes_max]: the root's */
	uint32_t size;		      /* when all have asked */
};

/* Does so much work, and returns what it comes to. */
uint64_t sb_uct_work(const struct sb_uct_tree *tree, uint64_t work, uint64_t cost);

/* Whether a tree of that size may grow. */
bool sb_uct_has_room(const struct sb_uct_tree *tree, uint32_t size);

/* Of the children of this node, all the same as in Savina: normally distributed
 * (Box and Muller), at least 1. */
uint32_t sb_uct_cost_below(const struct sb_uct_tree *tree, uint32_t number);

/* Place of the urgent child among those of this node, or SB_UCT_NONE. */
uint32_t sb_uct_urgent_child(const struct sb_uct_tree *tree, uint32_t number);

/* A coin, the same for the same node. */
bool sb_uct_is_heads(const struct sb_uct_tree *tree, uint32_t number);

/* Fills in data->expected and data->nodes. parent: whose child each node is, known while one goes through them in order. */
void sb_uct_compute_expected(struct sb_uct *data, uint32_t *parent);

#endif
