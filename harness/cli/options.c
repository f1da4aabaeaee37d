#include "harness/cli/options.h"

#include <ctype.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/policy.h"
#include "harness/cli/reading.h"
#include "harness/cli/verb.h"
#include "harness/plugin/plugin.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "results/compare/spreads.h"
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
#define OPTION_FOR(verbs, id, name, letter, form, initial, min, max, help)                         \
	[SB_OPT_##id] = { #id, verbs, name, letter, form, initial, min, max, help },
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
static bool parse_word_and_count(const struct sb_option *option, const char *alternative,
				 const char *text, uint64_t *number)
{
	const char *colon = strchr(alternative, ':');
	const size_t prefix = colon ? (size_t)(colon - alternative) + 1 : 0;

	return colon && !strncmp(alternative, text, prefix) &&
	       sb_parse_count(text + prefix, number) && in_range(option, *number);
}

static bool matches(const struct sb_option *option, const char *alternative, const char *text,
		    uint64_t *number)
{
	*number = 0;
	if (!strcmp(alternative, "N"))
		return sb_parse_count(text, number) && in_range(option, *number);
	if (!strcmp(alternative, "TIME"))
		return sb_parse_time(text, number) && in_range(option, *number);
	if (!strcmp(alternative, "SIZE"))
		return sb_quantity_bytes(text, number) && in_range(option, *number);
	if (!strcmp(alternative, "PERCENT"))
		return sb_parse_percent(text, number) && in_range(option, *number);
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
	if (sb_option_is_text(option))
		return true;
	for (unsigned int i = 0; form_alternative(option->form, i, alternative); i++) {
		value->alternative = i;
		if (matches(option, alternative, text, &value->number))
			return true;
	}
	return false;
}

bool sb_option_is_text(const struct sb_option *option)
{
	static const char *const numbers[] = { "N", "TIME", "SIZE", "PERCENT" };

	for (size_t i = 0; option->form && i < SB_ARRAY_SIZE(numbers); i++) {
		if (!strcmp(option->form, numbers[i]))
			return false;
	}
	return option->form && isupper((unsigned char)*option->form) && !strchr(option->form, '|');
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
		snprintf(out, bytes, "a time with its unit (10us, 1.5s) from %s to %s%s%s", low,
			 high, option->form[4] ? ", or " : "",
			 option->form[4] ? option->form + 5 : "");
	} else if (!strcmp(option->form, "SIZE")) {
		sb_format_size(low, option->min);
		sb_format_size(high, option->max);
		snprintf(out, bytes, "a size with its unit (64KiB) from %s to %s", low, high);
	} else if (strstr(option->form, "PERCENT")) {
		snprintf(out, bytes, "%s, PERCENT from %g%% to %g%%", option->form,
			 1e-4 * (double)option->min, 1e-4 * (double)option->max);
	} else if (!strcmp(option->form, "N")) {
		snprintf(out, bytes, "a count from %" PRIu64 " to %" PRIu64, option->min,
			 option->max);
	} else if (strstr(option->form, "TIME")) {
		sb_format_time(low, option->min);
		sb_format_time(high, option->max);
		snprintf(out, bytes, "%s, TIME from %s to %s", option->form, low, high);
	} else if (option->max) {
		snprintf(out, bytes, "%s, N from %" PRIu64 " to %" PRIu64, option->form,
			 option->min, option->max);
	} else {
		snprintf(out, bytes, "%s", option->form);
	}
}

int sb_option_refuse(const struct sb_options *options, enum sb_option_id id, const char *expected)
{
	const struct sb_option_value *value = &options->value[id];

	if (value->where)
		return sb_fail(SB_EXIT_USAGE, "%s: %s: '%s' is not valid; %s", value->where,
			       sb_option[id].name, value->text, expected);
	return sb_fail(SB_EXIT_USAGE, "--%s: '%s' (from the %s) is not valid; %s",
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
static void add_suggestion(const struct sb_option *option, const char *value, char *text,
			   size_t bytes)
{
	struct choices choices = { .n = 0 };
	char *word = choices.word[0];
	const char *like;

	for (unsigned int i = 0;
	     choices.n < CHOICES_MAX && option->form && form_alternative(option->form, i, word);
	     i++) {
		if (!strpbrk(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
			choices.n++;
		word = choices.word[choices.n];
	}
	like = sb_most_like(value, choice, &choices);
	if (like)
		snprintf(text + strlen(text), bytes - strlen(text), "; did you mean '%s'?", like);
}

static int sb_options_set_at(struct sb_options *options, enum sb_option_id id, const char *text,
			     const char *source, const char *where)
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

int sb_options_set(struct sb_options *options, enum sb_option_id id, const char *text,
		   const char *source)
{
	return sb_options_set_at(options, id, text, source, NULL);
}

/* ---- where values come from ---- */

static int set_defaults(struct sb_options *options)
{
	int rc = 0;

	for (int id = 0; id < SB_OPTIONS && !rc; id++)
		rc = sb_options_set(options, id, sb_option[id].initial, "default");
	return rc;
}

/* ---- all of it ---- */

static int apply_policy(struct sb_options *options)
{
	const struct sb_policy *policy = &sb_policies[options->value[SB_OPT_policy].alternative];
	int rc = 0;

	for (const struct sb_policy_value *v = policy->value; v->text && !rc; v++) {
		if (sb_policy_decides(options, v->id))
			rc = sb_options_set(options, v->id, v->text, "policy");
	}
	return rc;
}

int sb_options_default(struct sb_options *options, enum sb_verb verb,
		       const struct sb_option_default *value, size_t n, const char *source)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++) {
		const enum sb_option_id id = value[i].id;

		if ((sb_option[id].verbs & verb) && !strcmp(options->value[id].source, "default"))
			rc = sb_options_set(options, id, value[i].text, source);
	}
	return rc;
}

/* In virtual time there is no noise to average out, and a second takes minutes. A sweep ranks
 * nothing with fewer rounds, and each repetition of a search halves what is left. */
static int apply_virtual_defaults(struct sb_options *options, enum sb_verb verb)
{
	const struct sb_option_default values[] = {
		{ SB_OPT_duration, "auto" },
		{ SB_OPT_warmup, "1ms" },
		{ SB_OPT_repetitions, verb == SB_VERB_SWEEP		      ? "5"
				      : *options->value[SB_OPT_find_slo].text ? "9"
									      : "3" },
		{ SB_OPT_series, "none" },
	};

	return sb_opt(options, SB_OPT_virtual)
		       ? sb_options_default(options, verb, values, SB_ARRAY_SIZE(values), "virtual")
		       : 0;
}

/* The least of it. */
#define AUTO_NS		UINT64_C(500000000)
#define VIRTUAL_AUTO_NS UINT64_C(5000000)

static void set_auto_duration(struct sb_options *options)
{
	struct sb_option_value *duration = &options->value[SB_OPT_duration];

	if (duration->alternative)
		duration->number = sb_opt(options, SB_OPT_virtual) ? VIRTUAL_AUTO_NS : AUTO_NS;
}

/* Whether its value is not the default, or a sweep goes through its values. */
static bool is_used(const struct sb_options *options, enum sb_option_id id)
{
	const size_t length = strlen(sb_option[id].name);

	for (uint32_t i = 0; i < options->sweeps; i++) {
		if (!strncmp(options->sweep[i].text, sb_option[id].name, length) &&
		    options->sweep[i].text[length] == '=')
			return true;
	}
	return strcmp(options->value[id].text, sb_option[id].initial) != 0;
}

uint32_t sb_option_needs(enum sb_option_id id, enum sb_verb verb,
			 enum sb_option_id needed[SB_NEEDS_MAX])
{
	const char *help = sb_option[id].help;
	char name[64];
	uint32_t n = 0;

	if (strncmp(help, "with --", 7) != 0)
		return 0;
	for (; help && n < SB_NEEDS_MAX; help = strstr(help, " or --")) {
		help = strstr(help, "--") + 2;
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(help, ": "), help);
		needed[n] = sb_option_find(verb, name);
		n += needed[n] != SB_OPTIONS;
	}
	return n;
}

/* In a job file, as in the environment, the default may stand for completeness. */
static bool is_wanted(const struct sb_options *options, enum sb_option_id id)
{
	return !strcmp(options->value[id].source, "command line") ||
	       (sb_option_is_said(options, id) && is_used(options, id));
}

static int check_needs_of(const struct sb_options *options, enum sb_verb verb, enum sb_option_id id)
{
	enum sb_option_id needed[SB_NEEDS_MAX];
	const uint32_t n = sb_option_needs(id, verb, needed);

	for (uint32_t i = 0; i < n; i++) {
		if (is_used(options, needed[i]))
			return 0;
	}
	if (!n || !is_wanted(options, id))
		return 0;
	return sb_fail(SB_EXIT_USAGE, "--%s: only with %.*s", sb_option[id].name,
		       (int)strcspn(sb_option[id].help + 5, ":"), sb_option[id].help + 5);
}

/* In the environment and in [global] an option may be meant for others, and the options of a
 * comparison's sides are the runs' own. */
static int check_needs(const struct sb_options *options, enum sb_verb verb)
{
	int rc = 0;

	if (verb == SB_VERB_AB || sb_opt(options, SB_OPT_help))
		return 0;
	for (int id = 0; id < SB_OPTIONS && !rc; id++) {
		if (sb_option[id].verbs & verb)
			rc = check_needs_of(options, verb, (enum sb_option_id)id);
	}
	return rc;
}

/* From a job file: a parameter, or one of the verb's options. */
static int take_entry(struct sb_options *options, enum sb_verb verb, const struct sb_entry *entry)
{
	const enum sb_option_id id = sb_option_find(verb, entry->name);
	int rc;

	if (id != SB_OPTIONS)
		return sb_options_set_at(options, id, entry->text,
					 entry->is_global ? "global" : "job", entry->where);
	rc = sb_options_take_param(options, entry->name, entry->text);
	if (!rc) {
		options->given[options->givens - 1].where = entry->where;
		options->given[options->givens - 1].is_global = entry->is_global;
	}
	return rc;
}

/* The plug-ins of a job file are loaded already. */
static int load_plugins(enum sb_verb verb, int argc, char **argv)
{
	char name[64];
	const char *text;
	int rc;

	if (!(sb_option[SB_OPT_workload].verbs & verb))
		return 0;
	sb_option_environment(SB_OPT_workload, name, sizeof(name));
	text = getenv(name);
	rc = text ? sb_plugin_load_list(text, NULL) : 0;
	return rc ? rc : sb_plugin_load_named(argc, argv);
}

int sb_options_parse_job(struct sb_options *options, enum sb_verb verb,
			 const struct sb_entry *entry, uint32_t entries, int argc, char **argv)
{
	int rc;

	memset(options, 0, sizeof(*options));
	rc = load_plugins(verb, argc, argv);
	rc = rc ? rc : set_defaults(options);
	for (uint32_t i = 0; i < entries && !rc; i++)
		rc = take_entry(options, verb, &entry[i]);
	if (!rc)
		rc = sb_options_from_environment(options, verb);
	if (!rc)
		rc = sb_options_from_arguments(options, verb, argc, argv);
	if (!rc)
		rc = apply_policy(options);
	if (!rc)
		rc = apply_virtual_defaults(options, verb);
	if (!rc)
		rc = sb_options_apply_forks(options, verb);
	set_auto_duration(options);
	if (!rc && !sb_opt(options, SB_OPT_help))
		rc = sb_options_check_environment();
	return rc ? rc : check_needs(options, verb);
}

int sb_options_parse_for(struct sb_options *options, enum sb_verb verb, int argc, char **argv)
{
	const struct sb_verb_info *info = sb_verb_of(verb);
	const int rc = sb_options_parse_job(options, verb, NULL, 0, argc, argv);

	if (rc || !options->words || !info->advice || sb_opt(options, SB_OPT_resume))
		return rc;
	return sb_fail(SB_EXIT_USAGE, "%s: '%s' is not expected; %s", info->name, options->word[0],
		       info->advice);
}

int sb_options_parse(struct sb_options *options, int argc, char **argv)
{
	const int rc = sb_options_parse_for(options, SB_VERB_RUN, argc, argv);

	return rc || sb_opt(options, SB_OPT_help) ? rc : sb_options_choose(options);
}

/* ---- by name ---- */

enum sb_option_id sb_option_find(enum sb_verb verb, const char *name)
{
	for (int id = 0; id < SB_OPTIONS; id++) {
		if ((sb_option[id].verbs & verb) && !strcmp(sb_option[id].name, name))
			return id;
	}
	return SB_OPTIONS;
}

const char *sb_option_most_like(enum sb_verb verb, const char *name)
{
	static struct option table[LONG_MAX_OPTIONS]; /* as above */

	(void)sb_options_long_table(table, verb);
	return sb_most_like(name, sb_long_option_name, table);
}

void sb_options_free(struct sb_options *options)
{
	for (int id = 0; id < SB_OPTIONS; id++) {
		free(options->value[id].joined);
		options->value[id].joined = NULL;
	}
}
