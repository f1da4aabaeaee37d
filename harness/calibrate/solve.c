#include "harness/calibrate/solve.h"

#include <cminpack.h>
#include <math.h>
#include <stdlib.h>

#include "harness/terminal/status.h"

#define FIRST_NS  10.0
#define TOLERANCE 1e-8

double sb_linear_error(const struct sb_linear_time *time, const double ns[SB_UNKNOWNS])
{
	double sum = time->without;

	for (int u = 0; u < SB_UNKNOWNS; u++)
		sum += ns[u] * time->per[u];
	return sum / time->real - 1;
}

static void square(const double *root, double ns[SB_UNKNOWNS])
{
	for (int u = 0; u < SB_UNKNOWNS; u++)
		ns[u] = root[u] * root[u];
}

/* NOLINTNEXTLINE(readability-function-size): the parameters are what cminpack passes. */
static int evaluate(void *what, int m, int n, const double *root, double *residual, int wanted)
{
	const struct sb_linear_time *times = what;
	double ns[SB_UNKNOWNS];

	(void)n;
	(void)wanted;
	square(root, ns);
	for (int i = 0; i < m; i++)
		residual[i] = sb_linear_error(&times[i], ns);
	return 0;
}

static int solve_all(const struct sb_linear_time *times, uint32_t n, double ns[SB_UNKNOWNS])
{
	const uint32_t works = n * SB_UNKNOWNS + 5 * SB_UNKNOWNS + n;
	double root[SB_UNKNOWNS];
	int pivot[SB_UNKNOWNS];
	double *room = calloc(n + works, sizeof(*room));
	int info;

	if (!room)
		return sb_fail_memory();
	for (int u = 0; u < SB_UNKNOWNS; u++)
		root[u] = sqrt(FIRST_NS);
	info = lmdif1(evaluate, (void *)(uintptr_t)times, (int)n, SB_UNKNOWNS, root, room,
		      TOLERANCE, pivot, room + n, (int)works);
	free(room);
	if (info <= 0)
		return sb_fail(SB_EXIT_INVALID, "no costs fit the times that were measured");
	square(root, ns);
	return 0;
}

/* The last time is the one that comes out the most wrong; returns by how much. */
static double put_worst_last(struct sb_linear_time *times, uint32_t n, const double ns[SB_UNKNOWNS])
{
	const struct sb_linear_time last = times[n - 1];
	uint32_t worst = 0;

	for (uint32_t i = 1; i < n; i++) {
		if (fabs(sb_linear_error(&times[i], ns)) > fabs(sb_linear_error(&times[worst], ns)))
			worst = i;
	}
	times[n - 1] = times[worst];
	times[worst] = last;
	return fabs(sb_linear_error(&times[n - 1], ns));
}

int sb_solve(struct sb_linear_time *times, uint32_t *n, double ns[SB_UNKNOWNS])
{
	const uint32_t least = *n - *n / 4;
	int rc = solve_all(times, *n, ns);

	while (!rc && *n > least && put_worst_last(times, *n, ns) > SB_DISTURBED)
		rc = solve_all(times, --*n, ns);
	return rc;
}

/* The time of an addition with that hold. */
static double contended_ns(double hold_ns, double transfer_ns, double own_ns)
{
	double additions = 1;

	for (int more = 1; more * own_ns < 2 * hold_ns; more++)
		additions += 1 - more * own_ns / (2 * hold_ns);
	return (transfer_ns + own_ns + hold_ns) / additions;
}

double sb_solve_hold(double added_ns, double transfer_ns, double own_ns)
{
	double hold_ns = SB_HOLD_LEAST * own_ns;

	while (hold_ns < SB_HOLD_MOST * own_ns &&
	       contended_ns(hold_ns, transfer_ns, own_ns) > added_ns)
		hold_ns *= 1.01;
	return hold_ns;
}
