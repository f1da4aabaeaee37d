/*
 * steady.h - how long a queue remembers how it began, and how long its mean has to be measured.
 *
 * Both follow from the diffusion that a queue GI/G/s approaches in heavy traffic, reflected Brownian
 * motion. Its unit of time is (ca2 + cs2) S / (s (1 - rho)^2), of load rho, s servers, service time S,
 * and squared coefficients of variation ca2 of the gaps between arrivals and cs2 of the service times:
 * Whitt, Planning queueing simulations, Management Science 35 (11), 1989. The relaxation time is two
 * of these units: Abate and Whitt, Transient behavior of the M/M/1 queue, Queueing Systems 2, 1987; of
 * M/M/1 that is 4 S / (1 - rho)^2, where Cohen's exact one is S / (1 - sqrt(rho))^2 (The Single Server
 * Queue, 1969). Requests are added that were being served at the start, which matters at many servers.
 *
 * The relative variance of the mean wait of n requests is 2 (ca2 + cs2) / (n (1 - rho)^2) while all
 * servers are busy (Whitt, as above). How often they are, and so how much of a sojourn is waiting, is
 * Sakasegawa's approximation (An approximation formula L_q = alpha rho^beta / (1 - rho), Annals of the
 * Institute of Statistical Mathematics 29, 1977). Waiting and service count as fully dependent, which
 * is 15 % too long for M/M/1 at a load of 0.5, and about right for M/M/16 at 0.8.
 */
#ifndef SB_WORKLOADS_LOAD_STEADY_H
#define SB_WORKLOADS_LOAD_STEADY_H

#include "core/platform/base.h"

struct sb_queue {
	double load;	/* of the servers; there is a steady state below 1 */
	double servers; /* at least 1, not always a whole number */
	double service_ns;
	double arrival_scv;
	double service_scv;
};

/* Infinite if there is no steady state, or the variance of the service time is infinite. */
double sb_queue_relaxation_ns(const struct sb_queue *queue);

/* The time after which the 95 % interval of the mean sojourn time reaches that part of it to either
 * side. Infinite as above. */
double sb_queue_mean_ns(const struct sb_queue *queue, double part);

#endif
