/*
 * write.h - the writers: each turns a result into one kind of output. All take
 * names and units from the tables behind record.h.
 */
#ifndef SB_RESULTS_WRITE_H
#define SB_RESULTS_WRITE_H

#include <stdio.h>

#include "results/record.h"

/* Version of the layout of all files of a result directory. */
#define SB_RESULT_SCHEMA 1

/*
 * runs.csv, series.csv, workers.csv, yields.csv, steals.csv, spins.csv, latency.csv and
 * memory.csv, into the result's directory. RFC 4180 with line feeds; an empty cell is something that
 * was not measured. Returns 0 or -errno; *failed is then the file's name.
 */
int sb_write_csv_files(const struct sb_result *result, const char **failed);

/* runs.csv alone, to a stream. */
void sb_write_runs_csv(const struct sb_result *result, FILE *out);

/* One JSON document in Google Benchmark's schema, with a sched_bench object.
 * Returns 0 or -ENOMEM. */
int sb_write_json(const struct sb_result *result, FILE *out);

/* latency.hlog: all latencies, for HdrHistogram's tools. Returns 0 or -ENOMEM. */
int sb_write_hlog(const struct sb_result *result, FILE *out);

/* meta.json: everything known about the run but its numbers. */
int sb_write_meta(const struct sb_result *result, FILE *out);

/*
 * trace.json: the traced rounds of all series, in the Trace Event Format, which
 * Perfetto and speedscope open. Returns 0, -ENOMEM, or -ENODATA: there are none.
 */
int sb_write_trace(const struct sb_result *result, FILE *out);

/*
 * The summary a person reads in the terminal. color: with ANSI colours. columns:
 * of the terminal, at least 40; tables that are wider go on below, as do lines;
 * 0: there is no end to a line.
 */
void sb_write_summary(const struct sb_result *result, FILE *out, bool color,
		      int columns);

/*
 * The pictures that apply, as SVG and PNG, in directory/plots, with gnuplot.
 * Returns 0 or -errno, with the reason in why (of SB_PLOT_WHY_BYTES).
 */
#define SB_PLOT_WHY_BYTES 400
int sb_write_plots(const struct sb_result *result, char *why);

/*
 * The report on one result or several side by side: one self-contained page with
 * the pictures of their directories. Returns 0 or -ENOMEM.
 */
int sb_write_html(const struct sb_result *result, uint32_t results, FILE *out);

/*
 * The same as Markdown for a comment on GitHub, at most SB_MARKDOWN_BYTES of it;
 * it says what it leaves out. home: the directory from which links to pictures
 * go. Returns 0 or -ENOMEM.
 */
#define SB_MARKDOWN_BYTES 65536
int sb_write_markdown(const struct sb_result *result, uint32_t results,
		      const char *home, FILE *out);

/* report.html in the result's own directory. Returns 0 or -errno. */
int sb_write_report(const struct sb_result *result);

/*
 * A number with its unit for people: three significant digits, SI prefixes
 * for times and counts. out has room for SB_HUMAN_BYTES. "-" for NaN.
 */
#define SB_HUMAN_BYTES 32
void sb_human(char *out, double value, const char *unit);

/* A number for programs: with as many digits as it takes to have the very same
 * one back, an integer whole. out has room for SB_EXACT_BYTES. */
#define SB_EXACT_BYTES 32
void sb_exact(char *out, double value);

#endif
