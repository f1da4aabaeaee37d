/*
 * replay.h - what servers without any cost of their own would have made of the
 * same requests: first come, first served, by as many servers as there are
 * workers; a request goes to the server that is free first (Kiefer and Wolfowitz,
 * On the theory of queues with many servers, 1955; of one server: Lindley,
 * The theory of queues with a single server, 1952). Each round is worked out
 * twice:
 *
 *   ideal     with arrivals as intended and times of service as drawn: what
 *             theory is about, without the chance in it, as the draws are the
 *             same ones
 *   replayed  with arrivals as submitted and times of service as they took: what
 *             the machine has left of that
 *
 * Between ideal and replayed is what held up generators and steps: other threads,
 * a hypervisor, caches. Between replayed and measured is what the scheduler has
 * added: queues that are not first come, first served, wakes, its own work.
 *
 * A round is prepared, then its requests are noted, each by the generator that
 * submits it and by the worker that serves it; once all of both are over, it is
 * worked out. Notes go into arrays that were touched before, so that neither
 * allocates nor faults; a round with more requests than were expected, or than
 * SB_REPLAY_MAX, is not worked out.
 */
#ifndef SB_WORKLOADS_LOAD_REPLAY_H
#define SB_WORKLOADS_LOAD_REPLAY_H

#include "workloads/load/generator.h"

/* Of all generators, in a round: 128 MiB of notes. */
#define SB_REPLAY_MAX (UINT64_C(1) << 22)

struct sb_replay;

/* Returns 0 or -ENOMEM. */
SB_MUST_CHECK int sb_replay_create(struct sb_replay **replay, uint32_t generators);
void sb_replay_destroy(struct sb_replay *replay);

/* Before a round. With a schedule: room for what it brings; else the round is
 * not noted. Without memory it is not, either. */
void sb_replay_prepare(struct sb_replay *replay, const struct sb_load *load, uint64_t duration_ns);

/* The generator's thread, before it submits. The last note of a number counts:
 * one that is refused gives its number to the next. */
void sb_replay_submitted(struct sb_replay *replay, const struct sb_request *request,
			 double asked_ns);

/* Any thread, once for each request, before the round is over. */
void sb_replay_served(struct sb_replay *replay, const struct sb_request *request,
		      uint64_t service_ns);

/* After the round, of which so many were submitted and served: adds both sojourn times of those
 * intended at from_ns or later to requests, or says there that they are incomplete. */
void sb_replay_work_out(struct sb_replay *replay, uint32_t servers, uint64_t requests,
			uint64_t from_ns, struct sb_requests *out);

/* ---- servers; for replay.c and its test ---- */

struct sb_servers {
	uint32_t servers;
	double *free_ns; /* [servers], a heap: the first is free first */
};

/* Returns 0 or -ENOMEM. All are free from the time 0 on. */
SB_MUST_CHECK int sb_servers_init(struct sb_servers *s, uint32_t servers);
void sb_servers_fini(struct sb_servers *s);

/* The next arrival, no earlier than the one before. Returns when it is served. */
double sb_servers_take(struct sb_servers *s, double arrival_ns, double service_ns);

#endif
