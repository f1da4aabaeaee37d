/* html_details.h - parts of the page that a reader unfolds. */
#ifndef SB_RESULTS_PAGE_HTML_DETAILS_H
#define SB_RESULTS_PAGE_HTML_DETAILS_H

#include <stdio.h>

#include "results/page/page.h"

/* The part that follows is shown when a reader unfolds it. doc: a sentence below the title. */
void sb_html_begin_details(FILE *out, const char *title, const char *doc, bool is_open);

void sb_html_end_details(FILE *out);

/* A table with a row for each series and a column for each of n metrics. */
void sb_html_put_metrics(FILE *out, const struct sb_page *page, const char *label,
			 const enum sb_metric_id *metric, size_t n);

#endif
