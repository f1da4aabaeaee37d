/* arguments.c - the words of a command line. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/sweep/sweep.h"

int sb_arguments_add(struct sb_arguments *out, const char *format, ...)
{
	va_list args;
	int length;

	SB_CHECK(out->n, <, SB_SWEEP_ARGS_MAX);
	va_start(args, format);
	length = vasprintf(&out->word[out->n], format, args);
	va_end(args);
	if (length < 0) {
		out->word[out->n] = NULL;
		return -ENOMEM;
	}
	out->n++;
	return 0;
}

void sb_arguments_free(struct sb_arguments *arguments)
{
	for (uint32_t i = 0; i < arguments->n; i++)
		free(arguments->word[i]);
	arguments->n = 0;
}

bool sb_arguments_differ(const struct sb_arguments *a, const struct sb_arguments *b,
			 const char **word_a, const char **word_b)
{
	uint32_t i = 0;

	while (i < a->n && i < b->n && !strcmp(a->word[i], b->word[i]))
		i++;
	*word_a = i < a->n ? a->word[i] : "nothing more";
	*word_b = i < b->n ? b->word[i] : "nothing more";
	return i < a->n || i < b->n;
}
