#include "results/compare/apart.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "results/record/number.h"
#include "results/record/validity.h"

enum { A, B, BOTH };

static void leave_open(struct sb_finding *f)
{
	f->is_open = true;
	f->sign = 0;
	f->low = f->high = f->detectable = f->p = f->p_holm = NAN;
}

/* Whether the host was in two states; they are in why. */
static bool differ_in_host(const struct sb_match *m, char why[SB_FINDING_WHY])
{
	double line[BOTH];
	char text[BOTH][SB_HUMAN_BYTES];

	for (int side = 0; side < BOTH; side++) {
		if (sb_series_host_change(m->series[side], SB_METRIC_ns_per_op).changes) {
			snprintf(why, SB_FINDING_WHY, "the host moved a CPU during %s",
				 side == A ? "A" : "B");
			return true;
		}
		line[side] =
			sb_series_row_spread(m->series[side], SB_METRIC_line_transfer_ns).median;
		sb_human(text[side], line[side], "ns");
	}
	if (!sb_series_passes_lines(m->series[A]) ||
	    !(line[A] > SB_HOST_STATES * line[B] || line[B] > SB_HOST_STATES * line[A]))
		return false;
	snprintf(why, SB_FINDING_WHY,
		 "a cache line took %s between the workers' CPUs in A, %s in B: the host has moved "
		 "a CPU",
		 text[A], text[B]);
	return true;
}

/* Repetitions of one fork do not count. */
static bool has_forks(const struct sb_series *series, uint32_t values)
{
	return sb_series_forks(series) > 1 && values >= SB_COMPARED_FORKS_LEAST;
}

/* The spread between runs that holds for both; else NULL, and why, or "" if there is none. */
static const struct sb_run_spread *find_spread(const struct sb_comparison *s,
					       const struct sb_match *m, struct sb_finding *f)
{
	const double apart_s = sb_runs_apart_s(s->result[A], s->result[B]);
	const struct sb_run_spread *spread = NULL;
	char what[BOTH][SB_SPREAD_BYTES];
	char text[2][SB_SPAN_BYTES];

	if (s->spreads && sb_spread_what(s->result[A], m->series[A], what[A]) &&
	    sb_spread_what(s->result[B], m->series[B], what[B]) && !strcmp(what[A], what[B]))
		spread = sb_spreads_find(s->spreads, what[A], f->metric);
	if (!spread)
		return NULL;
	sb_span_describe(text[0], apart_s);
	sb_span_describe(text[1], spread->span_s);
	if (!sb_spreads_are_of(s->spreads, s->result[A]) ||
	    !sb_spreads_are_of(s->spreads, s->result[B]))
		snprintf(f->why, sizeof(f->why),
			 "the spread between runs is known for another boot of this machine");
	else if (!has_forks(m->series[A], f->n_a) || !has_forks(m->series[B], f->n_b))
		snprintf(f->why, sizeof(f->why), "fewer than %d forks on a side",
			 SB_COMPARED_FORKS_LEAST);
	else if (f->scale != SB_PAIR_RATIO)
		snprintf(f->why, sizeof(f->why), "values of 0 or below have no ratio");
	else if (!(apart_s <= spread->span_s))
		snprintf(f->why, sizeof(f->why),
			 "measured %s apart, and the spread between runs is known for %s", text[0],
			 text[1]);
	return *f->why ? NULL : spread;
}

/* A difference is more than the forks leave open, and more than runs of one program differ by. */
static void judge_by_spread(struct sb_finding *f, const struct sb_run_spread *spread)
{
	struct sb_estimated ratio = { f->estimate, f->low, f->high };
	const bool is_by_runs = sb_spread_widen(spread, f->level, &ratio);
	const double limit = ratio.high / ratio.value;
	char size[40];
	char span[SB_SPAN_BYTES];

	f->low = ratio.low;
	f->high = ratio.high;
	f->sign = (f->low > 1) - (f->high < 1);
	f->detectable = f->p = f->p_holm = NAN;
	sb_span_describe(span, spread->span_s);
	if (limit < 2)
		snprintf(size, sizeof(size), "%.2g %%", 100 * (limit - 1));
	else
		snprintf(size, sizeof(size), "a factor of %.2g", limit);
	if (is_by_runs)
		snprintf(f->why, sizeof(f->why),
			 "runs of one program differ by up to %s here (%" PRIu32 " runs over %s)",
			 size, spread->runs, span);
	else
		snprintf(f->why, sizeof(f->why), "their forks leave up to %s open", size);
}

void sb_apart_judge(const struct sb_comparison *s, const struct sb_match *m, struct sb_finding *f)
{
	const struct sb_run_spread *spread = NULL;

	*f->why = '\0';
	if (f->n_a && f->n_b && differ_in_host(m, f->why))
		f->estimate = f->superiority = NAN;
	else
		spread = find_spread(s, m, f);
	if (spread)
		judge_by_spread(f, spread);
	else
		leave_open(f);
}

/* ---- what is to be known ---- */

static int note_open(struct sb_comparison *s)
{
	const double apart_s = sb_runs_apart_s(s->result[A], s->result[B]);
	char apart[SB_SPAN_BYTES];
	int rc;

	sb_span_describe(apart, apart_s);
	rc = sb_findings_note(
		&s->findings,
		"no verdict: measured %s apart, and how far runs of one program are apart on this "
		"machine is not known for that; the spread within a run does not say it. "
		"sched-bench ab -A ... -B ... decides in about 50 s; so do %d runs on each side, "
		"taken in turn: compare A1 A2 ... --with B1 B2 ...; and sched-bench calibrate "
		"--runs 12 -w ... measures how far they are apart",
		apart, SB_COMPARED_RUNS_LEAST);
	if (!rc && s->runs[A] >= SB_COMPARED_RUNS_LEAST && s->runs[B] >= SB_COMPARED_RUNS_LEAST)
		rc = sb_findings_note(&s->findings, "these runs were not taken in turn: at most "
						    "two of one side may follow each other, by "
						    "their dates");
	return rc;
}

int sb_apart_note(struct sb_comparison *s)
{
	bool is_open = !s->findings.n;
	bool is_judged = false;
	int rc;

	for (uint32_t i = 0; i < s->findings.n; i++) {
		const struct sb_finding *f = &s->findings.finding[i];

		is_open |= f->is_open && !isnan(f->estimate);
		is_judged |= !f->is_open;
	}
	rc = is_open ? note_open(s) : 0;
	if (!rc && is_judged)
		rc = sb_findings_note(&s->findings,
				      "a value is the median of a fork; a difference is more than "
				      "these leave open, and more than runs of one program differ "
				      "by (calibrate --runs)");
	return rc;
}
