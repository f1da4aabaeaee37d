#include "harness/cli/options.h"

#include <ctype.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/policy.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "harness/cli/verb.h"
#include "workloads/load/quantity.h"

/* "|default|spec" */
static const char policy_names[] =
#define POLICY(name, doc, values) "|" name
#include "harness/cli/policies.def"
#undef POLICY
	;
#define SB_POLICY_NAMES (policy_names + 1)

const struct sb_option sb_option[SB_OPTIONS] = {
#define GROUP(title)
#define OPTION(...) OPTION_FOR(SB_VERBS_RUNNING, __VA_ARGS__)
#define OPTION_FOR(verbs, id, name, letter, form, initial, min, max, help)     \
	[SB_OPT_##id] = { #id,	   verbs, name, letter, form,                  \
			  initial, min,	  max,	help },
#include "harness/cli/options.def"
#undef OPTION
#undef GROUP
};

/* ---- values ---- */

#define ALTERNATIVE_MAX 32
#define CHOICES_MAX	8

/* Copies alternative i of a form; false: there is none. */
static bool form_alternative(const char *form, unsigned int i, char *out)
{
	size_t length;

	for (; i; i--) {
		form = strchr(form, '|');
		if (!form)
			return false;
		form++;
	}
	length = strcspn(form, "|");
	SB_CHECK(length, <, ALTERNATIVE_MAX);
	memcpy(out, form, length);
	out[length] = '\0';
	return true;
}

static bool in_range(const struct sb_option *option, uint64_t number)
{
	return number >= option->min && number <= option->max;
}

/* "x:N" against "x:12". */
static bool parse_word_and_count(const struct sb_option *option,
				 const char *alternative, const char *text,
				 uint64_t *number)
{
	const char *colon = strchr(alternative, ':');
	const size_t prefix = colon ? (size_t)(colon - alternative) + 1 : 0;

	return colon && !strncmp(alternative, text, prefix) &&
	       sb_parse_count(text + prefix, number) &&
	       in_range(option, *number);
}

static bool matches(const struct sb_option *option, const char *alternative,
		    const char *text, uint64_t *number)
{
	*number = 0;
	if (!strcmp(alternative, "TEXT"))
		return true;
	if (!strcmp(alternative, "N"))
		return sb_parse_count(text, number) &&
		       in_range(option, *number);
	if (!strcmp(alternative, "TIME"))
		return sb_parse_time(text, number) && in_range(option, *number);
	if (!strcmp(alternative, "SIZE"))
		return sb_quantity_bytes(text, number) &&
		       in_range(option, *number);
	if (!strcmp(alternative, "PERCENT"))
		return sb_parse_percent(text, number) &&
		       in_range(option, *number);
	return !strcmp(alternative, text) ||
	       parse_word_and_count(option, alternative, text, number);
}

static bool parse_flag(const char *text, uint64_t *number)
{
	*number = !strcmp(text, "yes") || !strcmp(text, "1");
	return *number || !strcmp(text, "no") || !strcmp(text, "0");
}

static bool parse_value(const struct sb_option *option, const char *text,
			struct sb_option_value *value)
{
	char alternative[ALTERNATIVE_MAX];

	value->text = text;
	if (!option->form)
		return parse_flag(text, &value->number);
	for (unsigned int i = 0; form_alternative(option->form, i, alternative);
	     i++) {
		value->alternative = i;
		if (matches(option, alternative, text, &value->number))
			return true;
	}
	return false;
}

void sb_option_describe(const struct sb_option *option, char *out)
{
	const size_t bytes = SB_FORM_BYTES;
	char low[SB_TIME_BYTES];
	char high[SB_TIME_BYTES];

	if (!option->form) {
		snprintf(out, bytes, "yes or no");
	} else if (!strncmp(option->form, "TIME", 4)) {
		sb_format_time(low, option->min);
		sb_format_time(high, option->max);
		snprintf(out, bytes,
			 "a time with its unit (10us, 1.5s) from %s to %s%s%s",
			 low, high, option->form[4] ? ", or " : "",
			 option->form[4] ? option->form + 5 : "");
	} else if (!strcmp(option->form, "SIZE")) {
		sb_format_size(low, option->min);
		sb_format_size(high, option->max);
		snprintf(out, bytes,
			 "a size with its unit (64KiB) from %s to %s", low,
			 high);
	} else if (strstr(option->form, "PERCENT")) {
		snprintf(out, bytes, "%s, PERCENT from %g%% to %g%%",
			 option->form, 1e-4 * (double)option->min,
			 1e-4 * (double)option->max);
	} else if (!strcmp(option->form, "N")) {
		snprintf(out, bytes, "a count from %" PRIu64 " to %" PRIu64,
			 option->min, option->max);
	} else if (option->max) {
		snprintf(out, bytes, "%s, N from %" PRIu64 " to %" PRIu64,
			 option->form, option->min, option->max);
	} else {
		snprintf(out, bytes, "%s", option->form);
	}
}

int sb_option_refuse(const struct sb_options *options, enum sb_option_id id,
		     const char *expected)
{
	const struct sb_option_value *value = &options->value[id];

	if (value->where)
		return sb_fail(SB_EXIT_USAGE, "%s: %s: '%s' is not valid; %s",
			       value->where, sb_option[id].name, value->text,
			       expected);
	return sb_fail(
		SB_EXIT_USAGE, "--%s: '%s' (from the %s) is not valid; %s",
		sb_option[id].name, value->text, value->source, expected);
}

bool sb_option_is_said(const struct sb_options *options, enum sb_option_id id)
{
	const char *source = options->value[id].source;

	return !strcmp(source, "command line") || !strcmp(source, "job");
}

/* Of a form the alternatives that are words. */
struct choices {
	uint32_t n;
	char word[CHOICES_MAX][ALTERNATIVE_MAX];
};

static const char *choice(const void *choices, size_t i)
{
	const struct choices *c = choices;

	return i < c->n ? c->word[i] : NULL;
}

/* "; did you mean 'spec'?" behind the text, if the value is like such a word. */
static void add_suggestion(const struct sb_option *option, const char *value,
			   char *text, size_t bytes)
{
	struct choices choices = { .n = 0 };
	char *word = choices.word[0];
	const char *like;

	for (unsigned int i = 0; choices.n < CHOICES_MAX && option->form &&
				 form_alternative(option->form, i, word);
	     i++) {
		if (!strpbrk(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
			choices.n++;
		word = choices.word[choices.n];
	}
	like = sb_most_like(value, choice, &choices);
	if (like)
		snprintf(text + strlen(text), bytes - strlen(text),
			 "; did you mean '%s'?", like);
}

static int set_value_at(struct sb_options *options, enum sb_option_id id,
			const char *text, const char *source, const char *where)
{
	char expected[SB_FORM_BYTES + 80] = "expected ";

	options->value[id].source = source;
	options->value[id].where = where;
	if (parse_value(&sb_option[id], text, &options->value[id]))
		return 0;
	sb_option_describe(&sb_option[id], expected + strlen(expected));
	add_suggestion(&sb_option[id], text, expected, sizeof(expected));
	return sb_option_refuse(options, id, expected);
}

static int set_value(struct sb_options *options, enum sb_option_id id,
		     const char *text, const char *source)
{
	return set_value_at(options, id, text, source, NULL);
}

/* ---- where values come from ---- */

static int set_defaults(struct sb_options *options)
{
	int rc = 0;

	for (int id = 0; id < SB_OPTIONS && !rc; id++)
		rc = set_value(options, id, sb_option[id].initial, "default");
	return rc;
}

void sb_option_environment(enum sb_option_id id, char *out, size_t bytes)
{
	const char *name = sb_option[id].name;

	for (int other = 0; other < SB_OPTIONS; other++) {
		if (other != (int)id && !strcmp(sb_option[other].name, name))
			name = sb_option[id].id;
	}
	snprintf(out, bytes, "SCHED_BENCH_%s", name);
	for (char *c = out; *c; c++)
		*c = *c == '-' ? '_' : (char)toupper(*c);
}

void sb_options_clear_environment(void)
{
	char name[64];

	for (int id = 0; id < SB_OPTIONS; id++) {
		sb_option_environment((enum sb_option_id)id, name,
				      sizeof(name));
		unsetenv(name);
	}
}

static int set_from_environment(struct sb_options *options, enum sb_verb verb)
{
	char name[64];
	int rc = 0;

	for (int id = 0; id < SB_OPTIONS && !rc; id++) {
		const char *text;

		sb_option_environment(id, name, sizeof(name));
		text = sb_option[id].verbs & verb ? getenv(name) : NULL;
		if (text)
			rc = set_value(options, id, text, "environment");
	}
	return rc;
}

/* ---- the command line, through getopt_long ---- */

/* What getopt_long returns for a workload's parameter. */
#define PARAM_VALUE	 (SB_OPTIONS + 1000)
#define LONG_MAX_OPTIONS (SB_OPTIONS + SB_WORKLOADS_MAX * SB_PARAMS_MAX + 1)

static bool has_long(const struct option *table, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(table[i].name, name))
			return true;
	}
	return false;
}

static bool has_workloads(enum sb_verb verb)
{
	return verb & SB_VERBS_RUNNING;
}

/* All options, then for verbs with workloads all parameters of all workloads, each name once.
 * Returns how many options there are. */
static size_t build_long_options(struct option *table, enum sb_verb verb)
{
	size_t options;
	size_t n = 0;

	for (int id = 0; id < SB_OPTIONS; id++) {
		if (!(sb_option[id].verbs & verb))
			continue;
		table[n++] =
			(struct option){ sb_option[id].name,
					 sb_option[id].form ? required_argument
							    : no_argument,
					 NULL, 1000 + id };
	}
	options = n;
	for (const struct sb_workload *const *w = sb_workloads;
	     *w && has_workloads(verb); w++) {
		for (const struct sb_param *p = (*w)->params; p->name; p++) {
			if (!has_long(table, n, p->name))
				table[n++] =
					(struct option){ p->name,
							 required_argument,
							 NULL, PARAM_VALUE };
		}
	}
	table[n] = (struct option){ NULL, 0, NULL, 0 };
	return options;
}

static void build_short_options(char *out, enum sb_verb verb)
{
	*out++ = ':';
	for (int id = 0; id < SB_OPTIONS; id++) {
		if (!sb_option[id].letter || !(sb_option[id].verbs & verb))
			continue;
		*out++ = (char)sb_option[id].letter;
		if (sb_option[id].form)
			*out++ = ':';
	}
	*out = '\0';
}

static const char *long_name(const void *table, size_t i)
{
	return ((const struct option *)table)[i].name;
}

/* A command line while it is read. */
struct reading {
	enum sb_verb verb;
	struct option table[LONG_MAX_OPTIONS];
	size_t options; /* of the table; then come parameters */
};

/* The verb that has the option, by its name or its letter; NULL: none. */
static const struct sb_verb_info *verb_with(const char *word, const char *name)
{
	for (int id = 0; id < SB_OPTIONS; id++) {
		const bool is_it = word[1] == '-'
					   ? !strcmp(sb_option[id].name, name)
					   : sb_option[id].letter == optopt;

		for (const struct sb_verb_info *v = sb_verbs; v->name && is_it;
		     v++) {
			if (v->options & sb_option[id].verbs)
				return v;
		}
	}
	return NULL;
}

static int unknown_option(const struct reading *reading, const char *word)
{
	const struct option *table = reading->table;
	const struct sb_verb_info *other;
	char name[64];
	const char *like;

	snprintf(name, sizeof(name), "%s", word + strspn(word, "-"));
	name[strcspn(name, "=")] = '\0';
	like = sb_most_like(name, long_name, table);
	if (has_long(table, reading->options, name))
		return sb_fail(SB_EXIT_USAGE, "--%s takes no value", name);
	other = verb_with(word, name);
	if (other)
		return sb_fail(SB_EXIT_USAGE,
			       "unknown option '%s'; %s has it, %s has not",
			       word, other->name,
			       sb_verb_of(reading->verb)->name);
	/* Nothing is like a single letter. */
	if (like && name[0] && name[1])
		return sb_fail(SB_EXIT_USAGE,
			       "unknown option '%s'; did you mean --%s?", word,
			       like);
	return sb_fail(SB_EXIT_USAGE,
		       "unknown option '%s'; sched-bench %s --help lists them",
		       word, sb_verb_of(reading->verb)->name);
}

/* Of an option that may be repeated: *all are its values so far. */
static int add_names(struct sb_options *options, enum sb_option_id id,
		     char **all, const char *names)
{
	char *joined;

	if (asprintf(&joined, "%s%s%s", *all ? *all : "", *all ? "," : "",
		     names) < 0)
		return sb_fail_memory();
	free(*all);
	*all = joined;
	return set_value(options, id, joined, "command line");
}

static int add_sweep(struct sb_options *options, enum sb_option_id id,
		     const char *text)
{
	if (options->sweeps == SB_SWEEPS_MAX)
		return sb_fail(SB_EXIT_USAGE,
			       "--%s: '%s' is one too many; expected at most "
			       "%d",
			       sb_option[id].name, text, SB_SWEEPS_MAX);
	options->sweep[options->sweeps++] =
		(struct sb_given_sweep){ (char)sb_option[id].letter, text };
	return set_value(options, id, text, "command line");
}

static int take_option(struct sb_options *options, enum sb_option_id id,
		       const char *text)
{
	if (id == SB_OPT_parameter_scan || id == SB_OPT_parameter_list)
		return add_sweep(options, id, text);
	if (id == SB_OPT_workload)
		return add_names(options, id, &options->workload_names, text);
	if (id == SB_OPT_compared_metric)
		return add_names(options, id, &options->metric_names, text);
	if (id == SB_OPT_limit)
		return add_names(options, id, &options->limits, text);
	return set_value(options, id, text ? text : "yes", "command line");
}

static int take_param(struct sb_options *options, const char *name,
		      const char *text)
{
	if (options->givens == SB_GIVEN_MAX)
		return sb_fail(SB_EXIT_USAGE, "--%s: too many parameters",
			       name);
	options->given[options->givens++] =
		(struct sb_given_param){ .name = name, .text = text };
	return 0;
}

static int option_of_letter(enum sb_verb verb, int letter)
{
	for (int id = 0; id < SB_OPTIONS; id++) {
		if (sb_option[id].letter == letter &&
		    (sb_option[id].verbs & verb))
			return id;
	}
	return -1;
}

static int take_one(struct sb_options *options, const struct reading *reading,
		    int found, int index, const char *word)
{
	if (found == '?')
		return unknown_option(reading, word);
	if (found == ':')
		return sb_fail(SB_EXIT_USAGE, "%s: a value is missing", word);
	if (found == PARAM_VALUE)
		return take_param(options, reading->table[index].name, optarg);
	return take_option(options,
			   found >= 1000
				   ? found - 1000
				   : option_of_letter(reading->verb, found),
			   optarg);
}

static int parse_arguments(struct sb_options *options, enum sb_verb verb,
			   int argc, char **argv)
{
	static struct reading reading; /* too large for a limited stack */
	char letters[2 * SB_OPTIONS + 2];
	int rc = 0;

	reading.verb = verb;
	reading.options = build_long_options(reading.table, verb);
	build_short_options(letters, verb);
	optind = 0; /* glibc: start afresh, also within a group of letters */
	opterr = 0;
	while (!rc) {
		int index = -1;
		const int found =
			getopt_long(argc, argv, letters, reading.table, &index);

		if (found < 0)
			break;
		rc = take_one(options, &reading, found, index,
			      argv[optind - 1]);
	}
	options->word = argv + optind;
	options->words = optind < argc ? (uint32_t)(argc - optind) : 0;
	return rc;
}

/* ---- workloads and their parameters ---- */

static const char *workload_name(const void *unused, size_t i)
{
	(void)unused;
	return sb_workloads[i] ? sb_workloads[i]->name : NULL;
}

/* "FILE:LINE:COLUMN: " before an error, where there is one. */
#define AT(where) ((where) ? (where) : ""), ((where) ? ": " : "")

static int unknown_workload(const char *name, const char *where)
{
	const char *like = sb_most_like(name, workload_name, NULL);

	if (like)
		return sb_fail(SB_EXIT_USAGE,
			       "%s%sunknown workload '%s'; did you mean '%s'?",
			       AT(where), name, like);
	return sb_fail(SB_EXIT_USAGE,
		       "%s%sunknown workload '%s'; sched-bench list workloads "
		       "names them",
		       AT(where), name);
}

static int choose(struct sb_options *options, const char *name)
{
	const struct sb_workload *workload = sb_workload_find(name);
	struct sb_chosen *chosen;

	if (!workload)
		return unknown_workload(name,
					options->value[SB_OPT_workload].where);
	for (uint32_t i = 0; i < options->chosens; i++) {
		if (options->chosen[i].workload == workload)
			return sb_fail(
				SB_EXIT_USAGE,
				"%s%sworkload '%s' is named twice; "
				"expected each once (--repetitions "
				"repeats)",
				AT(options->value[SB_OPT_workload].where),
				name);
	}
	if (options->chosens == SB_WORKLOADS_MAX)
		return sb_fail(SB_EXIT_USAGE, "--workload: more than %d",
			       SB_WORKLOADS_MAX);
	chosen = &options->chosen[options->chosens++];
	chosen->workload = workload;
	for (uint32_t i = 0; workload->params[i].name; i++) {
		SB_CHECK(i, <, SB_PARAMS_MAX);
		chosen->param[i] = workload->params[i].initial;
		if (sb_param_is_text(&workload->params[i]))
			chosen->text[i] = workload->params[i].choices[0];
	}
	return 0;
}

static int choose_workloads(struct sb_options *options)
{
	char *names = strdup(options->value[SB_OPT_workload].text);
	char *rest = names;
	char *name;
	int rc = 0;

	if (!names)
		return sb_fail_memory();
	while (!rc && (name = strsep(&rest, ",")))
		rc = *name || options->chosens ? choose(options, name) : 0;
	free(names);
	if (!rc && !options->chosens)
		rc = sb_fail(SB_EXIT_USAGE,
			     "%s%sno workload; expected %s, as sched-bench "
			     "list workloads names them",
			     AT(options->where),
			     options->where ? "workload=NAME" : "-w NAME");
	return rc;
}

static bool parse_choice(const struct sb_param *param, const char *text,
			 uint64_t *value)
{
	for (uint64_t i = 0; param->choices[i]; i++) {
		if (!strcmp(param->choices[i], text)) {
			*value = i;
			return true;
		}
	}
	return false;
}

void sb_param_describe(const struct sb_param *param, char *out)
{
	const size_t bytes = SB_FORM_BYTES;
	size_t used = 0;

	if (!param->choices) {
		snprintf(out, bytes, "a count from %" PRIu64 " to %" PRIu64,
			 param->min, param->max);
		return;
	}
	out[0] = '\0';
	for (int i = 0; param->choices[i] && used < bytes; i++)
		used += (size_t)snprintf(out + used, bytes - used, "%s%s",
					 i ? "|" : "", param->choices[i]);
}

static int refuse_given(const struct sb_given_param *given,
			const char *expected)
{
	if (given->where)
		return sb_fail(SB_EXIT_USAGE, "%s: %s: '%s' is not valid; %s",
			       given->where, given->name, given->text,
			       expected);
	return sb_fail(SB_EXIT_USAGE,
		       "--%s: '%s' (from the command line) is not valid; %s",
		       given->name, given->text, expected);
}

static int set_param(const struct sb_param *param,
		     const struct sb_given_param *given, uint64_t *value)
{
	char expected[SB_FORM_BYTES + 16] = "expected ";
	const bool ok = param->choices ? parse_choice(param, given->text, value)
				       : sb_parse_count(given->text, value) &&
						 *value >= param->min &&
						 *value <= param->max;

	if (ok)
		return 0;
	sb_param_describe(param, expected + strlen(expected));
	return refuse_given(given, expected);
}

static int set_text(struct sb_chosen *chosen, uint32_t i,
		    const struct sb_given_param *given)
{
	const struct sb_param *param = &chosen->workload->params[i];
	char why[SB_WHY_BYTES] = "";

	chosen->text[i] = given->text;
	if (chosen->workload->accept(param, given->text, why))
		return 0;
	return refuse_given(given, why);
}

/* Gives the parameter to every chosen workload that has it. */
static int apply_given(struct sb_options *options, struct sb_given_param *given)
{
	int rc = 0;

	for (uint32_t i = 0; i < options->chosens; i++) {
		struct sb_chosen *chosen = &options->chosen[i];
		const struct sb_param *params = chosen->workload->params;

		for (uint32_t p = 0; params[p].name && !rc; p++) {
			if (strcmp(params[p].name, given->name))
				continue;
			given->is_used = true;
			rc = sb_param_is_text(&params[p])
				     ? set_text(chosen, p, given)
				     : set_param(&params[p], given,
						 &chosen->param[p]);
		}
	}
	return rc;
}

static int unused_param(const struct sb_options *options,
			const struct sb_given_param *given)
{
	return sb_fail(SB_EXIT_USAGE,
		       "%s%s%s%s: none of the chosen workloads (%s) has it",
		       AT(given->where), given->where ? "" : "--", given->name,
		       options->value[SB_OPT_workload].text);
}

/* [global] speaks for all jobs, and so does the command line. */
static bool may_be_unused(const struct sb_options *options,
			  const struct sb_given_param *given)
{
	return given->where ? given->is_global : options->where != NULL;
}

int sb_options_choose(struct sb_options *options)
{
	int rc = choose_workloads(options);

	for (uint32_t i = 0; i < options->givens && !rc; i++) {
		struct sb_given_param *given = &options->given[i];

		rc = apply_given(options, given);
		if (!rc && !given->is_used && !may_be_unused(options, given))
			rc = unused_param(options, given);
	}
	return rc;
}

/* ---- all of it ---- */

static int apply_policy(struct sb_options *options)
{
	const struct sb_policy *policy =
		&sb_policies[options->value[SB_OPT_policy].alternative];
	int rc = 0;

	for (const struct sb_policy_value *v = policy->value; v->text && !rc;
	     v++) {
		if (sb_policy_decides(options, v->id))
			rc = set_value(options, v->id, v->text, "policy");
	}
	return rc;
}

/* From a job file: a parameter, or one of the verb's options. */
static int take_entry(struct sb_options *options, enum sb_verb verb,
		      const struct sb_entry *entry)
{
	const enum sb_option_id id = sb_option_find(verb, entry->name);
	int rc;

	if (id != SB_OPTIONS)
		return set_value_at(options, id, entry->text,
				    entry->is_global ? "global" : "job",
				    entry->where);
	rc = take_param(options, entry->name, entry->text);
	if (!rc) {
		options->given[options->givens - 1].where = entry->where;
		options->given[options->givens - 1].is_global =
			entry->is_global;
	}
	return rc;
}

int sb_options_parse_job(struct sb_options *options, enum sb_verb verb,
			 const struct sb_entry *entry, uint32_t entries,
			 int argc, char **argv)
{
	int rc;

	memset(options, 0, sizeof(*options));
	rc = set_defaults(options);
	for (uint32_t i = 0; i < entries && !rc; i++)
		rc = take_entry(options, verb, &entry[i]);
	if (!rc)
		rc = set_from_environment(options, verb);
	if (!rc)
		rc = parse_arguments(options, verb, argc, argv);
	return rc ? rc : apply_policy(options);
}

int sb_options_parse_for(struct sb_options *options, enum sb_verb verb,
			 int argc, char **argv)
{
	const struct sb_verb_info *info = sb_verb_of(verb);
	const int rc = sb_options_parse_job(options, verb, NULL, 0, argc, argv);

	if (rc || !options->words || !info->advice)
		return rc;
	return sb_fail(SB_EXIT_USAGE, "%s: '%s' is not expected; %s",
		       info->name, options->word[0], info->advice);
}

int sb_options_parse(struct sb_options *options, int argc, char **argv)
{
	const int rc = sb_options_parse_for(options, SB_VERB_RUN, argc, argv);

	return rc || sb_opt(options, SB_OPT_help) ? rc
						  : sb_options_choose(options);
}

/* ---- by name ---- */

enum sb_option_id sb_option_find(enum sb_verb verb, const char *name)
{
	for (int id = 0; id < SB_OPTIONS; id++) {
		if ((sb_option[id].verbs & verb) &&
		    !strcmp(sb_option[id].name, name))
			return id;
	}
	return SB_OPTIONS;
}

const struct sb_param *sb_param_find(const char *name)
{
	for (const struct sb_workload *const *w = sb_workloads; *w; w++) {
		for (const struct sb_param *p = (*w)->params; p->name; p++) {
			if (!strcmp(p->name, name))
				return p;
		}
	}
	return NULL;
}

const char *sb_option_most_like(enum sb_verb verb, const char *name)
{
	static struct option table[LONG_MAX_OPTIONS]; /* as above */

	(void)build_long_options(table, verb);
	return sb_most_like(name, long_name, table);
}

void sb_options_free(struct sb_options *options)
{
	free(options->workload_names);
	options->workload_names = NULL;
	free(options->metric_names);
	options->metric_names = NULL;
	free(options->limits);
	options->limits = NULL;
}
