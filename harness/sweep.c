#include "harness/sweep.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/platform.h"
#include "harness/status.h"
#include "harness/text.h"
#include "workloads/quantity.h"

/* ---- numbers with units ---- */

static bool parse_count(const char *text, double *out)
{
	uint64_t count;

	if (!sb_parse_count(text, &count))
		return false;
	*out = (double)count;
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
	{ parse_count, put_count, true },
	{ sb_quantity_time, put_time, false },
	{ sb_quantity_rate, put_rate, false },
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
		return sb_fail(SB_EXIT_BUG, "no memory");
	d->value = value;
	for (uint32_t i = 0; i < d->values; i++) {
		if (!strcmp(value[i], text))
			return sb_fail(SB_EXIT_USAGE,
				       "sweep: %s has the value '%s' twice; "
				       "expected each once",
				       d->name, text);
	}
	if (d->values == SB_SWEEP_VALUES_MAX)
		return sb_fail(SB_EXIT_USAGE,
			       "sweep: %s has more than %d values; expected "
			       "fewer, or a larger step",
			       d->name, SB_SWEEP_VALUES_MAX);
	value[d->values] = strdup(text);
	if (!value[d->values])
		return sb_fail(SB_EXIT_BUG, "no memory");
	d->values++;
	return 0;
}

static int parse_list(struct sb_dimension *d, const char *text)
{
	char *words = strdup(text);
	char *rest = words;
	char *word;
	int rc = words ? 0 : sb_fail(SB_EXIT_BUG, "no memory");

	while (!rc && (word = strsep(&rest, ","))) {
		if (*word)
			rc = add_value(d, word);
		else
			rc = sb_fail(SB_EXIT_USAGE,
				     "-L %s=%s: a value is empty; expected "
				     "NAME=A,B,...",
				     d->name, text);
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

static int bad_range(const struct sb_dimension *d, const char *text,
		     const char *what)
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
		return "expected LO..HI, LO..HI:STEP or LO..HI:log2";
	for (size_t i = 0; i < SB_ARRAY_SIZE(kinds) && !range->kind; i++) {
		if (kinds[i].parse(range->low, &range->from) &&
		    kinds[i].parse(range->high, &range->to))
			range->kind = &kinds[i];
	}
	if (!range->kind)
		return "both ends must be numbers with the same kind of unit "
		       "(0..64, 10us..1ms, 100k/s..1M/s, 10%..90%)";
	if (range->from > range->to)
		return "the range is empty: its first end is above its second";
	range->doubles = range->step && !strcmp(range->step, "log2");
	range->by = 1;
	if (range->doubles && range->from == 0 && !range->kind->steps_by_one)
		return "doubling cannot begin with 0 where there is a unit; "
		       "expected another first end, or -L";
	if (range->doubles || (!range->step && range->kind->steps_by_one))
		return NULL;
	if (!range->step)
		return "a step is missing; expected LO..HI:STEP or "
		       "LO..HI:log2";
	if (!range->kind->parse(range->step, &range->by) || range->by <= 0)
		return "the step must be log2, or a number above 0 with the "
		       "unit that the ends have";
	return NULL;
}

/* What is a hair above the end is the end: a tenth has no exact double. */
#define END_SLACK 1e-9

static int fill_range(struct sb_dimension *d, const struct range *range)
{
	const double end = range->to * (1 + END_SLACK);
	double value = range->from;
	char text[NUMBER_BYTES];
	int rc = 0;

	for (uint32_t i = 1; value <= end && !rc; i++) {
		range->kind->put(text, value);
		rc = add_value(d, text);
		if (range->doubles)
			value = value == 0 ? 1 : 2 * value;
		else
			value = range->from + i * range->by;
	}
	return rc;
}

static int parse_scan(struct sb_dimension *d, const char *text)
{
	struct range range = { .kind = NULL };
	char *copy = strdup(text);
	const char *wrong;
	int rc;

	if (!copy)
		return sb_fail(SB_EXIT_BUG, "no memory");
	wrong = read_range(&range, copy);
	rc = wrong ? bad_range(d, text, wrong) : fill_range(d, &range);
	free(copy);
	return rc;
}

static const struct sb_param *find_param(const struct sb_chosen *chosen,
					 const char *name)
{
	for (const struct sb_param *p = chosen->workload->params; p->name;
	     p++) {
		if (!strcmp(p->name, name))
			return p;
	}
	return NULL;
}

static bool any_has(const struct sb_options *options, const char *name)
{
	for (uint32_t i = 0; i < options->chosens; i++) {
		if (find_param(&options->chosen[i], name))
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
		for (const struct sb_param *p = o->chosen[w].workload->params;
		     p->name; p++) {
			if (!i--)
				return p->name;
		}
	}
	return NULL;
}

static int unknown_name(const char *name, const struct sb_options *options)
{
	const char *like;

	if (!strcmp(name, "workload"))
		return sb_fail(SB_EXIT_USAGE,
			       "sweep: workload is no dimension; expected -w "
			       "for each of them");
	for (int id = 0; id < SB_OPTIONS; id++) {
		if (!strcmp(sb_option[id].name, name))
			return sb_fail(SB_EXIT_USAGE,
				       "sweep: --%s cannot be gone through",
				       name);
	}
	like = sb_most_like(name, name_at, options);
	return sb_fail(SB_EXIT_USAGE,
		       "sweep: '%s' is neither an option of run nor a "
		       "parameter of the chosen workloads%s%s%s",
		       name, like ? "; did you mean " : "", like ? like : "",
		       like ? "?" : "");
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
		return sb_fail(SB_EXIT_USAGE, "-%c %s: expected %s", letter,
			       text,
			       letter == 'P' ? "NAME=LO..HI[:STEP|:log2]"
					     : "NAME=A,B,...");
	d->name = strndup(text, (size_t)(equals - text));
	if (!d->name)
		return sb_fail(SB_EXIT_BUG, "no memory");
	rc = find_name(d, options);
	if (rc)
		return rc;
	return letter == 'P' ? parse_scan(d, equals + 1)
			     : parse_list(d, equals + 1);
}

void sb_dimension_free(struct sb_dimension *d)
{
	for (uint32_t i = 0; i < d->values; i++)
		free(d->value[i]);
	free(d->value);
	free(d->name);
}

/* ---- all of them ---- */

/* A flag has no value that its own parser could refuse. */
static int check_flag(const struct sb_dimension *d)
{
	for (uint32_t i = 0; i < d->values; i++) {
		if (d->option < SB_OPTIONS && !sb_option[d->option].form &&
		    strcmp(d->value[i], "yes") && strcmp(d->value[i], "no"))
			return sb_fail(SB_EXIT_USAGE,
				       "sweep: --%s: '%s' is not valid; "
				       "expected yes or no",
				       d->name, d->value[i]);
	}
	return 0;
}

static int given_twice(const struct sb_sweep *sweep,
		       const struct sb_dimension *d)
{
	bool plain = d->option < SB_OPTIONS &&
		     !strcmp(sweep->options->value[d->option].source,
			     "command line");

	for (uint32_t i = 0; i < sweep->dimensions; i++) {
		if (!strcmp(sweep->dimension[i].name, d->name))
			return sb_fail(SB_EXIT_USAGE,
				       "sweep: %s is gone through twice; "
				       "expected one -P or -L",
				       d->name);
	}
	for (uint32_t i = 0; i < sweep->options->givens; i++)
		plain |= !strcmp(sweep->options->given[i].name, d->name);
	if (plain)
		return sb_fail(SB_EXIT_USAGE,
			       "sweep: %s is gone through, and --%s is given; "
			       "expected one of them",
			       d->name, d->name);
	return 0;
}

static int add_dimension(struct sb_sweep *sweep, char letter, const char *text)
{
	struct sb_dimension *d = &sweep->dimension[sweep->dimensions];
	int rc = sb_dimension_parse(d, letter, text, sweep->options);

	if (!rc)
		rc = check_flag(d);
	if (!rc)
		rc = given_twice(sweep, d);
	if (rc)
		sb_dimension_free(d);
	else
		sweep->dimensions++;
	return rc;
}

/* From the environment there is one of each at most. */
static int add_dimensions(struct sb_sweep *sweep)
{
	static const enum sb_option_id ids[] = { SB_OPT_parameter_scan,
						 SB_OPT_parameter_list };
	const struct sb_options *o = sweep->options;
	int rc = 0;

	for (uint32_t i = 0; i < o->sweeps && !rc; i++)
		rc = add_dimension(sweep, o->sweep[i].letter, o->sweep[i].text);
	for (size_t i = 0; i < SB_ARRAY_SIZE(ids) && !rc; i++) {
		const struct sb_option_value *value = &o->value[ids[i]];

		if (!o->sweeps && *value->text)
			rc = add_dimension(sweep,
					   (char)sb_option[ids[i]].letter,
					   value->text);
	}
	return rc;
}

static bool applies(const struct sb_dimension *d,
		    const struct sb_chosen *chosen)
{
	return d->option < SB_OPTIONS || find_param(chosen, d->name);
}

static char *make_label(const struct sb_sweep *sweep,
			const struct sb_configuration *c)
{
	char *label = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&label, &bytes);

	if (!out)
		return NULL;
	fputs(c->chosen->workload->name, out);
	for (uint32_t i = 0; i < sweep->dimensions; i++) {
		const struct sb_dimension *d = &sweep->dimension[i];

		if (c->level[i] != SB_NO_LEVEL)
			fprintf(out, " %s=%s", d->name, d->value[c->level[i]]);
	}
	fclose(out);
	return label;
}

/* The next combination, the last dimension fastest; false: there is none. */
static bool advance(const struct sb_sweep *sweep, uint32_t *level)
{
	for (uint32_t i = sweep->dimensions; i-- > 0;) {
		if (level[i] == SB_NO_LEVEL)
			continue;
		if (++level[i] < sweep->dimension[i].values)
			return true;
		level[i] = 0;
	}
	return false;
}

static int add_configuration(struct sb_sweep *sweep,
			     const struct sb_chosen *chosen,
			     const uint32_t *level)
{
	struct sb_configuration *all =
		reallocarray(sweep->configuration, sweep->configurations + 1,
			     sizeof(*all));
	struct sb_configuration *c;

	if (!all)
		return sb_fail(SB_EXIT_BUG, "no memory");
	sweep->configuration = all;
	if ((sweep->configurations + 1) * (uint64_t)sweep->repetitions >
	    SB_SWEEP_ROWS_MAX)
		return sb_fail(SB_EXIT_USAGE,
			       "sweep: all combinations with %" PRIu32
			       " repetitions are more than %d rows; expected "
			       "fewer",
			       sweep->repetitions, SB_SWEEP_ROWS_MAX);
	c = &all[sweep->configurations];
	*c = (struct sb_configuration){ .chosen = chosen };
	memcpy(c->level, level, sizeof(c->level));
	c->label = make_label(sweep, c);
	if (!c->label)
		return sb_fail(SB_EXIT_BUG, "no memory");
	sweep->configurations++;
	return 0;
}

static int combine(struct sb_sweep *sweep, const struct sb_chosen *chosen)
{
	uint32_t level[SB_SWEEPS_MAX] = { 0 };
	int rc;

	for (uint32_t i = 0; i < sweep->dimensions; i++)
		level[i] = applies(&sweep->dimension[i], chosen) ? 0
								 : SB_NO_LEVEL;
	do {
		rc = add_configuration(sweep, chosen, level);
	} while (!rc && advance(sweep, level));
	return rc;
}

/* ---- the order ---- */

/* Fisher and Yates. */
static void shuffle(struct sb_slot *slot, uint32_t n, struct sb_rng *rng)
{
	for (uint32_t i = n; i > 1; i--) {
		const uint32_t other = sb_rng_below(rng, i);
		const struct sb_slot kept = slot[i - 1];

		slot[i - 1] = slot[other];
		slot[other] = kept;
	}
}

static int make_order(struct sb_sweep *sweep)
{
	const uint32_t n = sweep->configurations;
	struct sb_rng rng;

	sweep->order = calloc((size_t)n * sweep->repetitions + 1,
			      sizeof(*sweep->order));
	if (!sweep->order)
		return sb_fail(SB_EXIT_BUG, "no memory");
	sb_rng_seed(&rng, sb_opt(sweep->options, SB_OPT_seed));
	for (uint32_t r = 0; r < sweep->repetitions; r++) {
		struct sb_slot *round = &sweep->order[r * n];

		for (uint32_t c = 0; c < n; c++)
			round[c] = (struct sb_slot){ c, r };
		shuffle(round, n, &rng);
	}
	return 0;
}

int sb_sweep_plan(struct sb_sweep *sweep, const struct sb_options *options)
{
	int rc;

	*sweep = (struct sb_sweep){ .options = options };
	sweep->repetitions = (uint32_t)sb_opt(options, SB_OPT_repetitions);
	rc = add_dimensions(sweep);
	if (!rc && !sweep->dimensions && options->chosens < 2)
		rc = sb_fail(SB_EXIT_USAGE,
			     "sweep: nothing to go through; expected -L "
			     "NAME=A,B,... or -P NAME=LO..HI, or several "
			     "workloads");
	for (uint32_t i = 0; i < options->chosens && !rc; i++)
		rc = combine(sweep, &options->chosen[i]);
	return rc ? rc : make_order(sweep);
}

void sb_sweep_free(struct sb_sweep *sweep)
{
	for (uint32_t i = 0; i < sweep->configurations; i++)
		free(sweep->configuration[i].label);
	for (uint32_t i = 0; i < sweep->dimensions; i++)
		sb_dimension_free(&sweep->dimension[i]);
	free(sweep->configuration);
	free(sweep->order);
	*sweep = (struct sb_sweep){ .options = NULL };
}

static bool is_initial(const struct sb_param *param, const char *value)
{
	char number[24];

	if (param->choices)
		return !strcmp(param->choices[sb_param_is_text(param)
						      ? 0
						      : param->initial],
			       value);
	snprintf(number, sizeof(number), "%" PRIu64, param->initial);
	return !strcmp(number, value);
}

bool sb_sweep_is_default(const struct sb_sweep *sweep,
			 const struct sb_configuration *c)
{
	for (uint32_t i = 0; i < sweep->dimensions; i++) {
		const struct sb_dimension *d = &sweep->dimension[i];
		const char *value;

		if (c->level[i] == SB_NO_LEVEL)
			continue;
		value = d->value[c->level[i]];
		if (d->option < SB_OPTIONS
			    ? strcmp(sb_option[d->option].initial, value) != 0
			    : !is_initial(find_param(c->chosen, d->name),
					  value))
			return false;
	}
	return true;
}

/* ---- command lines ---- */

static int add_word(struct sb_arguments *out, const char *format, ...)
	SB_PRINTF(2, 3);

static int add_word(struct sb_arguments *out, const char *format, ...)
{
	va_list args;
	int length;

	SB_CHECK(out->n, <, SB_SWEEP_ARGS_MAX);
	va_start(args, format);
	length = vasprintf(&out->word[out->n], format, args);
	va_end(args);
	if (length < 0) {
		out->word[out->n] = NULL;
		return -ENOMEM;
	}
	out->n++;
	return 0;
}

void sb_arguments_free(struct sb_arguments *arguments)
{
	for (uint32_t i = 0; i < arguments->n; i++)
		free(arguments->word[i]);
	arguments->n = 0;
}

/* Neither part of the plan nor handed on: each run has its own. */
static bool is_about_output(int id)
{
	switch (id) {
	case SB_OPT_output:
	case SB_OPT_output_root:
	case SB_OPT_format:
	case SB_OPT_no_plots:
	case SB_OPT_quiet:
	case SB_OPT_help:
	case SB_OPT_objective:
	case SB_OPT_dry_run:
	case SB_OPT_resume:
	case SB_OPT_collect:
	case SB_OPT_other_build:
		return true;
	default:
		return false;
	}
}

static int add_option(struct sb_arguments *out, int id, const char *text)
{
	const bool yes = !strcmp(text, "yes") || !strcmp(text, "1");

	if (sb_option[id].form)
		return add_word(out, "--%s=%s", sb_option[id].name, text);
	return yes ? add_word(out, "--%s", sb_option[id].name) : 0;
}

/* Those that are not what they are without being given. */
static int add_options(const struct sb_options *options, unsigned int verbs,
		       struct sb_arguments *out)
{
	int rc = 0;

	for (int id = 0; id < SB_OPTIONS && !rc; id++) {
		if ((sb_option[id].verbs & verbs) != verbs ||
		    is_about_output(id) || id == SB_OPT_workload ||
		    id == SB_OPT_parameter_scan ||
		    id == SB_OPT_parameter_list ||
		    !strcmp(options->value[id].text, sb_option[id].initial))
			continue;
		rc = add_option(out, id, options->value[id].text);
	}
	return rc;
}

static int add_levels(const struct sb_sweep *sweep,
		      const struct sb_configuration *c,
		      struct sb_arguments *out)
{
	int rc = 0;

	for (uint32_t i = 0; i < sweep->dimensions && !rc; i++) {
		const struct sb_dimension *d = &sweep->dimension[i];

		if (c->level[i] == SB_NO_LEVEL)
			continue;
		rc = d->option < SB_OPTIONS
			     ? add_option(out, d->option, d->value[c->level[i]])
			     : add_word(out, "--%s=%s", d->name,
					d->value[c->level[i]]);
	}
	return rc;
}

static int add_params(const struct sb_options *options,
		      const struct sb_chosen *chosen, struct sb_arguments *out)
{
	int rc = 0;

	for (uint32_t i = 0; i < options->givens && !rc; i++) {
		const struct sb_given_param *given = &options->given[i];

		if (!chosen || find_param(chosen, given->name))
			rc = add_word(out, "--%s=%s", given->name, given->text);
	}
	return rc;
}

/*
 * The seed goes up with the round: repetitions make choices of their own, and
 * the configurations of a round the same ones.
 */
int sb_sweep_arguments(const struct sb_sweep *sweep,
		       const struct sb_configuration *c, uint32_t repetition,
		       struct sb_arguments *out)
{
	const struct sb_options *o = sweep->options;
	int rc;

	*out = (struct sb_arguments){ .n = 0 };
	rc = add_word(out, "sched-bench");
	rc = rc ? rc : add_word(out, "run");
	rc = rc ? rc
		: add_word(out, "--workload=%s", c->chosen->workload->name);
	rc = rc ? rc : add_options(o, SB_VERB_RUN | SB_VERB_SWEEP, out);
	rc = rc ? rc : add_params(o, c->chosen, out);
	rc = rc ? rc : add_levels(sweep, c, out);
	rc = rc ? rc : add_word(out, "--repetitions=1");
	rc = rc ? rc
		: add_word(out, "--seed=%" PRIu64,
			   sb_opt(o, SB_OPT_seed) + repetition);
	rc = rc ? rc : add_word(out, "--no-plots");
	return rc ? rc : add_word(out, "--quiet");
}

int sb_sweep_canonical(const struct sb_options *options,
		       struct sb_arguments *out)
{
	static const enum sb_option_id ids[] = { SB_OPT_parameter_scan,
						 SB_OPT_parameter_list };
	int rc;

	*out = (struct sb_arguments){ .n = 0 };
	rc = add_word(out, "sweep");
	if (!rc && *options->value[SB_OPT_workload].text)
		rc = add_word(out, "--workload=%s",
			      options->value[SB_OPT_workload].text);
	rc = rc ? rc : add_options(options, SB_VERB_SWEEP, out);
	rc = rc ? rc : add_params(options, NULL, out);
	for (uint32_t i = 0; i < options->sweeps && !rc; i++)
		rc = add_word(out, "-%c%s", options->sweep[i].letter,
			      options->sweep[i].text);
	for (size_t i = 0; i < SB_ARRAY_SIZE(ids) && !rc; i++) {
		if (!options->sweeps && *options->value[ids[i]].text)
			rc = add_word(out, "-%c%s", sb_option[ids[i]].letter,
				      options->value[ids[i]].text);
	}
	return rc;
}

/* ---- times ---- */

/* What --warmup auto may take, and what an estimate of it is. */
#define WARM_AUTO_NS UINT64_C(10000000000)
/* For starting, reading the clocks, and writing, on a loaded machine. */
#define GRACE_NS UINT64_C(30000000000)

static uint64_t warmup_ns(const struct sb_options *o)
{
	return o->value[SB_OPT_warmup].alternative ? WARM_AUTO_NS
						   : sb_opt(o, SB_OPT_warmup);
}

uint64_t sb_sweep_row_ns(const struct sb_options *run)
{
	return warmup_ns(run) + sb_opt(run, SB_OPT_duration);
}

/* Each part, and the capacity that --load measures, may be one round late, which
 * --timeout ends; what that cannot end is a hang. */
uint64_t sb_sweep_limit_ns(const struct sb_options *run,
			   const struct sb_options *sweep)
{
	const struct sb_option_value *given =
		&sweep->value[SB_OPT_kill_after];

	if (given->alternative)
		return given->number;
	return sb_sweep_row_ns(run) + sb_opt(run, SB_OPT_duration) +
	       3 * sb_opt(run, SB_OPT_timeout) + GRACE_NS;
}
