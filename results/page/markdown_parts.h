/* markdown_parts.h - pieces of Markdown that its writers share. */
#ifndef SB_RESULTS_PAGE_MARKDOWN_PARTS_H
#define SB_RESULTS_PAGE_MARKDOWN_PARTS_H

#include <stdio.h>

#include "results/page/page.h"

/* The state of the writer. */
struct sb_md_writer {
	FILE *out;
	const struct sb_page *page;
	const char *home;
	uint32_t seen;	 /* most rows of a table that is seen at once */
	uint32_t folded; /* and of one that is folded away */
};

/* A cell of a table, escaped. */
void sb_md_put_cell(FILE *out, const char *text);

void sb_md_put_number(FILE *out, double value, const char *unit);

void sb_md_put_series_heads(const struct sb_md_writer *w);

void sb_md_put_rule(const struct sb_md_writer *w, uint32_t columns, bool right);

void sb_md_put_series_cells(const struct sb_md_writer *w, const struct sb_page_row *row);

/* The best setting of each machine, if there are several. */
void sb_md_put_fleet(const struct sb_md_writer *w);

/* Says that n of them are left out, if any. */
void sb_md_put_left_out(const struct sb_md_writer *w, uint32_t n, const char *what);

void sb_md_begin_details(const struct sb_md_writer *w, const char *title);

void sb_md_end_details(const struct sb_md_writer *w);

/* Each of these is a section that is folded away. */
void sb_md_put_doubts(const struct sb_md_writer *w);

void sb_md_put_pictures(const struct sb_md_writer *w);

void sb_md_put_latencies(const struct sb_md_writer *w);

void sb_md_put_slowest(const struct sb_md_writer *w);

void sb_md_put_times(const struct sb_md_writer *w);

void sb_md_put_facts(const struct sb_md_writer *w);

#endif
