/*
 * queueing.h - what queueing theory says of a service, for tests.
 */
#ifndef SB_TESTS_QUEUEING_H
#define SB_TESTS_QUEUEING_H

#include <stdint.h>

/* M/M/c by Erlang's C formula: the chance that all servers are busy, each with that load. */
static inline double queueing_all_busy(uint32_t servers, double load)
{
	const double a = servers * load;
	double blocked = 1; /* Erlang's B, by its recursion */

	for (uint32_t n = 1; n <= servers; n++)
		blocked = a * blocked / (n + a * blocked);
	return blocked / (1 - load * (1 - blocked));
}

/* M/G/1 by Pollaczek and Khinchine: the mean sojourn time, in mean service times. scv: the
 * service time's squared coefficient of variation. */
static inline double queueing_one_server(double load, double scv)
{
	return 1 + load * (1 + scv) / (2 * (1 - load));
}

#endif
