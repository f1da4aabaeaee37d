#include "results/convert/convert.h"

#include <string.h>

#include "results/ledger/files.h"
#include "results/record/record.h"

const struct sb_converter sb_converters[] = {
	{ "gbench", "Google Benchmark's JSON with its aggregates, for compare.py", "gbench.json",
	  sb_convert_gbench, NULL, NULL },
	{ "csv", "the CSV files, into a directory", NULL, NULL, NULL, sb_write_tables },
	{ "hdr", "HdrHistogram's interval log 1.3, of all latencies", "latency.hlog", sb_write_hlog,
	  NULL, NULL },
	{ "chrome-trace", "the trace of a traced run, for Perfetto, speedscope", "trace.json",
	  sb_convert_trace, "trace; expected one of a run with --trace", NULL },
	{ "benchstat", "Go's benchmark format, for benchstat", "benchstat.txt",
	  sb_convert_benchstat, NULL, NULL },
	{ "gh-action", "github-action-benchmark's customSmallerIsBetter", "gh-action.json",
	  sb_convert_smaller, NULL, NULL },
	{ "gh-action-bigger", "the same action's customBiggerIsBetter", "gh-action-bigger.json",
	  sb_convert_bigger, NULL, NULL },
	{ "openmetrics", "OpenMetrics 1.0 text, for Prometheus and its like", "openmetrics.txt",
	  sb_convert_openmetrics, NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL, NULL },
};

const struct sb_converter *sb_converter_find(const char *name)
{
	for (const struct sb_converter *c = sb_converters; c->name; c++) {
		if (!strcmp(c->name, name))
			return c;
	}
	return NULL;
}
