#include "harness/options.h"

#include <ctype.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/status.h"
#include "harness/text.h"

const struct sb_option sb_option[SB_OPTIONS] = {
#define GROUP(title)
#define OPTION(...) OPTION_FOR(SB_VERB_RUN, __VA_ARGS__)
#define OPTION_FOR(verbs, id, name, letter, form, initial, min, max, help)     \
	[SB_OPT_##id] = { verbs, name, letter, form, initial, min, max, help },
#include "harness/options.def"
#undef OPTION
#undef GROUP
};

/* ---- values ---- */

#define ALTERNATIVE_MAX 32

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

static void describe_form(const struct sb_option *option, char *out,
			  size_t bytes)
{
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

static int set_value(struct sb_options *options, enum sb_option_id id,
		     const char *text, const char *source)
{
	char expected[160];

	options->value[id].source = source;
	if (parse_value(&sb_option[id], text, &options->value[id]))
		return 0;
	describe_form(&sb_option[id], expected, sizeof(expected));
	return sb_fail(SB_EXIT_USAGE,
		       "--%s: '%s' (from the %s) is not valid; expected %s",
		       sb_option[id].name, text, source, expected);
}

/* ---- where values come from ---- */

static int set_defaults(struct sb_options *options)
{
	int rc = 0;

	for (int id = 0; id < SB_OPTIONS && !rc; id++)
		rc = set_value(options, id, sb_option[id].initial, "default");
	return rc;
}

static int set_from_environment(struct sb_options *options, enum sb_verb verb)
{
	char name[64];
	int rc = 0;

	for (int id = 0; id < SB_OPTIONS && !rc; id++) {
		const char *text;
		char *c;

		snprintf(name, sizeof(name), "SCHED_BENCH_%s",
			 sb_option[id].name);
		for (c = name; *c; c++)
			*c = *c == '-' ? '_' : (char)toupper(*c);
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

/* All options, then for `run` all parameters of all workloads, each name once.
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
	     *w && verb == SB_VERB_RUN; w++) {
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

static const char *verb_name(enum sb_verb verb)
{
	switch (verb) {
	case SB_VERB_TOPO:
		return "topo";
	case SB_VERB_CHECK:
		return "check";
	case SB_VERB_CALIBRATE:
		return "calibrate";
	case SB_VERB_MICRO:
		return "micro";
	case SB_VERB_RUN:
	default:
		return "run";
	}
}

/* What to do instead of a word that is no option. */
static const char *verb_advice(enum sb_verb verb)
{
	switch (verb) {
	case SB_VERB_TOPO:
		return "a machine is named with --profile";
	case SB_VERB_CHECK:
	case SB_VERB_CALIBRATE:
		return "it looks at this machine";
	case SB_VERB_MICRO:
		return "what to run is chosen with --benchmark_filter=REGEX";
	case SB_VERB_RUN:
	default:
		return "workloads are named with -w";
	}
}

static int unknown_option(const struct reading *reading, const char *word)
{
	const struct option *table = reading->table;
	char name[64];
	const char *like;

	snprintf(name, sizeof(name), "%s", word + strspn(word, "-"));
	name[strcspn(name, "=")] = '\0';
	like = sb_most_like(name, long_name, table);
	if (has_long(table, reading->options, name))
		return sb_fail(SB_EXIT_USAGE, "--%s takes no value", name);
	if (like)
		return sb_fail(SB_EXIT_USAGE,
			       "unknown option '%s'; did you mean --%s?", word,
			       like);
	return sb_fail(SB_EXIT_USAGE,
		       "unknown option '%s'; sched-bench %s --help lists them",
		       word, verb_name(reading->verb));
}

static int add_workload_names(struct sb_options *options, const char *names)
{
	char *joined;

	if (asprintf(&joined, "%s%s%s",
		     options->workload_names ? options->workload_names : "",
		     options->workload_names ? "," : "", names) < 0)
		return sb_fail(SB_EXIT_BUG, "no memory");
	free(options->workload_names);
	options->workload_names = joined;
	return set_value(options, SB_OPT_workload, joined, "command line");
}

static int take_option(struct sb_options *options, enum sb_option_id id,
		       const char *text)
{
	if (id == SB_OPT_workload)
		return add_workload_names(options, text);
	return set_value(options, id, text ? text : "yes", "command line");
}

static int take_param(struct sb_options *options, const char *name,
		      const char *text)
{
	if (options->givens == SB_GIVEN_MAX)
		return sb_fail(SB_EXIT_USAGE, "--%s: too many parameters",
			       name);
	options->given[options->givens++] =
		(struct sb_given_param){ name, text };
	return 0;
}

static int option_of_letter(int letter)
{
	for (int id = 0; id < SB_OPTIONS; id++) {
		if (sb_option[id].letter == letter)
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
	return take_option(
		options, found >= 1000 ? found - 1000 : option_of_letter(found),
		optarg);
}

static int unexpected_word(enum sb_verb verb, const char *word)
{
	return sb_fail(SB_EXIT_USAGE, "%s: '%s' is not expected; %s",
		       verb_name(verb), word, verb_advice(verb));
}

static int parse_arguments(struct sb_options *options, enum sb_verb verb,
			   int argc, char **argv)
{
	struct reading reading = { .verb = verb };
	char letters[2 * SB_OPTIONS + 2];
	int rc = 0;

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
	return !rc && optind < argc ? unexpected_word(verb, argv[optind]) : rc;
}

/* ---- workloads and their parameters ---- */

static const char *workload_name(const void *unused, size_t i)
{
	(void)unused;
	return sb_workloads[i] ? sb_workloads[i]->name : NULL;
}

static int unknown_workload(const char *name)
{
	const char *like = sb_most_like(name, workload_name, NULL);

	if (like)
		return sb_fail(SB_EXIT_USAGE,
			       "unknown workload '%s'; did you mean '%s'?",
			       name, like);
	return sb_fail(SB_EXIT_USAGE,
		       "unknown workload '%s'; sched-bench list workloads "
		       "names them",
		       name);
}

static int choose(struct sb_options *options, const char *name)
{
	const struct sb_workload *workload = sb_workload_find(name);
	struct sb_chosen *chosen;

	if (!workload)
		return unknown_workload(name);
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
		return sb_fail(SB_EXIT_BUG, "no memory");
	while (!rc && (name = strsep(&rest, ",")))
		rc = *name || options->chosens ? choose(options, name) : 0;
	free(names);
	if (!rc && !options->chosens)
		rc = sb_fail(SB_EXIT_USAGE,
			     "no workload; expected -w NAME, as sched-bench "
			     "list workloads names them");
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

static void describe_param(const struct sb_param *param, char *out,
			   size_t bytes)
{
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

static int set_param(const struct sb_param *param, const char *text,
		     uint64_t *value)
{
	char expected[160];
	const bool ok = param->choices ? parse_choice(param, text, value)
				       : sb_parse_count(text, value) &&
						 *value >= param->min &&
						 *value <= param->max;

	if (ok)
		return 0;
	describe_param(param, expected, sizeof(expected));
	return sb_fail(SB_EXIT_USAGE,
		       "--%s: '%s' (from the command line) is not valid; "
		       "expected %s",
		       param->name, text, expected);
}

static int set_text(struct sb_chosen *chosen, uint32_t i, const char *text)
{
	const struct sb_param *param = &chosen->workload->params[i];
	char why[SB_WHY_BYTES] = "";

	chosen->text[i] = text;
	if (chosen->workload->accept(param, text, why))
		return 0;
	return sb_fail(SB_EXIT_USAGE,
		       "--%s: '%s' (from the command line) is not valid; %s",
		       param->name, text, why);
}

/* Gives the parameter to every chosen workload that has it. */
static int apply_given(struct sb_options *options,
		       const struct sb_given_param *given)
{
	bool used = false;
	int rc = 0;

	for (uint32_t i = 0; i < options->chosens; i++) {
		struct sb_chosen *chosen = &options->chosen[i];
		const struct sb_param *params = chosen->workload->params;

		for (uint32_t p = 0; params[p].name && !rc; p++) {
			if (strcmp(params[p].name, given->name))
				continue;
			used = true;
			rc = sb_param_is_text(&params[p])
				     ? set_text(chosen, p, given->text)
				     : set_param(&params[p], given->text,
						 &chosen->param[p]);
		}
	}
	if (!rc && !used)
		rc = sb_fail(SB_EXIT_USAGE,
			     "--%s: none of the chosen workloads (%s) has it",
			     given->name, options->value[SB_OPT_workload].text);
	return rc;
}

int sb_options_parse_for(struct sb_options *options, enum sb_verb verb,
			 int argc, char **argv)
{
	int rc;

	memset(options, 0, sizeof(*options));
	rc = set_defaults(options);
	if (!rc)
		rc = set_from_environment(options, verb);
	if (!rc)
		rc = parse_arguments(options, verb, argc, argv);
	return rc;
}

int sb_options_parse(struct sb_options *options, int argc, char **argv)
{
	int rc = sb_options_parse_for(options, SB_VERB_RUN, argc, argv);

	if (rc || sb_opt(options, SB_OPT_help))
		return rc;
	rc = choose_workloads(options);
	for (uint32_t i = 0; i < options->givens && !rc; i++)
		rc = apply_given(options, &options->given[i]);
	return rc;
}

void sb_options_free(struct sb_options *options)
{
	free(options->workload_names);
	options->workload_names = NULL;
}
