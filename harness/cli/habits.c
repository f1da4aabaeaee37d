/* habits.c - names that other tools have for our options and verbs, from habits.def. */
#include <stdio.h>
#include <string.h>

#include "harness/cli/reading.h"
#include "harness/cli/verb.h"

static const struct habit {
	const char *names;
	const char *options;
	const char *value;
	const char *remark;
} habits[] = {
#define HABIT(names, options, value, remark) { names, options, value, remark },
#include "harness/cli/habits.def"
};

static const struct verb_habit {
	const char *names;
	const char *words;
} verb_habits[] = {
#define VERB_HABIT(names, words) { names, words },
#include "harness/cli/habits.def"
};

#define NAME_BYTES 64

/* The next of several names, which blanks separate; false: there is no other. */
static bool next_name(const char **names, char out[NAME_BYTES])
{
	const size_t length = strcspn(*names, " ");

	snprintf(out, NAME_BYTES, "%.*s", (int)length, *names);
	*names += length + strspn(*names + length, " ");
	return length;
}

static bool is_among(const char *name, const char *names)
{
	char one[NAME_BYTES];

	while (next_name(&names, one)) {
		if (!strcmp(one, name))
			return true;
	}
	return false;
}

/* The verb's option of that name that takes the value; SB_OPTIONS: it has none. */
static enum sb_option_id option_for(enum sb_verb verb, const char *name, const char *value)
{
	const enum sb_option_id id = sb_option_find(verb, name);
	const char *form = id == SB_OPTIONS ? NULL : sb_option[id].form;

	if (!*value || (form && (sb_option_is_text(&sb_option[id]) || strstr(form, value))))
		return id;
	return SB_OPTIONS;
}

#define USE_BYTES 80

/* "--format json", or for a job file "format=json". */
static void put_use(char out[USE_BYTES], const struct habit *habit, enum sb_option_id id,
		    bool is_file)
{
	const char *value = *habit->value ? habit->value : sb_option[id].form;

	snprintf(out, USE_BYTES, "%s%s%s%s", is_file ? "" : "--", sb_option[id].name,
		 !value	   ? ""
		 : is_file ? "="
			   : " ",
		 value ? value : "");
}

static bool is_googles(enum sb_verb verb, const char *name)
{
	return verb == SB_VERB_MICRO && !strncmp(name, "benchmark_", strlen("benchmark_"));
}

/* What to write instead, if that verb has it. */
static bool find_use(const struct habit *habit, enum sb_verb verb, bool is_file,
		     char out[USE_BYTES])
{
	const char *options = habit->options;
	char name[NAME_BYTES];

	while (next_name(&options, name)) {
		const enum sb_option_id id = option_for(verb, name, habit->value);

		if (id != SB_OPTIONS)
			put_use(out, habit, id, is_file);
		else if (is_googles(verb, name))
			snprintf(out, USE_BYTES, "--%s=VALUE", name);
		else
			continue;
		return true;
	}
	return false;
}

/* The same, whichever verb has it. */
static const struct sb_verb_info *find_elsewhere(const struct habit *habit, char out[USE_BYTES])
{
	for (const struct sb_verb_info *v = sb_verbs; v->name; v++) {
		if (v->options && find_use(habit, (enum sb_verb)v->options, false, out))
			return v;
	}
	return NULL;
}

static void plain_name(char out[NAME_BYTES], const char *word)
{
	snprintf(out, NAME_BYTES, "%s", word + strspn(word, "-"));
	out[strcspn(out, "=")] = '\0';
	for (char *c = out; *c; c++)
		*c = *c == '_' ? '-' : *c;
}

bool sb_habit_in_verb(enum sb_verb verb, const char *word, char out[SB_HABIT_BYTES])
{
	char name[NAME_BYTES];
	char use[USE_BYTES];

	plain_name(name, word);
	for (size_t i = 0; i < SB_ARRAY_SIZE(habits); i++) {
		const char *remark = habits[i].remark;

		if (!is_among(name, habits[i].names))
			continue;
		if (!*habits[i].options)
			snprintf(out, SB_HABIT_BYTES, "%s", remark);
		else if (find_use(&habits[i], verb, *word != '-', use))
			snprintf(out, SB_HABIT_BYTES, "here it is %s%s%s", use, *remark ? "; " : "",
				 remark);
		else
			continue;
		return true;
	}
	return false;
}

bool sb_habit_elsewhere(enum sb_verb verb, const char *word, char out[SB_HABIT_BYTES])
{
	char name[NAME_BYTES];
	char use[USE_BYTES];

	plain_name(name, word);
	for (size_t i = 0; i < SB_ARRAY_SIZE(habits); i++) {
		const struct sb_verb_info *other;

		if (!is_among(name, habits[i].names))
			continue;
		other = find_elsewhere(&habits[i], use);
		if (!other)
			continue;
		snprintf(out, SB_HABIT_BYTES, "it is %s of %s, and %s has nothing like it", use,
			 other->name, sb_verb_of(verb)->name);
		return true;
	}
	return false;
}

const char *sb_habit_of_verb(const char *name)
{
	for (size_t i = 0; i < SB_ARRAY_SIZE(verb_habits); i++) {
		if (is_among(name, verb_habits[i].names))
			return verb_habits[i].words;
	}
	return NULL;
}
