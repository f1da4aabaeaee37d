#include "results/compare/comparison.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/compare/apart.h"
#include "results/record/series.h"
#include "results/stats/unpaired.h"

enum { A, B, BOTH };

static const char *const side_name[BOTH] = { "A", "B" };

const enum sb_metric_id sb_comparison_metrics[] = {
	SB_METRIC_ns_per_op,	       SB_METRIC_cpu_ns_per_op,	 SB_METRIC_ready_to_running_ns_p99,
	SB_METRIC_send_to_step_ns_p99, SB_METRIC_sojourn_ns_p99, SB_METRIC_wake_ns_p99,
};
const uint32_t sb_comparison_metrics_n = SB_ARRAY_SIZE(sb_comparison_metrics);

/* ---- which series belong together ---- */

static bool has_same_settings(const struct sb_series *a, const struct sb_series *b)
{
	return !strcmp(a->label, b->label) && a->placement.workers == b->placement.workers;
}

static void match(struct sb_comparison *s, uint32_t a, uint32_t b)
{
	s->match[s->matches++] =
		(struct sb_match){ { &s->result[A]->series[a], &s->result[B]->series[b] } };
	s->is_matched[A][a] = s->is_matched[B][b] = true;
}

/* How many of that workload are left; *last is the last of them. */
static uint32_t count_left(const struct sb_comparison *s, int side, const char *workload,
			   uint32_t *last)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->result[side]->all_series; i++) {
		if (s->is_matched[side][i] ||
		    strcmp(s->result[side]->series[i].workload, workload) != 0)
			continue;
		*last = i;
		n++;
	}
	return n;
}

/* Those with the same settings. */
static void match_alike(struct sb_comparison *s)
{
	for (uint32_t a = 0; a < s->result[A]->all_series; a++) {
		const struct sb_series *series = &s->result[A]->series[a];

		for (uint32_t b = 0; b < s->result[B]->all_series; b++) {
			const struct sb_series *other = &s->result[B]->series[b];

			if (s->is_matched[A][a] || s->is_matched[B][b] ||
			    strcmp(series->workload, other->workload) != 0 ||
			    !has_same_settings(series, other))
				continue;
			match(s, a, b);
		}
	}
}

/* The part of a workload that only one side has, if any: the difference is reported. */
static void match_left(struct sb_comparison *s)
{
	for (uint32_t i = 0; i < s->result[A]->all_series; i++) {
		const char *workload = s->result[A]->series[i].workload;
		uint32_t a;
		uint32_t b;

		if (!s->is_matched[A][i] && count_left(s, A, workload, &a) == 1 &&
		    count_left(s, B, workload, &b) == 1)
			match(s, a, b);
	}
}

/* ---- what is to be known ---- */

#define NOTE(s, ...) ((s)->rc = (s)->rc ? (s)->rc : sb_findings_note(&(s)->findings, __VA_ARGS__))

static void note_method(struct sb_comparison *s)
{
	switch (s->values) {
	case SB_VALUES_REPETITIONS:
		NOTE(s, "both are virtual: their repetitions differ by their seeds alone");
		break;
	case SB_VALUES_RUNS:
		NOTE(s,
		     "a value is the median of a run: %" PRIu32 " of A and %" PRIu32
		     " of B, taken in turn",
		     s->runs[A], s->runs[B]);
		break;
	case SB_VALUES_OPEN:
	default:
		s->rc = s->rc ? s->rc : sb_apart_note(s);
		break;
	}
}

/* The settings that make two measurements different things. */
static const struct {
	const char *group;
	const char *what;
	const char *key; /* NULL: every one, but for those that are not listed */
} facts[] = {
	{ "machine", "machine", "topology_fingerprint" },
	{ "machine", "machine", "cpu_model" },
	{ "machine", "machine", "host_name" },
	{ "machine", "machine", "kernel" },
	{ "machine", "machine", "clock_source" },
	{ "machine", "machine", "governor" },
	{ "profile", "profile", "name" },
	{ "profile", "profile", "topology_fingerprint" },
	{ "run", "build", "version" },
	{ "run", "build", "git_revision" },
	{ "run", "build", "build_mode" },
	{ "run", "build", "compiler" },
	{ "run", "build", "libc" },
	{ "options", "option", NULL },
};

/* Where it was written, and what was run, which is seen anyway. */
static bool is_no_matter(const char *option)
{
	static const char *const names[] = {
		"output",  "output-root",  "format",	  "no-plots",	"quiet",
		"verbose", "seed",	   "export-json", "export-csv", "workload",
		"trace",   "trace-events", "show-job",	  "help",
	};

	for (size_t i = 0; i < SB_ARRAY_SIZE(names); i++) {
		if (!strcmp(names[i], option))
			return true;
	}
	return false;
}

static void note_fact(struct sb_comparison *s, const char *what, const char *group, const char *key)
{
	const char *a = sb_result_fact(s->result[A], group, key);
	const char *b = sb_result_fact(s->result[B], group, key);

	if (strcmp(a, b) != 0)
		NOTE(s, "warning: %s differs: %s is '%s' for A, '%s' for B", what, key, a, b);
}

/* Of a group in either of them. */
static void note_all(struct sb_comparison *s, const char *what, const char *group)
{
	for (int side = 0; side < BOTH; side++) {
		const struct sb_result *result = s->result[side];

		for (uint32_t i = 0; i < result->facts; i++) {
			const struct sb_fact *fact = &result->fact[i];
			const bool is_seen =
				side == B && *sb_result_fact(s->result[A], group, fact->key);

			if (!strcmp(fact->group, group) && !is_seen && !is_no_matter(fact->key))
				note_fact(s, what, group, fact->key);
		}
	}
}

static void note_facts(struct sb_comparison *s)
{
	for (size_t i = 0; i < SB_ARRAY_SIZE(facts); i++) {
		if (facts[i].key)
			note_fact(s, facts[i].what, facts[i].group, facts[i].key);
		else
			note_all(s, facts[i].what, facts[i].group);
	}
}

static void note_match(struct sb_comparison *s, const struct sb_match *m)
{
	char name[SB_NAME_BYTES];
	uint32_t invalid[BOTH];
	uint32_t suspect[BOTH];

	sb_series_name(name, s->result[A], m->series[A]);
	if (!has_same_settings(m->series[A], m->series[B]))
		NOTE(s,
		     "warning: %s: settings differ: '%s', %" PRIu32 " workers for A, '%s', %" PRIu32
		     " workers for B",
		     name, m->series[A]->label, m->series[A]->placement.workers,
		     m->series[B]->label, m->series[B]->placement.workers);
	for (int side = 0; side < BOTH; side++) {
		invalid[side] = sb_series_count(m->series[side], SB_INVALID);
		suspect[side] = sb_series_count(m->series[side], SB_SUSPECT);
	}
	if (invalid[A] || invalid[B])
		NOTE(s,
		     "%s: invalid and left out: %" PRIu32 " of %" PRIu32 " rows of A, %" PRIu32
		     " of %" PRIu32 " of B",
		     name, invalid[A], m->series[A]->records, invalid[B], m->series[B]->records);
	if (suspect[A] || suspect[B])
		NOTE(s, "%s: suspect: %" PRIu32 " rows of A, %" PRIu32 " of B", name, suspect[A],
		     suspect[B]);
}

static void note_alone(struct sb_comparison *s)
{
	char name[SB_NAME_BYTES];

	for (int side = 0; side < BOTH; side++) {
		const struct sb_result *result = s->result[side];

		for (uint32_t i = 0; i < result->all_series; i++) {
			if (s->is_matched[side][i])
				continue;
			sb_series_name(name, result, &result->series[i]);
			NOTE(s, "only in %s: %s", side_name[side], name);
		}
	}
}

/* ---- findings ---- */

/* The same series of another run of that side; NULL: it has none. */
static const struct sb_series *in_run(const struct sb_result *run, const struct sb_series *series)
{
	for (uint32_t i = 0; i < run->all_series; i++) {
		if (!strcmp(run->series[i].workload, series->workload) &&
		    has_same_settings(&run->series[i], series))
			return &run->series[i];
	}
	return NULL;
}

/* Medians of runs, for the caller to free. */
static double *medians_of(const struct sb_comparison *s, int side, const struct sb_series *series,
			  enum sb_metric_id metric, uint32_t *n)
{
	double *value = calloc(s->runs[side], sizeof(*value));

	*n = 0;
	for (uint32_t i = 0; value && i < s->runs[side]; i++) {
		const struct sb_series *its = in_run(&s->result[side][i], series);
		const double median = its ? sb_series_spread(its, metric).median : (double)NAN;

		if (isfinite(median))
			value[(*n)++] = median;
	}
	return value;
}

static double *values_of(const struct sb_comparison *s, int side, const struct sb_match *m,
			 enum sb_metric_id metric, uint32_t *n)
{
	double *value = s->values == SB_VALUES_RUNS
				? medians_of(s, side, m->series[side], metric, n)
				: sb_series_values(m->series[side], metric, n);

	/* All differences are computed. */
	*n = (uint32_t)sb_min_u64(*n, SB_UNPAIRED_MAX);
	return value;
}

static int find_in(struct sb_finding *f, const double *a, const double *b)
{
	struct sb_unpaired out;
	int rc;

	f->blocks = 0;
	f->scale = SB_PAIR_RATIO;
	f->sign = 0;
	f->a = f->b = f->estimate = f->low = f->high = f->detectable = f->p = f->p_holm =
		f->superiority = NAN;
	if (!f->n_a || !f->n_b)
		return 0;
	rc = sb_unpaired_compare(&out, a, f->n_a, b, f->n_b, f->level);
	if (rc)
		return rc;
	f->scale = out.scale;
	f->a = out.a;
	f->b = out.b;
	f->estimate = out.estimate;
	f->low = out.low;
	f->high = out.high;
	f->detectable = out.detectable;
	f->p = f->p_holm = out.p;
	f->superiority = out.superiority;
	f->sign = out.sign;
	return 0;
}

static int find_one(struct sb_comparison *s, struct sb_finding *f, const struct sb_match *m,
		    double level)
{
	double *a = values_of(s, A, m, f->metric, &f->n_a);
	double *b = values_of(s, B, m, f->metric, &f->n_b);
	int rc;

	f->is_open = false;
	f->level = level;
	sb_series_name(f->name, s->result[A], m->series[A]);
	rc = a && b ? find_in(f, a, b) : -1;
	if (!rc && s->values == SB_VALUES_OPEN)
		sb_apart_judge(s, m, f);
	free(a);
	free(b);
	return rc;
}

/* With the level for that many; what has no values does not count. */
static int find_all(struct sb_comparison *s, uint32_t tests)
{
	struct sb_findings *findings = &s->findings;
	int rc = 0;

	findings->n = 0;
	for (uint32_t i = 0; i < s->matches; i++) {
		for (uint32_t m = 0; m < s->metrics && !rc; m++) {
			struct sb_finding *f = &findings->finding[findings->n];

			f->metric = s->metric[m];
			rc = find_one(s, f, &s->match[i], SB_FINDINGS_ERROR / tests);
			findings->n += (f->n_a && f->n_b) || s->is_chosen;
		}
	}
	return rc;
}

static int find(struct sb_comparison *s)
{
	const size_t most = (size_t)s->matches * s->metrics;
	uint32_t tests = 0;

	if (most > SB_HOLM_MAX)
		return -E2BIG;
	s->findings.verb = "compare";
	s->findings.finding = calloc(most + 1, sizeof(*s->findings.finding));
	if (!s->findings.finding || find_all(s, 1))
		return -ENOMEM;
	/* Those that are left open are no tests. */
	for (uint32_t i = 0; i < s->findings.n; i++)
		tests += !s->findings.finding[i].is_open;
	if (tests && find_all(s, tests))
		return -ENOMEM;
	sb_findings_adjust(&s->findings);
	return 0;
}

/* ---- all of it ---- */

static int match_all(struct sb_comparison *s)
{
	for (int side = 0; side < BOTH; side++) {
		s->is_matched[side] = calloc(s->result[side]->all_series + 1, sizeof(bool));
		if (!s->is_matched[side])
			return -ENOMEM;
	}
	s->matches = 0;
	s->match = calloc(s->result[A]->all_series + 1, sizeof(*s->match));
	if (!s->match)
		return -ENOMEM;
	match_alike(s);
	match_left(s);
	return 0;
}

static int note_all_of_it(struct sb_comparison *s)
{
	note_method(s);
	note_facts(s);
	for (uint32_t i = 0; i < s->matches; i++)
		note_match(s, &s->match[i]);
	note_alone(s);
	return s->rc ? s->rc
		     : sb_findings_note_level(&s->findings, ", if the above did not matter");
}

/* By the dates of their beginnings: a drift of the machine is then about the same for both sides. */
static bool are_in_turn(const struct sb_comparison *s)
{
	uint32_t at[BOTH] = { 0, 0 };
	uint32_t in_a_row = 0;
	int last = BOTH;

	while (at[A] < s->runs[A] || at[B] < s->runs[B]) {
		const char *date[BOTH] = { "", "" };
		int side;

		for (side = 0; side < BOTH; side++) {
			if (at[side] < s->runs[side])
				date[side] =
					sb_result_fact(&s->result[side][at[side]], "run", "date");
		}
		side = at[B] == s->runs[B] || (at[A] < s->runs[A] && strcmp(date[A], date[B]) <= 0)
			       ? A
			       : B;
		in_a_row = side == last ? in_a_row + 1 : 1;
		if (in_a_row > 2 || !*date[side])
			return false;
		last = side;
		at[side]++;
	}
	return true;
}

static enum sb_comparison_values values_for(const struct sb_comparison *s)
{
	if (!strcmp(sb_result_topology(s->result[A]), "virtual") &&
	    !strcmp(sb_result_topology(s->result[B]), "virtual"))
		return SB_VALUES_REPETITIONS;
	if (s->runs[A] >= SB_COMPARED_RUNS_LEAST && s->runs[B] >= SB_COMPARED_RUNS_LEAST &&
	    are_in_turn(s))
		return SB_VALUES_RUNS;
	return SB_VALUES_OPEN;
}

int sb_comparison_make(struct sb_comparison *s)
{
	int rc;

	s->values = values_for(s);
	rc = match_all(s);

	rc = rc ? rc : find(s);
	return rc ? rc : note_all_of_it(s);
}

bool sb_comparison_shares_workload(const struct sb_comparison *s)
{
	for (uint32_t a = 0; a < s->result[A]->all_series; a++) {
		for (uint32_t b = 0; b < s->result[B]->all_series; b++) {
			if (!strcmp(s->result[A]->series[a].workload,
				    s->result[B]->series[b].workload))
				return true;
		}
	}
	return false;
}

void sb_comparison_free(struct sb_comparison *s)
{
	free(s->is_matched[A]);
	free(s->is_matched[B]);
	free(s->match);
	sb_findings_free(&s->findings);
}
