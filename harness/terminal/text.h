/*
 * text.h - text of the command line: numbers, strictly (the whole text must be
 * the number), endings, and names that are like others.
 */
#ifndef SB_HARNESS_TERMINAL_TEXT_H
#define SB_HARNESS_TERMINAL_TEXT_H

#include "core/platform/base.h"

/* The text of a macro's value. */
#define SB_TEXT_OF(macro)	SB_TEXT_OF_VALUE(macro)
#define SB_TEXT_OF_VALUE(value) #value

/* A decimal count without sign or unit. False: it is none, or too large. */
bool sb_parse_count(const char *text, uint64_t *out);

/* A time with its unit, "10us", "1.5s", in nanoseconds; units ns, us, ms, s,
 * m, h. 0 needs no unit. False: no number, no unit, or too large. */
bool sb_parse_time(const char *text, uint64_t *out_ns);

/* A percentage, "1%", "0.5%", in millionths. False: none, or too large. */
bool sb_parse_percent(const char *text, uint64_t *out_ppm);

/* The shortest text that parses back to the time. */
#define SB_TIME_BYTES 32
void sb_format_time(char *out, uint64_t ns);

/* The same of a size, "64KiB", in as many bytes; workloads/load/quantity.h parses it. */
void sb_format_size(char *out, uint64_t bytes);

/* This moment in UTC, as ISO 8601 has it. */
#define SB_DATE_BYTES 40
void sb_format_now(char out[SB_DATE_BYTES]);

/* Whether a file's name has that ending, in small or large letters. */
bool sb_ends_in(const char *name, const char *ending);

/*
 * The candidate most like word, for a suggestion, or NULL when none is close.
 * next(state, i) returns candidate i, NULL at the end.
 */
const char *sb_most_like(const char *word, const char *(*next)(const void *state, size_t i),
			 const void *state);

#endif
