#include "results/stats/usl.h"

#include <cminpack.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define P	  SB_USL_PARAMETERS
#define TOLERANCE 1e-13
#define RANK	  1e-13
#define WORK(m)	  (5 * P + (m)) /* of cminpack */

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

/* One fit: the parameters that are free, in the order of the fit; the others are 0. */
struct fit {
	const struct sb_usl_point *point;
	double unit; /* of lambda, so that all parameters are of similar size */
	enum sb_usl_parameter parameter[P];
	int frees;
	int points;
};

static struct sb_usl law_of(const struct fit *fit, const double *free)
{
	struct sb_usl usl = { { 0 }, { 0 } };

	for (int i = 0; i < fit->frees; i++)
		usl.value[fit->parameter[i]] = free[i];
	usl.value[SB_USL_LAMBDA] *= fit->unit;
	return usl;
}

/* The residuals in units of lambda's, or their derivatives by column.
 * NOLINTNEXTLINE(readability-function-size): the parameters are what cminpack passes. */
static int evaluate(void *what, int m, int n, const double *free, double *residual,
		    double *derivative, int rows, int wanted)
{
	const struct fit *fit = what;
	const struct sb_usl usl = law_of(fit, free);

	for (int i = 0; i < m; i++) {
		const double workers = fit->point[i].workers;
		const double x = sb_usl_at(&usl, workers) / fit->unit;
		const double per = x * x / free[0] / workers;
		const double by[P] = { x / free[0], -per * (workers - 1),
				       -per * workers * (workers - 1) };

		if (wanted == 1)
			residual[i] = x - fit->point[i].throughput / fit->unit;
		for (int j = 0; j < n && wanted == 2; j++)
			derivative[i + j * rows] = by[fit->parameter[j]];
	}
	return 0;
}

static bool is_possible(const struct fit *fit, const struct sb_usl *usl)
{
	bool ok = usl->value[SB_USL_LAMBDA] > 0 && usl->value[SB_USL_SIGMA] >= 0 &&
		  usl->value[SB_USL_KAPPA] >= 0;

	for (int i = 0; i < fit->points && ok; i++)
		ok = isfinite(sb_usl_at(usl, fit->point[i].workers));
	return ok;
}

/* From the derivatives at the fit, as lmder1 has factored them. */
static void find_errors(const struct fit *fit, struct sb_usl *usl, double sum, double *derivative,
			const int *pivot, double *work)
{
	const int m = fit->points;

	for (int p = 0; p < P; p++)
		usl->error[p] = NAN;
	if (m <= fit->frees || covar1(m, fit->frees, sum, derivative, m, pivot, RANK, work))
		return;
	for (int i = 0; i < fit->frees; i++)
		usl->error[fit->parameter[i]] = sqrt(derivative[i + i * m]);
	usl->error[SB_USL_LAMBDA] *= fit->unit;
}

/* Returns the sum of squares; infinite: there is no fit. room: for the residuals,
 * the derivatives, and WORK. */
static double fit_one(struct fit *fit, struct sb_usl *usl, double *room)
{
	const int m = fit->points;
	double free[P] = { 1, 0.01, 0.0001 };
	double *residual = room;
	double *derivative = residual + m;
	double *work = derivative + m * P;
	int pivot[P];
	double sum;

	if (lmder1(evaluate, fit, m, fit->frees, free, residual, derivative, m, TOLERANCE, pivot,
		   work, WORK(m)) <= 0)
		return INFINITY;
	*usl = law_of(fit, free);
	if (!is_possible(fit, usl))
		return INFINITY;
	sum = pow(enorm(m, residual), 2);
	find_errors(fit, usl, sum, derivative, pivot, work);
	return sum;
}

static struct fit make_fit(const struct sb_usl_point *point, uint32_t points, bool sigma,
			   bool kappa)
{
	struct fit fit = { .point = point,
			   .points = (int)points,
			   .unit = point[0].throughput / point[0].workers };

	fit.parameter[fit.frees++] = SB_USL_LAMBDA;
	if (sigma)
		fit.parameter[fit.frees++] = SB_USL_SIGMA;
	if (kappa)
		fit.parameter[fit.frees++] = SB_USL_KAPPA;
	return fit;
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
	double *room;

	if (count_different(point, points) < SB_USL_LEAST)
		return -EDOM;
	room = calloc(points * (1 + P) + WORK(points), sizeof(*room));
	if (!room)
		return -ENOMEM;
	for (unsigned int free = 0; free < 4; free++) {
		struct fit fit = make_fit(point, points, free & 1, free & 2);
		struct sb_usl usl;
		const double sum = fit_one(&fit, &usl, room);

		if (sum >= best)
			continue;
		best = sum;
		*out = usl;
	}
	free(room);
	return isfinite(best) ? 0 : -ERANGE;
}
