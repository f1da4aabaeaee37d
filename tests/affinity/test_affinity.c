/*
 * Topology and placement.
 *
 * Property: only processing units that this process may run on are used; each
 *   worker has a core of its own while there are cores, then a processing unit
 *   of its own; distances follow the topology; a mask reads as a list, and
 *   binding to one that is not all allowed is refused.
 * Method: this machine, whole and under a mask of one CPU; synthetic machines
 *   through hwloc's own environment variable, restricted, as any machine is,
 *   to the CPUs that are really there.
 */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "affinity/mask.h"
#include "affinity/topology.h"
#include "core/worker/distance.h"
#include "tests/test.h"

static struct sb_topology *load(void)
{
	struct sb_topology *topology;

	CHECK_EQ(sb_topology_load(&topology), 0);
	return topology;
}

static void places_are_distinct_and_allowed(void **state)
{
	struct sb_topology *topology = load();
	struct sb_machine machine;
	struct sb_placement p;
	cpu_set_t allowed;

	(void)state;
	sb_topology_machine(topology, &machine);
	assert_uint_in_range(machine.pus, 1, 1 << 20);
	assert_uint_in_range(machine.cores, 1, machine.pus);
	CHECK_EQ(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	assert_true(machine.pus <= (uint32_t)CPU_COUNT(&allowed));
	CHECK_EQ(sb_placement_make(topology, 3 * machine.pus, &p), 0);
	for (uint32_t i = 0; i < p.workers; i++) {
		assert_true(CPU_ISSET(p.place[i].os_cpu, &allowed));
		for (uint32_t j = 0; j < i && i < machine.pus; j++) {
			assert_int_not_equal(p.place[i].pu, p.place[j].pu);
			if (i < machine.cores && p.place[i].core >= 0)
				assert_int_not_equal(p.place[i].core, p.place[j].core);
		}
		if (i >= machine.pus)
			CHECK_EQ(p.place[i].pu, p.place[i - machine.pus].pu);
	}
	sb_placement_free(&p);
	sb_topology_free(topology);
}

static int first_allowed(void)
{
	cpu_set_t allowed;
	int cpu = 0;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	while (!CPU_ISSET(cpu, &allowed))
		cpu++;
	return cpu;
}

/*
 * A program of its own, started under a mask of one CPU, as by taskset. (A mask
 * set on a thread of this one would not do: hwloc asks for all its threads, and
 * a sanitizer may have one.)
 */
static int one_cpu_program(int cpu)
{
	struct sb_topology *topology;
	struct sb_machine machine;
	struct sb_placement p;
	int rc = 0;

	if (sb_topology_load(&topology))
		return 11;
	sb_topology_machine(topology, &machine);
	if (machine.pus != 1 || machine.cores != 1)
		rc = 12;
	else if (sb_placement_make(topology, 2, &p))
		rc = 13;
	else if (p.place[0].os_cpu != cpu || p.place[1].os_cpu != cpu)
		rc = 14;
	if (!rc || rc == 14)
		sb_placement_free(&p);
	sb_topology_free(topology);
	return rc;
}

/* By way of the emulator, if this program needs one. */
static void start_one_cpu_program(int cpu)
{
	char self[PATH_MAX] = "";
	char number[16];
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	snprintf(number, sizeof(number), "%d", cpu);
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) > 0 &&
	    !sched_setaffinity(0, sizeof(one), &one))
		execl("/bin/sh", "sh", "-c", "exec $EMULATOR \"$0\" \"$1\"", self, number, NULL);
	_exit(10);
}

static void the_affinity_mask_is_respected(void **state)
{
	const int cpu = first_allowed();
	const pid_t child = fork();
	int status;

	(void)state;
	if (!child)
		start_one_cpu_program(cpu);
	assert_true(child > 0);
	CHECK_EQ(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), 0);
}

static void distances_follow_the_topology(void **state)
{
	static const struct {
		const char *synthetic;
		uint32_t cores;
		enum sb_distance distance;
	} machines[] = {
		{ "pack:1 core:1 pu:2", 1, SB_DISTANCE_SMT },
		{ "pack:1 l3:1 core:2 pu:1", 2, SB_DISTANCE_CACHE },
		{ "pack:1 l3:2 core:1 pu:1", 2, SB_DISTANCE_NODE },
		{ "pack:2 [numa] l3:1 core:1 pu:1", 2, SB_DISTANCE_REMOTE },
	};

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(machines); i++) {
		struct sb_topology *topology;
		struct sb_machine machine;
		struct sb_placement p;
		char why[128];

		CHECK_EQ(sb_topology_open(&topology, machines[i].synthetic, why, sizeof(why)), 0);
		sb_topology_machine(topology, &machine);
		CHECK_EQ(machine.pus, 2);
		CHECK_EQ(machine.cores, machines[i].cores);
		CHECK_EQ(sb_placement_make(topology, 2, &p), 0);
		CHECK_EQ(sb_place_distance(&p.place[0], &p.place[1]), machines[i].distance);
		CHECK_EQ(sb_place_distance(&p.place[0], &p.place[0]), SB_DISTANCE_SELF);
		sb_placement_free(&p);
		sb_topology_free(topology);
	}
}

static void masks_read_as_lists(void **state)
{
	static const struct {
		int cpu[6];
		const char *text;
	} cases[] = {
		{ { -1, SB_CPUS_MAX, -1, -1, -1, -1 }, "" },
		{ { 0, -1, -1, -1, -1, -1 }, "0" },
		{ { 3, 1, 2, 0, -1, -1 }, "0-3" },
		{ { 8, 0, 63, 64, 65, 10 }, "0,8,10,63-65" },
		{ { SB_CPUS_MAX - 1, SB_CPUS_MAX - 2, 5, -1, -1, -1 }, "5,16382-16383" },
	};
	char text[32];

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(cases); i++) {
		struct sb_cpu_mask mask = { 0 };

		for (size_t c = 0; c < SB_ARRAY_SIZE(cases[i].cpu); c++) {
			sb_cpu_mask_add(&mask, cases[i].cpu[c]);
			CHECK_EQ(sb_cpu_mask_has(&mask, cases[i].cpu[c]),
				 cases[i].cpu[c] >= 0 && cases[i].cpu[c] < SB_CPUS_MAX);
		}
		assert_string_equal(sb_cpu_mask_text(&mask, text, sizeof(text)), cases[i].text);
		/* Cut off, not beyond. */
		memset(text, 'x', sizeof(text));
		sb_cpu_mask_text(&mask, text, 4);
		assert_true(strlen(text) < 4);
		CHECK_EQ(text[4], 'x');
	}
}

static void only_what_is_allowed_can_be_bound_to(void **state)
{
	struct sb_cpu_mask home;
	struct sb_cpu_mask now;
	struct sb_cpu_mask mask = { 0 };
	const int cpu = first_allowed();

	(void)state;
	CHECK_EQ(sb_cpu_mask_read(&home), 0);
	assert_true(sb_cpu_mask_has(&home, cpu));
	sb_cpu_mask_add(&mask, cpu);
	CHECK_EQ(sb_cpu_mask_bind(&mask), 0);
	CHECK_EQ(sb_cpu_mask_read(&now), 0);
	assert_true(sb_cpu_mask_is_equal(&now, &mask));
	sb_cpu_mask_add(&mask, SB_CPUS_MAX - 1);
	CHECK_EQ(sb_cpu_mask_bind(&mask), -EINVAL);
	CHECK_EQ(sb_cpu_mask_bind(&home), 0);
	CHECK_EQ(sb_cpu_mask_read(&now), 0);
	assert_true(sb_cpu_mask_is_equal(&now, &home));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_are_distinct_and_allowed),
		cmocka_unit_test(the_affinity_mask_is_respected),
		cmocka_unit_test(distances_follow_the_topology),
		cmocka_unit_test(masks_read_as_lists),
		cmocka_unit_test(only_what_is_allowed_can_be_bound_to),
	};

	if (argc > 1)
		return one_cpu_program((int)strtol(argv[1], NULL, 10));
	return cmocka_run_group_tests_name("affinity", tests, NULL, NULL);
}
