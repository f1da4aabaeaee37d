/* wrap.h - lines that are too long for the terminal. */
#ifndef SB_RESULTS_FILES_WRAP_H
#define SB_RESULTS_FILES_WRAP_H

#include <stdio.h>

/* Goes on below, indented, where there is a blank. */
void sb_put_wrapped(FILE *out, const char *text, int columns);

#endif
