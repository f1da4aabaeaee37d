#include "harness/guide/complete.h"

#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/verb.h"
#include "harness/guide/names.h"
#include "harness/guide/names_forms.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"

/* A command line up to the cursor. */
struct line {
	const struct sb_verb_info *verb; /* NULL: it is not there yet */
	char **word;			 /* [words]; the last one is completed */
	int words;
	bool is_bash;
	size_t before; /* bytes of the last word that are other words to bash */
};

/* The part of the last word that is completed, and what stays in front of it. */
struct part {
	const struct line *line;
	const char *text; /* the whole word */
	size_t head;
	size_t list; /* the head from there on has those parts of a list that are complete */
};

static struct part last_of_list(struct part part)
{
	const char *comma = strrchr(part.text + part.head, ',');

	part.list = part.head;
	if (comma)
		part.head = (size_t)(comma - part.text) + 1;
	return part;
}

/* Behind the equals sign. */
static struct part value_of(struct part part, const char *equals)
{
	part.head = part.list = (size_t)(equals - part.text) + 1;
	return part;
}

static bool is_listed(struct part part, const char *name)
{
	const size_t length = strlen(name);
	const char *end = part.text + part.head;

	for (const char *at = part.text + part.list; at < end;) {
		const size_t n = strcspn(at, ",");

		if (n == length && !strncmp(at, name, n))
			return true;
		at += n + 1;
	}
	return false;
}

static void offer(struct part part, const char *candidate, const char *tail, const char *doc)
{
	const struct line *line = part.line;
	/* Of the candidate, what bash has in a word before. */
	const size_t seen = line->before > part.head ? line->before - part.head : 0;

	if (is_listed(part, candidate) ||
	    strncmp(candidate, part.text + part.head, strlen(part.text + part.head)) != 0)
		return;
	if (seen && !candidate[seen])
		return;
	if (!seen)
		printf("%.*s", (int)(part.head - line->before), part.text + line->before);
	printf("%s%s", candidate + seen, tail);
	if (!line->is_bash && doc && *doc)
		printf("\t%s", doc);
	putchar('\n');
}

/* ---- values of options ---- */

static void offer_names(struct part part, const char *plural, const char *tail)
{
	const struct sb_names *names = sb_names_find(plural);

	part = last_of_list(part);
	for (size_t i = 0; names->at(i).name; i++)
		offer(part, names->at(i).name, tail, names->at(i).doc);
}

/* Of a form, those alternatives that are words: "condvar|futex|N" has two. */
static void offer_alternatives(struct part part, const char *form)
{
	while (*form) {
		const size_t length = strcspn(form, "|");
		char word[40];
		bool is_word = true;

		snprintf(word, sizeof(word), "%.*s", (int)length, form);
		for (const char *c = word; *c; c++)
			is_word &= !isupper((unsigned char)*c);
		if (is_word)
			offer(part, word, "", NULL);
		else if (strchr(word, ':')) {
			word[strcspn(word, ":") + 1] = '\0';
			offer(part, word, "", NULL);
		}
		form += length + (form[length] == '|');
	}
}

/* The text of --workload, if the words name any; the last of them if several do. */
static const char *chosen_workloads(const struct line *line)
{
	static const char long_name[] = "--workload=";
	const char *chosen = NULL;

	for (int i = 1; i + 1 < line->words; i++) {
		const char *word = line->word[i];

		if ((!strcmp(word, "-w") || !strcmp(word, "--workload")) && i + 2 < line->words)
			chosen = line->word[i + 1];
		else if (!strncmp(word, long_name, strlen(long_name)))
			chosen = word + strlen(long_name);
	}
	return chosen;
}

static bool is_chosen(const char *chosen, const char *workload)
{
	const size_t length = strlen(workload);

	for (const char *at = chosen; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, workload, length) && (at[length] == ',' || !at[length]))
			return true;
	}
	return !chosen;
}

/* Those of the chosen workloads, or of all if none is; a name of several once. */
static void offer_params(struct part part, const char *dashes, const char *tail)
{
	const char *chosen = chosen_workloads(part.line);
	const struct sb_workload *owner;
	const struct sb_param *p;

	for (size_t i = 0; (p = sb_names_param(i, &owner)); i++) {
		const struct sb_workload *other;
		char text[64];
		size_t before = 0;

		while (before < i && (strcmp(sb_names_param(before, &other)->name, p->name) != 0 ||
				      !is_chosen(chosen, other->name)))
			before++;
		if (before < i || !is_chosen(chosen, owner->name))
			continue;
		snprintf(text, sizeof(text), "%s%s", dashes, p->name);
		offer(part, text, tail, p->doc);
	}
}

/* NAME=A,B,...: the name of what a sweep goes through, then its values. */
static void offer_settings(struct part part, const char *tail)
{
	for (int id = 0; id < SB_OPTIONS; id++) {
		if ((sb_option[id].verbs & SB_SWEPT) && (sb_option[id].verbs & SB_VERB_SWEEP))
			offer(part, sb_option[id].name, tail, sb_option[id].help);
	}
	offer_params(part, "", tail);
}

static void offer_swept(struct part part)
{
	const char *equals = strchr(part.text + part.head, '=');
	const struct sb_param *param;
	enum sb_option_id id;
	char name[64];

	if (!equals) {
		offer_settings(part, "=");
		return;
	}
	snprintf(name, sizeof(name), "%.*s", (int)(equals - part.text - (ptrdiff_t)part.head),
		 part.text + part.head);
	part = last_of_list(value_of(part, equals));
	id = sb_option_find(SB_VERB_SWEEP, name);
	param = sb_param_find(name);
	if (id != SB_OPTIONS)
		offer_alternatives(part, sb_option[id].form ? sb_option[id].form : "yes|no");
	for (int i = 0; param && param->choices && param->choices[i]; i++)
		offer(part, param->choices[i], "", NULL);
}

/* Options whose values are names; those of others are in their forms. */
static const struct {
	enum sb_option_id id;
	const char *plural; /* of names.h; NULL: settings */
	const char *tail;
} named_values[] = {
	{ SB_OPT_workload, "workloads", "" },
	{ SB_OPT_profile, "profiles", "" },
	{ SB_OPT_model, "models", "" },
	{ SB_OPT_to, "formats", "" },
	{ SB_OPT_compared_metric, "metrics", "" },
	{ SB_OPT_objective, "metrics", "" },
	{ SB_OPT_plot_metric, "metrics", "" },
	{ SB_OPT_limit, "metrics", "=" },
	{ SB_OPT_plot_over, NULL, "" },
};

static void offer_value(struct part part, enum sb_option_id id)
{
	if (id == SB_OPT_parameter_list || id == SB_OPT_parameter_scan) {
		offer_swept(part);
		return;
	}
	for (size_t i = 0; i < SB_ARRAY_SIZE(named_values); i++) {
		if (named_values[i].id != id)
			continue;
		if (named_values[i].plural)
			offer_names(part, named_values[i].plural, named_values[i].tail);
		else
			offer_settings(last_of_list(part), "");
		return;
	}
	offer_alternatives(part, sb_option[id].form);
}

static void offer_choices(struct part part, const char *name)
{
	const struct sb_param *param = sb_param_find(name);

	for (int i = 0; param && param->choices && param->choices[i]; i++)
		offer(part, param->choices[i], "", NULL);
}

/* ---- options, and words that are none ---- */

static void offer_options(struct part part)
{
	const unsigned int verb = part.line->verb->options;
	char text[64];

	for (int id = 0; id < SB_OPTIONS; id++) {
		snprintf(text, sizeof(text), "--%s", sb_option[id].name);
		if (sb_option[id].verbs & verb)
			offer(part, text, "", sb_option[id].help);
	}
	if (verb & SB_VERBS_CHOOSING)
		offer_params(part, "--", "");
}

static void offer_verbs(struct part part)
{
	for (const struct sb_verb_info *v = sb_verbs; v->name; v++)
		offer(part, v->name, "", v->summary);
}

/* Directories, and files with that ending. */
static void offer_files(struct part part, const char *ending)
{
	glob_t found = { .gl_pathc = 0 };
	char *pattern = NULL;

	if (asprintf(&pattern, "%s*", part.text) < 0)
		return;
	if (!glob(pattern, GLOB_MARK, NULL, &found)) {
		for (size_t i = 0; i < found.gl_pathc; i++) {
			const char *path = found.gl_pathv[i];

			if (path[strlen(path) - 1] == '/' || sb_ends_in(path, ending))
				offer(part, path, "", NULL);
		}
	}
	globfree(&found);
	free(pattern);
}

static void offer_lists(struct part part)
{
	for (const struct sb_names *names = sb_names; names->plural; names++)
		offer(part, names->plural, "", names->help);
}

static void offer_jobs(struct part part)
{
	offer_files(part, ".ini");
}

static void offer_results(struct part part)
{
	offer_files(part, ".json");
}

static void offer_pictures(struct part part)
{
	offer(part, "list", "", "names the kinds");
	offer_names(part, "pictures", "");
}

static void offer_all_names(struct part part)
{
	offer_verbs(part);
	for (const struct sb_names *names = sb_names; names->plural; names++)
		offer_names(part, names->plural, "");
}

static void offer_words(struct part part)
{
	const char *at = part.line->verb->words;

	while (*at) {
		const size_t length = strcspn(at, " ");
		char word[40];

		snprintf(word, sizeof(word), "%.*s", (int)length, at);
		offer(part, word, "", NULL);
		at += length + (at[length] == ' ');
	}
}

/* What a verb's words may be: the first one, and the others. */
static const struct {
	const char *verb;
	void (*first)(struct part part);
	void (*others)(struct part part);
} words_of[] = {
	{ "run", offer_jobs, offer_jobs },
	{ "sweep", offer_jobs, offer_jobs },
	{ "compare", offer_results, offer_results },
	{ "report", offer_results, offer_results },
	{ "convert", offer_results, offer_results },
	{ "plot", offer_pictures, offer_results },
	{ "topo", offer_words, NULL },
	{ "list", offer_lists, NULL },
	{ "help", offer_all_names, NULL },
};

static void offer_word(struct part part)
{
	const bool is_first = part.line->words == 2;

	for (size_t i = 0; i < SB_ARRAY_SIZE(words_of); i++) {
		void (*const put)(struct part) = is_first ? words_of[i].first : words_of[i].others;

		if (!strcmp(words_of[i].verb, part.line->verb->name) && put)
			put(part);
	}
}

/* ---- where the cursor is ---- */

/* The option that a word is, "--wake" or "-w"; SB_OPTIONS: it is none of that verb's. */
static enum sb_option_id option_of(const struct sb_verb_info *verb, const char *word)
{
	for (int id = 0; id < SB_OPTIONS; id++) {
		const struct sb_option *option = &sb_option[id];
		const bool is_it =
			!strncmp(word, "--", 2)
				? !strcmp(option->name, word + 2)
				: word[0] == '-' && word[1] == option->letter && !word[2];

		if (is_it && (option->verbs & verb->options))
			return id;
	}
	return SB_OPTIONS;
}

/* The value of the option or parameter of that name; false: it is none that takes one. */
static bool offer_for(struct part part, const char *word)
{
	const enum sb_option_id id = option_of(part.line->verb, word);

	if (id != SB_OPTIONS && sb_option[id].form)
		offer_value(part, id);
	else if (id == SB_OPTIONS && !strncmp(word, "--", 2) && sb_param_find(word + 2))
		offer_choices(part, word + 2);
	else
		return false;
	return true;
}

static void complete(const struct line *line)
{
	struct part part = { line, line->word[line->words - 1], 0, 0 };
	const char *equals = strchr(part.text, '=');
	char name[64];

	if (line->words == 1) {
		offer_verbs(part);
		offer(part, "--help", "", NULL);
		offer(part, "--version", "", NULL);
	} else if (!strncmp(part.text, "--", 2) && equals) {
		snprintf(name, sizeof(name), "%.*s", (int)(equals - part.text), part.text);
		(void)offer_for(value_of(part, equals), name);
	} else if (line->words == 2 || !offer_for(part, line->word[line->words - 2])) {
		(part.text[0] == '-' ? offer_options : offer_word)(part);
	}
}

/* To bash, = and : are words of their own; here they are parts of one again. text: room for all. */
static void join(struct line *line, char *text, char **word, int words)
{
	bool is_open = false;

	for (int i = 0; i < words; i++) {
		const bool joins =
			line->is_bash && i && (!strcmp(word[i], "=") || !strcmp(word[i], ":"));

		if (!joins && !is_open) {
			text += line->words ? strlen(text) + 1 : 0;
			line->word[line->words++] = text;
			line->before = 0;
			*text = '\0';
		}
		strcat(text, word[i]);
		is_open = joins;
		if (joins)
			line->before = strlen(text);
	}
}

int sb_complete_line(int argc, char **argv)
{
	struct line line = { .words = 0 };
	size_t bytes = 1;
	char *text;

	if (argc < 5 || strcmp(argv[3], "--") != 0)
		return sb_fail(SB_EXIT_USAGE, "complete: expected SHELL -- WORD...");
	for (int i = 4; i < argc; i++)
		bytes += strlen(argv[i]) + 1;
	text = malloc(bytes);
	line.word = calloc((size_t)argc, sizeof(*line.word));
	if (text && line.word) {
		line.is_bash = !strcmp(argv[2], "bash");
		join(&line, text, argv + 4, argc - 4);
		line.verb = sb_verb_find(line.word[0]);
		if (line.verb || line.words == 1)
			complete(&line);
	}
	free(text);
	free((void *)line.word);
	return text && line.word ? 0 : sb_fail_memory();
}
