/*
 * progress.h - one line on a terminal while something takes long: a bar, the
 * steps, what is being done, the estimate so far, and how long it may take yet.
 *
 *     progress_open -> (phase -> done)... -> close
 *
 * On anything but a terminal nothing is written. The line is drawn at the start
 * of a phase and at no other time, so that nobody draws while something is being
 * measured. Called by one thread.
 */
#ifndef SB_HARNESS_TERMINAL_PROGRESS_H
#define SB_HARNESS_TERMINAL_PROGRESS_H

#include <stdio.h>

#include "core/platform/base.h"

/* A median and its extremes; NaN: there is none yet, or only one value. */
struct sb_estimate {
	double value, low, high;
	const char *unit; /* "ns/op" */
};

/* The content of a line. */
struct sb_progress_view {
	uint32_t steps;	   /* done */
	uint32_t all;	   /* of so many */
	double share;	   /* of the time that all takes, 0 to 1 */
	double left_s;	   /* NaN: unknown */
	const char *label; /* "pingpong"; "": none */
	const char *phase; /* "warm-up"; "": none */
	struct sb_estimate estimate;
};

/* The capabilities of a terminal. */
struct sb_terminal_skill {
	bool unicode; /* the locale's encoding is UTF-8 */
	bool color;
	bool erases; /* it knows escape sequences; if not, blanks erase */
};

/* Whether to use colours on that file: on a terminal that has them, unless
 * NO_COLOR is set and not empty (no-color.org). */
bool sb_terminal_has_color(FILE *out);

/* Of that terminal, now; 80 if it does not say. */
int sb_terminal_columns(FILE *out);

/* For lines and tables: its columns; 0 if it is no terminal, where lines are of any length. */
int sb_terminal_width(FILE *out);

/*
 * The line without its end, at most columns - 1 wide, because in the last column
 * some terminals go on to the next line. Parts without room are left out,
 * the least important first. Returns how wide it is.
 */
#define SB_PROGRESS_BYTES 1024
int sb_progress_line(char out[SB_PROGRESS_BYTES], const struct sb_progress_view *view, int columns,
		     struct sb_terminal_skill skill);

#define SB_PROGRESS_TEXT 128

struct sb_progress {
	FILE *out; /* NULL: nobody looks */
	struct sb_terminal_skill skill;
	uint64_t start_ns;
	uint64_t drawn_ns; /* 0: never */
	double planned_ns; /* of what is left and what is done */
	double done_ns;	   /* of that */
	struct sb_progress_view view;
	char label[SB_PROGRESS_TEXT];
	char phase[SB_PROGRESS_TEXT];
	int width; /* of the line that is on the terminal; 0: none is */
};

/* out: a terminal or not; quiet: not even then. */
void sb_progress_open(struct sb_progress *progress, FILE *out, bool quiet);

/* There is so much to do, in all: steps, and a guess of the time. May be called
 * again when there is more. */
void sb_progress_plan(struct sb_progress *progress, uint32_t steps, double planned_ns);

/* The phase that begins now, on a line of its own. Both texts may be anything. */
void sb_progress_phase(struct sb_progress *progress, const char *label, const char *phase);

/* A part of the plan is done: planned_ns of its time, and that many steps. */
void sb_progress_done(struct sb_progress *progress, uint32_t steps, double planned_ns);

void sb_progress_estimate(struct sb_progress *progress, const struct sb_estimate *estimate);

/* Takes the line away for good. */
void sb_progress_close(struct sb_progress *progress);

/* Takes away whatever line there is until the next phase; before anything else
 * is written to the terminal. */
void sb_progress_hide(void);

/* The same, from a signal handler that ends the program. */
void sb_progress_hide_in_handler(void);

#endif
