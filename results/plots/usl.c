#include "results/plots/usl.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define P SB_USL_PARAMETERS

/* Which parameters are fitted; the others are 0. */
struct fit {
	const struct sb_usl_point *point;
	uint32_t points;
	bool is_free[P];
};

double sb_usl_at(const struct sb_usl *usl, double n)
{
	return usl->value[SB_USL_LAMBDA] * n /
	       (1 + usl->value[SB_USL_SIGMA] * (n - 1) + usl->value[SB_USL_KAPPA] * n * (n - 1));
}

double sb_usl_peak(const struct sb_usl *usl)
{
	const double sigma = usl->value[SB_USL_SIGMA];
	const double kappa = usl->value[SB_USL_KAPPA];

	if (kappa <= 0)
		return INFINITY;
	return sigma < 1 ? fmax(1, sqrt((1 - sigma) / kappa)) : 1;
}

/* ---- a small symmetric system ---- */

/* Adds w times the product of row with itself, and with y. */
static void add_row(double a[P][P], double b[P], const double row[P], double y, double w)
{
	for (int i = 0; i < P; i++) {
		for (int j = 0; j < P; j++)
			a[i][j] += w * row[i] * row[j];
		b[i] += w * row[i] * y;
	}
}

/* Parameters that are not free are left out: their rows are those of 1. */
static void fix(double a[P][P], double b[P], const bool is_free[P])
{
	for (int i = 0; i < P; i++) {
		if (is_free[i])
			continue;
		for (int j = 0; j < P; j++)
			a[i][j] = a[j][i] = i == j;
		b[i] = 0;
	}
}

/* The inverse by Gauss and Jordan, of a system that is scaled to 1 on its
 * diagonal. False: it has none. */
static bool invert(const double a[P][P], double out[P][P])
{
	double m[P][2 * P] = { { 0 } };
	double scale[P];

	for (int i = 0; i < P; i++) {
		scale[i] = a[i][i] > 0 ? 1 / sqrt(a[i][i]) : 0;
		if (scale[i] <= 0)
			return false;
	}
	for (int i = 0; i < P; i++) {
		for (int j = 0; j < P; j++)
			m[i][j] = a[i][j] * scale[i] * scale[j];
		m[i][P + i] = 1;
	}
	for (int c = 0; c < P; c++) {
		/* Positive definite, so the diagonal will do as pivot. */
		const double pivot = m[c][c];

		if (pivot < 1e-13)
			return false;
		for (int j = 0; j < 2 * P; j++)
			m[c][j] /= pivot;
		for (int i = 0; i < P; i++) {
			const double times = i == c ? 0 : m[i][c];

			for (int j = 0; j < 2 * P; j++)
				m[i][j] -= times * m[c][j];
		}
	}
	for (int i = 0; i < P; i++) {
		for (int j = 0; j < P; j++)
			out[i][j] = m[i][P + j] * scale[i] * scale[j];
	}
	return true;
}

static bool solve(const double a[P][P], const double b[P], double out[P])
{
	double inverse[P][P];

	if (!invert(a, inverse))
		return false;
	for (int i = 0; i < P; i++) {
		out[i] = 0;
		for (int j = 0; j < P; j++)
			out[i] += inverse[i][j] * b[j];
	}
	return true;
}

/* ---- the fit ---- */

/* n / X = 1 / lambda + sigma / lambda (n - 1) + kappa / lambda n (n - 1), with
 * weights that make its residuals those of X. */
static bool start(const struct fit *fit, struct sb_usl *usl)
{
	double a[P][P] = { { 0 } };
	double b[P] = { 0 };
	double c[P];

	for (uint32_t i = 0; i < fit->points; i++) {
		const double n = fit->point[i].workers;
		const double x = fit->point[i].throughput;
		const double row[P] = { 1, n - 1, n * (n - 1) };
		const double weight = x * x / n;

		add_row(a, b, row, n / x, weight * weight);
	}
	fix(a, b, fit->is_free);
	if (!solve(a, b, c) || c[SB_USL_LAMBDA] <= 0)
		return false;
	usl->value[SB_USL_LAMBDA] = 1 / c[SB_USL_LAMBDA];
	usl->value[SB_USL_SIGMA] = c[SB_USL_SIGMA] / c[SB_USL_LAMBDA];
	usl->value[SB_USL_KAPPA] = c[SB_USL_KAPPA] / c[SB_USL_LAMBDA];
	return true;
}

static double squares(const struct fit *fit, const struct sb_usl *usl)
{
	double sum = 0;

	for (uint32_t i = 0; i < fit->points; i++) {
		const double n = fit->point[i].workers;
		const double r = fit->point[i].throughput - sb_usl_at(usl, n);

		/* Past a pole the law means nothing. */
		if (sb_usl_at(usl, n) <= 0)
			return INFINITY;
		sum += r * r;
	}
	return sum;
}

/* The normal equations there. */
static void linearise(const struct fit *fit, const struct sb_usl *usl, double a[P][P], double b[P])
{
	memset(a, 0, P * sizeof(a[0]));
	memset(b, 0, P * sizeof(b[0]));
	for (uint32_t i = 0; i < fit->points; i++) {
		const double n = fit->point[i].workers;
		const double x = sb_usl_at(usl, n);
		const double per = x * x / usl->value[SB_USL_LAMBDA] / n;
		const double row[P] = { x / usl->value[SB_USL_LAMBDA], -per * (n - 1),
					-per * n * (n - 1) };

		add_row(a, b, row, fit->point[i].throughput - x, 1);
	}
	fix(a, b, fit->is_free);
}

#define STEPS	100
#define HALVES	40
#define AT_REST 1e-12

/* A step, halved until it helps. False: none does. */
static bool step(const struct fit *fit, struct sb_usl *usl, double *sum)
{
	double a[P][P];
	double b[P];
	double move[P];

	linearise(fit, usl, a, b);
	if (!solve(a, b, move))
		return false;
	for (int h = 0; h < HALVES; h++) {
		struct sb_usl next = *usl;
		double its;

		for (int p = 0; p < P; p++)
			next.value[p] += ldexp(move[p], -h);
		its = next.value[SB_USL_LAMBDA] > 0 ? squares(fit, &next) : (double)INFINITY;
		if (its < *sum) {
			const bool rests = *sum - its <= AT_REST * *sum;

			*usl = next;
			*sum = its;
			return !rests;
		}
	}
	return false;
}

static void find_errors(const struct fit *fit, struct sb_usl *usl, double sum)
{
	double a[P][P];
	double b[P];
	double inverse[P][P];
	uint32_t fitted = 0;

	linearise(fit, usl, a, b);
	for (int p = 0; p < P; p++) {
		usl->error[p] = NAN;
		fitted += fit->is_free[p];
	}
	if (fit->points <= fitted || !invert(a, inverse))
		return;
	for (int p = 0; p < P; p++) {
		if (fit->is_free[p])
			usl->error[p] = sqrt(inverse[p][p] * sum / (fit->points - fitted));
	}
}

static bool is_possible(const struct sb_usl *usl)
{
	return usl->value[SB_USL_LAMBDA] > 0 && usl->value[SB_USL_SIGMA] >= 0 &&
	       usl->value[SB_USL_KAPPA] >= 0;
}

static bool fit_one(const struct fit *fit, struct sb_usl *usl, double *sum)
{
	if (!start(fit, usl))
		return false;
	*sum = squares(fit, usl);
	for (int i = 0; i < STEPS && step(fit, usl, sum); i++)
		;
	if (!isfinite(*sum) || !is_possible(usl))
		return false;
	find_errors(fit, usl, *sum);
	return true;
}

static uint32_t count_different(const struct sb_usl_point *point, uint32_t n)
{
	uint32_t different = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t j = 0;

		while (j < i && point[j].workers != point[i].workers)
			j++;
		different += j == i;
	}
	return different;
}

int sb_usl_fit(struct sb_usl *out, const struct sb_usl_point *point, uint32_t points)
{
	double best = INFINITY;

	if (count_different(point, points) < SB_USL_LEAST)
		return -EDOM;
	for (unsigned int free = 0; free < 4; free++) {
		const struct fit fit = { point, points, { true, free & 1, free & 2 } };
		struct sb_usl usl = { { 0 }, { 0 } };
		double sum;

		if (!fit_one(&fit, &usl, &sum) || sum >= best)
			continue;
		best = sum;
		*out = usl;
	}
	return isfinite(best) ? 0 : -ERANGE;
}
