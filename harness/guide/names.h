/*
 * names.h - everything with a name and an explanation, in one table of kinds: workloads, options,
 * metrics, pictures, ... `list`, `help WORD` and the completion are made of it.
 */
#ifndef SB_HARNESS_GUIDE_NAMES_H
#define SB_HARNESS_GUIDE_NAMES_H

#include <jansson.h>

#include "harness/cli/options.h"

struct sb_named {
	const char *name; /* NULL: there is none */
	const char *doc;  /* one line */
};

struct sb_names {
	const char *plural; /* of `list PLURAL` */
	const char *title;  /* of `help NAME` */
	const char *help;   /* what `list` shows */
	struct sb_named (*at)(size_t i);
	void (*put)(size_t i);	      /* as text; NULL: a line with name and explanation */
	void (*more)(size_t i);	      /* what `help NAME` says besides; NULL: nothing */
	json_t *(*to_json)(size_t i); /* NULL: name and meaning */
};

/* Two pictures besides those of results/plots/plots.h. */
#define SB_PICTURE_TOPOLOGY "topology"
#define SB_PICTURE_ALL	    "all"

/* Ends with a NULL plural. */
extern const struct sb_names sb_names[];

/* NULL: there is no such kind. */
const struct sb_names *sb_names_find(const char *plural);

/* For sb_most_like(): the names of a kind, or with NULL of all kinds. */
const char *sb_names_next(const void *names, size_t i);

/* All of a kind on standard output. Returns an exit status. */
int sb_names_put(const struct sb_names *names, enum sb_format format);

/* The explanations of that name, in every kind but topics that has it. Returns how many there are. */
int sb_names_explain(const char *name);

/* Whether the word is a part of any name. */
bool sb_names_have(const char *word);

/* A line for what has the word in its name, its explanation or its text. Returns how many there
 * are. */
int sb_names_search(const char *word);

#endif
