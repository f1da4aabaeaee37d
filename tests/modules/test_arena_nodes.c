/*
 * Whose memory comes from which arena, and on which node it lies.
 *
 * Property: workers share arenas as configured; the count of pages by node is that
 *   of the kernel.
 * Method: on this machine, whatever its nodes.
 * Bound: one node is not many. On several, see `make check-numa`.
 */
#include "tests/modules/arena.h"

/* ---- the scheduler's arenas ---- */

enum { PLACES = 5 };

static struct sb_place places[PLACES] = {
	{ -1, 0, 0, 0, 0, 0 },	{ -1, 1, 1, 1, 1, 0 },	{ -1, 2, 2, 0, 0, 0 },
	{ -1, 3, 3, 2, -1, 0 }, { -1, 4, 4, 2, -1, 0 },
};

static void workers_share_as_configured(void **state)
{
	static const struct {
		enum sb_arenas arenas;
		uint32_t expected;     /* with that of foreign threads */
		uint32_t with[PLACES]; /* the first worker with the same */
	} cases[] = {
		{ SB_ARENAS_PER_WORKER, 6, { 0, 1, 2, 3, 4 } },
		{ SB_ARENAS_PER_NODE, 4, { 0, 1, 0, 3, 3 } },
		{ SB_ARENAS_SHARED, 1, { 0, 0, 0, 0, 0 } },
	};
	struct fixture f;

	(void)state;
	for (size_t c = 0; c < SB_ARRAY_SIZE(cases); c++) {
		fixture_defaults(&f);
		f.config.arenas = cases[c].arenas;
		fixture_create_at(&f, PLACES, places);
		CHECK_EQ(f.s->arenas, cases[c].expected);
		for (uint32_t i = 0; i < PLACES; i++) {
			for (uint32_t j = 0; j < PLACES; j++)
				CHECK_EQ(f.s->worker_thread[i].arena == f.s->worker_thread[j].arena,
					 cases[c].with[i] == cases[c].with[j]);
		}
		CHECK_EQ(f.s->foreign_pool.owner.arena == f.s->worker_thread[0].arena,
			 cases[c].arenas == SB_ARENAS_SHARED);
		CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
		fixture_end(&f);
	}
}

/* A worker is on a node that is not there, so whatever is bound is refused. */
static void arenas_are_bound_as_configured(void **state)
{
	enum {
		WORKER = SB_ARENAS_PER_WORKER,
		NODE = SB_ARENAS_PER_NODE,
		SHARED = SB_ARENAS_SHARED,
		LOCAL = SB_MEMBIND_LOCAL,
		INTERLEAVE = SB_MEMBIND_INTERLEAVE,
		NONE = SB_MEMBIND_NONE,
	};
	static const struct {
		int arenas, membind;
		uint32_t nodes;
		bool is_native, is_bound;
	} cases[] = {
		{ WORKER, LOCAL, 2, true, true },      { NODE, LOCAL, 2, true, true },
		{ SHARED, LOCAL, 2, true, false },     { WORKER, INTERLEAVE, 2, true, true },
		{ SHARED, INTERLEAVE, 2, true, true }, { WORKER, NONE, 2, true, false },
		{ WORKER, LOCAL, 2, false, false },    { WORKER, INTERLEAVE, 2, false, false },
		{ WORKER, LOCAL, 1, true, false },     { WORKER, INTERLEAVE, 1, true, false },
	};
	int os_node[] = { NOT_THERE, NOT_THERE };

	(void)state;
	if (!SB_HAS_ARENAS) {
		print_message("# skipped: arenas are the C library's heap\n");
		return;
	}
	for (size_t c = 0; c < SB_ARRAY_SIZE(cases); c++) {
		const struct sb_placement placement = {
			.workers = 2,
			.place = places,
			.nodes = cases[c].nodes,
			.os_node = cases[c].is_native ? os_node : NULL,
		};
		struct sb_memory memory;
		struct fixture f;
		struct script script = { .f = &f, .step = done_with_42 };

		fixture_defaults(&f);
		f.config.arenas = (enum sb_arenas)cases[c].arenas;
		f.config.membind = (enum sb_membind)cases[c].membind;
		CHECK_EQ(sb_scheduler_create(&f.s, &f.config, &placement), 0);
		sb_scheduler_read_memory(f.s, &memory);
		CHECK_EQ(memory.is_bound, cases[c].is_bound);
		CHECK_EQ(memory.bind_error != 0, cases[c].is_bound);
		assert_true(memory.mapped_bytes > 0);
		CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
		fixture_submit(&f, &scripted, &script);
		fixture_wait(&f);
		fixture_end(&f);
	}
}

/* ---- where it lies ---- */

static int spawns_one(struct script *script, struct sb_step *step, const struct sb_event *events,
		      uint32_t count)
{
	(void)events;
	(void)count;
	CHECK_EQ(sb_step_spawn(step, &scripted, "main",
			       sb_value_ptr((void *)(uintptr_t)script->other), NULL),
		 0);
	return SB_DONE;
}

static void run_on(struct sb_place *place, uint32_t nodes, int *os_node, struct sb_residence *out)
{
	const struct sb_placement placement = {
		.workers = 1, .place = place, .nodes = nodes, .os_node = os_node
	};
	struct fixture f;
	struct script child = { .f = &f, .step = done_with_42 };
	struct script parent = { .f = &f, .step = spawns_one, .other = (sb_pid)(uintptr_t)&child };

	fixture_defaults(&f);
	CHECK_EQ(sb_scheduler_create(&f.s, &f.config, &placement), 0);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	fixture_submit(&f, &scripted, &parent);
	fixture_wait(&f);
	CHECK_EQ(sb_scheduler_stop(f.s, FIXTURE_TIMEOUT_NS), 0);
	sb_scheduler_locate(f.s, 0, out);
	sb_scheduler_destroy(f.s);
}

/* All of it is somewhere, so on a node that is not there it is not. */
static void every_kind_of_memory_is_found(void **state)
{
	struct sb_place place = { -1, 0, 0, 0, 0, 0 };
	int not_there = NOT_THERE;
	struct sb_residence r;

	(void)state;
	if (!can_locate())
		return;
	run_on(&place, 1, &not_there, &r);
	CHECK_EQ(r.error, 0);
	for (int kind = 0; kind < SB_MEMORY_KINDS; kind++) {
		CHECK_EQ(r.kind[kind].own, 0);
		CHECK_EQ(r.kind[kind].other > 0, SB_HAS_ARENAS || kind != SB_MEMORY_ARENA);
	}
	if (SB_HAS_ARENAS)
		assert_true(r.kind[SB_MEMORY_ARENA].other >=
			    r.kind[SB_MEMORY_PROCESSES].other + r.kind[SB_MEMORY_WORKER].other);
}

static void what_has_no_node_is_not_looked_for(void **state)
{
	struct sb_place on_0 = { -1, 0, 0, 0, 0, 0 };
	struct sb_place nowhere = { -1, 0, 0, 0, -1, 0 };
	struct sb_place beyond = { -1, 0, 0, 0, 1, 0 };
	int os_node[] = { 0 };
	struct sb_residence r;

	(void)state;
	run_on(&on_0, 1, NULL, &r);
	CHECK_EQ(r.error, -ENOTSUP);
	run_on(&nowhere, 1, os_node, &r);
	CHECK_EQ(r.error, -ENOTSUP);
	run_on(&beyond, 1, os_node, &r);
	CHECK_EQ(r.error, -ENOTSUP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(workers_share_as_configured),
		cmocka_unit_test(arenas_are_bound_as_configured),
		cmocka_unit_test(every_kind_of_memory_is_found),
		cmocka_unit_test(what_has_no_node_is_not_looked_for),
	};

	return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
