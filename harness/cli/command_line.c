/* command_line.c - options from the command line, through getopt_long. */
#include <ctype.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/options.h"
#include "harness/cli/policy.h"
#include "harness/cli/reading.h"
#include "harness/cli/verb.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"

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
	return verb & SB_VERBS_CHOOSING;
}

size_t sb_options_long_table(struct option *table, enum sb_verb verb)
{
	size_t options;
	size_t n = 0;

	for (int id = 0; id < SB_OPTIONS; id++) {
		if (!(sb_option[id].verbs & verb))
			continue;
		table[n++] = (struct option){ sb_option[id].name,
					      sb_option[id].form ? required_argument : no_argument,
					      NULL, 1000 + id };
	}
	options = n;
	for (const struct sb_workload **w = sb_workloads; *w && has_workloads(verb); w++) {
		for (const struct sb_param *p = (*w)->params; p->name; p++) {
			if (!has_long(table, n, p->name))
				table[n++] = (struct option){ p->name, required_argument, NULL,
							      PARAM_VALUE };
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

const char *sb_long_option_name(const void *table, size_t i)
{
	return ((const struct option *)table)[i].name;
}

/* A command line while it is read. */
struct sb_reading {
	enum sb_verb verb;
	struct option table[LONG_MAX_OPTIONS];
	size_t options; /* of the table; then come parameters */
	char *const *word;
	int words;
};

static bool has_param(const struct sb_workload *workload, const char *name)
{
	for (const struct sb_param *p = workload->params; p->name; p++) {
		if (!strcmp(p->name, name))
			return true;
	}
	return false;
}

/* Whether a workload of the command line has it. */
static bool may_be_meant(const struct sb_reading *reading, const char *param)
{
	for (const struct sb_workload **w = sb_workloads; *w; w++) {
		for (int i = 0; i < reading->words && has_param(*w, param); i++) {
			if (strstr(reading->word[i], (*w)->name))
				return true;
		}
	}
	return false;
}

/* For sb_most_like(): the options, and the parameters that may be meant. */
static const char *next_meant(const void *state, size_t i)
{
	const struct sb_reading *reading = state;
	const char *name = reading->table[i].name;

	return i < reading->options || !name || may_be_meant(reading, name) ? name : "";
}

/* The verb that has the option, by its name or its letter; NULL: none. */
static const struct sb_verb_info *verb_with(const char *word, const char *name)
{
	for (const struct sb_verb_info *v = sb_verbs; v->name; v++) {
		for (int id = 0; id < SB_OPTIONS; id++) {
			const bool is_it = word[1] == '-' ? !strcmp(sb_option[id].name, name)
							  : sb_option[id].letter == optopt;

			if (is_it && v->options & sb_option[id].verbs)
				return v;
		}
	}
	return NULL;
}

/* As it was typed; of several letters in one word, the one that is not known. */
static void bad_word(char *out, size_t bytes, char *const *word)
{
	const char *whole = word[optind];

	/* -cpuprofile is one word, -c100 a letter and its value. */
	if (optopt && whole && whole[0] == '-' && whole[1] == optopt &&
	    isalpha((unsigned char)whole[2]))
		snprintf(out, bytes, "%s", whole);
	else if (optopt && optopt < 1000)
		snprintf(out, bytes, "-%c", optopt);
	else
		snprintf(out, bytes, "%s", word[optind - 1]);
}

#define PREFIXED_MOST 4

/* "--spin-tight, --spin-yield or --spin-time", the options that begin so. False: none, or too many. */
static bool list_prefixed(const struct sb_reading *reading, const char *prefix, char *out,
			  size_t bytes)
{
	const char *found[PREFIXED_MOST];
	uint32_t n = 0;
	size_t used = 0;

	/* A letter is one of another tool rather than the beginning of a name. */
	for (size_t i = 0; i < reading->options && prefix[0] && prefix[1]; i++) {
		if (strncmp(reading->table[i].name, prefix, strlen(prefix)) != 0)
			continue;
		if (n == PREFIXED_MOST)
			return false;
		found[n++] = reading->table[i].name;
	}
	for (uint32_t i = 0; i < n && used < bytes; i++)
		used += (size_t)snprintf(out + used, bytes - used, "%s--%s",
					 !i	      ? ""
					 : i + 1 == n ? " or "
						      : ", ",
					 found[i]);
	return n;
}

static int unknown_option(const struct sb_reading *reading, char *const *argv)
{
	const struct option *table = reading->table;
	const struct sb_verb_info *verb = sb_verb_of(reading->verb);
	const struct sb_verb_info *other;
	char habit[SB_HABIT_BYTES];
	char word[200];
	char name[64];
	char likes[200];
	const char *like;

	bad_word(word, sizeof(word), argv);
	snprintf(name, sizeof(name), "%s", word + strspn(word, "-"));
	name[strcspn(name, "=")] = '\0';
	if (has_long(table, reading->options, name))
		return sb_fail(SB_EXIT_USAGE, "--%s takes no value", name);
	if (sb_habit_in_verb(reading->verb, word, habit))
		return sb_fail(SB_EXIT_USAGE, "unknown option '%s'; %s", word, habit);
	other = verb_with(word, name);
	if (other)
		return sb_fail(SB_EXIT_USAGE, "unknown option '%s'; %s has it, %s has not", word,
			       other->name, verb->name);
	if (sb_habit_elsewhere(reading->verb, word, habit))
		return sb_fail(SB_EXIT_USAGE, "unknown option '%s'; %s", word, habit);
	if (list_prefixed(reading, name, likes, sizeof(likes)))
		return sb_fail(SB_EXIT_USAGE, "unknown option '%s'; did you mean %s?", word, likes);
	like = sb_most_like(name, next_meant, reading);
	if (like)
		return sb_fail(SB_EXIT_USAGE, "unknown option '%s'; did you mean --%s?", word,
			       like);
	return sb_fail(SB_EXIT_USAGE, "unknown option '%s'; sched-bench %s --help lists them", word,
		       verb->name);
}

/* One more value of an option that may be repeated. */
static int add_value(struct sb_options *options, enum sb_option_id id, const char *text)
{
	char **joined = &options->value[id].joined;
	char *all;

	if (asprintf(&all, "%s%s%s", *joined ? *joined : "", *joined ? "," : "", text) < 0)
		return sb_fail_memory();
	free(*joined);
	*joined = all;
	return sb_options_set(options, id, all, "command line");
}

const char *sb_sweep_form(char letter)
{
	return letter == 'P' ? "NAME=LO..HI[:STEP|:log2]" : "NAME=A,B,...";
}

static int add_sweep(struct sb_options *options, enum sb_option_id id, const char *text)
{
	const char letter = (char)sb_option[id].letter;

	if (options->sweeps == SB_SWEEPS_MAX)
		return sb_fail(SB_EXIT_USAGE, "--%s: '%s' is one too many; expected at most %d",
			       sb_option[id].name, text, SB_SWEEPS_MAX);
	if (!strchr(text, '='))
		return sb_fail(SB_EXIT_USAGE, "-%c %s: expected %s in one word, as -%c %s=%s",
			       letter, text, sb_sweep_form(letter), letter,
			       *text == '-' ? "spin-yield" : text,
			       letter == 'P' ? "0..64:8" : "0,12,64");
	options->sweep[options->sweeps++] = (struct sb_given_sweep){ letter, text };
	return sb_options_set(options, id, text, "command line");
}

/* The command line of the process, if a user has typed it. */
static struct {
	char **word;
	int words;
} typed;

void sb_options_typed(int argc, char **argv)
{
	typed.word = argv;
	typed.words = argc;
}

bool sb_options_are_typed(void)
{
	return typed.words;
}

/* Of two different values one would not count. */
static int check_once(char *const *argv, const char *name, const char *before, const char *text)
{
	if (!typed.words || argv < typed.word || argv >= typed.word + typed.words ||
	    !strcmp(before, text))
		return 0;
	return sb_fail(SB_EXIT_USAGE, "--%s is given twice, as '%s' and as '%s'; expected it once",
		       name, before, text);
}

static int check_option_once(const struct sb_options *options, enum sb_option_id id,
			     const char *text, char *const *argv)
{
	const struct sb_option_value *value = &options->value[id];

	if ((sb_option[id].verbs & SB_REPEATED) || id == SB_OPT_parameter_scan ||
	    id == SB_OPT_parameter_list || strcmp(value->source, "command line") != 0)
		return 0;
	return check_once(argv, sb_option[id].name, value->text, text);
}

static int check_param_once(const struct sb_options *options, const char *name, const char *text,
			    char *const *argv)
{
	int rc = 0;

	for (uint32_t i = 0; i < options->givens && !rc; i++) {
		if (!options->given[i].where && !strcmp(options->given[i].name, name))
			rc = check_once(argv, name, options->given[i].text, text);
	}
	return rc;
}

static int take_option(struct sb_options *options, enum sb_option_id id, const char *text)
{
	if (id == SB_OPT_parameter_scan || id == SB_OPT_parameter_list)
		return add_sweep(options, id, text);
	if (sb_option[id].verbs & SB_REPEATED)
		return add_value(options, id, text);
	return sb_options_set(options, id, text, "command line");
}

int sb_options_take_param(struct sb_options *options, const char *name, const char *text)
{
	if (options->givens == SB_GIVEN_MAX)
		return sb_fail(SB_EXIT_USAGE, "--%s: too many parameters", name);
	options->given[options->givens++] = (struct sb_given_param){ .name = name, .text = text };
	return 0;
}

static int option_of_letter(enum sb_verb verb, int letter)
{
	for (int id = 0; id < SB_OPTIONS; id++) {
		if (sb_option[id].letter == letter && (sb_option[id].verbs & verb))
			return id;
	}
	return -1;
}

/* "--time" of another tool is no abbreviation of our --timeout. */
static int check_abbreviation(const struct sb_reading *reading, int index, char *const *argv)
{
	const char *last = argv[optind - 1];
	const char *word = strncmp(last, "--", 2) != 0 ? argv[optind - 2] : last;
	char habit[SB_HABIT_BYTES];

	if (strcspn(word + 2, "=") == strlen(reading->table[index].name) ||
	    !sb_habit_in_verb(reading->verb, word, habit))
		return 0;
	return sb_fail(SB_EXIT_USAGE, "unknown option '%s'; %s", word, habit);
}

/* optopt: a letter, or the option as getopt_long returns it. */
static int missing_value(const struct sb_reading *reading, const char *word)
{
	const int id = optopt >= 1000 ? optopt - 1000 : option_of_letter(reading->verb, optopt);
	char expected[SB_FORM_BYTES] = "its value";

	if (id >= 0 && id < SB_OPTIONS)
		sb_option_describe(&sb_option[id], expected);
	return sb_fail(SB_EXIT_USAGE, "%s: a value is missing; expected %s", word, expected);
}

static int take_one(struct sb_options *options, const struct sb_reading *reading, int found,
		    int index, char *const *argv)
{
	const char *text = optarg ? optarg : "yes";
	int id;
	int rc;

	if (found == '?')
		return unknown_option(reading, argv);
	if (found == ':')
		return missing_value(reading, argv[optind - 1]);
	if (index >= 0 && check_abbreviation(reading, index, argv))
		return SB_EXIT_USAGE;
	if (found == PARAM_VALUE) {
		rc = check_param_once(options, reading->table[index].name, text, argv);
		return rc ? rc : sb_options_take_param(options, reading->table[index].name, text);
	}
	id = found >= 1000 ? found - 1000 : option_of_letter(reading->verb, found);
	rc = check_option_once(options, (enum sb_option_id)id, text, argv);
	return rc ? rc : take_option(options, (enum sb_option_id)id, text);
}

int sb_options_from_arguments(struct sb_options *options, enum sb_verb verb, int argc, char **argv)
{
	static struct sb_reading reading; /* too large for a limited stack */
	char letters[2 * SB_OPTIONS + 2];
	int rc = 0;

	reading.verb = verb;
	reading.word = argv;
	reading.words = argc;
	reading.options = sb_options_long_table(reading.table, verb);
	build_short_options(letters, verb);
	optind = 0; /* glibc: start afresh, also within a group of letters */
	opterr = 0;
	while (!rc) {
		int index = -1;
		const int found = getopt_long(argc, argv, letters, reading.table, &index);

		if (found < 0)
			break;
		rc = take_one(options, &reading, found, index, argv);
	}
	options->word = argv + optind;
	options->words = optind < argc ? (uint32_t)(argc - optind) : 0;
	return rc;
}
