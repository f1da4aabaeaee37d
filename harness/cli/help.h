/* help.h - what the command says about itself. */
#ifndef SB_HARNESS_CLI_HELP_H
#define SB_HARNESS_CLI_HELP_H

#include "harness/cli/options.h"

/* Of the command. */
void sb_help(void);

/* Of a verb that has options. */
void sb_help_verb(enum sb_verb verb);

/* An option in one column, its help and default in the next. */
void sb_help_option(const struct sb_option *option);

/* The column in which their help begins. */
int sb_help_column(void);

/* Whether standard output is a terminal on which an option and its help do not fit one line. */
bool sb_help_is_narrow(void);

/* Of standard output; without a terminal INT_MAX, as lines may have any length. */
int sb_help_columns(void);

/* The rest of a line, from that column on; what the terminal has no room for goes on below it. */
void sb_help_wrapped(const char *text, int column);

#endif
