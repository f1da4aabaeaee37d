/*
 * help.c - the verb `help`: of the command, of a verb, a topic (harness/guide/topics.h), or
 * anything that has a name (harness/guide/names.h).
 */
#include <stdio.h>
#include <string.h>

#include "harness/cli/help.h"
#include "harness/cli/reading.h"
#include "harness/cli/verb.h"
#include "harness/guide/names.h"
#include "harness/guide/topics.h"
#include "harness/plugin/plugin.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "harness/verbs/verbs.h"

/* As git's: help VERB is VERB --help. */
static int help_verb(char *program, const struct sb_verb_info *verb)
{
	char name[16];
	char option[] = "--help";
	char *words[] = { program, name, option, NULL };

	snprintf(name, sizeof(name), "%s", verb->name);
	return verb->run(3, words);
}

static int help_help(void)
{
	puts("sched-bench help [VERB|TOPIC|NAME]...\n"
	     "\n"
	     "NAME is that of an option, a workload or its parameter, a metric, a policy, a rule\n"
	     "of validity, a machine, a model, a picture or a format, or a word of the glossary.\n"
	     "\n"
	     "Topics:");
	for (const struct sb_topic *t = sb_topics; t->name; t++)
		printf("  %-10s %s\n", t->name, t->summary);
	puts("\nTry:  sched-bench help questions\n"
	     "      sched-bench help spin-yield");
	return 0;
}

/* The long name of an option, from "--wake" or "-w" as well. */
static const char *plain_name(const char *word)
{
	const char *name = word + strspn(word, "-");

	for (int id = 0; id < SB_OPTIONS && name[0] && !name[1]; id++) {
		if (sb_option[id].letter == name[0])
			return sb_option[id].name;
	}
	return name;
}

/* Verbs, then all that has a name. */
static const char *next_word(const void *verbs, size_t i)
{
	const size_t n = *(const size_t *)verbs;

	return i < n ? sb_verbs[i].name : sb_names_next(NULL, i - n);
}

/* Lists names that contain the word; else suggests a similar name; else lists texts with the word. */
static int unknown_word(const char *name)
{
	size_t verbs = 0;
	const char *like;

	while (sb_verbs[verbs].name)
		verbs++;
	like = sb_names_have(name) ? NULL : sb_most_like(name, next_word, &verbs);
	if (like)
		return sb_fail(SB_EXIT_USAGE, "help: nothing is called '%s'; did you mean '%s'?",
			       name, like);
	if (sb_names_search(name))
		return 0;
	return sb_fail(SB_EXIT_USAGE,
		       "help: nothing is called '%s'; sched-bench help --help names the topics",
		       name);
}

/* Explains a name: one of ours, or another tool's for something of ours. */
static int help_word(const char *word)
{
	const int n = sb_names_explain(plain_name(word)) + sb_topics_define(plain_name(word));
	char habit[SB_HABIT_BYTES];
	char option[80];

	snprintf(option, sizeof(option), "--%s", word + strspn(word, "-"));
	if (!n && sb_habit_in_verb(SB_VERB_RUN, option, habit)) {
		printf("%s: %s\n", word, habit);
		return 0;
	}
	return n ? 0 : unknown_word(word);
}

static int help_plugin(const char *file)
{
	const struct sb_workload *workload;
	const int rc = sb_plugin_load(file, NULL, &workload);

	return rc ? rc : help_word(workload->name);
}

/* A topic may have the name of an option, or of a word. */
static int help_topic(const struct sb_topic *topic)
{
	if (sb_names_explain(topic->name) + sb_topics_define(topic->name))
		putchar('\n');
	sb_topic_put(topic);
	return 0;
}

static int help_one(char *program, const char *word)
{
	const struct sb_verb_info *verb = sb_verb_find(word);
	const struct sb_topic *topic = sb_topic_find(word);
	const struct sb_names *names = sb_names_find(word);

	if (!strcmp(word, "--help") || !strcmp(word, "-h") ||
	    (verb && verb->run == sb_command_help))
		return help_help();
	if (verb)
		return help_verb(program, verb);
	if (topic)
		return help_topic(topic);
	/* The name of a column, CPU/op, is that of no file. */
	if (sb_plugin_is_file(word) && strrchr(word, '.'))
		return help_plugin(word);
	if (names)
		return sb_names_put(names, SB_FORMAT_PRETTY);
	return help_word(word);
}

int sb_command_help(int argc, char **argv)
{
	int rc = 0;

	if (argc <= 2)
		sb_help();
	for (int i = 2; i < argc && !rc; i++) {
		if (i > 2)
			putchar('\n');
		rc = help_one(argv[0], argv[i]);
	}
	return rc;
}
