/*
 * plot.c - the verb `plot`: a kind, results that are read back -> one
 * picture, or all of them into the result's directory.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/cli/help.h"
#include "harness/cli/options.h"
#include "harness/guide/names.h"
#include "harness/output/output.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "harness/topology/heatmap.h"
#include "harness/verbs/verbs.h"
#include "results/files/file.h"
#include "results/json/read.h"
#include "results/plots/plots.h"
#include "results/record/series.h"
#include "results/text/escape.h"

/* ---- kinds ---- */

void sb_list_plots(void)
{
	const struct sb_names *pictures = sb_names_find("pictures");

	for (size_t i = 0; pictures->at(i).name; i++)
		printf("  %-25s %s\n", pictures->at(i).name, pictures->at(i).doc);
}

static int unknown_kind(const char *name)
{
	const char *like = sb_most_like(name, sb_names_next, sb_names_find("pictures"));

	if (!access(name, F_OK))
		return sb_fail(SB_EXIT_USAGE,
			       "plot: '%s' is a result, and its kind is missing; expected all %s, "
			       "or a kind that sched-bench plot list names",
			       name, name);
	if (like)
		return sb_fail(SB_EXIT_USAGE, "plot: unknown kind '%s'; did you mean '%s'?", name,
			       like);
	return sb_fail(SB_EXIT_USAGE, "plot: unknown kind '%s'; sched-bench plot list names them",
		       name);
}

/* ---- results ---- */

struct results {
	struct sb_result *result;
	const struct sb_result **pointer; /* to each */
	uint32_t n;
};

static void free_results(struct results *results)
{
	for (uint32_t i = 0; i < results->n; i++)
		sb_result_free(&results->result[i]);
	free(results->result);
	free(results->pointer);
}

static int read_results(struct results *results, char *const *path, uint32_t n)
{
	char why[SB_PLOT_WHY_BYTES] = "";
	int rc;

	results->result = calloc(n, sizeof(*results->result));
	results->pointer = calloc(n, sizeof(struct sb_result *));
	if (!results->result || !results->pointer)
		return sb_fail_memory();
	for (uint32_t i = 0; i < n; i++) {
		rc = sb_result_read(&results->result[i], path[i], why, sizeof(why));
		if (rc)
			return sb_fail(sb_status_of(rc), "%s", why);
		results->pointer[i] = &results->result[i];
		results->n++;
	}
	return 0;
}

/* ---- the picture ---- */

static const char *given(const struct sb_options *options, enum sb_option_id id)
{
	const char *text = options->value[id].text;

	return *text ? text : NULL;
}

static int fail_for(const struct sb_plot_order *order, const char *kind, int rc)
{
	switch (-rc) {
	case ENODATA:
		return sb_fail(SB_EXIT_USAGE, "plot: %s does not apply: %s", kind, order->why);
	case E2BIG:
		return sb_fail(SB_EXIT_USAGE, "plot: %s: %s", kind, order->why);
	case ENOMEM:
		return sb_fail_memory();
	case ENOENT: /* gnuplot */
		return sb_fail(SB_EXIT_ENVIRONMENT, "plot: %s", order->why);
	default:
		return sb_fail(sb_status_of(rc), "plot: %s", order->why);
	}
}

static int choose_format(const char *path, enum sb_plot_format *format)
{
	*format = SB_PLOT_SVG;
	if (!strcmp(path, "-") || sb_ends_in(path, ".svg"))
		return 0;
	*format = SB_PLOT_PNG;
	if (sb_ends_in(path, ".png"))
		return 0;
	return sb_fail(SB_EXIT_USAGE,
		       "--output: '%s' is not valid; expected a name in .svg or .png, or -", path);
}

/* Made before its file: the file is only begun when all is well. */
struct drawn {
	char *bytes;
	size_t n;
};

static int put_drawn(const void *what, FILE *out)
{
	const struct drawn *drawn = what;

	return fwrite(drawn->bytes, 1, drawn->n, out) == drawn->n ? 0 : (errno ? -errno : -EIO);
}

static int save(const struct drawn *drawn, const char *path)
{
	const int rc = sb_output(path, put_drawn, drawn);

	return rc ? sb_output_failed(path, rc) : 0;
}

/* The series that topology shows: there must be one. */
static const struct sb_series *find_series(const struct results *results, const char *text)
{
	const struct sb_series *found = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; i < results->result[0].all_series; i++) {
		const struct sb_series *s = &results->result[0].series[i];

		if (text && !strstr(s->workload, text) && !strstr(s->label, text))
			continue;
		found = s;
		n++;
	}
	if (n == 1 && results->n == 1)
		return found;
	sb_fail(SB_EXIT_USAGE,
		"plot: topology shows one series of one result, not %" PRIu32 " of %" PRIu32
		"; --series TEXT chooses one",
		n, results->n);
	return NULL;
}

static int draw_topology(const struct sb_options *options, const struct results *results,
			 enum sb_plot_format format, FILE *out)
{
	const struct sb_series *series = find_series(results, given(options, SB_OPT_plot_series));

	if (!series)
		return SB_EXIT_USAGE;
	return sb_heatmap_draw(&results->result[0], series, options->value[SB_OPT_plot_metric].text,
			       format == SB_PLOT_SVG ? "svg" : "png", out);
}

static int draw_kind(struct sb_plot_order *order, enum sb_plot_format format, FILE *out)
{
	const int rc = sb_plots_put(order, format, out);

	return rc ? fail_for(order, order->kind->name, rc) : 0;
}

static int plot_to_file(const struct sb_options *options, const struct results *results,
			struct sb_plot_order *order, const char *path)
{
	struct drawn drawn = { NULL, 0 };
	enum sb_plot_format format;
	FILE *out;
	int rc = choose_format(path, &format);

	if (rc)
		return rc;
	out = open_memstream(&drawn.bytes, &drawn.n);
	if (!out)
		return sb_fail_memory();
	rc = order->kind ? draw_kind(order, format, out)
			 : draw_topology(options, results, format, out);
	if (fclose(out) && !rc)
		rc = sb_fail_memory();
	if (!rc)
		rc = save(&drawn, path);
	free(drawn.bytes);
	return rc;
}

static int plot_to_result(struct sb_plot_order *order, const struct sb_result *result,
			  const char *kind)
{
	char *directory;
	int rc;

	if (order->results != 1)
		return sb_fail(SB_EXIT_USAGE, "plot: several results belong to no directory; "
					      "expected -o FILE.svg or -o FILE.png");
	directory = sb_path_join(result->directory, "plots");
	if (!directory)
		return sb_fail_memory();
	rc = sb_plots_make(order, directory);
	if (rc)
		rc = fail_for(order, kind, rc);
	else
		printf("%s: %" PRIu32 " picture%s, each as .svg, .png and .gp\n",
		       sb_terminal_text(directory), order->made, order->made == 1 ? "" : "s");
	free(directory);
	return rc;
}

static int plot_results(const struct sb_options *options, const struct results *results)
{
	const char *kind = options->word[0];
	const char *path = options->value[SB_OPT_plot_output].text;
	struct sb_plot_order order = {
		.result = results->pointer,
		.results = results->n,
		.kind = sb_plot_kind_find(kind),
		.choice = { .metric = given(options, SB_OPT_plot_metric),
			    .over = given(options, SB_OPT_plot_over),
			    .series = given(options, SB_OPT_plot_series) },
	};

	if (*path && !strcmp(kind, SB_PICTURE_ALL))
		return sb_fail(SB_EXIT_USAGE,
			       "--output: expected without it; plot all makes many pictures");
	if (*path)
		return plot_to_file(options, results, &order, path);
	if (!strcmp(kind, SB_PICTURE_TOPOLOGY))
		return sb_fail(
			SB_EXIT_USAGE,
			"plot: topology goes to a file; expected -o FILE.svg or -o FILE.png");
	return plot_to_result(&order, results->result, kind);
}

static int plot(const struct sb_options *options)
{
	struct results results = { .n = 0 };
	const char *kind = options->words ? options->word[0] : "";
	const enum sb_format format = options->value[SB_OPT_format].alternative;
	int rc;

	if (!strcmp(kind, "list") && options->words == 1)
		return sb_names_put(sb_names_find("pictures"), format);
	if (format != SB_FORMAT_PRETTY && sb_option_is_said(options, SB_OPT_format))
		return sb_fail(SB_EXIT_USAGE, "--format: expected with plot list only; the name of "
					      "--output says what a picture is");
	if (!*kind)
		return sb_fail(SB_EXIT_USAGE, "plot: no kind; sched-bench plot list names them");
	if (!sb_plot_kind_find(kind) && strcmp(kind, SB_PICTURE_ALL) != 0 &&
	    strcmp(kind, SB_PICTURE_TOPOLOGY) != 0)
		return unknown_kind(kind);
	if (options->words < 2)
		return sb_fail(SB_EXIT_USAGE,
			       "plot: no result; expected a result directory or a result.json");
	rc = sb_outputs_try(options, SB_VERB_PLOT);
	if (!rc)
		rc = read_results(&results, options->word + 1, options->words - 1);
	if (!rc)
		rc = plot_results(options, &results);
	free_results(&results);
	return rc;
}

int sb_command_plot(int argc, char **argv)
{
	static struct sb_options options;
	int rc = sb_options_parse_for(&options, SB_VERB_PLOT, argc - 1, argv + 1);

	if (!rc && sb_opt(&options, SB_OPT_help))
		sb_help_verb(SB_VERB_PLOT);
	else if (!rc)
		rc = plot(&options);
	sb_options_free(&options);
	return rc;
}
