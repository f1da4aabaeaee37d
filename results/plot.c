/*
 * plot.c - the pictures. Each is one gnuplot script with its data inside, kept
 * beside the pictures it makes so that a reader can change and rerun it.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "results/file.h"
#include "results/write.h"

/* Runs gnuplot on a script in its own folder; silent. */
static int run_gnuplot(char *directory, char *script)
{
	char *argv[] = { (char[]){ "sh" },
			 (char[]){ "-c" },
			 (char[]){ "cd \"$0\" && gnuplot \"$1\" "
				   "2>gnuplot.log && rm gnuplot.log" },
			 directory,
			 script,
			 NULL };
	int status;
	pid_t pid;
	int rc = posix_spawnp(&pid, "sh", NULL, NULL, argv, environ);

	if (rc)
		return -rc;
	if (waitpid(pid, &status, 0) < 0)
		return -errno;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return -ENOENT;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EIO;
}

/* Text inside gnuplot's double quotes, with enhanced mode off. */
static void put_quoted(FILE *out, const char *text)
{
	SB_CHECK(text != NULL, ==, 1);
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		if (*text != '\n')
			fputc(*text, out);
	}
	fputc('"', out);
}

static uint32_t count_all(const struct sb_result *result,
			  enum sb_verdict verdict)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < result->all_series; i++)
		n += sb_series_count(&result->series[i], verdict);
	return n;
}

/* "2 suspect, 1 invalid left out" */
static void describe_validity(const struct sb_result *result, char *out,
			      size_t bytes)
{
	const uint32_t suspect = count_all(result, SB_SUSPECT);
	const uint32_t invalid = count_all(result, SB_INVALID);

	if (!suspect && !invalid)
		snprintf(out, bytes, "all repetitions valid");
	else
		snprintf(out, bytes,
			 "repetitions: %" PRIu32 " suspect, %" PRIu32
			 " invalid and left out",
			 suspect, invalid);
}

/* The machine and the validity stand under every picture. */
static void put_caption(FILE *out, const struct sb_result *result)
{
	char caption[320];
	char validity[80];

	describe_validity(result, validity, sizeof(validity));
	snprintf(caption, sizeof(caption),
		 "%s, %s cores; %s workers; sched-bench %s, %s build; %s",
		 sb_result_fact(result, "machine", "cpu_model"),
		 sb_result_fact(result, "machine", "cores"),
		 sb_result_fact(result, "run", "workers"),
		 sb_result_fact(result, "run", "version"),
		 sb_result_fact(result, "run", "build_mode"), validity);
	fputs("set label 99 ", out);
	put_quoted(out, caption);
	fputs(" at screen 0.01, screen 0.02 left noenhanced font \",9\"\n",
	      out);
}

/* What makes a picture; returns false when there is nothing to show. */
typedef bool (*plot_body)(FILE *out, const struct sb_result *result,
			  const struct sb_series *series, int argument);

static void put_title(FILE *out, const struct sb_result *result,
		      const char *title, const struct sb_series *series)
{
	char text[160];

	snprintf(text, sizeof(text), "%s%s%s%s", title, series ? ": " : "",
		 series ? series->workload : "",
		 strcmp(sb_result_topology(result), "native") ? " (emulated)"
							      : "");
	fputs("set title ", out);
	put_quoted(out, text);
	fputs(" noenhanced\n", out);
}

/* ---- the bodies: each leaves a macro `draw` that plots ---- */

/* Latency over 1 / (1 - quantile), the axis of HdrHistogram's plots. */
static void put_percentiles(FILE *out, const struct sb_hist_counts *hist)
{
	uint64_t seen = 0;

	for (uint32_t b = 0; b < SB_HIST_BUCKETS; b++) {
		if (!hist->bucket[b])
			continue;
		seen += hist->bucket[b];
		/* The last value stands at one more than its count. */
		fprintf(out, "%.9g %" PRIu64 "\n",
			1 / (1 - (double)seen / ((double)hist->count + 1)),
			sb_hist_bucket_low(b) + sb_hist_bucket_width(b) / 2);
	}
}

static bool body_latency(FILE *out, const struct sb_result *result,
			 const struct sb_series *unused, int id)
{
	struct sb_hist_counts *hist = calloc(1, sizeof(*hist));
	bool any = false;

	(void)unused;
	if (!hist)
		return false;
	fputs("set logscale xy\nset xlabel \"percentile\"\n"
	      "set ylabel \"latency\"\nset format y \"%.0s %cs\"\n"
	      "set key left top\n"
	      "set xtics (\"0\" 1, \"50 %%\" 2, \"90 %%\" 10, \"99 %%\" 100, "
	      "\"99.9 %%\" 1000, \"99.99 %%\" 10000, \"99.999 %%\" 100000, "
	      "\"99.9999 %%\" 1000000)\n",
	      out);
	for (uint32_t i = 0; i < result->all_series; i++) {
		sb_series_hist(&result->series[i], (enum sb_hist_id)id, hist);
		fprintf(out, "$s%" PRIu32 " << EOD\n", i);
		put_percentiles(out, hist);
		fputs("EOD\n", out);
	}
	fputs("draw = \"plot NaN notitle", out);
	for (uint32_t i = 0; i < result->all_series; i++) {
		sb_series_hist(&result->series[i], (enum sb_hist_id)id, hist);
		if (!hist->count)
			continue;
		any = true;
		fprintf(out,
			", $s%" PRIu32 " using 1:($2*1e-9) with steps lw 2 "
			"lc %" PRIu32 " dt %" PRIu32 " title '%s'",
			i, i + 1, i % 5 + 1, result->series[i].workload);
	}
	fputs("\"\n", out);
	free(hist);
	return any;
}

/* More labels on an axis than that, or more numbers in a row, run together. */
#define MATRIX_LABELS 16

static bool body_steals(FILE *out, const struct sb_result *all,
			const struct sb_series *series, int unused)
{
	const uint32_t n = series->placement.workers;
	const uint32_t tics = (n + MATRIX_LABELS - 1) / MATRIX_LABELS;
	bool any = false;

	(void)all;
	(void)unused;
	fputs("$m << EOD\n", out);
	for (uint32_t t = 0; t < n; t++) {
		for (uint32_t v = 0; v < n; v++) {
			const struct sb_steal_counts c =
				sb_series_steals(series, t, v);

			any |= c.attempts > 0;
			if (t == v)
				fputs("NaN ", out);
			else
				fprintf(out, "%" PRIu64 " ", c.items);
		}
		fputc('\n', out);
	}
	fputs("EOD\nset xlabel \"victim (worker)\"\n"
	      "set ylabel \"thief (worker)\"\n"
	      "set cblabel \"processes stolen\" offset 1\nset rmargin 16\n"
	      "set cbrange [0:*]\nset format cb \"%.15g\"\n"
	      "set palette defined (0 \"#ffffff\", 1 \"#6baed6\")\n"
	      "set tics scale 0\nunset key\nunset grid\n",
	      out);
	fprintf(out,
		"set xtics 0,%" PRIu32 "\nset ytics 0,%" PRIu32
		"\nset xrange [-0.5:%" PRIu32 ".5]\n"
		"set yrange [%" PRIu32 ".5:-0.5]\n",
		tics, tics, n - 1, n - 1);
	fprintf(out, "draw = \"plot $m matrix with image pixels%s%s\"\n",
		tics == 1 ? ", $m matrix using 1:2:($3 >= 0 ? sprintf('%.0f', "
			    "$3) : '') with labels"
			  : "",
		tics == 1 && n > MATRIX_LABELS / 2 ? " font ',9'" : "");
	return any;
}

static const struct {
	enum sb_hist_id id;
	const char *title;
} spin_ends[] = {
	{ SB_HIST_spins_inject, "found in the inject queue" },
	{ SB_HIST_spins_global, "found in the global queue" },
	{ SB_HIST_spins_steal, "found at another worker" },
	{ SB_HIST_spins_timer, "a timer was due" },
	{ SB_HIST_spins_blocked, "blocked" },
};

static bool body_spins(FILE *out, const struct sb_result *result,
		       const struct sb_series *series, int unused)
{
	struct sb_hist_counts *hist = calloc(1, sizeof(*hist));
	uint64_t total = 0;

	(void)result;
	(void)unused;
	if (!hist)
		return false;
	fputs("set xlabel \"spins of the idle episode\"\n"
	      "set ylabel \"episodes\"\nset logscale y\nset yrange [0.7:*]\n"
	      "set format y \"%.0s%c\"\nset xrange [-1:*]\n"
	      "set key right top\n",
	      out);
	for (size_t e = 0; e < SB_ARRAY_SIZE(spin_ends); e++) {
		sb_series_hist(series, spin_ends[e].id, hist);
		total += hist->count;
		fprintf(out, "$e%zu << EOD\n", e);
		for (uint32_t b = 0; b < SB_HIST_BUCKETS; b++) {
			if (hist->bucket[b])
				fprintf(out, "%" PRIu64 " %" PRIu64 "\n",
					sb_hist_bucket_low(b), hist->bucket[b]);
		}
		fputs("EOD\n", out);
	}
	fputs("draw = \"plot NaN notitle", out);
	for (size_t e = 0; e < SB_ARRAY_SIZE(spin_ends); e++) {
		sb_series_hist(series, spin_ends[e].id, hist);
		if (hist->count)
			fprintf(out,
				", $e%zu using ($1 + %.2f):2 with impulses lw "
				"4 lc %zu title '%s'",
				e, 0.2 * (double)e - 0.3, e + 1,
				spin_ends[e].title);
	}
	fputs("\"\n", out);
	free(hist);
	return total > 0;
}

/* The repetitions with that verdict, as a block of gnuplot's; how many. */
static uint32_t put_costs(FILE *out, const struct sb_result *result,
			  const char *block, enum sb_verdict verdict)
{
	uint32_t n = 0;

	fprintf(out, "%s << EOD\n", block);
	for (uint32_t i = 0; i < result->all_series; i++) {
		for (uint32_t r = 0; r < result->series[i].records; r++) {
			const struct sb_record *record =
				&result->series[i].record[r];

			if (record->verdict != verdict)
				continue;
			n++;
			fprintf(out, "%.3f %.9g\n", i + 0.03 * (r % 9 - 4.0),
				record->value[SB_METRIC_ns_per_op]);
		}
	}
	fputs("EOD\n", out);
	return n;
}

static bool body_cost(FILE *out, const struct sb_result *result,
		      const struct sb_series *unused, int unused_too)
{
	uint32_t valid;
	uint32_t suspect;

	(void)unused;
	(void)unused_too;
	fputs("set ylabel \"wall time per operation, ns\"\nset logscale y\n"
	      "set key right top\n",
	      out);
	valid = put_costs(out, result, "$r", SB_VALID);
	suspect = put_costs(out, result, "$q", SB_SUSPECT);
	fputs("$m << EOD\n", out);
	for (uint32_t i = 0; i < result->all_series; i++)
		fprintf(out, "%" PRIu32 " %.9g\n", i,
			sb_series_spread(&result->series[i],
					 SB_METRIC_ns_per_op)
				.median);
	fputs("EOD\nset xtics noenhanced (", out);
	for (uint32_t i = 0; i < result->all_series; i++) {
		fputs(i ? ", " : "", out);
		put_quoted(out, result->series[i].workload);
		fprintf(out, " %" PRIu32, i);
	}
	fprintf(out, ")\nset xrange [-0.5:%" PRIu32 ".5]\n",
		result->all_series - 1);
	fputs("draw = \"plot $m using ($1-0.3):2:(0.6):(0) with vectors nohead "
	      "lw 3 lc rgb 'black' title 'median'",
	      out);
	if (valid)
		fputs(", $r using 1:2 with points pt 6 ps 1 "
		      "lc rgb '#08519c' title 'repetition'",
		      out);
	if (suspect)
		fputs(", $q using 1:2 with points pt 8 ps 1 "
		      "lc rgb '#c0392b' title 'suspect repetition'",
		      out);
	fputs("\"\n", out);
	return valid + suspect > 0;
}

/* ---- all pictures ---- */

static const struct {
	const char *name;
	const char *title;
	plot_body body;
	int argument;
	bool for_each_series;
} plots[] = {
	{ "cost", "Cost per operation", body_cost, 0, false },
	{ "latency-ready-to-running", "Time in queues, Ready to Running",
	  body_latency, SB_HIST_ready_to_running, false },
	{ "latency-send-to-step", "From send to the step that gets the message",
	  body_latency, SB_HIST_send_to_step, false },
	{ "steals", "Processes stolen, by thief and victim", body_steals, 0,
	  true },
	{ "spins", "Spins per idle episode", body_spins, 0, true },
};

static void put_preamble(FILE *out, const struct sb_result *result,
			 const char *title, const struct sb_series *series)
{
	fputs("set encoding utf8\nset grid lt 1 lw 1 lc rgb \"#cccccc\"\n"
	      "set border lw 1\nset bmargin 5\nset rmargin 6\n",
	      out);
	put_title(out, result, title, series);
	put_caption(out, result);
}

static void put_output(FILE *out, const char *name)
{
	fprintf(out, "set terminal svg size 720,440 dynamic font "
		     "\"sans-serif,12\" background \"white\" name \"");
	/* Identifiers in one page must differ. */
	for (const char *c = name; *c; c++)
		fputc(*c == '-' ? '_' : *c, out);
	fprintf(out, "\"\nset output \"%s.svg\"\neval draw\n", name);
	fprintf(out,
		"set terminal pngcairo size 1080,660 font \"sans-serif,14\"\n"
		"set output \"%s.png\"\neval draw\nunset output\n",
		name);
}

/* The script's text, for the caller to free; NULL with nothing to show. */
static char *make_script(const struct sb_result *result, const char *name,
			 size_t which, const struct sb_series *series)
{
	char *script = NULL;
	size_t bytes;
	FILE *out = open_memstream(&script, &bytes);
	bool any;

	if (!out)
		return NULL;
	put_preamble(out, result, plots[which].title, series);
	any = plots[which].body(out, result, series, plots[which].argument);
	put_output(out, name);
	fclose(out);
	if (any)
		return script;
	free(script);
	return NULL;
}

static int make_plot(const struct sb_result *result, char *directory,
		     size_t which, const struct sb_series *series)
{
	struct sb_file file;
	char name[120];
	char file_name[128];
	char *script;
	int rc;

	snprintf(name, sizeof(name), "%s%s%s", plots[which].name,
		 series ? "-" : "", series ? series->workload : "");
	snprintf(file_name, sizeof(file_name), "%s.gp", name);
	script = make_script(result, name, which, series);
	if (!script)
		return 0;
	rc = sb_file_begin(&file, directory, file_name);
	if (!rc) {
		fputs(script, file.stream);
		rc = sb_file_commit(&file);
	}
	free(script);
	return rc ? rc : run_gnuplot(directory, file_name);
}

static int make_plots(const struct sb_result *result, char *directory)
{
	int rc = 0;

	for (size_t i = 0; i < SB_ARRAY_SIZE(plots) && !rc; i++) {
		const uint32_t n =
			plots[i].for_each_series ? result->all_series : 1;

		for (uint32_t s = 0; s < n && !rc; s++)
			rc = make_plot(result, directory, i,
				       plots[i].for_each_series
					       ? &result->series[s]
					       : NULL);
	}
	return rc;
}

/* What gnuplot says of a script that it does not take. */
static void keep_log(const struct sb_stage *stage)
{
	char *from = sb_path_join(stage->path, "gnuplot.log");
	char *to = sb_path_join(stage->directory, "gnuplot.log");

	if (from && to)
		(void)rename(from, to);
	free(from);
	free(to);
}

int sb_write_plots(const struct sb_result *result)
{
	char *directory = sb_path_join(result->directory, "plots");
	struct sb_stage stage;
	int rc = directory ? sb_stage_begin(&stage, directory) : -ENOMEM;

	if (!rc) {
		rc = make_plots(result, stage.path);
		if (rc) {
			keep_log(&stage);
			sb_stage_abandon(&stage);
		} else {
			rc = sb_stage_commit(&stage);
		}
	}
	free(directory);
	return rc;
}
