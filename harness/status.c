#include "harness/status.h"

#include <stdarg.h>
#include <stdio.h>

int sb_fail(enum sb_status_code status, const char *format, ...)
{
	va_list args;

	fputs("sched-bench: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return status;
}
