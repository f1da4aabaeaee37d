/* text.h - texts of pictures: quoted for gnuplot, measured, shortened, and broken into
 * lines. */
#ifndef SB_RESULTS_PLOTS_TEXT_H
#define SB_RESULTS_PLOTS_TEXT_H

#include <stdio.h>

#include "core/platform/base.h"

/* In pixels, in the font that readers have or a narrower one. */
double sb_plot_text_width(const char *text, uint32_t font);

/* How many characters of a text fit, for sb_plot_quote. */
size_t sb_plot_fit(const char *text, uint32_t font, double width);

/* The end of the line that begins there: at a space, if there is one. */
const char *sb_plot_line_end(const char *text, uint32_t font, double width);

/* Text in gnuplot's quotes; what is longer than that many characters loses its
 * middle. tic: of an axis, where a percent sign would be a format. */
void sb_plot_quote(FILE *out, const char *text, size_t most, bool tic);

#endif
