#include "results/page/page.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/record/number.h"
#include "results/record/record.h"
#include "results/record/series.h"

/* ---- rows and columns ---- */

static uint32_t count_series(const struct sb_result *result, uint32_t results)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < results; i++)
		n += result[i].all_series;
	return n;
}

static bool knows(const struct sb_page *page, const char *setting)
{
	for (uint32_t i = 0; i < page->swepts; i++) {
		if (!strcmp(page->swept[i], setting))
			return true;
	}
	return false;
}

static int find_swept(struct sb_page *page, const struct sb_series *series)
{
	for (uint32_t i = 0; i < series->settings; i++) {
		const char *name = series->setting[i].name;
		const char **more;

		if (!series->setting[i].swept || knows(page, name))
			continue;
		more = reallocarray(page->swept, page->swepts + 1, sizeof(*more));
		if (!more)
			return -ENOMEM;
		page->swept = more;
		page->swept[page->swepts++] = name;
	}
	return 0;
}

static bool same_text(const struct sb_setting *a, const struct sb_setting *b)
{
	return !strcmp(a ? a->text : "", b ? b->text : "");
}

/* Whether nothing but the label would tell two rows apart. */
static bool look_alike(const struct sb_page *page, const struct sb_page_row *a,
		       const struct sb_page_row *b)
{
	if (strcmp(a->series->workload, b->series->workload) != 0)
		return false;
	for (uint32_t i = 0; i < page->swepts; i++) {
		if (!same_text(sb_series_setting(a->series, page->swept[i]),
			       sb_series_setting(b->series, page->swept[i])))
			return false;
	}
	return true;
}

static int name_row(const struct sb_page *page, struct sb_page_row *row)
{
	bool alone = true;

	for (uint32_t i = 0; i < page->rows && alone; i++)
		alone = &page->row[i] == row || page->row[i].result != row->result ||
			!look_alike(page, row, &page->row[i]);
	if (asprintf(&row->name, "%s%s%s", row->series->workload, alone ? "" : " ",
		     alone ? "" : row->series->label) < 0) {
		row->name = NULL;
		return -ENOMEM;
	}
	return 0;
}

static void move_row(struct sb_page *page, uint32_t from, uint32_t to)
{
	const struct sb_page_row row = page->row[from];

	memmove(&page->row[to + 1], &page->row[to], (from - to) * sizeof(*page->row));
	page->row[to] = row;
}

/* Series that differ in the result alone stand side by side. */
static void gather_rows(struct sb_page *page)
{
	for (uint32_t i = 0; i < page->rows; i++) {
		uint32_t next = i + 1;

		for (uint32_t j = next; j < page->rows; j++) {
			if (page->row[j].result != page->row[i].result &&
			    look_alike(page, &page->row[i], &page->row[j]))
				move_row(page, j, next++);
		}
	}
}

static void find_measured(struct sb_page *page)
{
	for (enum sb_metric_id m = 0; m < sb_metrics(); m++) {
		for (uint32_t i = 0; i < page->rows && !page->has[m]; i++)
			page->has[m] =
				sb_series_spread(page->row[i].series, (enum sb_metric_id)m).n > 0;
	}
}

/* ---- the columns of the first table ---- */

/* Behind the time of an operation, which is there in any case, and what workloads are ranked by. */
static const enum sb_metric_id usual[] = {
	SB_METRIC_ops_per_s,
	SB_METRIC_cpu_ns_per_op,
	SB_METRIC_achieved_per_s,
	SB_METRIC_sojourn_ns_p50,
	SB_METRIC_sojourn_ns_p99,
	SB_METRIC_ready_to_running_ns_p50,
	SB_METRIC_ready_to_running_ns_p99,
	SB_METRIC_send_to_step_ns_p99,
	SB_METRIC_wake_ns_p99,
	SB_METRIC_bytes_per_process,
};

static void add_headline(struct sb_page *page, enum sb_metric_id metric)
{
	for (uint32_t i = 0; i < page->headlines; i++) {
		if (page->headline[i] == metric)
			return;
	}
	if (page->headlines < SB_PAGE_HEADLINES_MAX)
		page->headline[page->headlines++] = metric;
}

static void add_objectives(struct sb_page *page, const struct sb_page_row *row)
{
	const char *text = sb_result_fact(row->result, "objectives", row->series->workload);
	enum sb_metric_id metric[SB_OBJECTIVES_MAX];
	const uint32_t n = sb_metric_list(text, metric, SB_OBJECTIVES_MAX);

	for (uint32_t i = 0; i < n; i++) {
		if (metric[i] < SB_METRICS && page->has[metric[i]])
			add_headline(page, metric[i]);
	}
}

static void choose_headlines(struct sb_page *page)
{
	add_headline(page, SB_METRIC_ns_per_op);
	for (uint32_t i = 0; i < page->rows; i++)
		add_objectives(page, &page->row[i]);
	for (size_t i = 0; i < SB_ARRAY_SIZE(usual); i++) {
		if (page->has[usual[i]])
			add_headline(page, usual[i]);
	}
}

/* ---- the page ---- */

static int add_rows(struct sb_page *page)
{
	int rc = 0;

	for (uint32_t i = 0; i < page->results; i++) {
		const struct sb_result *result = &page->result[i];

		for (uint32_t s = 0; s < result->all_series && !rc; s++) {
			page->row[page->rows++] =
				(struct sb_page_row){ .result = result,
						      .series = &result->series[s] };
			rc = find_swept(page, &result->series[s]);
		}
	}
	for (uint32_t i = 0; i < page->rows && !rc; i++)
		rc = name_row(page, &page->row[i]);
	if (page->results > 1)
		gather_rows(page);
	find_measured(page);
	choose_headlines(page);
	return rc;
}

int sb_page_init(struct sb_page *page, const struct sb_result *result, uint32_t results)
{
	struct sb_page made = { .result = result, .results = results };
	int rc = -ENOMEM;

	made.row = calloc(count_series(result, results) + 1, sizeof(*made.row));
	made.has = calloc(SB_METRICS, sizeof(*made.has));
	if (made.row && made.has)
		rc = add_rows(&made);
	if (!rc && results == 2)
		rc = sb_page_compare(&made);
	rc = rc ? rc : sb_fleet_make(&made.fleet, result, results);
	if (rc)
		sb_page_fini(&made);
	*page = made;
	return rc;
}

void sb_page_fini(struct sb_page *page)
{
	for (uint32_t i = 0; i < page->rows; i++)
		free(page->row[i].name);
	free(page->row);
	free(page->swept);
	free(page->has);
	sb_result_free(&page->difference);
	sb_fleet_free(&page->fleet);
	*page = (struct sb_page){ .results = 0 };
}

/* ---- verdicts ---- */

uint32_t sb_page_count(const struct sb_page *page, enum sb_verdict verdict)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < page->rows; i++) {
		const struct sb_series *series = page->row[i].series;

		n += verdict == SB_VERDICTS ? series->records : sb_series_count(series, verdict);
	}
	return n;
}

const char *sb_page_verdict_doc(enum sb_verdict verdict)
{
	static const char *const docs[] = {
		[SB_VALID] = "no rule found fault with it; its numbers count",
		[SB_SUSPECT] = ("a rule found fault, which is named; its numbers count in medians "
				"and pictures, and should be doubted"),
		[SB_ONLY_EMULATED] = ("it was placed on a profile: its counts show whom the policy "
				      "steals from, its times are not those of that machine"),
		[SB_INVALID] = ("its numbers would mislead, so it has none; it is in no median, "
				"picture or comparison"),
	};

	return docs[verdict];
}

/* ---- texts ---- */

const char *sb_page_result_name(const struct sb_result *result)
{
	const char *slash = result->directory ? strrchr(result->directory, '/') : NULL;

	if (!result->directory)
		return "";
	return slash && slash[1] ? slash + 1 : result->directory;
}

/* ": 2 cores"; nothing for what is not known. */
static void put_count(FILE *out, const struct sb_result *result, const char *group, const char *key,
		      const char *what)
{
	const char *count = sb_result_fact(result, group, key);

	if (*count)
		fprintf(out, ", %s %s%s", count, what, strcmp(count, "1") ? "s" : "");
}

char *sb_page_machine(const struct sb_result *result)
{
	const bool is_virtual = !strcmp(sb_result_topology(result), "virtual");
	const char *group = is_virtual ? "profile" : "machine";
	const char *name = sb_result_fact(result, group, is_virtual ? "name" : "cpu_model");
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	fprintf(out, "%s%s", is_virtual ? "modelled machine " : "",
		*name ? name : "unknown machine");
	put_count(out, result, group, "packages", "package");
	put_count(out, result, group, "nodes", "NUMA node");
	put_count(out, result, group, "cores", "core");
	put_count(out, result, group, "pus", "processing unit");
	put_count(out, result, "run", "workers", "worker");
	fclose(out);
	return text;
}

#define WORKLOADS_NAMED 6

static bool named_before(const struct sb_page *page, uint32_t row)
{
	for (uint32_t i = 0; i < row; i++) {
		if (!strcmp(page->row[i].series->workload, page->row[row].series->workload))
			return true;
	}
	return false;
}

char *sb_page_workloads(const struct sb_page *page)
{
	uint32_t workloads = 0;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	for (uint32_t i = 0; i < page->rows; i++) {
		if (named_before(page, i))
			continue;
		if (workloads++ < WORKLOADS_NAMED)
			fprintf(out, "%s%s", workloads > 1 ? ", " : "",
				page->row[i].series->workload);
	}
	if (workloads > WORKLOADS_NAMED)
		fprintf(out, " and %" PRIu32 " more", workloads - WORKLOADS_NAMED);
	fclose(out);
	return text;
}

/* How a unit is written behind a number; times are in nanoseconds then. */
static const struct {
	const char *unit;
	const char *suffix;
	double ns;
} units[] = {
	{ "ns", "", 1 },    { "ms", "", 1e6 },	{ "s", "", 1e9 },
	{ "count", "", 0 }, { "1/s", "/s", 0 }, { "bytes", "B", 0 },
};

/* "6.07 M/s", but "12 B" and "3 spins". */
void sb_page_number(char *out, double value, const char *unit)
{
	char digits[SB_HUMAN_BYTES];

	for (size_t i = 0; i < SB_ARRAY_SIZE(units); i++) {
		if (strcmp(unit, units[i].unit))
			continue;
		sb_human(digits, units[i].ns > 0 ? value * units[i].ns : value,
			 units[i].ns > 0 ? "ns" : "count");
		snprintf(out, SB_PAGE_NUMBER_BYTES, "%s%s%s", digits,
			 *units[i].suffix == 'B' && !strchr(digits, ' ') ? " " : "",
			 isnan(value) ? "" : units[i].suffix);
		return;
	}
	sb_human(digits, value, "count");
	snprintf(out, SB_PAGE_NUMBER_BYTES, "%s%s%s", digits, isnan(value) ? "" : " ",
		 isnan(value) ? "" : unit);
}

void sb_page_range(char *out, const struct sb_spread *spread, const char *unit)
{
	char low[SB_PAGE_NUMBER_BYTES];
	char high[SB_PAGE_NUMBER_BYTES];

	sb_page_number(low, spread->min, unit);
	sb_page_number(high, spread->max, unit);
	snprintf(out, SB_PAGE_RANGE_BYTES, "%s .. %s", low, high);
}
