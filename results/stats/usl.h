/*
 * usl.h - the Universal Scalability Law, fitted to measured throughputs.
 *
 *     X(n) = lambda n / (1 + sigma (n - 1) + kappa n (n - 1))
 *
 * lambda: throughput of one worker; sigma: the share of the work that is done one
 * at a time (contention); kappa: what each pair of workers costs the others
 * (coherence). N. J. Gunther, Guerrilla Capacity Planning, Springer 2007,
 * chapters 4 and 5.
 */
#ifndef SB_RESULTS_PLOTS_USL_H
#define SB_RESULTS_PLOTS_USL_H

#include "core/platform/base.h"

enum sb_usl_parameter { SB_USL_LAMBDA, SB_USL_SIGMA, SB_USL_KAPPA, SB_USL_PARAMETERS };

struct sb_usl {
	double value[SB_USL_PARAMETERS]; /* none is negative */
	/* Standard errors; NaN: it stands at its bound, 0, or there is no
	 * degree of freedom left. */
	double error[SB_USL_PARAMETERS];
};

struct sb_usl_point {
	double workers;
	double throughput;
};

#define SB_USL_LEAST 4

/*
 * Least squares by MINPACK's Levenberg-Marquardt method; each of sigma and kappa
 * once free and once 0, and of the fits without a negative parameter the best.
 * Returns 0, -EDOM for fewer than SB_USL_LEAST different numbers of workers,
 * -ERANGE if no parameters fit, or -ENOMEM. Throughputs are above 0.
 */
SB_MUST_CHECK int sb_usl_fit(struct sb_usl *out, const struct sb_usl_point *point, uint32_t points);

double sb_usl_at(const struct sb_usl *usl, double workers);

/* Where throughput is largest; infinite: it grows for ever. */
double sb_usl_peak(const struct sb_usl *usl);

#endif
