#include "harness/guide/topics.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "harness/guide/markdown.h"
#include "results/embed.h"

#define TOPIC(name, file, summary)                                                                 \
	SB_EMBED(sb_topic_##name, file);                                                           \
	extern const char sb_topic_##name[];
#define TABLE(name, topic, section, summary)
#include "harness/guide/topics.def"
#undef TOPIC
#undef TABLE

const struct sb_topic sb_topics[] = {
#define TOPIC(name, file, summary)	     { #name, summary, sb_topic_##name, NULL },
#define TABLE(name, topic, section, summary) { #name, summary, sb_topic_##topic, section },
#include "harness/guide/topics.def"
#undef TOPIC
#undef TABLE
	{ NULL, NULL, NULL, NULL },
};

const struct sb_topic *sb_topic_find(const char *name)
{
	for (const struct sb_topic *t = sb_topics; t->name; t++) {
		if (!strcmp(t->name, name))
			return t;
	}
	return NULL;
}

/* Whether the first cell of the row names it, "| `queue50`, `queue99` | ...", or as an
 * option, "| `--wake` | ..." or "| `--closed N` | ...". */
static bool row_defines(const char *row, const char *word)
{
	const size_t length = strlen(word);
	const char *end = strpbrk(row + 2, "|\n");

	for (const char *at = row + 2; end && *end == '|' && at < end; at++) {
		const size_t dashes = *at == '`' ? strspn(at + 1, "-") : 0;
		const char *name = at + 1 + dashes;

		if (*at == '`' && !strncmp(name, word, length) &&
		    (name[length] == '`' || (dashes && name[length] == ' ')))
			return true;
	}
	return false;
}

/* The rows of a table, below the line that ends its head. */
static void put_rows(const char *line)
{
	for (line = strchr(line, '\n'); line && line[1] == '|'; line = strchr(line + 1, '\n'))
		sb_markdown_put_row(line + 1);
}

/* The definition is behind the name, or, if the row is the head of a table, the rows below it. */
static void put_definition(const char *row)
{
	const char *next = strchr(row, '\n');

	if (next && !strncmp(next, "\n|--", 4))
		put_rows(next + 1);
	else
		sb_markdown_put_definition(row);
}

static int define_in(const struct sb_topic *topic, const char *word)
{
	int n = 0;

	for (const char *row = strstr(topic->text, "\n| `"); row; row = strstr(row, "\n| `")) {
		row++;
		if (!row_defines(row, word))
			continue;
		printf("%s, in sched-bench help %s:\n", word, topic->name);
		put_definition(row);
		n++;
	}
	return n;
}

int sb_topics_define(const char *word)
{
	int n = 0;

	for (const struct sb_topic *t = sb_topics; *word && t->name; t++)
		n += t->section ? 0 : define_in(t, word);
	return n;
}

static void put_table(const struct sb_topic *topic)
{
	const char *row = strstr(topic->text, topic->section);

	printf("%s:\n\n", topic->section + strspn(topic->section, "# "));
	row = row ? strstr(row, "\n|---|") : NULL;
	if (row)
		put_rows(row + 1);
}

/* Sections that are for those who change the tool. */
static bool is_for_developers(const char *section)
{
	return !strncmp(section, "## To add ", strlen("## To add "));
}

/* The title, and the sections for users; the table of the folder's files, and what stands before it,
 * are for developers, too. */
static void put_text(const char *text)
{
	const char *section = strstr(text, "\n## ");
	const char *files = strstr(text, "\n| file |");
	const char *next;

	if (!section || !files || files > section) {
		sb_markdown_put(text, strlen(text));
		return;
	}
	sb_markdown_put(text, strcspn(text, "\n") + 1);
	for (; section; section = next) {
		next = strstr(section + 1, "\n## ");
		if (!is_for_developers(section + 1))
			sb_markdown_put(section, next ? (size_t)(next - section) : strlen(section));
	}
}

void sb_topic_put(const struct sb_topic *topic)
{
	if (topic->section)
		put_table(topic);
	else
		put_text(topic->text);
}
