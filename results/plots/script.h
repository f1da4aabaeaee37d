/* script.h - what a picture and its script share. */
#ifndef SB_RESULTS_PLOTS_SCRIPT_H
#define SB_RESULTS_PLOTS_SCRIPT_H

#include "results/plots/plot.h"

/* Bytes of the character at that place in UTF-8. */
size_t sb_plot_character_bytes(const char *text);

/* What stands below a picture: what was run, where, and whether it is valid. The
 * caller frees it; NULL: no memory. */
char *sb_plot_make_caption(const struct sb_plot *plot);

#endif
