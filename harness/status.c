#include "harness/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const char *about;

void sb_fail_about(const char *what)
{
	about = what;
}

/* What is named in it may be anything; it stays one line. */
static void put_text(const char *text, FILE *out)
{
	for (; *text; text++) {
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			fprintf(out, "\\x%02x", (unsigned char)*text);
		else
			fputc(*text, out);
	}
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
	if (about) {
		put_text(about, stderr);
		fputs(": ", stderr);
	}
	put_text(length < 0 ? "no memory" : text, stderr);
	fputc('\n', stderr);
	if (length >= 0)
		free(text);
	return status;
}
