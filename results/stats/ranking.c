#include "results/stats/ranking.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define ERROR_LEVEL 0.05

static bool is_there(double value)
{
	return value > 0 && isfinite(value);
}

/* ---- Student's t ---- */

/* The finite series for whole degrees of freedom: Abramowitz and Stegun, 26.7.3
 * and 26.7.4. */
double sb_student_below(double t, uint32_t freedom)
{
	const double angle = atan(fabs(t) / sqrt(freedom));
	const double cosine = cos(angle);
	const bool odd = freedom % 2;
	double term = odd ? cosine : 1;
	double sum = 0;
	double within;

	for (uint32_t i = odd ? 3 : 2; i <= freedom; i += 2) {
		sum += term;
		term *= cosine * cosine * (i - 1) / i;
	}
	within = sin(angle) * sum;
	if (odd)
		within = 2 / M_PI * (angle + within);
	within = fmin(1, within); /* but for rounding */
	return t < 0 ? (1 - within) / 2 : (1 + within) / 2;
}

/* By bisection. */
double sb_student_quantile(double share, uint32_t freedom)
{
	double low = 0;
	double high = 1000;

	for (int i = 0; i < 60; i++) {
		const double middle = (low + high) / 2;

		if (sb_student_below(middle, freedom) < share)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* ---- the fit ---- */

struct fit {
	uint32_t configurations, rounds;
	struct sb_rank *rank;
	double *log;   /* [configurations * rounds]; NaN: missing */
	double *e;     /* [configurations]; NaN: it has no numbers */
	double *round; /* [rounds] its effect; NaN: it has no numbers */
	uint32_t *in;  /* [rounds] configurations that have numbers */
};

static double at(const struct fit *f, uint32_t c, uint32_t r)
{
	return f->log[(size_t)c * f->rounds + r];
}

static void fit_rounds(struct fit *f)
{
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t r = 0; r < f->rounds; r++) {
		f->round[r] = 0;
		for (uint32_t c = 0; c < f->configurations; c++) {
			if (!isnan(at(f, c, r)))
				f->round[r] += (at(f, c, r) - f->e[c]) / f->in[r];
		}
		sum += f->round[r];
		n += f->in[r] > 0;
	}
	for (uint32_t r = 0; r < f->rounds; r++)
		f->round[r] = f->in[r] ? f->round[r] - sum / n : (double)NAN;
}

/* Returns the largest change. */
static double fit_configurations(struct fit *f)
{
	double change = 0;

	for (uint32_t c = 0; c < f->configurations; c++) {
		double sum = 0;

		for (uint32_t r = 0; r < f->rounds; r++) {
			if (!isnan(at(f, c, r)))
				sum += at(f, c, r) - f->round[r];
		}
		sum /= f->rank[c].n; /* NaN: none */
		change = fmax(change, fabs(sum - f->e[c]));
		f->e[c] = sum;
	}
	return change;
}

/* Fitting rounds and configurations in turn, each given the other, converges to the least
 * squares: at once if the rounds are complete, the slower the more rows are missing. */
#define TURNS_MAX 10000

static void fit(struct fit *f)
{
	for (uint32_t r = 0; r < f->rounds; r++)
		f->round[r] = 0;
	fit_configurations(f);
	for (int i = 0; i < TURNS_MAX; i++) {
		fit_rounds(f);
		if (fit_configurations(f) < 1e-13)
			break;
	}
}

/* ---- intervals ---- */

/* A mean of n values with its standard error. */
struct mean {
	uint32_t n;
	double mean, squares;
};

/* Welford's way: no sum of large squares. */
static void add(struct mean *m, double value)
{
	const double off = value - m->mean;

	m->mean += off / ++m->n;
	m->squares += off * (value - m->mean);
}

/* Distance from the mean to that quantile of Student's distribution. */
static double distance_of(const struct mean *m, double share)
{
	const double error = sqrt(m->squares / (m->n - 1) / m->n);

	return error > 0 ? sb_student_quantile(share, m->n - 1) * error : 0;
}

/* From its distance to the mean of the others in each round, so the noise of both counts. */
static void put_interval(const struct fit *f, uint32_t c)
{
	struct sb_rank *rank = &f->rank[c];
	struct mean off = { .n = 0 };
	double half;

	for (uint32_t r = 0; r < f->rounds; r++) {
		if (!isnan(at(f, c, r)) && f->in[r] > 1)
			add(&off,
			    (at(f, c, r) - f->e[c] - f->round[r]) * f->in[r] / (f->in[r] - 1));
	}
	half = off.n < SB_RANKING_ROUNDS ? (double)NAN : distance_of(&off, 1 - ERROR_LEVEL / 2);
	rank->estimate = exp(f->e[c]);
	rank->low = exp(f->e[c] - half);
	rank->high = exp(f->e[c] + half);
}

/* ---- marks ---- */

/* others: how many with numbers are compared with the leader. */
static void judge(const struct fit *f, uint32_t c, uint32_t leader, uint32_t others)
{
	struct sb_rank *rank = &f->rank[c];
	struct mean above = { .n = 0 };

	for (uint32_t r = 0; r < f->rounds; r++) {
		const double ratio = at(f, c, r) - at(f, leader, r);

		if (!isnan(ratio))
			add(&above, ratio);
	}
	if (above.n < SB_RANKING_ROUNDS)
		return;
	rank->above = above.mean;
	rank->bound = above.mean - distance_of(&above, 1 - ERROR_LEVEL / others);
	rank->mark = rank->bound > 0 ? SB_MARK_WORSE : SB_MARK_ALIKE;
}

static void mark(const struct fit *f, struct sb_ranking *ranking)
{
	uint32_t any = 0;

	for (uint32_t c = 0; c < f->configurations; c++) {
		any += f->rank[c].n > 0;
		if (f->rank[c].n < SB_RANKING_ROUNDS)
			continue;
		if (!ranking->judged++ || f->e[c] < f->e[ranking->leader])
			ranking->leader = c;
	}
	for (uint32_t c = 0; c < f->configurations && any > 1 && ranking->judged; c++) {
		if (c != ranking->leader)
			judge(f, c, ranking->leader, any - 1);
		ranking->marked[f->rank[c].mark]++;
	}
	if (any < 2 || !ranking->judged)
		return;
	/* The leader has been counted among the open ones. */
	ranking->marked[SB_MARK_OPEN]--;
	f->rank[ranking->leader].mark = ranking->marked[SB_MARK_WORSE] + 1 == f->configurations
						? SB_MARK_BEST
						: SB_MARK_ALIKE;
	ranking->marked[f->rank[ranking->leader].mark]++;
}

static void take_logarithms(struct fit *f, const struct sb_rounds *in)
{
	for (uint32_t c = 0; c < f->configurations; c++) {
		f->rank[c] = (struct sb_rank){ .above = NAN, .bound = NAN };
		for (uint32_t r = 0; r < f->rounds; r++) {
			const size_t cell = (size_t)c * f->rounds + r;
			const bool has = is_there(in->value[cell]);

			f->log[cell] = has ? log(in->value[cell]) : (double)NAN;
			f->rank[c].n += has;
			f->in[r] += has;
		}
	}
}

int sb_ranking_make(struct sb_ranking *ranking, struct sb_rank *rank, const struct sb_rounds *in)
{
	const size_t cells = (size_t)in->configurations * in->rounds;
	struct fit f = { .configurations = in->configurations,
			 .rounds = in->rounds,
			 .rank = rank,
			 .log = calloc(cells + 1, sizeof(double)),
			 .e = calloc(in->configurations + 1, sizeof(double)),
			 .round = calloc(in->rounds + 1, sizeof(double)),
			 .in = calloc(in->rounds + 1, sizeof(uint32_t)) };
	const int rc = f.log && f.e && f.round && f.in ? 0 : -ENOMEM;

	*ranking = (struct sb_ranking){ .judged = 0 };
	if (!rc) {
		take_logarithms(&f, in);
		fit(&f);
		for (uint32_t c = 0; c < f.configurations; c++)
			put_interval(&f, c);
		mark(&f, ranking);
	}
	free(f.log);
	free(f.e);
	free(f.round);
	free(f.in);
	return rc;
}

/* ---- main effects ---- */

/* Of level l in round r. */
static double fold_cell(uint32_t l, uint32_t r, const uint32_t *level, const bool *include,
			const struct sb_rounds *in)
{
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t c = 0; c < in->configurations; c++) {
		const double value = in->value[c * in->rounds + r];

		if (!include[c] || level[c] != l)
			continue;
		if (!is_there(value))
			return NAN;
		sum += log(value);
		n++;
	}
	return n ? exp(sum / n) : (double)NAN;
}

void sb_ranking_fold(double *out, uint32_t levels, const uint32_t *level, const bool *include,
		     const struct sb_rounds *in)
{
	for (uint32_t l = 0; l < levels; l++) {
		for (uint32_t r = 0; r < in->rounds; r++)
			out[l * in->rounds + r] = fold_cell(l, r, level, include, in);
	}
}
