#include "harness/terminal/shell_words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The read and write positions: the write position is never behind, for quotes go. */
struct reader {
	const char *in;
	char *out;
};

/* The closing quote. All return 0 or -EINVAL. */
static int read_end(struct reader *r)
{
	if (!*r->in)
		return -EINVAL;
	r->in++;
	return 0;
}

/* The opening quote has been read. */
static int read_single(struct reader *r)
{
	while (*r->in && *r->in != '\'')
		*r->out++ = *r->in++;
	return read_end(r);
}

static int read_double(struct reader *r)
{
	while (*r->in && *r->in != '"') {
		if (*r->in == '\\' && r->in[1] && strchr("\"\\$`", r->in[1]))
			r->in++;
		*r->out++ = *r->in++;
	}
	return read_end(r);
}

/* Up to the next blank. */
static int read_word(struct reader *r)
{
	int rc = 0;

	while (!rc && *r->in && !strchr(" \t\n", *r->in)) {
		const char c = *r->in++;

		if (c == '\'')
			rc = read_single(r);
		else if (c == '"')
			rc = read_double(r);
		else if (c != '\\')
			*r->out++ = c;
		else if (*r->in)
			*r->out++ = *r->in++;
		else
			rc = -EINVAL;
	}
	return rc;
}

int sb_words_split(struct sb_words *words, const char *text)
{
	struct reader r = { .in = text };
	int rc = 0;

	*words = (struct sb_words){ .text = malloc(strlen(text) + 1) };
	if (!words->text)
		return -ENOMEM;
	r.out = words->text;
	for (r.in += strspn(r.in, " \t\n"); *r.in && !rc; r.in += strspn(r.in, " \t\n")) {
		if (words->n == SB_WORDS_MAX) {
			rc = -E2BIG;
			break;
		}
		words->word[words->n++] = r.out;
		rc = read_word(&r);
		if (!rc)
			*r.out++ = '\0';
	}
	if (rc)
		sb_words_free(words);
	return rc;
}

void sb_words_free(struct sb_words *words)
{
	free(words->text);
	*words = (struct sb_words){ .n = 0 };
}
