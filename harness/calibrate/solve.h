/* solve.h - costs that make times come out as measured, as nearly as costs can that are not negative. */
#ifndef SB_HARNESS_CALIBRATE_SOLVE_H
#define SB_HARNESS_CALIBRATE_SOLVE_H

#include "core/platform/base.h"

#define SB_UNKNOWNS 6

/* The time of something, linear in the costs. In nanoseconds. */
struct sb_linear_time {
	double real;		 /* as measured */
	double without;		 /* if all costs are 0 */
	double per[SB_UNKNOWNS]; /* nanosecond of each cost */
};

/* By how much it comes out too long, as a part of the measured time. */
double sb_linear_error(const struct sb_linear_time *time, const double ns[SB_UNKNOWNS]);

/* A time with a larger error was disturbed while it was measured. */
#define SB_DISTURBED 0.25

/*
 * The costs for which the sum of the squares of those errors is the least; a cost that no time
 * depends on keeps any value. Times that were disturbed, at most a quarter of all, do not count:
 * *n is how many are left, the first ones then, and at least SB_UNKNOWNS. By MINPACK's method of
 * Levenberg and Marquardt (More, Garbow and Hillstrom, 1980), for the costs' square roots, so that
 * none is negative. Returns 0, or an exit status after an error has been printed.
 */
SB_MUST_CHECK int sb_solve(struct sb_linear_time *times, uint32_t *n, double ns[SB_UNKNOWNS]);

/*
 * The mean time for which a CPU keeps a contended line so that an addition of two CPUs takes
 * added_ns, in the model of core/platform/virtual/lines.h: a CPU gets the line after transfer_ns,
 * adds for own_ns, and keeps the line for any time up to twice the mean, in which it may add again.
 * At least SB_HOLD_LEAST of own_ns, at most SB_HOLD_MOST. In nanoseconds.
 */
double sb_solve_hold(double added_ns, double transfer_ns, double own_ns);

/* The second addition is in time in one case of four. With less, loops of compare-and-swap on N
 * CPUs would take N tries, and published ones take 4 to 6. */
#define SB_HOLD_LEAST (2 / 3.0)
#define SB_HOLD_MOST  10.0

#endif
