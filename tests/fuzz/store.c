/* The store of a sweep: planned again from its command line, and its rows made a
 * result. */
#include <string.h>
#include <unistd.h>

#include "harness/plugin/plugin.h"
#include "harness/sweep/collect.h"
#include "harness/sweep/session.h"
#include "results/record/series.h"
#include "tests/fuzz/fuzz.h"

static void put_file(const struct fuzz_input *input, const char *directory)
{
	static const char *const suffixes[] = { "", "-wal", "-shm", "-journal" };
	const char *name = sb_store_of_sweep.name;
	char path[300];
	FILE *out;

	for (size_t i = 0; i < SB_ARRAY_SIZE(suffixes); i++) {
		snprintf(path, sizeof(path), "%s/%s%s", directory, name, suffixes[i]);
		(void)unlink(path);
	}
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	out = fopen(path, "we");
	FUZZ_CHECK(out);
	FUZZ_CHECK(fwrite(input->text, 1, input->bytes, out) == input->bytes);
	fclose(out);
}

static int collect(struct sb_session *s, struct sb_arguments *stored)
{
	const int status = sb_session_resume(s, stored);

	return status ? status : sb_collect(&s->sweep, s->store, s->topology, &s->result);
}

static int check_row(void *rows, const struct sb_stored_row *row)
{
	fuzz_check_limits(INPUT_row, row->result ? strlen(row->result) : 0, 0, ++*(uint32_t *)rows);
	return 0;
}

static void check_values(const struct sb_session *s, const struct sb_arguments *stored)
{
	uint32_t rows = 0;

	for (uint32_t i = 0; i < stored->n; i++)
		fuzz_check_limits(INPUT_store, strlen(stored->word[i]), 0, stored->n);
	FUZZ_CHECK(!sb_store_rows(s->store, check_row, &rows));
	/* A stranger's code is not loaded. */
	FUZZ_CHECK(!sb_plugin_is_in(s->options->value[SB_OPT_workload].text));
}

void fuzz_store(const struct fuzz_input *input)
{
	static struct sb_session s;
	static struct sb_options given;
	struct sb_arguments stored = { .n = 0 };
	const char *directory = fuzz_directory();
	int status;
	char *argv[] = { (char[]){ "sweep" }, (char[]){ "--collect" }, (char[]){ "-o" },
			 (char *)(uintptr_t)directory, NULL };

	put_file(input, directory);
	FUZZ_CHECK(!sb_options_parse_for(&given, SB_VERB_SWEEP, 4, argv));
	s = (struct sb_session){ .given = &given, .options = &given };
	FUZZ_CHECK(!sb_sweep_canonical(&given, &s.canonical));
	status = collect(&s, &stored);
	fuzz_check_status(status);
	if (!status)
		check_values(&s, &stored);
	sb_store_close(s.store);
	sb_topology_free(s.topology);
	sb_sweep_free(&s.sweep);
	sb_result_free(&s.result);
	sb_options_free(&s.plan_options);
	sb_options_free(&given);
	sb_arguments_free(&s.canonical);
	sb_arguments_free(&stored);
	free(s.done);
	free(s.latest);
}
