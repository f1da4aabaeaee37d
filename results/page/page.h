/*
 * page.h - what the two forms of a report, the HTML page and the Markdown, are
 * made from: the series of one or several results as rows, the settings that
 * differ between them as columns. Private to results/page/.
 */
#ifndef SB_RESULTS_PAGE_PAGE_H
#define SB_RESULTS_PAGE_PAGE_H

#include <stdio.h>

#include "results/compare/fleet.h"
#include "results/text/escape.h"
#include "results/record/record.h"

#define SB_PAGE_FINDING_BYTES 512
#define SB_PAGE_HEADLINES_MAX 24

/* One row of every table. */
struct sb_page_row {
	const struct sb_result *result;
	const struct sb_series *series;
	char *name; /* the workload; with its parameters if it is not alone */
};

struct sb_page {
	const struct sb_result *result; /* [results] */
	uint32_t results;
	struct sb_page_row *row; /* [rows] */
	uint32_t rows;
	const char **swept; /* [swepts] names of settings, each once */
	uint32_t swepts;
	bool *has; /* [SB_METRICS] any row measured it */
	/* The columns of the first table: ns_per_op, the workloads' objectives, and what else any
	 * row measured. */
	enum sb_metric_id headline[SB_PAGE_HEADLINES_MAX];
	uint32_t headlines;
	/* Of two results: how the second differs from the first, as facts. */
	struct sb_result difference;
	/* Of sweeps of several machines. */
	struct sb_fleet fleet;
};

/* Over results that outlive it. Returns 0 or -ENOMEM; it is then empty. */
SB_MUST_CHECK int sb_page_init(struct sb_page *page, const struct sb_result *result,
			       uint32_t results);
void sb_page_fini(struct sb_page *page);

/* Fills in the difference. Returns 0 or -ENOMEM. */
SB_MUST_CHECK int sb_page_compare(struct sb_page *page);

/* The result that has the answer, and maybe findings: the only one, or the difference of
 * two. NULL: there are more. */
const struct sb_result *sb_page_answering(const struct sb_page *page);

/* Whether the fact is the answer or a part of it, which is read first. */
bool sb_page_is_told(const struct sb_fact *fact);

/* The next fact of the group, "findings" or "ranking", from fact *i on, cut into its cells; false:
 * there is none. */
enum { SB_FINDING_NAME, SB_FINDING_A, SB_FINDING_RATIO, SB_FINDING_VERDICT, SB_FINDING_CELLS };
#define SB_RANKING_CELLS 6
struct sb_page_finding {
	char cell[SB_RANKING_CELLS][SB_PAGE_FINDING_BYTES];
};
bool sb_page_next_finding(const struct sb_result *result, const char *group, uint32_t *i,
			  struct sb_page_finding *finding);

/* Titles of a ranking's cells, and how many of these it has. */
extern const char *const sb_page_ranking_heads[SB_RANKING_CELLS];
int sb_page_ranking_cells(const struct sb_page_finding *first);

/* Repetitions of all rows with that verdict; SB_VERDICTS: of any. */
uint32_t sb_page_count(const struct sb_page *page, enum sb_verdict verdict);

/* The explanation of a verdict. */
const char *sb_page_verdict_doc(enum sb_verdict verdict);

/* The last part of the directory, which is what tells results apart. */
const char *sb_page_result_name(const struct sb_result *result);

/* "Intel …, 1 package, 2 cores, 2 workers"; in virtual time the modelled machine. For the caller to
 * free, or NULL. */
char *sb_page_machine(const struct sb_result *result);

/* "pingpong, yield" and how many more there are, for the caller to free. */
char *sb_page_workloads(const struct sb_page *page);

/* A number with its unit; out has room for SB_PAGE_NUMBER_BYTES. */
#define SB_PAGE_NUMBER_BYTES 64
void sb_page_number(char *out, double value, const char *unit);

/* "153 ns .. 170 ns", of a spread that has values; same room, twice. */
#define SB_PAGE_RANGE_BYTES (2 * SB_PAGE_NUMBER_BYTES + 8)
void sb_page_range(char *out, const struct sb_spread *spread, const char *unit);

/* ---- reasons ---- */

struct sb_page_reason {
	enum sb_verdict verdict;
	char *kind; /* without the numbers that differ */
	uint32_t repetitions;
};

struct sb_page_reasons {
	struct sb_page_reason *reason; /* [reasons] the worst and most first */
	uint32_t reasons;
};

/* Returns 0 or -ENOMEM. */
SB_MUST_CHECK int sb_page_reasons_find(struct sb_page_reasons *reasons, const struct sb_page *page);
void sb_page_reasons_free(struct sb_page_reasons *reasons);

/* ---- pictures ---- */

/* The pictures of a result: plots/NAME.svg. */
struct sb_page_pictures {
	char **name; /* [pictures], by kind, without ".svg" */
	uint32_t pictures;
};

/* None when there is no such directory. Returns 0 or -ENOMEM. */
SB_MUST_CHECK int sb_page_pictures_find(struct sb_page_pictures *pictures,
					const struct sb_result *result);
void sb_page_pictures_free(struct sb_page_pictures *pictures);

/* The caption of the picture of that name, or "". */
const char *sb_page_picture_doc(const char *name);

/* The title of a picture, which is the first of its texts, all lines of it, if gnuplot has
 * drawn it. For the caller to free; NULL: it has none. */
char *sb_svg_title(const char *path);

/* An SVG file as an image inside the page. label: the text in its place. Returns 0
 * or -errno; nothing has been written then. */
SB_MUST_CHECK int sb_html_image(FILE *out, const char *path, const char *label);

/* Writes bytes of text; those that are not in plain as %XX (RFC 3986, 2.1). */
#define SB_URL_PLAIN "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._/"
void sb_put_percent_encoded(FILE *out, const char *text, size_t bytes, const char *plain);

/* ---- HTML ---- */

/* The style sheet and the script as they stand in page.css and page.js, and
 * their hashes as a content security policy names them. */
extern const char sb_page_css[];
extern const char sb_page_js[];
extern const char sb_page_policy[];

/* A table in a box that scrolls, up to its first cell of data. label: for those
 * who do not see where it stands. */
void sb_html_table(FILE *out, const char *label);
void sb_html_table_body(FILE *out);
void sb_html_table_end(FILE *out);

/* Of a column; unit and doc may be "". */
void sb_html_head(FILE *out, const char *title, const char *unit, const char *doc);
void sb_html_metric_head(FILE *out, enum sb_metric_id metric);
/* The same of a row. */
void sb_html_metric_row_head(FILE *out, enum sb_metric_id metric);

/* The columns and cells that say which series a row is. */
void sb_html_series_heads(FILE *out, const struct sb_page *page);
void sb_html_series_cells(FILE *out, const struct sb_page *page, const struct sb_page_row *row);

void sb_html_number(FILE *out, double value, const char *unit);
void sb_html_count(FILE *out, uint64_t value);
void sb_html_text(FILE *out, const char *text);
/* The median, with its spread as a tooltip; shown: also beneath it. */
void sb_html_spread(FILE *out, const struct sb_spread *spread, const char *unit, bool shown);

/* "6 valid, 1 suspect". */
void sb_html_verdicts(FILE *out, const struct sb_series *series);

/* Each repetition a point, for a cell; what is not valid is marked. */
void sb_html_strip(FILE *out, const struct sb_series *series, enum sb_metric_id metric);

/* The parts of the page. */
void sb_html_fleet(FILE *out, const struct sb_page *page);
void sb_html_findings(FILE *out, const struct sb_page *page);
void sb_html_verdict(FILE *out, const struct sb_page *page);
void sb_html_headline(FILE *out, const struct sb_page *page);
void sb_html_pictures(FILE *out, const struct sb_page *page);
void sb_html_latencies(FILE *out, const struct sb_page *page);
void sb_html_exemplars(FILE *out, const struct sb_page *page);
void sb_html_times(FILE *out, const struct sb_page *page);
void sb_html_steals(FILE *out, const struct sb_page *page);
void sb_html_memory(FILE *out, const struct sb_page *page);
void sb_html_metrics(FILE *out, const struct sb_page *page);
void sb_html_settings(FILE *out, const struct sb_page *page);
void sb_html_facts(FILE *out, const struct sb_page *page);
void sb_html_definitions(FILE *out, const struct sb_page *page);

#endif
