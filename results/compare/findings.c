#include "results/compare/findings.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "results/files/csv.h"
#include "results/record/number.h"
#include "results/record/record.h"
#include "results/record/series.h"

int sb_findings_note(struct sb_findings *findings, const char *format, ...)
{
	char **grown = realloc(findings->note, (findings->notes + 1) * sizeof(*grown));
	va_list args;
	int length;

	if (!grown)
		return -ENOMEM;
	findings->note = grown;
	va_start(args, format);
	length = vasprintf(&grown[findings->notes], format, args);
	va_end(args);
	if (length < 0)
		return -ENOMEM;
	findings->notes++;
	return 0;
}

void sb_findings_free(struct sb_findings *findings)
{
	for (uint32_t i = 0; i < findings->notes; i++)
		free(findings->note[i]);
	free(findings->note);
	free(findings->finding);
	*findings = (struct sb_findings){ .verb = NULL };
}

void sb_findings_adjust(struct sb_findings *findings)
{
	double p[SB_HOLM_MAX];
	const uint32_t n = findings->n;

	SB_CHECK(n, <=, SB_HOLM_MAX);
	for (uint32_t i = 0; i < n; i++)
		p[i] = findings->finding[i].p;
	sb_holm_adjust(p, n);
	for (uint32_t i = 0; i < n; i++)
		findings->finding[i].p_holm = p[i];
}

bool sb_finding_is_conclusive(const struct sb_finding *finding)
{
	return isfinite(finding->low) && isfinite(finding->high);
}

/* ---- words ---- */

/* The words for a higher value and a lower one, and for a factor. */
struct adjectives {
	const char *higher, *lower;
	const char *verb, *measure; /* "takes" 5 times as "long" */
};

static struct adjectives adjectives_of(enum sb_metric_id metric)
{
	const struct sb_metric *m = &sb_metric[metric];
	/* CPU time is a cost, not how long something takes. */
	const bool is_time = !strcmp(m->unit, "ns") && strncmp(m->name, "cpu_", 4) != 0;

	if (m->better == SB_HIGHER && !strcmp(m->unit, "1/s"))
		return (struct adjectives){ "faster", "slower", "is", "fast" };
	if (m->better == SB_LOWER && is_time)
		return (struct adjectives){ "slower", "faster", "takes", "long" };
	return (struct adjectives){ "higher", "lower", "is", "high" };
}

/* What has at least doubled is a factor: nobody can picture "455 %". */
static bool is_factor(const struct sb_finding *f)
{
	return f->scale == SB_PAIR_RATIO && f->sign > 0 && f->estimate >= 2;
}

/* A change of a size, without its direction: "3.1 %", of a factor "2.5", or "12.0 ns". */
static void put_size(char *out, const struct sb_finding *f, double change)
{
	const double size = fabs(change);

	if (f->scale == SB_PAIR_DIFFERENCE)
		sb_human(out, size, sb_metric[f->metric].unit);
	else if (is_factor(f))
		snprintf(out, SB_HUMAN_BYTES, "%.3g", 1 + change);
	else if (100 * size < 10)
		snprintf(out, SB_HUMAN_BYTES, "%.2g %%", fmax(0.01, 100 * size));
	else
		snprintf(out, SB_HUMAN_BYTES, "%.0f %%", 100 * size);
}

/* From no change: a factor's is 1. */
static double change_of(const struct sb_finding *f, double value)
{
	return f->scale == SB_PAIR_RATIO ? value - 1 : value;
}

#define HERE_BYTES 100

/* "here B is 3.1 % slower" */
static void describe_estimate(const struct sb_finding *f, char out[HERE_BYTES])
{
	const struct adjectives words = adjectives_of(f->metric);
	const double change = change_of(f, f->estimate);
	char size[SB_HUMAN_BYTES];

	put_size(size, f, change);
	if (change == 0)
		snprintf(out, HERE_BYTES, "here B is as A");
	else
		snprintf(out, HERE_BYTES, "here B is %s %s", size,
			 change > 0 ? words.higher : words.lower);
}

static void describe_none(const struct sb_finding *f, char out[SB_FINDING_WORDS])
{
	char size[SB_HUMAN_BYTES];
	char here[HERE_BYTES];

	if (sb_finding_is_conclusive(f) && *f->why) {
		describe_estimate(f, here);
		snprintf(out, SB_FINDING_WORDS, "no difference shown; %s, and %s", here, f->why);
		return;
	}
	if (!sb_finding_is_conclusive(f)) {
		snprintf(out, SB_FINDING_WORDS,
			 f->n_a && f->n_b ? "too few values for a verdict"
					  : "not measured on both sides");
		return;
	}
	if (isfinite(f->detectable) && change_of(f, f->detectable) > 0) {
		put_size(size, f, change_of(f, f->detectable));
		snprintf(out, SB_FINDING_WORDS,
			 "no significant difference (minimum detectable effect %s at 80 %% power)",
			 size);
		return;
	}
	snprintf(out, SB_FINDING_WORDS, "no significant difference");
}

static void describe_open(const struct sb_finding *f, char out[SB_FINDING_WORDS])
{
	char here[HERE_BYTES];

	describe_estimate(f, here);
	if (isnan(f->estimate))
		snprintf(out, SB_FINDING_WORDS, "not compared: %s", f->why);
	else
		snprintf(out, SB_FINDING_WORDS, "no verdict; %s%s%s", here, *f->why ? ": " : "",
			 f->why);
}

void sb_finding_describe(const struct sb_finding *f, char out[SB_FINDING_WORDS])
{
	const struct adjectives words = adjectives_of(f->metric);
	const double near = change_of(f, f->sign > 0 ? f->low : f->high);
	const double far = change_of(f, f->sign > 0 ? f->high : f->low);
	char size[SB_HUMAN_BYTES];
	char least[SB_HUMAN_BYTES];
	char most[SB_HUMAN_BYTES];

	if (f->is_open && f->n_a && f->n_b) {
		describe_open(f, out);
		return;
	}
	if (!f->sign) {
		describe_none(f, out);
		return;
	}
	put_size(size, f, change_of(f, f->estimate));
	put_size(least, f, near);
	put_size(most, f, far);
	if (is_factor(f))
		snprintf(out, SB_FINDING_WORDS, "B %s %s times as %s [%s .. %s]", words.verb, size,
			 words.measure, least, most);
	else
		snprintf(out, SB_FINDING_WORDS, "B is %s %s [%s .. %s]", size,
			 f->sign > 0 ? words.higher : words.lower, least, most);
}

void sb_finding_estimate(const struct sb_finding *f, char out[SB_FINDING_WORDS])
{
	const char *unit = sb_metric[f->metric].unit;
	char value[3][SB_HUMAN_BYTES];
	const double number[] = { f->estimate, f->low, f->high };

	if (isnan(f->estimate)) {
		snprintf(out, SB_FINDING_WORDS, "-");
		return;
	}
	for (int i = 0; i < 3; i++) {
		if (f->scale == SB_PAIR_RATIO)
			snprintf(value[i], SB_HUMAN_BYTES, "%.3f", number[i]);
		else
			sb_human(value[i], number[i], unit);
	}
	if (sb_finding_is_conclusive(f))
		snprintf(out, SB_FINDING_WORDS, "%s%s [%s .. %s]",
			 f->scale == SB_PAIR_RATIO ? "" : "B-A ", value[0], value[1], value[2]);
	else
		snprintf(out, SB_FINDING_WORDS, "%s", value[0]);
}

int sb_findings_note_level(struct sb_findings *findings, const char *behind)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < findings->n; i++)
		n += !findings->finding[i].is_open;
	if (!n)
		return 0;
	if (n == 1)
		return sb_findings_note(findings, "the interval is right with 95 %%%s", behind);
	return sb_findings_note(
		findings, "intervals of %.4g %%: all %" PRIu32 " together are right with 95 %%%s",
		100 * (1 - SB_FINDINGS_ERROR / n), n, behind);
}

/* ---- the answer ---- */

/* Findings from one on that have its name; how many of them differ, and of how many one can say
 * that they do not. */
struct named {
	uint32_t n;
	uint32_t differ;
	uint32_t same;
};

static struct named count_named(const struct sb_findings *findings, uint32_t first)
{
	struct named named = { 0, 0, 0 };

	for (uint32_t i = first; i < findings->n; i++) {
		if (strcmp(findings->finding[i].name, findings->finding[first].name) != 0)
			break;
		named.n++;
		named.differ += findings->finding[i].sign != 0;
		named.same += !findings->finding[i].sign &&
			      sb_finding_is_conclusive(&findings->finding[i]);
	}
	return named;
}

static void put_finding(const struct sb_finding *f, FILE *out)
{
	char words[SB_FINDING_WORDS];

	sb_finding_describe(f, words);
	fprintf(out, "%s: %s", sb_metric[f->metric].name, words);
}

#define DIFFERENCES 3 /* that the answer names; the table has all */

static void put_others(FILE *out, uint32_t differ, uint32_t same)
{
	if (differ)
		fprintf(out, "; %" PRIu32 " other metric%s", differ,
			differ == 1 ? " differs" : "s differ");
	if (same)
		fprintf(out, "; no significant difference in %" PRIu32 " other metric%s", same,
			same == 1 ? "" : "s");
}

/* The first finding in any case, and the next that differ. */
static void put_named(const struct sb_finding *f, struct named named, FILE *out)
{
	uint32_t differ = named.differ;

	fprintf(out, "%s: ", f->name);
	for (uint32_t i = 0; i < named.n; i++) {
		if (i && (!f[i].sign || named.differ - differ == DIFFERENCES))
			continue;
		fputs(i ? "; " : "", out);
		put_finding(&f[i], out);
		differ -= f[i].sign != 0;
	}
	/* The first has been told in any case. */
	put_others(out, differ, named.same - (!f->sign && sb_finding_is_conclusive(f)));
	fputs(".\n", out);
}

static void put_answer(const struct sb_findings *findings, FILE *out)
{
	struct named named;

	for (uint32_t i = 0; i < findings->n; i += named.n) {
		named = count_named(findings, i);
		put_named(&findings->finding[i], named, out);
	}
}

char *sb_findings_answer(const struct sb_findings *findings, const char *a, const char *b)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	put_answer(findings, out);
	fprintf(out, "  A: %s\n  B: %s\n", a, b);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

static int add_finding(struct sb_result *result, const struct sb_finding *f)
{
	char key[SB_NAME_BYTES + 64];
	char a[SB_HUMAN_BYTES];
	char estimate[SB_FINDING_WORDS];
	char words[SB_FINDING_WORDS];
	char value[SB_HUMAN_BYTES + 2 * SB_FINDING_WORDS + 8];

	snprintf(key, sizeof(key), "%s: %s", f->name, sb_metric[f->metric].name);
	sb_human(a, f->a, sb_metric[f->metric].unit);
	sb_finding_estimate(f, estimate);
	sb_finding_describe(f, words);
	snprintf(value, sizeof(value), "%s | %s | %s", a, estimate, words);
	return sb_result_add_fact(result, "findings", key, value);
}

static int add_note(struct sb_result *result, uint32_t number, const char *note)
{
	char key[16];

	snprintf(key, sizeof(key), "%" PRIu32, number);
	return sb_result_add_fact(result, "notes", key, note);
}

int sb_findings_store(struct sb_result *result, const struct sb_findings *findings, const char *a,
		      const char *b)
{
	char *text = sb_findings_answer(findings, a, b);
	int rc = text ? sb_result_add_fact(result, "answer", "text", text) : -ENOMEM;

	for (uint32_t i = 0; i < findings->n && !rc; i++)
		rc = add_finding(result, &findings->finding[i]);
	for (uint32_t i = 0; i < findings->notes && !rc; i++)
		rc = add_note(result, i + 1, findings->note[i]);
	free(text);
	return rc;
}

/* ---- columns ---- */

static const char *verdict_of(const struct sb_finding *f)
{
	if (f->is_open)
		return "open";
	if (!sb_finding_is_conclusive(f))
		return "inconclusive";
	return f->sign > 0 ? "higher" : f->sign < 0 ? "lower" : "none";
}

/* Without an end on both sides there is no interval. */
static double end_of(const struct sb_finding *f, double end)
{
	return sb_finding_is_conclusive(f) ? end : (double)NAN;
}

/* No pairs have no blocks. */
static double blocks_of(const struct sb_finding *f)
{
	return f->blocks ? f->blocks : (double)NAN;
}

bool sb_finding_cell(const struct sb_finding *f, uint32_t i, struct sb_finding_cell *out)
{
	const struct sb_metric *metric = &sb_metric[f->metric];
	const struct {
		const char *name;
		const char *text;
		double number;
	} cell[] = {
		{ "name", f->name, 0 },
		{ "metric", metric->name, 0 },
		{ "unit", metric->unit, 0 },
		{ "n_a", NULL, f->n_a },
		{ "n_b", NULL, f->n_b },
		{ "blocks", NULL, blocks_of(f) },
		{ "median_a", NULL, f->a },
		{ "median_b", NULL, f->b },
		{ "scale", f->scale == SB_PAIR_RATIO ? "ratio" : "difference", 0 },
		{ "estimate", NULL, f->estimate },
		{ "low", NULL, end_of(f, f->low) },
		{ "high", NULL, end_of(f, f->high) },
		{ "confidence", NULL, 1 - f->level },
		{ "detectable", NULL, f->detectable },
		{ "p", NULL, f->p },
		{ "p_holm", NULL, f->p_holm },
		{ "superiority", NULL, f->superiority },
		{ "difference", verdict_of(f), 0 },
		{ "verdict", out->words, 0 },
	};

	if (i >= SB_ARRAY_SIZE(cell))
		return false;
	out->name = cell[i].name;
	out->text = cell[i].text;
	out->number = cell[i].number;
	sb_finding_describe(f, out->words);
	return true;
}

void sb_findings_write_csv(const struct sb_findings *findings, FILE *out)
{
	static const struct sb_finding none;
	struct sb_finding_cell cell;

	for (uint32_t i = 0; sb_finding_cell(&none, i, &cell); i++)
		fprintf(out, "%s%s", i ? "," : "", cell.name);
	fputc('\n', out);
	for (uint32_t n = 0; n < findings->n; n++) {
		for (uint32_t i = 0; sb_finding_cell(&findings->finding[n], i, &cell); i++) {
			fputs(i ? "," : "", out);
			if (cell.text)
				sb_csv_put_text(out, cell.text);
			else
				sb_csv_put_number(out, cell.number);
		}
		fputc('\n', out);
	}
}
