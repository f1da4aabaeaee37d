/* shell_words.h - the words of a text, as a shell would read them; no shell is run. */
#ifndef SB_HARNESS_TERMINAL_SHELL_WORDS_H
#define SB_HARNESS_TERMINAL_SHELL_WORDS_H

#include "core/platform/base.h"

/* More are refused. */
#define SB_WORDS_MAX 64

struct sb_words {
	uint32_t n;
	char *word[SB_WORDS_MAX + 1]; /* ends with NULL */
	char *text;		      /* that they are in */
};

/*
 * Blanks part words; '...' is as it stands, in "..." a backslash is for " \ $ and
 * `, elsewhere for any character. All else is itself: there are no variables, no
 * patterns, no commands. Returns 0, -EINVAL for a quote or a backslash without an
 * end, -E2BIG or -ENOMEM; after that there is nothing to free.
 */
SB_MUST_CHECK int sb_words_split(struct sb_words *words, const char *text);
void sb_words_free(struct sb_words *words);

#endif
