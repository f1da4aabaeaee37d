#include "harness/plugin/description.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/plugin/description_parts.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "results/record/metric.h"
#include "workloads/load/load.h"
#include "workloads/load/quantity.h"

#define WORKLOAD "workload" /* the section of that name is no kind */

#define STATE_BYTES_LEAST 64
#define STATE_BYTES_MOST  (UINT64_C(1) << 30)
#define PROCESSES_MOST	  (1 << 20)

int sb_description_fail(const struct sb_describing *d, uint32_t line, uint32_t column,
			const char *format, ...)
{
	char why[SB_WHY_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	return sb_fail(SB_EXIT_USAGE, "%s:%u:%u: %s", d->file, line, column, why);
}

static int fail_value(const struct sb_describing *d, const struct sb_ini_entry *entry,
		      const char *expected)
{
	return sb_description_fail(d, entry->line, entry->value_column,
				   "%s: '%s' is not valid; expected %s", entry->name, entry->value,
				   expected);
}

/* A copy of the value. */
static int keep(char **to, const struct sb_ini_entry *entry)
{
	*to = strdup(entry->value);
	return *to ? 0 : sb_fail_memory();
}

/* ---- [workload] ---- */

static int take_rate(struct sb_describing *d, const struct sb_ini_entry *entry)
{
	double per_s;

	if (!sb_quantity_rate(entry->value, &per_s) || per_s <= 0)
		return fail_value(d, entry, "a rate above 0 with its unit, /s, k/s or M/s (20k/s)");
	return keep(&d->made->rate, entry);
}

static int take_arrival(struct sb_describing *d, const struct sb_ini_entry *entry)
{
	struct sb_load load = { .kind = SB_LOAD_OPEN };
	char why[SB_WHY_BYTES];

	if (sb_load_set_arrival(&load, entry->value, why))
		return sb_description_fail(d, entry->line, entry->value_column, "arrival: %s", why);
	sb_load_fini(&load);
	return keep(&d->made->arrival, entry);
}

static int take_doc(struct sb_describing *d, const struct sb_ini_entry *entry)
{
	return keep(&d->made->doc, entry);
}

/* ---- a kind ---- */

static int take_processes(struct sb_describing *d, const struct sb_ini_entry *entry)
{
	struct sb_param *param = &d->made->params[d->kind];
	uint64_t n;

	if (!sb_parse_count(entry->value, &n) || !n || n > PROCESSES_MOST)
		return fail_value(d, entry, "a count from 1 to 1048576");
	param->initial = n;
	return 0;
}

static int take_state(struct sb_describing *d, const struct sb_ini_entry *entry)
{
	struct sb_kind *kind = &d->made->kind[d->kind];

	if (!sb_quantity_bytes(entry->value, &kind->state_bytes) ||
	    kind->state_bytes < STATE_BYTES_LEAST || kind->state_bytes > STATE_BYTES_MOST)
		return fail_value(d, entry, "a size with its unit (64KiB) from 64B to 1GiB");
	return 0;
}

/* ---- entries, by their names ---- */

struct entry_kind {
	const char *name;
	int (*take)(struct sb_describing *d, const struct sb_ini_entry *entry);
};

static const struct entry_kind of_workload[] = {
	{ "doc", take_doc },
	{ "rate", take_rate },
	{ "arrival", take_arrival },
	{ NULL, NULL },
};

static const struct entry_kind of_kind[] = {
	{ "processes", take_processes },      { "state", take_state },
	{ "work", sb_description_take_work }, { "call", sb_description_take_call },
	{ "send", sb_description_take_send }, { NULL, NULL },
};

static int unknown_entry(const struct sb_describing *d, const struct entry_kind *kinds,
			 const struct sb_ini_entry *entry)
{
	char names[80];
	size_t used = 0;

	for (const struct entry_kind *k = kinds; k->name && used < sizeof(names); k++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
					 k == kinds  ? ""
					 : k[1].name ? ", "
						     : " or ",
					 k->name);
	return sb_description_fail(d, entry->line, entry->name_column,
				   "unknown entry '%s'; expected %s", entry->name, names);
}

static int take_entry(struct sb_describing *d, const struct entry_kind *kinds,
		      const struct sb_ini_entry *entry)
{
	const struct entry_kind *k = kinds;

	while (k->name && strcmp(k->name, entry->name) != 0)
		k++;
	if (!k->name)
		return unknown_entry(d, kinds, entry);
	if (!entry->value || !*entry->value)
		return sb_description_fail(d, entry->line, entry->name_column,
					   "%s has no value; expected %s=...", entry->name,
					   entry->name);
	return k->take(d, entry);
}

static int take_entries(struct sb_describing *d, const struct entry_kind *kinds,
			const struct sb_ini_section *section)
{
	int rc = 0;

	for (uint32_t i = 0; i < section->entries && !rc; i++)
		rc = take_entry(d, kinds, &section->entry[i]);
	return rc;
}

/* ---- sections ---- */

static bool is_name(const char *text)
{
	return *text >= 'a' && *text <= 'z' && strlen(text) <= 24 &&
	       !text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-")];
}

static int add_kind(struct sb_describing *d, const struct sb_ini_section *section)
{
	struct sb_description *made = d->made;

	if (!is_name(section->name))
		return sb_description_fail(
			d, section->line, section->column,
			"'%s' is no name of a kind; expected up to 24 of a to z, "
			"0 to 9 and '-', a letter first",
			section->name);
	if (made->kinds == SB_KINDS_MAX)
		return sb_description_fail(d, section->line, section->column,
					   "one kind too many; expected at most %d", SB_KINDS_MAX);
	made->kind[made->kinds].name = strdup(section->name);
	d->section[made->kinds] = section;
	return made->kind[made->kinds++].name ? 0 : sb_fail_memory();
}

static int add_sections(struct sb_describing *d)
{
	const struct sb_ini_section *workload = sb_ini_find(&d->ini, WORKLOAD);
	int rc = 0;

	if (!workload)
		return sb_description_fail(d, 1, 1,
					   "it describes no workload; expected a section "
					   "[" WORKLOAD "], and one for each kind of processes; "
					   "a job file goes without -w");
	for (uint32_t i = 0; i < d->ini.sections && !rc; i++) {
		if (strcmp(d->ini.section[i].name, WORKLOAD) != 0)
			rc = add_kind(d, &d->ini.section[i]);
	}
	if (rc)
		return rc;
	if (!d->made->kinds)
		return sb_description_fail(d, workload->line, workload->column,
					   "there are no processes; expected a section for each "
					   "kind of them");
	rc = take_entries(d, of_workload, workload);
	if (!rc && !d->made->doc)
		rc = sb_description_fail(d, workload->line, workload->column,
					 "[" WORKLOAD "] lacks doc; expected one sentence");
	return rc;
}

/* ---- what the workload is to the harness ---- */

static char *SB_PRINTF(1, 2) format(const char *form, ...)
{
	va_list args;
	char *text = NULL;

	va_start(args, form);
	if (vasprintf(&text, form, args) < 0)
		text = NULL;
	va_end(args);
	return text;
}

static char *metric_name(const char *kind, const char *ending)
{
	char *name = format("%s%s", kind, ending);

	for (char *at = name; at && *at; at++) {
		if (*at == '-')
			*at = '_';
	}
	return name;
}

static int add_metrics(struct sb_describing *d, uint32_t kind)
{
	static const struct {
		const char *ending, *unit, *better, *doc;
	} each[SB_KIND_METRICS] = {
		[SB_KIND_PER_OP] = { "_per_op", "count", "", "per operation, how many" },
		[SB_KIND_NS_P50] = { "_ns_p50", "ns", "lower",
				     "until they are done, waiting included, median" },
		[SB_KIND_NS_P99] = { "_ns_p99", "ns", "lower",
				     "until they are done, waiting included, 99th percentile" },
	};
	const char *name = d->made->kind[kind].name;

	for (int i = 0; i < SB_KIND_METRICS; i++) {
		struct sb_workload_metric *metric =
			&d->made->metrics[SB_KIND_METRICS * kind + (uint32_t)i];

		*metric = (struct sb_workload_metric){
			metric_name(name, each[i].ending), each[i].unit, each[i].better,
			format("requests to %s: %s", name, each[i].doc)
		};
		if (!metric->name || !metric->doc)
			return sb_fail_memory();
		if (sb_metric_find(metric->name) < SB_METRICS_BUILT_IN)
			return sb_description_fail(d, d->section[kind]->line,
						   d->section[kind]->column,
						   "its metric would be %s, which all workloads "
						   "have; expected another name",
						   metric->name);
	}
	return 0;
}

static int finish_kind(struct sb_describing *d, uint32_t kind)
{
	struct sb_param *param = &d->made->params[kind];

	param->name = d->made->kind[kind].name;
	param->initial = param->initial ? param->initial : 1;
	param->min = d->least[kind] ? d->least[kind] : 1;
	param->max = PROCESSES_MOST;
	param->doc = format("processes of the kind %s", param->name);
	if (!param->doc)
		return sb_fail_memory();
	if (kind && !d->is_called[kind])
		return sb_description_fail(d, d->section[kind]->line, d->section[kind]->column,
					   "nobody calls [%s]; expected a call or send above it",
					   param->name);
	if (param->initial < param->min)
		return sb_description_fail(d, d->section[kind]->line, d->section[kind]->column,
					   "[%s] has %u processes, and %u are called at once; "
					   "expected as many",
					   param->name, (unsigned)param->initial,
					   (unsigned)param->min);
	return add_metrics(d, kind);
}

static int describe(struct sb_describing *d)
{
	int rc = add_sections(d);

	for (d->kind = 0; d->kind < d->made->kinds && !rc; d->kind++) {
		SB_CHECK((uintptr_t)d->section[d->kind], !=, 0);
		rc = take_entries(d, of_kind, d->section[d->kind]);
	}
	for (uint32_t k = 0; k < d->made->kinds && !rc; k++)
		rc = finish_kind(d, k);
	return rc;
}

/* ---- the file ---- */

/* "web-tier" of "./web-tier.ini". */
static char *name_of(const char *file)
{
	const char *slash = strrchr(file, '/');
	char *name = strdup(slash ? slash + 1 : file);
	char *dot = name ? strrchr(name, '.') : NULL;

	if (dot)
		*dot = '\0';
	return name;
}

/* A section may have several of each. */
static const char *const actions[] = { "work", "call", "send", NULL };

bool sb_description_is(const char *file)
{
	const struct sb_ini_section *workload;
	struct sb_ini_error error;
	struct sb_ini ini;
	struct stat info;
	bool is_it = false;

	if (stat(file, &info) || !S_ISREG(info.st_mode) || sb_ini_read(&ini, file, actions, &error))
		return false;
	workload = sb_ini_find(&ini, WORKLOAD);
	for (uint32_t i = 0; workload && i < workload->entries; i++)
		is_it |= !strcmp(workload->entry[i].name, "doc");
	sb_ini_free(&ini);
	return is_it;
}

static int read_file(struct sb_describing *d, const char *where)
{
	struct sb_ini_error error;
	const int rc = sb_ini_read(&d->ini, d->file, actions, &error);

	if (rc == -EINVAL)
		return sb_description_fail(d, error.line, error.column, "%s", error.why);
	if (rc)
		return sb_fail(SB_EXIT_USAGE, "%s%s%s: %s", where ? where : "", where ? ": " : "",
			       d->file, strerror(-rc));
	return 0;
}

int sb_description_read(const char *file, const char *where, struct sb_description **out)
{
	struct sb_describing d = { .file = file, .made = calloc(1, sizeof(struct sb_description)) };
	int rc;

	if (!d.made)
		return sb_fail_memory();
	d.made->name = name_of(file);
	d.made->file = strdup(file);
	rc = d.made->name && d.made->file ? read_file(&d, where) : sb_fail_memory();
	if (!rc) {
		rc = describe(&d);
		sb_ini_free(&d.ini);
	}
	if (rc)
		sb_description_free(d.made);
	else
		*out = d.made;
	return rc;
}

static void free_kind(struct sb_description *d, uint32_t kind)
{
	struct sb_kind *it = &d->kind[kind];

	for (uint32_t i = 0; i < it->actions; i++)
		sb_distribution_fini(&it->action[i].work);
	for (uint32_t m = SB_KIND_METRICS * kind; m < SB_KIND_METRICS * (kind + 1); m++) {
		free((char *)(uintptr_t)d->metrics[m].name);
		free((char *)(uintptr_t)d->metrics[m].doc);
	}
	free((char *)(uintptr_t)d->params[kind].doc);
	free(it->name);
}

void sb_description_free(struct sb_description *d)
{
	for (uint32_t k = 0; k < d->kinds; k++)
		free_kind(d, k);
	free(d->name);
	free(d->doc);
	free(d->file);
	free(d->rate);
	free(d->arrival);
	free(d);
}
