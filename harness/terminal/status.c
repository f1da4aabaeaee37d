#include "harness/terminal/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/terminal/progress.h"
#include "results/text/escape.h"

static const char *about;

void sb_fail_about(const char *what)
{
	about = what;
}

/* Of a text that is longer, the middle is left out. */
#define SHOWN_BYTES 2000

static bool is_within_character(const char *at)
{
	return ((unsigned char)*at & 0xc0) == 0x80;
}

/* Names in it may be anything; it stays one line. */
static void put_text(const char *text, FILE *out)
{
	const char *shown = sb_terminal_text(text);
	const char *head = shown + SHOWN_BYTES / 2;
	const char *tail = shown + strlen(shown) - SHOWN_BYTES / 2;

	if (tail <= head) {
		fputs(shown, out);
		return;
	}
	while (is_within_character(head))
		head--;
	while (is_within_character(tail))
		tail++;
	fprintf(out, "%.*s [...] %s", (int)(head - shown), shown, tail);
}

/* The second thing that there is no memory for is no news. */
static bool no_memory_is_said;

static void SB_PRINTF(1, 0) say(const char *format, va_list args)
{
	char *text = NULL;
	const int length = vasprintf(&text, format, args);

	if (length < 0 && no_memory_is_said)
		return;
	no_memory_is_said = no_memory_is_said || length < 0;
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
	if (!no_memory_is_said)
		sb_fail(SB_EXIT_ENVIRONMENT, "no memory");
	no_memory_is_said = true;
	return SB_EXIT_ENVIRONMENT;
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
	case E2BIG:
	case EILSEQ:
	case ENXIO:
	case ESPIPE:
	case ESRCH:
		return SB_EXIT_USAGE;
	default:
		return SB_EXIT_ENVIRONMENT;
	}
}
