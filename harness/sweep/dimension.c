/* dimension.c - what a sweep goes through, from its text. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/reading.h"
#include "harness/sweep/sweep.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "workloads/load/quantity.h"

/* ---- numbers with units ---- */

static bool parse_count(const char *text, double *out)
{
	uint64_t count;

	if (!sb_parse_count(text, &count))
		return false;
	*out = (double)count;
	return true;
}

static bool parse_size(const char *text, double *out)
{
	uint64_t bytes;

	if (!sb_quantity_bytes(text, &bytes))
		return false;
	*out = (double)bytes;
	return true;
}

static bool parse_percent(const char *text, double *out)
{
	if (!sb_quantity_percent(text, out))
		return false;
	*out *= 100;
	return true;
}

#define NUMBER_BYTES 64

static void put_count(char *out, double value)
{
	snprintf(out, NUMBER_BYTES, "%.0f", value);
}

static void put_time(char *out, double value)
{
	sb_format_time(out, (uint64_t)llround(value));
}

static void put_size(char *out, double value)
{
	sb_format_size(out, (uint64_t)llround(value));
}

static void put_rate(char *out, double value)
{
	snprintf(out, NUMBER_BYTES, value >= 1000 ? "%.9gk/s" : "%.9g/s",
		 value >= 1000 ? value / 1000 : value);
}

static void put_percent(char *out, double value)
{
	snprintf(out, NUMBER_BYTES, "%.9g%%", value);
}

static const struct kind {
	bool (*parse)(const char *text, double *out);
	void (*put)(char *out, double value);
	bool steps_by_one; /* without a step */
} kinds[] = {
	{ parse_count, put_count, true },      { sb_quantity_time, put_time, false },
	{ sb_quantity_rate, put_rate, false }, { parse_size, put_size, false },
	{ parse_percent, put_percent, false },
};

double sb_sweep_number(const char *value)
{
	double number;

	for (size_t i = 0; i < SB_ARRAY_SIZE(kinds); i++) {
		if (kinds[i].parse(value, &number))
			return number;
	}
	return NAN;
}

/* ---- one dimension ---- */

static int add_value(struct sb_dimension *d, const char *text)
{
	char **value = reallocarray(d->value, d->values + 1, sizeof(*value));

	if (!value)
		return sb_fail_memory();
	d->value = value;
	for (uint32_t i = 0; i < d->values; i++) {
		if (!strcmp(value[i], text))
			return sb_fail(SB_EXIT_USAGE,
				       "sweep: %s has the value '%s' twice; expected each once",
				       d->name, text);
	}
	if (d->values == SB_SWEEP_VALUES_MAX)
		return sb_fail(
			SB_EXIT_USAGE,
			"sweep: %s has more than %d values; expected fewer, or a larger step",
			d->name, SB_SWEEP_VALUES_MAX);
	value[d->values] = strdup(text);
	if (!value[d->values])
		return sb_fail_memory();
	d->values++;
	return 0;
}

static int parse_list(struct sb_dimension *d, const char *text)
{
	char *words = strdup(text);
	char *rest = words;
	char *word;
	int rc = words ? 0 : sb_fail_memory();

	while (!rc && (word = strsep(&rest, ","))) {
		if (!*word)
			rc = sb_fail(SB_EXIT_USAGE,
				     "-L %s=%s: a value is empty; expected NAME=A,B,...", d->name,
				     text);
		else if (*word >= '0' && *word <= '9' && strstr(word, ".."))
			rc = sb_fail(SB_EXIT_USAGE,
				     "-L %s=%s: expected NAME=A,B,...; -P has ranges", d->name,
				     text);
		else
			rc = add_value(d, word);
	}
	free(words);
	return rc;
}

/* "LO..HI[:STEP|:log2]" in its parts, which lie in copy. */
struct range {
	char *low, *high, *step; /* step NULL: none */
	const struct kind *kind;
	double from, to, by;
	bool doubles;
};

static int bad_range(const struct sb_dimension *d, const char *text, const char *what)
{
	return sb_fail(SB_EXIT_USAGE, "-P %s=%s: %s", d->name, text, what);
}

static bool cut_range(struct range *range, char *copy)
{
	char *dots = strstr(copy, "..");

	if (!dots)
		return false;
	*dots = '\0';
	range->low = copy;
	range->high = dots + 2;
	range->step = strchr(range->high, ':');
	if (range->step)
		*range->step++ = '\0';
	return true;
}

static const char *read_range(struct range *range, char *copy)
{
	if (!cut_range(range, copy))
		return "expected LO..HI, LO..HI:STEP or LO..HI:log2; -L has values with commas";
	for (size_t i = 0; i < SB_ARRAY_SIZE(kinds) && !range->kind; i++) {
		if (kinds[i].parse(range->low, &range->from) &&
		    kinds[i].parse(range->high, &range->to))
			range->kind = &kinds[i];
	}
	if (!range->kind)
		return "both ends must be numbers with the same kind of unit (0..64, 10us..1ms, "
		       "1MiB..64MiB, 100k/s..1M/s, 10%..90%)";
	if (range->from > range->to)
		return "the range is empty: its first end is above its second";
	range->doubles = range->step && !strcmp(range->step, "log2");
	range->by = 1;
	if (range->doubles && range->from == 0 && !range->kind->steps_by_one)
		return "doubling cannot begin with 0 where there is a unit; expected another first "
		       "end, or -L";
	if (range->doubles || (!range->step && range->kind->steps_by_one))
		return NULL;
	if (!range->step)
		return "a step is missing; expected LO..HI:STEP or LO..HI:log2";
	if (!range->kind->parse(range->step, &range->by) || range->by <= 0)
		return "the step must be log2, or a number above 0 with the unit that the ends "
		       "have";
	return NULL;
}

/* A value a hair above the end is the end: a tenth has no exact double. */
#define END_SLACK 1e-9

static int add_number(struct sb_dimension *d, const struct range *range, double number)
{
	char text[NUMBER_BYTES];

	range->kind->put(text, number);
	return add_value(d, text);
}

static int fill_range(struct sb_dimension *d, const struct range *range)
{
	const double end = range->to * (1 + END_SLACK);
	double value = range->from;
	double last = NAN;
	int rc = 0;

	for (uint32_t i = 1; value <= end && !rc; i++) {
		last = value;
		rc = add_number(d, range, value);
		if (range->doubles)
			value = value == 0 ? 1 : 2 * value;
		else
			value = range->from + i * range->by;
	}
	/* The end is gone through, too, if the steps do not meet it. */
	return rc || last >= range->to * (1 - END_SLACK) ? rc : add_number(d, range, range->to);
}

static int parse_scan(struct sb_dimension *d, const char *text)
{
	struct range range = { .kind = NULL };
	char *copy = strdup(text);
	const char *wrong;
	int rc;

	if (!copy)
		return sb_fail_memory();
	wrong = read_range(&range, copy);
	rc = wrong ? bad_range(d, text, wrong) : fill_range(d, &range);
	free(copy);
	return rc;
}

const struct sb_param *sb_chosen_param(const struct sb_chosen *chosen, const char *name)
{
	for (const struct sb_param *p = chosen->workload->params; p->name; p++) {
		if (!strcmp(p->name, name))
			return p;
	}
	return NULL;
}

static bool any_has(const struct sb_options *options, const char *name)
{
	for (uint32_t i = 0; i < options->chosens; i++) {
		if (sb_chosen_param(&options->chosen[i], name))
			return true;
	}
	return false;
}

/* All names that may be swept, for a suggestion. */
static const char *name_at(const void *options, size_t i)
{
	const struct sb_options *o = options;

	for (int id = 0; id < SB_OPTIONS; id++) {
		if (sb_option[id].verbs & SB_SWEPT && !i--)
			return sb_option[id].name;
	}
	for (uint32_t w = 0; w < o->chosens; w++) {
		for (const struct sb_param *p = o->chosen[w].workload->params; p->name; p++) {
			if (!i--)
				return p->name;
		}
	}
	return NULL;
}

static int unknown_name(const char *name, const struct sb_options *options)
{
	char habit[SB_HABIT_BYTES];
	char option[80];
	const char *like;

	if (!strcmp(name, "workload"))
		return sb_fail(SB_EXIT_USAGE,
			       "sweep: workload is no dimension; expected -w for each of them");
	for (int id = 0; id < SB_OPTIONS; id++) {
		if (!strcmp(sb_option[id].name, name))
			return sb_fail(SB_EXIT_USAGE, "sweep: --%s cannot be gone through", name);
	}
	if (sb_param_find(name))
		return sb_fail(SB_EXIT_USAGE, "sweep: none of the chosen workloads (%s) has '%s'",
			       options->value[SB_OPT_workload].text, name);
	snprintf(option, sizeof(option), "--%s", name);
	if (sb_habit_in_verb(SB_VERB_SWEEP, option, habit))
		return sb_fail(SB_EXIT_USAGE, "sweep: unknown option '%s'; %s", name, habit);
	like = sb_most_like(name, name_at, options);
	return sb_fail(SB_EXIT_USAGE,
		       "sweep: '%s' is neither an option of run nor a parameter of the chosen "
		       "workloads%s%s%s",
		       name, like ? "; did you mean " : "", like ? like : "", like ? "?" : "");
}

static int find_name(struct sb_dimension *d, const struct sb_options *options)
{
	for (d->option = 0; d->option < SB_OPTIONS; d->option++) {
		if (sb_option[d->option].verbs & SB_SWEPT &&
		    !strcmp(sb_option[d->option].name, d->name))
			return 0;
	}
	return any_has(options, d->name) ? 0 : unknown_name(d->name, options);
}

int sb_dimension_parse(struct sb_dimension *d, char letter, const char *text,
		       const struct sb_options *options)
{
	const char *equals = strchr(text, '=');
	int rc;

	*d = (struct sb_dimension){ .name = NULL };
	if (!equals || equals == text || !equals[1])
		return sb_fail(SB_EXIT_USAGE, "-%c %s: expected %s", letter, text,
			       sb_sweep_form(letter));
	d->name = strndup(text, (size_t)(equals - text));
	if (!d->name)
		return sb_fail_memory();
	rc = find_name(d, options);
	if (rc)
		return rc;
	return letter == 'P' ? parse_scan(d, equals + 1) : parse_list(d, equals + 1);
}

/* "0" is "0s", and "1ms" is "1000us". */
static bool is_same_value(const char *a, const char *b)
{
	const double x = sb_sweep_number(a);

	return !strcmp(a, b) || (isfinite(x) && fabs(x - sb_sweep_number(b)) <= END_SLACK * x);
}

int sb_dimension_add_default(struct sb_dimension *d, const struct sb_options *options)
{
	d->combined = d->values;
	d->initial = SB_NO_LEVEL;
	if (d->option == SB_OPTIONS || !(sb_option[d->option].verbs & SB_TUNABLE))
		return 0;
	for (d->initial = 0; d->initial < d->combined; d->initial++) {
		if (is_same_value(d->value[d->initial], options->value[d->option].text))
			return 0;
	}
	return add_value(d, options->value[d->option].text);
}

void sb_dimension_free(struct sb_dimension *d)
{
	for (uint32_t i = 0; i < d->values; i++)
		free(d->value[i]);
	free(d->value);
	free(d->name);
}
