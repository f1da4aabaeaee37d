/*
 * Property: a program that the command starts has no signal blocked, though the thread that starts
 * it blocks nearly all (see sb_thread_start): else SIGINT and SIGTERM would not end it.
 *
 * Method: this program as a child, started on the main thread and on such a thread.
 */
#include <signal.h>
#include <string.h>

#include "harness/system/child.h"
#include "tests/test.h"

/* The child: this program with a word, which says how many signals it has blocked. */
static int say_mask(void)
{
	sigset_t set;
	int blocked = 0;

	sigprocmask(SIG_SETMASK, NULL, &set);
	for (int i = 1; i < NSIG; i++)
		blocked += sigismember(&set, i) == 1;
	fprintf(stderr, "%d blocked", blocked);
	return 0;
}

static void *run(void *child)
{
	CHECK_EQ(sb_child_run(child), 0);
	return NULL;
}

static void no_signal_is_blocked(void **state)
{
	char *const argv[] = { (char[]){ "test_child" }, (char[]){ "child" }, NULL };
	struct sb_child child = { .argv = argv, .limit_ns = UINT64_C(60000000000) };
	struct sb_thread thread;

	(void)state;
	(void)run(&child);
	assert_string_equal(child.stderr_text, "0 blocked");
	CHECK_EQ(sb_thread_start(&thread, -1, run, &child), 0);
	sb_thread_join(&thread);
	assert_string_equal(child.stderr_text, "0 blocked");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(no_signal_is_blocked) };

	(void)argv;
	if (argc > 1)
		return say_mask();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
