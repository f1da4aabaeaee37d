/*
 * test_micro.c - every kind of micro benchmark, with every argument and number
 * of threads, but without Google Benchmark.
 *
 * Property: after two runs of a few thousand operations, of so many threads, its
 * check finds nothing wrong; and one operation that was asked for and not done,
 * or done and not asked for, is found. Method: run and ask, with the right
 * number, one more and one fewer. Bound: none of these waits for a time; the
 * interleavings are the machine's.
 */
#include <string.h>

#include "core/platform/platform.h"
#include "harness/micro/kind.h"
#include "tests/test.h"

#define OPERATIONS UINT64_C(1501)

struct part {
	struct sb_micro *m;
	uint32_t thread;
};

static void *run_part(void *arg)
{
	const struct part *part = arg;

	part->m->kind->run(part->m, part->thread, OPERATIONS);
	return NULL;
}

static void run_all(struct sb_micro *m)
{
	struct sb_thread thread[SB_MICRO_THREADS_MAX];
	struct part part[SB_MICRO_THREADS_MAX];

	for (uint32_t i = 1; i < m->threads; i++) {
		part[i] = (struct part){ m, i };
		CHECK_EQ(sb_thread_start(&thread[i], -1, run_part, &part[i]), 0);
	}
	run_part(&(struct part){ m, 0 });
	for (uint32_t i = 1; i < m->threads; i++)
		sb_thread_join(&thread[i]);
}

/* What its check says when it is told of so many operations more. */
static const char *ask(const struct sb_micro *what, int64_t more)
{
	struct sb_micro m = *what;
	const char *wrong;

	CHECK_EQ(sb_micro_begin(&m), 0);
	run_all(&m);
	run_all(&m);
	wrong = m.kind->check(&m, 2 * OPERATIONS * m.threads + (uint64_t)more);
	sb_micro_end(&m);
	return wrong;
}

static void check_kind(const struct sb_micro *m)
{
	char name[SB_MICRO_NAME_BYTES];
	const char *wrong = ask(m, 0);

	sb_micro_name(name, m->kind, m->arg);
	if (wrong)
		fail_msg("%s, %u threads: %s", name, m->threads, wrong);
	for (int64_t more = -1; more <= 1; more += 2) {
		if (!ask(m, more))
			fail_msg("%s, %u threads: nothing seen of %+d operations", name, m->threads,
				 (int)more);
	}
}

static void every_kind_sees_a_loss(void **unused)
{
	uint32_t checked = 0;

	(void)unused;
	SB_FOR_EACH_KIND (kind) {
		for (uint32_t a = 0; a < sb_micro_args(kind); a++) {
			for (uint32_t t = 0; t < sb_micro_thread_counts(kind); t++) {
				const uint32_t threads = kind->threads[t];

				check_kind(&(struct sb_micro){ .kind = kind,
							       .arg = kind->arg[a],
							       .threads = threads ? threads : 1 });
				checked++;
			}
		}
	}
	CHECK_EQ(checked > 40, 1);
}

static void names_are_unique_and_fit(void **unused)
{
	(void)unused;
	SB_FOR_EACH_KIND (a) {
		for (uint32_t i = 0; i < sb_micro_args(a); i++) {
			char name[SB_MICRO_NAME_BYTES];

			sb_micro_name(name, a, a->arg[i]);
			CHECK_EQ(strlen(name) < sizeof(name) - 1, 1);
			CHECK_EQ(strchr(name, ' ') == NULL, 1);
		}
		for (const struct sb_micro_kind *const *table = sb_micro_tables; *table; table++) {
			for (const struct sb_micro_kind *b = *table; b->name; b++)
				CHECK_EQ(a == b || strcmp(a->name, b->name), 1);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_sees_a_loss),
		cmocka_unit_test(names_are_unique_and_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
