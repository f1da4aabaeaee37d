/*
 * test_switches.c - who takes a CPU from a worker, by the kernel's tracepoint.
 *
 * Property: fields are found where the kernel says that they lie; what takes the CPU is named, at
 *   a time at which it did; without tracefs there is nothing, and no error.
 * Method: made-up format files; then two threads that spin on one CPU, as far as the kernel allows.
 */
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "core/platform/clock.h"
#include "core/platform/platform.h"
#include "harness/kernel/procfs.h"
#include "harness/kernel/switches.h"
#include "harness/kernel/tracepoint.h"
#include "tests/tree.h"

#define FORMAT "/sys/kernel/tracing/events/sched/sched_switch/format"

static void fields_lie_where_the_kernel_says(void **state)
{
	char root[] = "/tmp/sb-test-XXXXXX";
	const int self = sb_thread_self_id();
	uint32_t offset = 0;

	(void)state;
	tree_make(root);
	assert_null(sb_switches_open(root, &self, 1));
	tree_put(root, FORMAT,
		 "name: sched_switch\nID: 3\nformat:\n"
		 "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
		 "\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
		 "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
		 "\tfield:int next_prio");
	assert_true(sb_tracepoint_field(root, "sched/sched_switch", "next_pid", &offset));
	CHECK_EQ(offset, 56);
	assert_true(sb_tracepoint_field(root, "sched/sched_switch", "next_comm", &offset));
	CHECK_EQ(offset, 40);
	assert_false(sb_tracepoint_field(root, "sched/sched_switch", "comm", &offset));
	assert_false(sb_tracepoint_field(root, "sched/sched_switch", "next_prio", &offset));
	assert_false(sb_tracepoint_field(root, "sched/other", "next_pid", &offset));
	/* There is no number of the tracepoint. */
	assert_null(sb_switches_open(root, &self, 1));
	tree_remove(root);
}

/* ---- on this machine ---- */

struct spinner {
	const char *name;
	_Atomic(int) id;
	_Atomic(bool) stops;
};

static void *spin(void *arg)
{
	struct spinner *s = arg;

	prctl(PR_SET_NAME, s->name);
	sb_store_rel(&s->id, sb_thread_self_id());
	while (!sb_load_acq(&s->stops))
		;
	return NULL;
}

/* How often the thread has lost its CPU. */
static uint64_t losses_of(int id)
{
	char path[64];
	char text[4096];
	uint64_t n = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", id);
	if (!sb_procfs_read("", path, text, sizeof(text)))
		(void)sb_procfs_field(text, "nonvoluntary_ctxt_switches", &n);
	return n;
}

static bool is_among(const struct sb_thief *thief, uint32_t n, const char *name, int id,
		     uint64_t since_ns)
{
	for (uint32_t i = 0; i < n; i++) {
		if (thief[i].thread_id == id && !strcmp(thief[i].name, name) && !thief[i].worker &&
		    thief[i].at_ns >= since_ns && thief[i].at_ns <= sb_clock_ns())
			return true;
	}
	return false;
}

/* Others may use this CPU, too: the first that takes it need not be the neighbour. */
#define LOSSES_MOST 3000

static bool is_named(struct sb_switches *switches, const struct spinner spinner[2],
		     uint64_t since_ns)
{
	const int id = sb_load_acq(&spinner[0].id);
	const uint64_t most = losses_of(id) + LOSSES_MOST;
	bool found = false;

	while (!found && losses_of(id) < most) {
		uint32_t n = 0;
		struct sb_thief *thief = sb_switches_take(switches, &n);

		found = is_among(thief, n, spinner[1].name, sb_load_acq(&spinner[1].id), since_ns);
		free(thief);
		usleep(1000);
	}
	return found;
}

static void who_takes_the_cpu_is_named(void **state)
{
	struct spinner spinner[2] = { { .name = "sb-worker" }, { .name = "sb-neighbour" } };
	const uint64_t since_ns = sb_clock_ns();
	const int cpu = sched_getcpu();
	struct sb_thread thread[2];
	struct sb_switches *switches;
	int id;

	(void)state;
	for (int i = 0; i < 2; i++)
		CHECK_EQ(sb_thread_start(&thread[i], cpu, spin, &spinner[i]), 0);
	while (!sb_load_acq(&spinner[0].id) || !sb_load_acq(&spinner[1].id))
		usleep(1000);
	id = sb_load_acq(&spinner[0].id);
	switches = sb_switches_open("", &id, 1);
	if (switches) {
		assert_true(is_named(switches, spinner, since_ns));
	} else {
		printf("# skipped: tracefs is not mounted, or this user may not read "
		       "sched:sched_switch\n");
	}
	for (int i = 0; i < 2; i++) {
		sb_store_rel(&spinner[i].stops, true);
		sb_thread_join(&thread[i]);
	}
	sb_switches_close(switches);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_lie_where_the_kernel_says),
		cmocka_unit_test(who_takes_the_cpu_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
