/* report.h - the report on results: a page, or Markdown. */
#ifndef SB_RESULTS_PAGE_REPORT_H
#define SB_RESULTS_PAGE_REPORT_H

#include <stdio.h>

#include "results/record/record.h"

/*
 * The report on one result or several side by side: one self-contained page with
 * the pictures of their directories. Returns 0 or -ENOMEM.
 */
int sb_write_html(const struct sb_result *result, uint32_t results, FILE *out);

/*
 * The same as Markdown for a comment on GitHub, at most SB_MARKDOWN_BYTES of it;
 * it says what it leaves out. home: the directory from which links to pictures
 * go. Returns 0 or -ENOMEM.
 */
#define SB_MARKDOWN_BYTES 65536
int sb_write_markdown(const struct sb_result *result, uint32_t results, const char *home,
		      FILE *out);

/* report.html in the result's own directory. Returns 0 or -errno. */
int sb_write_report(const struct sb_result *result);

#endif
