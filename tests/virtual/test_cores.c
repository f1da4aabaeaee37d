/*
 * Cores of virtual time: several kinds, and hardware threads that share one.
 *
 * Property: straight code takes longer on a slow kind of core by its factor, and a line takes longer
 *   between two slow cores; two busy hardware threads of a core share what it does, and one that is
 *   idle takes nothing from the other.
 * Method: programs of one or two CPUs whose times are added up by hand. CPU 0 and 1 are hardware
 *   threads of one core, CPU 2 is a core of its own, CPU 3 and 4 are slow cores; one cache.
 */
#include "tests/test.h"

#define NS   UINT64_C(1000)
#define CPUS 5
#define SLOW 1550

static const struct sb_model_place places[CPUS] = {
	{ .core = 0 },
	{ .core = 0 },
	{ .core = 1 },
	{ .core = 2, .slow_permille = SLOW },
	{ .core = 3, .slow_permille = SLOW },
};

static uint64_t took_ps[CPUS];
static _Atomic(uint64_t) *word;

static void run(void *(*entry)(void *), struct sb_model *model)
{
	const struct sb_virtual_setup setup = { .model = model, .first_cpu = 2 };
	struct sb_virtual_counts counts;

	model->place = places;
	model->straight_ps[SB_STRAIGHT_step] = 10 * NS;
	model->transfer_slow_ps = 50 * NS;
	CHECK_EQ(sb_virtual_run(&setup, entry, NULL, &counts), 0);
}

static void *start_on(int cpu, void *(*entry)(void *))
{
	return sb_virtual_start(cpu, entry, (void *)(uintptr_t)cpu);
}

/* ---- kinds of cores ---- */

#define STEPS 100

static void *step(void *cpu)
{
	const uint64_t start = sb_virtual_now_ps();

	for (int i = 0; i < STEPS; i++)
		sb_virtual_straight(SB_STRAIGHT_step);
	took_ps[(uintptr_t)cpu] = sb_virtual_now_ps() - start - sb_virtual_costs()->clock_read_ps;
	return NULL;
}

static void *step_on_each_kind(void *unused)
{
	(void)unused;
	sb_virtual_join(start_on(0, step));
	sb_virtual_join(start_on(3, step));
	return NULL;
}

static void slow_cores_take_longer(void **state)
{
	struct sb_model model = sb_model_plain(CPUS);

	(void)state;
	run(step_on_each_kind, &model);
	CHECK_EQ(took_ps[0], STEPS * 10 * NS);
	CHECK_EQ(took_ps[3], STEPS * 10 * NS * SLOW / 1000);
}

static void *write_it(void *unused)
{
	(void)unused;
	sb_add_rlx(word, 1);
	return NULL;
}

static void *read_it(void *cpu)
{
	const uint64_t start = sb_virtual_now_ps();

	sb_load_rlx(word);
	took_ps[(uintptr_t)cpu] = sb_virtual_now_ps() - start - sb_virtual_costs()->clock_read_ps;
	return NULL;
}

/* On CPU 4, a slow one: from another slow one, and from one that is not. */
static void *read_from(void *unused)
{
	(void)unused;
	word = sb_region_calloc(1, 64);
	sb_virtual_join(start_on(3, write_it));
	sb_virtual_join(start_on(4, read_it));
	took_ps[3] = took_ps[4];
	sb_virtual_join(start_on(0, write_it));
	sb_virtual_join(start_on(4, read_it));
	return NULL;
}

static void lines_take_longer_between_slow_cores(void **state)
{
	struct sb_model model = sb_model_plain(CPUS);

	(void)state;
	run(read_from, &model);
	CHECK_EQ(took_ps[3], 50 * NS + model.cost.hit_ps);
	CHECK_EQ(took_ps[4], 40 * NS + model.cost.hit_ps);
}

/* ---- hardware threads ---- */

#define WORK_NS UINT64_C(1000000)

static void *work(void *cpu)
{
	const uint64_t start = sb_virtual_now_ps();

	assert_true(sb_cpu_works(WORK_NS));
	took_ps[(uintptr_t)cpu] = sb_virtual_now_ps() - start - sb_virtual_costs()->clock_read_ps;
	return NULL;
}

static int other; /* the CPU that works at the same time as CPU 0 */

static void *work_on_two(void *unused)
{
	struct sb_virtual_thread *first = start_on(0, work);

	(void)unused;
	sb_virtual_join(start_on(other, work));
	sb_virtual_join(first);
	return NULL;
}

static void *sleep_first(void *cpu)
{
	sb_thread_sleep(WORK_NS / 2);
	return work(cpu);
}

static void *work_and_come_later(void *unused)
{
	struct sb_virtual_thread *first = start_on(0, work);

	(void)unused;
	sb_virtual_join(start_on(1, sleep_first));
	sb_virtual_join(first);
	return NULL;
}

static void check_near(uint64_t ps, double ns)
{
	fprintf(stderr, "# %.3f us, expected %.3f\n", (double)ps / 1e6, ns / 1e3);
	assert_true((double)ps > ns * 1000 * 0.95 && (double)ps < ns * 1000 * 1.05);
}

/* Of 1.25 times the throughput each gets a half: the work takes 1.6 times as long. */
static void busy_threads_share_a_core(void **state)
{
	struct sb_model model = sb_model_plain(CPUS);

	(void)state;
	model.smt_permille = 1250;
	other = 2;
	run(work_on_two, &model);
	CHECK_EQ(took_ps[0], WORK_NS * NS);
	other = 1;
	run(work_on_two, &model);
	check_near(took_ps[0], 1.6 * WORK_NS);
	check_near(took_ps[1], 1.6 * WORK_NS);
	model.smt_permille = 0;
	run(work_on_two, &model);
	CHECK_EQ(took_ps[0], WORK_NS * NS);
}

/* The first does half of the work alone, and the rest while the second works. */
static void an_idle_thread_takes_nothing(void **state)
{
	struct sb_model model = sb_model_plain(CPUS);

	(void)state;
	model.smt_permille = 1250;
	run(work_and_come_later, &model);
	check_near(took_ps[0], (0.5 + 1.6 * 0.5) * WORK_NS);
	check_near(took_ps[1], (0.5 + 0.5 * 1.6) * WORK_NS);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(slow_cores_take_longer),
		cmocka_unit_test(lines_take_longer_between_slow_cores),
		cmocka_unit_test(busy_threads_share_a_core),
		cmocka_unit_test(an_idle_thread_takes_nothing),
	};

	return cmocka_run_group_tests_name("cores", tests, NULL, NULL);
}
