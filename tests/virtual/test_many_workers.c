/*
 * The scheduler in virtual time, on machines larger than this one.
 *
 * Property: each process runs once on any number of workers; work is divided among them;
 *   the same seed gives the same steals, times and answers, another seed others; sleepers
 *   are woken by all who have stolen many, and not one behind the other; thieves of one
 *   deque that lose races to each other take turns, a turn ends by the clock, and the next is
 *   first for thieves of the victim's package; a thief's round among 1024 workers looks at 256
 *   of them at most, which are spread evenly, and some rounds at all.
 * Method: a binary tree of processes, each of which works for 2 us of virtual time, or
 *   children of one process. Costs are those of a made-up machine, so times are compared with
 *   each other and with those costs alone.
 */
#include <string.h>

#include "core/hist.h"
#include "core/readings.h"
#include "core/state.h"
#include "core/worker/steal.h"
#include "tests/test.h"

#define DEPTH	  12
#define PROCESSES ((1 << (DEPTH + 1)) - 1)
#define WORK_PS	  UINT64_C(2000000)
#define WORKERS	  256
#define CHILDREN  20000
#define ASLEEP_NS 20000000

/* Workers, of which a round looks at one in STRIDE; rounds, by which it has looked at all. */
#define MANY   1024
#define STRIDE 4
#define ROUNDS 64
#define THIEF  7

struct tree {
	uint32_t workers;
	uint64_t seed;
	uint32_t children; /* of the root, which are leaves; 0: a binary tree */

	uint64_t ran;
	uint64_t took_ns;
	uint64_t stolen;
	uint64_t races_won, races_lost;
	struct sb_virtual_counts counts;
};

struct node {
	struct tree *tree;
	uint32_t depth;
};

static int init(void *state, const char *method, union sb_value input)
{
	(void)method;
	*(struct node *)state = *(const struct node *)input.ptr;
	return 0;
}

static int step(void *state, struct sb_step *step, const struct sb_event *events, uint32_t count);

static const struct sb_process_ops ops = {
	.name = "node",
	.state_bytes = sizeof(struct node),
	.init = init,
	.step = step,
};

static int step(void *state, struct sb_step *step, const struct sb_event *events, uint32_t count)
{
	const struct node *node = state;
	struct tree *tree = node->tree;
	struct node child = { tree, tree->children ? 0 : node->depth - 1 };
	const uint32_t children = tree->children ? tree->children : 2;

	(void)events;
	(void)count;
	sb_virtual_charge(WORK_PS);
	tree->ran++;
	for (uint32_t i = 0; i < children && node->depth; i++)
		CHECK_EQ(sb_step_spawn(step, &ops, "main", sb_value_ptr(&child), NULL), 0);
	return SB_DONE;
}

static void read_steals(struct sb_scheduler *s, struct tree *tree)
{
	static struct sb_steal_counts steals[WORKERS];
	struct sb_worker_reading reading = { .steals = steals };
	struct sb_steal_counts sum = { 0 };

	for (uint32_t i = 0; i < sb_scheduler_workers(s); i++) {
		sb_scheduler_read(s, i, &reading);
		for (uint32_t victim = 0; victim < sb_scheduler_workers(s); victim++)
			sb_steal_add(&sum, &steals[victim]);
	}
	tree->stolen = sum.items;
	tree->races_won = sum.successes;
	tree->races_lost = sum.lost;
}

/* Each worker on a CPU of its own, all in one package. */
static struct sb_scheduler *start(uint32_t workers, uint64_t seed)
{
	struct sb_place place[MANY];
	const struct sb_placement placement = { .workers = workers, .place = place };
	struct sb_config config = SB_CONFIG_DEFAULT;
	struct sb_scheduler *s;

	config.seed = seed;
	for (uint32_t i = 0; i < workers; i++)
		place[i] = (struct sb_place){ (int)i, (int)i, (int)i, 0, 0, 0 };
	CHECK_EQ(sb_scheduler_create(&s, &config, &placement), 0);
	CHECK_EQ(sb_scheduler_start(s, NULL), 0);
	return s;
}

static void *run_tree(void *arg)
{
	struct tree *tree = arg;
	struct node root = { tree, DEPTH };
	struct sb_scheduler *s = start(tree->workers, tree->seed);
	uint64_t start_ns;

	if (tree->children)
		sb_thread_sleep(ASLEEP_NS); /* until all workers sleep */
	start_ns = sb_clock_ns();
	CHECK_EQ(sb_scheduler_submit(s, &ops, "main", sb_value_ptr(&root), NULL), 0);
	CHECK_EQ(sb_scheduler_wait_idle(s, UINT64_MAX), 0);
	tree->took_ns = sb_clock_ns() - start_ns;
	CHECK_EQ(sb_scheduler_stop(s, UINT64_MAX), 0);
	read_steals(s, tree);
	sb_scheduler_destroy(s);
	return NULL;
}

static struct tree run_many(uint32_t workers, uint64_t seed, uint32_t children)
{
	struct tree tree = { .workers = workers, .seed = seed, .children = children };
	const struct sb_model model = sb_model_plain(workers + 1);
	const struct sb_virtual_setup setup = { .model = &model, .seed = seed };

	CHECK_EQ(sb_virtual_run(&setup, run_tree, &tree, &tree.counts), 0);
	CHECK_EQ(tree.ran, children ? children + 1 : PROCESSES);
	return tree;
}

static struct tree run(uint32_t workers, uint64_t seed)
{
	return run_many(workers, seed, 0);
}

/* A tree grows from one process, and starting and waking take time: no exact division. */
static void work_is_divided(void **state)
{
	const uint64_t seed = sb_test_seed();
	const uint64_t alone_ns = run(1, seed).took_ns;

	(void)state;
	assert_true(alone_ns >= PROCESSES * WORK_PS / 1000);
	for (uint32_t workers = 2; workers <= 64; workers *= 2) {
		const struct tree tree = run(workers, seed);

		fprintf(stderr, "# %u workers: %.2f times as fast, %llu stolen\n", workers,
			(double)alone_ns / (double)tree.took_ns, (unsigned long long)tree.stolen);
		assert_true(tree.took_ns < alone_ns * 2 / workers);
		assert_true(tree.stolen >= workers - 1);
	}
}

static void many_workers_run_each_once(void **state)
{
	(void)state;
	run(WORKERS, sb_test_seed());
}

static void sleepers_wake_in_a_tree(void **state)
{
	const struct tree tree = run_many(WORKERS, sb_test_seed(), CHILDREN);

	(void)state;
	fprintf(stderr, "# %llu ns\n", (unsigned long long)tree.took_ns);
	/* 1.4 to 1.5 ms; 4.3 if only the last searcher wakes the next. */
	assert_true(tree.took_ns < 2500000);
}

static void thieves_seldom_lose_races(void **state)
{
	const struct tree tree = run_many(64, sb_test_seed(), CHILDREN);

	(void)state;
	fprintf(stderr, "# %llu won, %llu lost\n", (unsigned long long)tree.races_won,
		(unsigned long long)tree.races_lost);
	/* One for 5 to 7; 13 for each if none keeps out of the others' way. */
	assert_true(tree.races_lost < tree.races_won / 3);
}

/* One round of the thief: whether it takes the oldest of so many processes that are on its
 * victim's deque. Empties both deques. */
static bool steals(struct sb_worker *thief, struct sb_worker *victim, uint32_t processes)
{
	static struct sb_process p[8];
	struct sb_process *stolen;

	for (uint32_t i = 0; i < processes; i++)
		assert_true(sb_deque_push(&victim->deque, &p[i]));
	sb_steal_begin(thief);
	stolen = sb_steal_round(thief);
	assert_true(!stolen || stolen == &p[0]);
	while (sb_deque_pop(&thief->deque) || sb_deque_pop(&victim->deque))
		;
	return stolen;
}

static void *steal_by_turns(void *arg)
{
	struct sb_scheduler *s = start(3, *(const uint64_t *)arg);
	struct sb_worker *thief = s->worker[0];
	struct sb_worker *victim = s->worker[1];

	CHECK_EQ(sb_scheduler_stop(s, UINT64_MAX), 0);
	/* A thief that meets no others neither waits for a turn nor takes one. */
	victim->turn_ns = UINT64_MAX;
	assert_true(steals(thief, victim, 4));
	victim->turn_ns = 0;
	assert_true(steals(thief, victim, 4));
	CHECK_EQ(victim->turn_ns, 0);

	/* In a crowd, a thief skips the victim until the other thief's turn is over. */
	thief->victims.crowd = UINT32_MAX / 2;
	victim->turn_ns = sb_clock_ns() + 1000000;
	assert_false(steals(thief, victim, 4));
	sb_thread_sleep(1000000);
	assert_true(steals(thief, victim, 4));
	/* Its own turn goes on after it has found several. */
	assert_true(victim->turn_ns > sb_clock_ns());
	assert_false(steals(thief, victim, 4));
	sb_thread_sleep(1000000);
	assert_true(steals(thief, victim, 1));
	CHECK_EQ(victim->turn_ns, 0);
	assert_false(steals(thief, victim, 0));
	CHECK_EQ(victim->turn_ns, 0);

	/* A turn that has ended is first for thieves of the victim's package. */
	victim->turn_ns = sb_clock_ns();
	assert_true(steals(thief, victim, 4));
	s->placement.place[thief->id].package = 1;
	victim->turn_ns = sb_clock_ns();
	assert_false(steals(thief, victim, 4));
	sb_thread_sleep(1000000);
	assert_true(steals(thief, victim, 4));
	/* That holds for a thief that has met one, too, but not for one that has met nobody. */
	thief->victims.crowd = 1;
	assert_false(steals(thief, victim, 4));
	CHECK_EQ(thief->victims.crowd, 2);
	thief->victims.crowd = 0;
	assert_true(steals(thief, victim, 4));
	thief->victims.crowd = 1;
	sb_thread_sleep(1000000);
	assert_true(steals(thief, victim, 4));
	sb_scheduler_destroy(s);
	return NULL;
}

/* With two workers a thief meets nobody but the owner, and counts no meeting. */
static void *steal_alone(void *arg)
{
	struct sb_scheduler *s = start(2, *(const uint64_t *)arg);
	struct sb_worker *thief = s->worker[0];
	struct sb_worker *victim = s->worker[1];

	CHECK_EQ(sb_scheduler_stop(s, UINT64_MAX), 0);
	s->placement.place[thief->id].package = 1;
	thief->victims.crowd = 1;
	victim->turn_ns = sb_clock_ns() + 1000000;
	assert_false(steals(thief, victim, 4));
	CHECK_EQ(thief->victims.crowd, 1);
	sb_scheduler_destroy(s);
	return NULL;
}

static void run_on(uint32_t cpus, void *(*main)(void *))
{
	const struct sb_model model = sb_model_plain(cpus);
	uint64_t seed = sb_test_seed();
	const struct sb_virtual_setup setup = { .model = &model, .seed = seed };
	struct sb_virtual_counts counts;

	CHECK_EQ(sb_virtual_run(&setup, main, &seed, &counts), 0);
}

static void many_thieves_take_turns(void **state)
{
	(void)state;
	run_on(4, steal_by_turns);
}

static void the_only_thief_takes_no_turns(void **state)
{
	(void)state;
	run_on(3, steal_alone);
}

/* How often the thief has looked at each, from the first on. */
static void count_looks(struct sb_worker *thief, uint64_t *looks)
{
	for (uint32_t i = 0; i < MANY; i++)
		looks[i] = sb_counter_read(&thief->steals[i].attempts);
}

/* It looks at two of each 2 * STRIDE neighbours; one more or less where the round begins, and beside
 * the thief, which is not its own victim. */
static void check_round(struct sb_worker *thief, uint64_t *seen)
{
	uint64_t before[MANY];
	uint64_t after[MANY];
	uint64_t sum = 0;

	count_looks(thief, before);
	sb_steal_begin(thief);
	assert_null(sb_steal_round(thief));
	count_looks(thief, after);
	for (uint32_t i = 0; i < MANY; i++) {
		uint64_t near_by = 0;

		for (uint32_t k = i; k < i + 2 * STRIDE; k++)
			near_by += after[k % MANY] - before[k % MANY];
		assert_uint_in_range(near_by, 1, 3);
		sum += after[i] - before[i];
		seen[i] += after[i] - before[i];
	}
	assert_uint_in_range(sum, MANY / STRIDE - 1, MANY / STRIDE);
}

static void *look_around(void *arg)
{
	uint64_t seen[MANY] = { 0 };
	struct sb_scheduler *s = start(MANY, *(const uint64_t *)arg);

	CHECK_EQ(sb_scheduler_stop(s, UINT64_MAX), 0);
	for (int i = 0; i < ROUNDS; i++)
		check_round(s->worker[THIEF], seen);
	for (uint32_t i = 0; i < MANY; i++)
		assert_true(!seen[i] == (i == THIEF));
	sb_scheduler_destroy(s);
	return NULL;
}

static void a_round_among_many_is_short(void **state)
{
	(void)state;
	run_on(MANY + 1, look_around);
}

static void a_seed_is_one_run(void **state)
{
	const uint64_t seed = sb_test_seed();
	const struct tree first = run(8, seed);
	const struct tree again = run(8, seed);
	const struct tree other = run(8, seed + 1);

	(void)state;
	assert_memory_equal(&first, &again, sizeof(first));
	assert_true(first.took_ns != other.took_ns || first.stolen != other.stolen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_is_divided),
		cmocka_unit_test(many_workers_run_each_once),
		cmocka_unit_test(sleepers_wake_in_a_tree),
		cmocka_unit_test(thieves_seldom_lose_races),
		cmocka_unit_test(many_thieves_take_turns),
		cmocka_unit_test(the_only_thief_takes_no_turns),
		cmocka_unit_test(a_round_among_many_is_short),
		cmocka_unit_test(a_seed_is_one_run),
	};

	return cmocka_run_group_tests_name("many_workers", tests, NULL, NULL);
}
