/*
 * The order in which a thief looks at its victims.
 *
 * Property: `near` looks at the nearest ring first and one ring further out only
 *   after an empty round, and reaches everybody; `last` begins with who gave last.
 * Method: one round of looking at a time, by hand, on the workers of a scheduler
 *   whose threads have gone. Remote rings: by a matrix that is not the order of the
 *   nodes.
 * Bound: 7 workers in four distances.
 */
#include "core/worker/distance.h"
#include "tests/core/policies.h"

/* ---- victim orders, one round at a time ---- */

/* By distance from worker 0: itself; a sibling; two in the cache; one in the
 * node; two remote ones. */
enum { THIEF, SIBLING, CACHE_A, CACHE_B, NODE, REMOTE_A, REMOTE_B, PLACES };

static struct sb_place rings_of_places[PLACES] = {
	[THIEF] = { -1, 0, 0, 0, 0, 0 },    [SIBLING] = { -1, 1, 0, 0, 0, 0 },
	[CACHE_A] = { -1, 2, 1, 0, 0, 0 },  [CACHE_B] = { -1, 3, 2, 0, 0, 0 },
	[NODE] = { -1, 4, 3, 1, 0, 0 },	    [REMOTE_A] = { -1, 5, 4, 2, 1, 1 },
	[REMOTE_B] = { -1, 6, 5, 2, 1, 1 },
};

static const uint32_t ring_ends[] = { CACHE_A, NODE, REMOTE_A, PLACES };

struct hand {
	struct fixture f;
	struct sb_worker *thief;
	struct sb_process process[PLACES]; /* what each victim can lose */
	uint64_t looked[PLACES];	   /* attempts seen so far */
};

/* Workers that exist and do not run. */
static void take_in_hand(struct hand *hand, enum sb_victim victim)
{
	fixture_defaults(&hand->f);
	hand->f.config.victim = victim;
	fixture_create_at(&hand->f, PLACES, rings_of_places);
	CHECK_EQ(sb_scheduler_start(hand->f.s, NULL), 0);
	CHECK_EQ(sb_scheduler_stop(hand->f.s, FIXTURE_TIMEOUT_NS), 0);
	hand->thief = hand->f.s->worker[THIEF];
	hand->thief->victims.last = SB_WORKER_NONE;
	for (int i = 0; i < PLACES; i++)
		hand->looked[i] = sb_counter_read(&hand->thief->steals[i].attempts);
}

/* How often the thief has looked at a victim since the last call. */
static uint64_t looks_at(struct hand *hand, uint32_t victim)
{
	const uint64_t before = hand->looked[victim];

	hand->looked[victim] = sb_counter_read(&hand->thief->steals[victim].attempts);
	return hand->looked[victim] - before;
}

static void give(struct hand *hand, uint32_t victim)
{
	assert_true(sb_deque_push(&hand->f.s->worker[victim]->deque, &hand->process[victim]));
}

static uint32_t whose(const struct hand *hand, const struct sb_process *p)
{
	return p ? (uint32_t)(p - hand->process) : SB_WORKER_NONE;
}

/*
 * Remote victims by the machine's own matrix, in which node 3 is nearer to node
 * 0 than node 1 is, and 2 the farthest; the two of node 1 differ in package.
 */
/* Worker 0's victims, each a ring of its own. */
static void check_rings(struct sb_placement *placement, const uint32_t *ring)
{
	struct fixture f;

	fixture_defaults(&f);
	f.config.victim = SB_VICTIM_NEAR;
	CHECK_EQ(sb_scheduler_create(&f.s, &f.config, placement), 0);
	/* It was copied. */
	memset(placement->node_distance, 0,
	       placement->nodes * placement->nodes * sizeof(*placement->node_distance));
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	CHECK_EQ(sb_scheduler_stop(f.s, FIXTURE_TIMEOUT_NS), 0);
	CHECK_EQ(f.s->worker[0]->victims.rings, placement->workers - 1);
	for (uint32_t i = 0; i + 1 < placement->workers; i++) {
		CHECK_EQ(f.s->worker[0]->victims.worker[i], ring[i]);
		CHECK_EQ(f.s->worker[0]->victims.ring_end[i], i + 1);
	}
	sb_scheduler_destroy(f.s);
}

static void remote_rings_follow_the_matrix(void **state)
{
	struct sb_place place[] = {
		{ -1, 0, 0, 0, 0, 0 }, { -1, 1, 1, 1, 1, 1 }, { -1, 2, 2, 2, 1, 0 },
		{ -1, 3, 3, 3, 2, 1 }, { -1, 4, 4, 4, 3, 1 }, { -1, 5, 5, 5, 0, 0 },
	};
	uint32_t matrix[4 * 4] = { 10, 21, 31, 16, 21, 10, 16, 31, 31, 16, 10, 21, 16, 31, 21, 10 };
	struct sb_placement placement = {
		.workers = SB_ARRAY_SIZE(place), .place = place, .nodes = 4, .node_distance = matrix
	};
	static const uint32_t ring[] = { 5, 4, 2, 1, 3 };

	(void)state;
	check_rings(&placement, ring);
}

/*
 * One cache serves nodes 0 and 1; of node 3 the machine does not say how far it
 * is, and some workers' nodes may not be used: their packages tell.
 */
static void rings_know_what_is_not_known(void **state)
{
	struct sb_place place[] = {
		{ -1, 0, 0, 0, 0, 0 },	{ -1, 1, 1, 3, 3, 1 }, { -1, 2, 2, 2, 2, 1 },
		{ -1, 3, 3, 0, 1, 0 },	{ -1, 4, 4, 0, 0, 0 }, { -1, 5, 5, 5, -1, 2 },
		{ -1, 6, 6, 6, -1, 0 },
	};
	uint32_t matrix[4 * 4] = { 10, 12, 21, 0, 12, 10, 21, 0, 21, 21, 10, 0, 0, 0, 0, 0 };
	struct sb_placement placement = {
		.workers = 5, .place = place, .nodes = 4, .node_distance = matrix
	};
	static const uint32_t ring[] = { 4, 3, 2, 1 };

	(void)state;
	CHECK_EQ(sb_place_distance(&place[5], &place[6]), SB_DISTANCE_REMOTE);
	place[6].package = 2;
	CHECK_EQ(sb_place_distance(&place[5], &place[6]), SB_DISTANCE_NODE);
	CHECK_EQ(sb_place_distance(&place[0], &place[6]), SB_DISTANCE_REMOTE);
	check_rings(&placement, ring);
}

static void near_goes_out_ring_by_ring(void **state)
{
	static struct hand hand;

	(void)state;
	take_in_hand(&hand, SB_VICTIM_NEAR);
	for (int episode = 0; episode < 20; episode++) {
		sb_steal_begin(hand.thief);
		for (size_t round = 0; round < 6; round++) {
			const size_t reach = round < SB_ARRAY_SIZE(ring_ends)
						     ? round
						     : SB_ARRAY_SIZE(ring_ends) - 1;

			assert_null(sb_steal_round(hand.thief));
			for (uint32_t v = SIBLING; v < PLACES; v++)
				CHECK_EQ(looks_at(&hand, v), v < ring_ends[reach]);
		}
	}
	CHECK_EQ(looks_at(&hand, THIEF), 0);
	sb_scheduler_destroy(hand.f.s);
}

/* The nearest that has something gives, and those further out are not asked;
 * afterwards the nearest is first again. */
static void near_takes_from_the_nearest(void **state)
{
	static struct hand hand;

	(void)state;
	take_in_hand(&hand, SB_VICTIM_NEAR);
	give(&hand, REMOTE_A);
	give(&hand, NODE);
	sb_steal_begin(hand.thief);
	assert_null(sb_steal_round(hand.thief));
	assert_null(sb_steal_round(hand.thief));
	CHECK_EQ(whose(&hand, sb_steal_round(hand.thief)), NODE);
	CHECK_EQ(looks_at(&hand, REMOTE_A), 0);
	CHECK_EQ(looks_at(&hand, REMOTE_B), 0);
	sb_steal_begin(hand.thief);
	for (int round = 0; round < 3; round++)
		assert_null(sb_steal_round(hand.thief));
	give(&hand, SIBLING);
	CHECK_EQ(whose(&hand, sb_steal_round(hand.thief)), SIBLING);
	CHECK_EQ(whose(&hand, sb_steal_round(hand.thief)), REMOTE_A);
	give(&hand, NODE);
	sb_steal_begin(hand.thief);
	assert_null(sb_steal_round(hand.thief));
	CHECK_EQ(whose(&hand, sb_deque_pop(&hand.f.s->worker[NODE]->deque)), NODE);
	sb_scheduler_destroy(hand.f.s);
}

/* Within a ring each is the first one at some time: 2^-200 says otherwise. */
static void a_ring_has_no_fixed_order(void **state)
{
	static struct hand hand;
	uint32_t first[PLACES] = { 0 };

	(void)state;
	take_in_hand(&hand, SB_VICTIM_NEAR);
	for (int i = 0; i < 200; i++) {
		struct sb_process *p;

		give(&hand, CACHE_A);
		give(&hand, CACHE_B);
		sb_steal_begin(hand.thief);
		assert_null(sb_steal_round(hand.thief));
		p = sb_steal_round(hand.thief);
		first[whose(&hand, p)]++;
		assert_non_null(sb_steal_round(hand.thief));
	}
	assert_true(first[CACHE_A]);
	assert_true(first[CACHE_B]);
	CHECK_EQ(first[CACHE_A] + first[CACHE_B], 200);
	sb_scheduler_destroy(hand.f.s);
}

/* One ring: the first round sees all of them, from anywhere on. */
static void random_begins_anywhere(void **state)
{
	static struct hand hand;
	uint32_t first[PLACES] = { 0 };

	(void)state;
	take_in_hand(&hand, SB_VICTIM_RANDOM);
	sb_steal_begin(hand.thief);
	assert_null(sb_steal_round(hand.thief));
	for (uint32_t v = SIBLING; v < PLACES; v++)
		CHECK_EQ(looks_at(&hand, v), 1);
	for (int i = 0; i < 400; i++) {
		for (uint32_t v = SIBLING; v < PLACES; v++)
			give(&hand, v);
		sb_steal_begin(hand.thief);
		first[whose(&hand, sb_steal_round(hand.thief))]++;
		for (uint32_t v = SIBLING + 1; v < PLACES; v++)
			assert_non_null(sb_steal_round(hand.thief));
	}
	for (uint32_t v = SIBLING; v < PLACES; v++)
		assert_true(first[v]);
	sb_scheduler_destroy(hand.f.s);
}

static void last_begins_with_who_gave_last(void **state)
{
	static struct hand hand;

	(void)state;
	take_in_hand(&hand, SB_VICTIM_LAST);
	for (uint32_t lucky = SIBLING; lucky < PLACES; lucky++) {
		/* Whoever gave before has nothing; the others are asked. */
		give(&hand, lucky);
		sb_steal_begin(hand.thief);
		CHECK_EQ(whose(&hand, sb_steal_round(hand.thief)), lucky);
		for (int i = 0; i < 20; i++) {
			for (uint32_t v = SIBLING; v < PLACES; v++)
				give(&hand, v);
			sb_steal_begin(hand.thief);
			CHECK_EQ(whose(&hand, sb_steal_round(hand.thief)), lucky);
			for (uint32_t v = SIBLING; v < PLACES; v++)
				(void)sb_deque_pop(&hand.f.s->worker[v]->deque);
		}
	}
	sb_scheduler_destroy(hand.f.s);
}

/* Those that continue, and those in the inject queue, are everybody's. */
static void every_queue_of_a_victim_is_looked_at(void **state)
{
	static struct hand hand;
	struct sb_worker *victim;

	(void)state;
	take_in_hand(&hand, SB_VICTIM_NEAR);
	victim = hand.f.s->worker[SIBLING];
	sb_steal_begin(hand.thief);
	assert_true(sb_deque_push(&victim->cold, &hand.process[CACHE_A]));
	assert_true(sb_deque_push(&victim->deque, &hand.process[SIBLING]));
	sb_runq_push(&victim->inject, &hand.process[NODE]);
	CHECK_EQ(whose(&hand, sb_steal_round(hand.thief)), SIBLING);
	CHECK_EQ(whose(&hand, sb_steal_round(hand.thief)), CACHE_A);
	CHECK_EQ(whose(&hand, sb_steal_round(hand.thief)), NODE);
	assert_null(sb_steal_round(hand.thief));
	CHECK_EQ(sb_counter_read(&hand.thief->counters.remote_pops), 1);
	sb_scheduler_destroy(hand.f.s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(near_goes_out_ring_by_ring),
		cmocka_unit_test(remote_rings_follow_the_matrix),
		cmocka_unit_test(rings_know_what_is_not_known),
		cmocka_unit_test(near_takes_from_the_nearest),
		cmocka_unit_test(a_ring_has_no_fixed_order),
		cmocka_unit_test(random_begins_anywhere),
		cmocka_unit_test(last_begins_with_who_gave_last),
		cmocka_unit_test(every_queue_of_a_victim_is_looked_at),
	};

	return cmocka_run_group_tests_name("policies", tests, NULL, NULL);
}
