/* primitives_steal.c - what a steal costs, by distance. */
#include <string.h>

#include "affinity/topology.h"
#include "core/memory/arena.h"
#include "core/platform/platform.h"
#include "core/queue/deque.h"
#include "core/worker/distance.h"
#include "harness/calibrate/primitives.h"
#include "harness/system/pair.h"

#define STEAL_ITEMS 32

struct loot {
	struct sb_deque deque;
	enum sb_steal_amount amount;
	uint32_t max;
};

/* The thief takes once, and when it has given the turn, the owner takes out the
 * rest and pushes again. */
static void *rob(void *arg)
{
	struct sb_pair *p = arg;
	struct loot *loot = p->data;
	const uint64_t begin = sb_clock_ns();
	uint64_t turn = 2;
	bool more = true;

	sb_store_rel(&p->turn, 1);
	while (more && sb_pair_wait_for_turn(p, turn) && sb_clock_ns() - begin < SB_PAIR_TIME_NS) {
		const uint64_t start = sb_clock_stamp_ns();
		void *item[SB_STEAL_MAX];
		uint32_t count;
		const enum sb_steal_result result =
			sb_deque_steal(&loot->deque, loot->amount, loot->max, item, &count);

		if (result == SB_STEAL_OK)
			more = sb_pair_add_sample(p, (double)(sb_clock_stamp_ns() - start));
		sb_store_rel(&p->turn, turn + 1);
		turn += 2;
	}
	return NULL;
}

static void *be_robbed(void *arg)
{
	struct sb_pair *p = arg;
	struct loot *loot = p->data;
	bool ok = true;

	for (uint64_t turn = 1; ok && sb_pair_wait_for_turn(p, turn); turn += 2) {
		while (sb_deque_pop(&loot->deque))
			;
		for (int i = 0; i < STEAL_ITEMS && ok; i++)
			ok = sb_deque_push(&loot->deque, loot);
		sb_store_rel(&p->turn, turn + 1);
	}
	sb_store_rel(&p->over, 1);
	return NULL;
}

static void measure_steal(struct sb_calibration *c, const struct sb_place *a,
			  const struct sb_place *b, uint32_t amount)
{
	struct loot loot = { .amount = amount > 1 ? SB_STEAL_HALF : SB_STEAL_COUNT, .max = amount };
	struct sb_pair p = { .cpu = { a->os_cpu, b->os_cpu },
			     .samples = sb_calibration_samples(c, 500),
			     .data = &loot };
	char of[40];

	snprintf(of, sizeof(of), "%s %u of %d", sb_distance_name(sb_place_distance(a, b)), amount,
		 STEAL_ITEMS);
	if (sb_deque_init(&loot.deque, SB_DEQUE_COUNTED, SB_HEAP)) {
		c->no_memory = true;
		return;
	}
	if (sb_pair_run(&p, rob, be_robbed))
		sb_calibration_add(c, SB_COST_steal_ns, of, p.sample, p.taken);
	sb_deque_fini(&loot.deque);
}

/* The first two places that are so far apart. */
static bool find_places(const struct sb_placement *placement, enum sb_distance distance,
			const struct sb_place *at[2])
{
	for (uint32_t a = 0; a < placement->workers; a++) {
		for (uint32_t b = a + 1; b < placement->workers; b++) {
			at[0] = &placement->place[a];
			at[1] = &placement->place[b];
			if (sb_place_distance(at[0], at[1]) == distance)
				return true;
		}
	}
	return false;
}

static void steal_by_distance(struct sb_calibration *c, const struct sb_placement *placement)
{
	for (int d = SB_DISTANCE_SMT; d < SB_DISTANCES; d++) {
		const struct sb_place *at[2];

		if (!find_places(placement, d, at))
			continue;
		measure_steal(c, at[0], at[1], 1);
		measure_steal(c, at[0], at[1], STEAL_ITEMS / 2);
	}
}

/* Without a topology there are no distances. */
void sb_measure_steals(struct sb_calibration *c)
{
	struct sb_topology *topology;
	struct sb_placement placement;

	if (sb_topology_load(&topology))
		return;
	if (!sb_placement_make(topology, c->cpus, &placement)) {
		steal_by_distance(c, &placement);
		sb_placement_free(&placement);
	}
	sb_topology_free(topology);
}
