/* verb.h - what the table of verbs says of each; see harness/verbs/verbs.def. */
#ifndef SB_HARNESS_CLI_VERB_H
#define SB_HARNESS_CLI_VERB_H

#include "harness/cli/options.h"

struct sb_verb_info {
	const char *name;
	unsigned int options; /* enum sb_verb, or 0 */
	const char *words;
	const char *arguments;
	const char *summary;
	const char *advice;		   /* NULL: it takes words that are no options */
	const char *about;		   /* the help: before its options, */
	void (*list)(void);		   /* what this prints, or NULL, */
	const char *more;		   /* and behind them, or NULL */
	int (*run)(int argc, char **argv); /* returns an exit status */
};

/* Ends with a NULL name. */
extern const struct sb_verb_info sb_verbs[];

/* NULL: there is none. */
const struct sb_verb_info *sb_verb_find(const char *name);

/* What other tools' users mean by that name, "run --trace"; NULL: it is not known. */
const char *sb_habit_of_verb(const char *name);

/* The one with that flag. */
const struct sb_verb_info *sb_verb_of(enum sb_verb verb);

#endif
