/* uct_tree.c - the tree of uct: what a node's number says. */
#include <inttypes.h>
#include <math.h>

#include "workloads/savina/uct.h"

enum aspect { COIN, URGENCY, URGENT_CHILD, RADIUS, ANGLE };

/* splitmix64's mixing function (Steele, Lea and Flood, "Fast splittable
 * pseudorandom number generators", OOPSLA 2014). */
static uint64_t mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static uint64_t hash(const struct sb_uct_tree *tree, uint32_t number, enum aspect aspect)
{
	return mix(mix(tree->seed + UINT64_C(0x9e3779b97f4a7c15)) +
		   ((uint64_t)number << 8 | aspect));
}

/* In (0, 1]. */
static double uniform(const struct sb_uct_tree *tree, uint32_t number, enum aspect aspect)
{
	return ((double)(hash(tree, number, aspect) >> 11) + 1) * 0x1p-53;
}

uint32_t sb_uct_cost_below(const struct sb_uct_tree *tree, uint32_t number)
{
	const double normal = sqrt(-2 * log(uniform(tree, number, RADIUS))) *
			      cos(2 * M_PI * uniform(tree, number, ANGLE));
	const double cost = round(tree->cost + normal * tree->cost_deviation);

	return cost < 1 ? 1 : (uint32_t)cost;
}

uint32_t sb_uct_urgent_child(const struct sb_uct_tree *tree, uint32_t number)
{
	if (hash(tree, number, URGENCY) % 100 >= tree->urgent)
		return SB_UCT_NONE;
	return (uint32_t)(hash(tree, number, URGENT_CHILD) % tree->children);
}

bool sb_uct_is_heads(const struct sb_uct_tree *tree, uint32_t number)
{
	return hash(tree, number, COIN) & 1;
}

/* The children of a node that grows, which begin with first. */
static void expect_children(struct sb_uct *data, uint32_t parent, uint32_t first)
{
	const struct sb_uct_tree *tree = &data->tree;
	const uint32_t urgent = sb_uct_urgent_child(tree, parent);
	const uint32_t cost = sb_uct_cost_below(tree, parent);

	for (uint32_t i = 0; i < tree->children; i++)
		data->expected[first + i] = (struct sb_uct_node){
			.visits = 1,
			.height = data->expected[parent].height + 1,
			.cost = cost,
			.work = sb_uct_work(tree, first + i, SB_UCT_ASKING_COST + cost),
			.is_urgent = i == urgent,
		};
}

void sb_uct_compute_expected(struct sb_uct *data, uint32_t *parent)
{
	const struct sb_uct_tree *tree = &data->tree;
	uint32_t size = 1;

	for (uint32_t number = 0; number < size; number++) {
		if (number && (!sb_uct_has_room(tree, size) || !sb_uct_is_heads(tree, number)))
			continue;
		if (number)
			data->expected[parent[number]].grown_children++;
		expect_children(data, number, size);
		for (uint32_t i = 0; i < tree->children; i++)
			parent[size + i] = number;
		size += tree->children;
	}
	data->nodes = size;
}
