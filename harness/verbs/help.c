/*
 * help.c - the verb `help`: of the command, of a verb, or a topic, which is the README
 * of a folder.
 */
#include <stdio.h>
#include <string.h>

#include "harness/cli/help.h"
#include "harness/cli/verb.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "harness/verbs/verbs.h"
#include "results/embed.h"

#define TOPIC(name, file, summary)                                                                 \
	SB_EMBED(sb_topic_##name, file);                                                           \
	extern const char sb_topic_##name[];
#include "harness/verbs/topics.def"
#undef TOPIC

static const struct topic {
	const char *name;
	const char *text;
	const char *summary;
} topics[] = {
#define TOPIC(name, file, summary) { #name, sb_topic_##name, summary },
#include "harness/verbs/topics.def"
#undef TOPIC
};

static const char *topic_name(const void *unused, size_t i)
{
	(void)unused;
	return i < SB_ARRAY_SIZE(topics) ? topics[i].name : NULL;
}

static void list_topics(void)
{
	for (size_t i = 0; i < SB_ARRAY_SIZE(topics); i++)
		printf("  %-10s %s\n", topics[i].name, topics[i].summary);
}

/* As git's: help VERB is VERB --help. */
static int help_verb(char *program, const struct sb_verb_info *verb)
{
	char name[16];
	char option[] = "--help";
	char *words[] = { program, name, option, NULL };

	snprintf(name, sizeof(name), "%s", verb->name);
	return verb->run(3, words);
}

int sb_command_help(int argc, char **argv)
{
	const char *name = argc > 2 ? argv[2] : "";
	const struct sb_verb_info *verb = sb_verb_find(name);
	const char *like;

	if (!*name) {
		sb_help();
		return 0;
	}
	if (!strcmp(name, "--help") || !strcmp(name, "-h") ||
	    (verb && verb->run == sb_command_help)) {
		puts("sched-bench help [VERB|TOPIC]\n\nTopics:");
		list_topics();
		puts("\nTry:  sched-bench help validity");
		return 0;
	}
	if (verb)
		return help_verb(argv[0], verb);
	for (size_t i = 0; i < SB_ARRAY_SIZE(topics); i++) {
		if (!strcmp(name, topics[i].name)) {
			fputs(topics[i].text, stdout);
			return 0;
		}
	}
	like = sb_most_like(name, topic_name, NULL);
	return sb_fail(SB_EXIT_USAGE,
		       "help: there is no verb or topic '%s'%s%s%s; sched-bench help --help names "
		       "the topics",
		       name, like ? "; did you mean '" : "", like ? like : "", like ? "'?" : "");
}
