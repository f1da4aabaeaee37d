#include "harness/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/progress.h"

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

static void SB_PRINTF(1, 0) say(const char *format, va_list args)
{
	char *text = NULL;
	const int length = vasprintf(&text, format, args);

	sb_progress_hide();
	fputs("sched-bench: ", stderr);
	if (about) {
		put_text(about, stderr);
		fputs(": ", stderr);
	}
	put_text(length < 0 ? "no memory" : text, stderr);
	fputc('\n', stderr);
	if (length >= 0)
		free(text);
}

void sb_note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
}

int sb_fail(enum sb_status_code status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	return status;
}

int sb_fail_memory(void)
{
	return sb_fail(SB_EXIT_ENVIRONMENT, "no memory");
}

enum sb_status_code sb_status_of(int error)
{
	switch (-error) {
	case ENOENT:
	case ENOTDIR:
	case EISDIR:
	case EEXIST:
	case ENOTEMPTY:
	case ENAMETOOLONG:
	case ELOOP:
	case EINVAL:
	case EILSEQ:
	case ENXIO:
	case ESPIPE:
	case ESRCH:
		return SB_EXIT_USAGE;
	default:
		return SB_EXIT_ENVIRONMENT;
	}
}
