#include "workloads/load/steady.h"

#include <math.h>

/* The normal distribution's, of an interval of 95 %. */
#define Z_95 1.96

static double scv_sum(const struct sb_queue *q)
{
	return q->arrival_scv + q->service_scv;
}

double sb_queue_relaxation_ns(const struct sb_queue *q)
{
	const double idle = 1 - q->load;
	const double in_service = (1 + q->service_scv) / 2;

	if (!(idle > 0))
		return INFINITY;
	return q->service_ns * (in_service + 2 * scv_sum(q) / (q->servers * idle * idle));
}

double sb_queue_mean_ns(const struct sb_queue *q, double part)
{
	const double idle = 1 - q->load;
	const double all_busy = pow(q->load, sqrt(2 * (q->servers + 1)) - 1);
	/* In service times. */
	const double wait = all_busy * scv_sum(q) / (2 * q->servers * idle);
	const double waiting = wait / (1 + wait);
	/* Of one request: its standard deviation as a part of the mean. */
	const double deviation = waiting * sqrt(2 * scv_sum(q) / all_busy) / idle +
				 (1 - waiting) * sqrt(q->service_scv);
	const double requests = Z_95 * Z_95 * deviation * deviation / (part * part);

	if (!(idle > 0) || isinf(q->service_scv))
		return INFINITY;
	return requests * q->service_ns / (q->load * q->servers);
}
