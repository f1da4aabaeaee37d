#include "harness/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* What is named in it may be anything; it stays one line. */
static void put_line(const char *text, FILE *out)
{
	for (; *text; text++) {
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			fprintf(out, "\\x%02x", (unsigned char)*text);
		else
			fputc(*text, out);
	}
	fputc('\n', out);
}

int sb_fail(enum sb_status_code status, const char *format, ...)
{
	char *text = NULL;
	va_list args;
	int length;

	va_start(args, format);
	length = vasprintf(&text, format, args);
	va_end(args);
	fputs("sched-bench: ", stderr);
	put_line(length < 0 ? "no memory" : text, stderr);
	if (length >= 0)
		free(text);
	return status;
}
