/* Results: what is read is written in every form, and read again; and a trace. */
#include <string.h>

#include "harness/verbs/verbs.h"
#include "results/convert/convert.h"
#include "results/files/summary.h"
#include "results/json/read.h"
#include "results/json/write.h"
#include "results/ledger/files.h"
#include "results/page/report.h"
#include "results/plots/plots.h"
#include "results/record/record.h"
#include "results/record/series.h"
#include "results/trace/timeline.h"
#include "tests/fuzz/fuzz.h"

#define WHY_BYTES 300

static void convert(const struct sb_result *result)
{
	for (const struct sb_converter *c = sb_converters; c->name; c++) {
		if (c->write && c->write != sb_convert_trace)
			FUZZ_CHECK(!c->write(result, fuzz_sink()));
	}
}

static void draw(const struct sb_result *result)
{
	struct sb_plot_order order = { .result = &result, .results = 1 };

	if (sb_plots_put(&order, SB_PLOT_SVG, fuzz_sink()))
		fuzz_check_why(order.why);
}

/* In all its forms, but for what needs another program. */
static void write_all(struct sb_result *result)
{
	const char *failed = NULL;

	free(result->directory);
	result->directory = strdup(fuzz_directory());
	FUZZ_CHECK(result->directory);
	FUZZ_CHECK(!sb_write_tables(result, &failed));
	FUZZ_CHECK(!sb_write_meta(result, fuzz_sink()));
	FUZZ_CHECK(!sb_write_html(result, 1, fuzz_sink()));
	FUZZ_CHECK(!sb_write_markdown(result, 1, ".", fuzz_sink()));
	sb_write_summary(result, fuzz_sink(), true, 80);
	convert(result);
	draw(result);
}

static void compare(const char *path)
{
	char *argv[] = { (char[]){ "sched-bench" }, (char[]){ "compare" }, (char *)(uintptr_t)path,
			 (char *)(uintptr_t)path, NULL };
	const int status = sb_command_compare(4, argv);

	/* 2: too few values to be sure. */
	if (status != 2)
		fuzz_check_status(status);
}

static char *write_text(const struct sb_result *result, size_t *bytes)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, bytes);

	FUZZ_CHECK(out);
	FUZZ_CHECK(!sb_write_json(result, out));
	fclose(out);
	return text;
}

static void save(const char *path, const char *text, size_t bytes)
{
	FILE *out = fopen(path, "we");

	FUZZ_CHECK(out);
	FUZZ_CHECK(fwrite(text, 1, bytes, out) == bytes);
	fclose(out);
}

void fuzz_result(const struct fuzz_input *input)
{
	char why[WHY_BYTES] = "";
	char path[300];
	struct sb_result result;
	size_t bytes;
	size_t again;
	char *first;
	char *second;

	if (sb_result_read(&result, input->path, why, sizeof(why))) {
		fuzz_check_why(why);
		return;
	}
	fuzz_check_limits(INPUT_result, input->bytes, fuzz_json_depth(input->text), 0);
	first = write_text(&result, &bytes);
	write_all(&result);
	sb_result_free(&result);
	compare(input->path);

	snprintf(path, sizeof(path), "%s/result.json", fuzz_directory());
	save(path, first, bytes);
	FUZZ_CHECK(!sb_result_read(&result, path, why, sizeof(why)));
	second = write_text(&result, &again);
	FUZZ_CHECK(bytes == again && !memcmp(first, second, bytes));
	sb_result_free(&result);
	free(first);
	free(second);
}

void fuzz_timeline(const struct fuzz_input *input)
{
	for (uint32_t series = 0; series < 2; series++) {
		struct sb_timeline timeline;

		if (sb_timeline_read(&timeline, input->path, series))
			continue;
		fuzz_check_limits(INPUT_timeline, input->bytes, 0, 0);
		for (uint32_t i = 0; i < timeline.slices; i++) {
			const struct sb_timeline_slice *s = &timeline.slice[i];

			FUZZ_CHECK(s->worker < timeline.workers && s->from < timeline.workers &&
				   s->begin_ns <= s->end_ns);
		}
		sb_timeline_free(&timeline);
	}
}
