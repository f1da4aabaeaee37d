/*
 * The map of PIDs.
 *
 * Property: PIDs come in sequence, none twice, 0 never; a process is found from
 *   the moment it is added until it is removed, and nobody else under its PID;
 *   a block of PIDs is there as long as one of them may be a process's, and no
 *   longer.
 * Method: exact counts with one thread; two that make and end processes in their
 *   own order while a third looks them up.
 * Bound: 200 000 processes at a time.
 */
#include <errno.h>

#include "core/memory/arena.h"
#include "core/memory/pidmap.h"
#include "core/platform/platform.h"
#include "tests/test.h"

#define MANY SB_SCALE(200000u)

static struct sb_reclaim *make_reclaim(void)
{
	const struct sb_reclaim_look look = { NULL, NULL, NULL, "test" };
	struct sb_reclaim *reclaim = NULL;

	CHECK_EQ(sb_reclaim_create(&reclaim, 0, &look), 0);
	return reclaim;
}

struct family {
	struct sb_reclaim *reclaim;
	struct sb_pidmap *map;
	uint32_t side; /* of its section */
	struct sb_pids pids;
	struct sb_process *process; /* [MANY] */
};

static void family_init(struct family *f)
{
	f->reclaim = make_reclaim();
	f->map = sb_pidmap_create(f->reclaim, UINT64_MAX);
	f->process = sb_mem_zalloc(SB_HEAP, MANY * sizeof(*f->process), SB_LINE);
	assert_non_null(f->map);
	assert_non_null(f->process);
	sb_pids_init(&f->pids, SB_HEAP);
	f->side = sb_reclaim_enter(f->reclaim);
}

static void family_fini(struct family *f)
{
	sb_reclaim_exit(f->reclaim, f->side);
	sb_pidmap_destroy(f->map);
	sb_reclaim_destroy(f->reclaim);
	sb_mem_free(f->process);
}

static void add(struct sb_pidmap *map, struct sb_pids *pids, struct sb_process *p)
{
	p->name = sb_pids_take(map, pids);
	CHECK_EQ(p->pid != 0, 1);
	sb_pidmap_add(p->name, p);
}

static void forget(struct sb_pidmap *map, struct sb_process *p)
{
	sb_pidmap_remove(map, &p, 1);
}

static void count_one(void *count, struct sb_process *process)
{
	(void)process;
	(*(uint64_t *)count)++;
}

static uint64_t count_all(struct sb_pidmap *map)
{
	uint64_t count = 0;

	sb_pidmap_for_each(map, count_one, &count);
	return count;
}

static void each_is_found_while_it_is_there(void **state)
{
	struct family f;

	(void)state;
	family_init(&f);
	CHECK_EQ(sb_pidmap_lookup(f.map, 0) == NULL, 1);
	CHECK_EQ(sb_pidmap_lookup(f.map, 1) == NULL, 1);
	for (uint32_t i = 0; i < MANY; i++) {
		add(f.map, &f.pids, &f.process[i]);
		CHECK_EQ(f.process[i].pid, i + 1);
	}
	CHECK_EQ(count_all(f.map), MANY);
	for (uint32_t i = 0; i < MANY; i++)
		CHECK_EQ(sb_pidmap_lookup(f.map, i + 1) == &f.process[i], 1);
	CHECK_EQ(sb_pidmap_lookup(f.map, 0) == NULL, 1);
	CHECK_EQ(sb_pidmap_lookup(f.map, MANY + 1) == NULL, 1);
	for (uint32_t i = 0; i < MANY; i++) {
		forget(f.map, &f.process[i]);
		CHECK_EQ(sb_pidmap_lookup(f.map, i + 1) == NULL, 1);
	}
	CHECK_EQ(count_all(f.map), 0);
	family_fini(&f);
}

/* The last of a block may be any of it. */
static void a_block_stays_for_its_last_process(void **state)
{
	struct family f;

	(void)state;
	family_init(&f);
	CHECK_EQ(sb_pidmap_blocks(f.map), 0);
	/* 0 is not given out, so these fill two blocks. */
	for (uint32_t i = 1; i < 2 * SB_PID_BLOCK; i++)
		add(f.map, &f.pids, &f.process[i]);
	CHECK_EQ(sb_pidmap_blocks(f.map), 2);
	for (uint32_t i = SB_PID_BLOCK; i < 2 * SB_PID_BLOCK; i++) {
		if (i != SB_PID_BLOCK + 5)
			forget(f.map, &f.process[i]);
	}
	for (uint32_t i = 1; i < SB_PID_BLOCK; i++) {
		CHECK_EQ(sb_pidmap_blocks(f.map), 2);
		forget(f.map, &f.process[i]);
	}
	CHECK_EQ(sb_pidmap_blocks(f.map), 1);
	CHECK_EQ(sb_pidmap_lookup(f.map, SB_PID_BLOCK + 5) == &f.process[SB_PID_BLOCK + 5], 1);
	forget(f.map, &f.process[SB_PID_BLOCK + 5]);
	CHECK_EQ(sb_pidmap_blocks(f.map), 0);
	family_fini(&f);
}

/* Those that do not come to be count, and so do those not yet given out. */
static void a_block_waits_for_all_its_pids(void **state)
{
	struct family f;

	(void)state;
	family_init(&f);
	for (uint32_t i = 1; i < SB_PID_BLOCK; i++) {
		const struct sb_name name = sb_pids_take(f.map, &f.pids);

		CHECK_EQ(name.pid, i);
		CHECK_EQ(sb_pidmap_blocks(f.map), 1);
		sb_pidmap_give_back(f.map, name);
	}
	CHECK_EQ(sb_pidmap_blocks(f.map), 0);
	add(f.map, &f.pids, &f.process[0]);
	CHECK_EQ(f.process[0].pid, SB_PID_BLOCK);
	forget(f.map, &f.process[0]);
	CHECK_EQ(sb_pidmap_blocks(f.map), 1);
	family_fini(&f);
}

static void a_chosen_pid_is_taken_for_ever(void **state)
{
	const sb_pid pid = SB_PID_CHOSEN + 17;
	struct sb_process *p;
	struct sb_name other;
	struct family f;

	(void)state;
	family_init(&f);
	p = &f.process[0];
	CHECK_EQ(sb_pidmap_choose(f.map, pid, &p->name), 0);
	CHECK_EQ(sb_pidmap_choose(f.map, pid, &other), -EEXIST);
	CHECK_EQ(sb_pidmap_lookup(f.map, pid) == NULL, 1);
	sb_pidmap_give_back(f.map, p->name);
	CHECK_EQ(sb_pidmap_choose(f.map, pid, &p->name), 0);
	sb_pidmap_add(p->name, p);
	CHECK_EQ(sb_pidmap_lookup(f.map, pid) == p, 1);
	CHECK_EQ(count_all(f.map), 1);
	forget(f.map, p);
	CHECK_EQ(sb_pidmap_lookup(f.map, pid) == NULL, 1);
	CHECK_EQ(count_all(f.map), 0);
	CHECK_EQ(sb_pidmap_choose(f.map, pid, &other), -EEXIST);
	CHECK_EQ(sb_pidmap_blocks(f.map), 0);
	family_fini(&f);
}

/* ---- several threads ---- */

#define LIVING 256
#define ROUNDS SB_SCALE(200000u)

/* A process whose memory is used again after a grace period, as it has to be. */
struct mortal {
	struct sb_deferred deferred;
	_Atomic(uint32_t) dead;
	struct sb_process process;
};

struct maker {
	struct sb_reclaim *reclaim;
	struct sb_pidmap *map;
	uint64_t seed;
	_Atomic(uint64_t) newest; /* PID */
	_Atomic(uint32_t) done;
};

static void bury(struct sb_deferred *deferred)
{
	struct mortal *m = sb_container_of(deferred, struct mortal, deferred);

	sb_store_rlx(&m->dead, 1);
	sb_mem_free(m);
}

static struct mortal *make(struct maker *maker, struct sb_pids *pids)
{
	struct mortal *m = sb_mem_zalloc(SB_HEAP, sizeof(*m), SB_LINE);

	assert_non_null(m);
	add(maker->map, pids, &m->process);
	sb_store_rlx(&maker->newest, m->process.pid);
	return m;
}

static void end(struct maker *maker, struct mortal *m)
{
	forget(maker->map, &m->process);
	sb_reclaim_defer(maker->reclaim, &m->deferred, bury);
}

static void *make_and_end(void *arg)
{
	static _Thread_local struct mortal *living[LIVING];
	struct maker *maker = arg;
	struct sb_pids pids;
	struct sb_rng rng;

	sb_pids_init(&pids, SB_HEAP);
	sb_rng_seed(&rng, maker->seed);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		struct mortal **m = &living[sb_rng_below(&rng, LIVING)];
		const uint32_t side = sb_reclaim_enter(maker->reclaim);

		if (*m)
			end(maker, *m);
		*m = make(maker, &pids);
		sb_reclaim_exit(maker->reclaim, side);
	}
	for (uint32_t i = 0; i < LIVING; i++) {
		if (living[i])
			end(maker, living[i]);
	}
	sb_store_rel(&maker->done, 1);
	return NULL;
}

static uint64_t look_around(struct maker *maker, struct sb_rng *rng)
{
	const sb_pid newest = sb_load_rlx(&maker->newest);
	uint64_t found = 0;

	for (uint32_t i = 0; i < 16 && newest; i++) {
		const sb_pid pid =
			newest - sb_rng_below(rng, (uint32_t)sb_min_u64(newest, 2 * LIVING));
		struct sb_process *p = sb_pidmap_lookup(maker->map, pid);

		if (!p)
			continue;
		CHECK_EQ(p->pid, pid);
		CHECK_EQ(sb_load_rlx(&sb_container_of(p, struct mortal, process)->dead), 0);
		found++;
	}
	return found;
}

static void what_is_found_is_it_and_stays(void **state)
{
	struct sb_reclaim *reclaim = make_reclaim();
	struct sb_pidmap *map = sb_pidmap_create(reclaim, UINT64_MAX);
	struct maker maker[2] = { { .reclaim = reclaim, .map = map, .seed = sb_test_seed() },
				  { .reclaim = reclaim, .map = map, .seed = sb_test_seed() + 1 } };
	struct sb_thread thread[2];
	struct sb_rng rng;
	uint64_t found = 0;

	(void)state;
	assert_non_null(map);
	sb_rng_seed(&rng, sb_test_seed());
	for (int i = 0; i < 2; i++)
		CHECK_EQ(sb_thread_start(&thread[i], -1, make_and_end, &maker[i]), 0);
	while (!sb_load_acq(&maker[0].done) || !sb_load_acq(&maker[1].done)) {
		const uint32_t side = sb_reclaim_enter(reclaim);

		found += look_around(&maker[sb_rng_below(&rng, 2)], &rng);
		sb_reclaim_exit(reclaim, side);
	}
	for (int i = 0; i < 2; i++)
		sb_thread_join(&thread[i]);
	assert_true(found > 0);
	CHECK_EQ(count_all(map), 0);
	/* Each maker's last, unless it has just been used up. */
	assert_true(sb_pidmap_blocks(map) <= 2);
	sb_reclaim_barrier(reclaim);
	sb_pidmap_destroy(map);
	sb_reclaim_destroy(reclaim);
}

static void add_chosen(struct sb_pidmap *map, sb_pid pid, struct sb_process *p)
{
	CHECK_EQ(sb_pidmap_choose(map, pid, &p->name), 0);
	p->pid = pid;
	sb_pidmap_add(p->name, p);
}

/* Of several blocks, in any order, and some that were chosen: each block loses what
 * was its own. */
static void those_that_go_together_go_from_their_blocks(void **state)
{
	enum { BLOCKS = 4, OF_BLOCKS = BLOCKS * SB_PID_BLOCK - 1, CHOSEN = 20 };
	struct sb_process *gone[OF_BLOCKS + CHOSEN];
	struct family f;
	struct sb_rng rng;

	(void)state;
	sb_rng_seed(&rng, sb_test_seed());
	family_init(&f);
	for (int round = 0; round < 20; round++) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < OF_BLOCKS + CHOSEN; i++) {
			const uint32_t j = sb_rng_below(&rng, i + 1);

			if (i < OF_BLOCKS)
				add(f.map, &f.pids, &f.process[i]);
			else
				add_chosen(f.map, SB_PID_CHOSEN + 1000 * (uint64_t)round + i,
					   &f.process[i]);
			gone[i] = gone[j];
			gone[j] = &f.process[i];
		}
		if (round % 2) { /* as they came */
			for (uint32_t i = 0; i < OF_BLOCKS + CHOSEN; i++)
				gone[i] = &f.process[i];
		}
		/* The first has one PID less; later ones begin a block. */
		if (!round)
			CHECK_EQ(sb_pidmap_blocks(f.map), BLOCKS);
		while (n < OF_BLOCKS + CHOSEN) {
			const uint32_t some = (uint32_t)sb_min_u64(1 + sb_rng_below(&rng, 70),
								   OF_BLOCKS + CHOSEN - n);

			sb_pidmap_remove(f.map, &gone[n], some);
			n += some;
		}
		CHECK_EQ(count_all(f.map), 0);
		/* What is left has PIDs yet to be given out. */
		assert_true(sb_pidmap_blocks(f.map) <= 1);
	}
	family_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_found_while_it_is_there),
		cmocka_unit_test(a_block_stays_for_its_last_process),
		cmocka_unit_test(a_block_waits_for_all_its_pids),
		cmocka_unit_test(a_chosen_pid_is_taken_for_ever),
		cmocka_unit_test(those_that_go_together_go_from_their_blocks),
		cmocka_unit_test(what_is_found_is_it_and_stays),
	};

	return cmocka_run_group_tests_name("pidmap", tests, NULL, NULL);
}
