/*
 * The reclamation's helper where it has no CPU of its own.
 *
 * Property: a reader that the helper waits for gets its CPU, although others wake the helper
 *   all the time.
 * Method: two readers occupy both CPUs of a machine, so that the helper shares one with a
 *   reader. Grace periods within 30 ms are counted.
 */
#include "core/memory/reclaim.h"
#include "tests/test.h"

#define READERS 2
#define RUN_NS	30000000

struct crowd {
	struct sb_reclaim *reclaim;
	struct sb_deferred deferred;
	uint32_t begun; /* readers */
	bool ends;
	uint32_t periods;
};

static struct crowd crowd;

static void count_period(struct sb_deferred *deferred)
{
	crowd.periods++;
	if (!crowd.ends)
		sb_reclaim_defer(crowd.reclaim, deferred, count_period);
}

static void *read_and_wake(void *arg)
{
	struct sb_reader *reader = sb_reclaim_reader(crowd.reclaim, crowd.begun++);
	struct sb_period *period = sb_reclaim_period(crowd.reclaim);

	(void)arg;
	sb_reader_online(reader, period);
	while (!crowd.ends) {
		sb_virtual_charge(1000000);
		sb_reclaim_wake(crowd.reclaim);
		sb_reader_quiescent(reader, period);
	}
	sb_reader_offline(reader);
	return NULL;
}

static void *run_crowd(void *arg)
{
	const struct sb_reclaim_look look = { NULL, NULL, NULL, "test" };
	struct sb_thread reader[READERS];

	(void)arg;
	CHECK_EQ(sb_reclaim_create(&crowd.reclaim, READERS, &look), 0);
	for (int i = 0; i < READERS; i++)
		CHECK_EQ(sb_thread_start(&reader[i], i, read_and_wake, NULL), 0);
	sb_reclaim_defer(crowd.reclaim, &crowd.deferred, count_period);
	sb_thread_sleep(RUN_NS);
	crowd.ends = true;
	for (int i = 0; i < READERS; i++)
		sb_thread_join(&reader[i]);
	sb_reclaim_destroy(crowd.reclaim);
	return NULL;
}

static void readers_that_it_waits_for_get_its_cpu(void **state)
{
	const struct sb_model model = sb_model_plain(READERS);
	const struct sb_virtual_setup setup = { .model = &model, .seed = sb_test_seed() };
	struct sb_virtual_counts counts;

	(void)state;
	CHECK_EQ(sb_virtual_run(&setup, run_crowd, NULL, &counts), 0);
	fprintf(stderr, "# %u periods\n", crowd.periods);
	assert_true(crowd.periods > 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readers_that_it_waits_for_get_its_cpu),
	};

	return cmocka_run_group_tests_name("reclaim", tests, NULL, NULL);
}
