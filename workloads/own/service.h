/* service.h - a service while it is measured. */
#ifndef SB_WORKLOADS_OWN_SERVICE_H
#define SB_WORKLOADS_OWN_SERVICE_H

#include "core/scheduler.h"
#include "workloads/lib/service_set.h"
#include "workloads/load/generator.h"
#include "workloads/load/served.h"

/* The work of a request. */
struct sb_service_job {
	struct sb_service_job *next; /* while it is free */
	struct sb_service_job *made; /* of the same source, before this one */
	struct sb_request request;
	uint64_t units;
};

/* One worker's records; it alone writes, and others read at the end. */
struct sb_service_ledger {
	struct sb_set set;
	struct sb_served served;
	sb_counter units;
	sb_counter stamps; /* sum of sb_service_stamp */
};

/* A generator's random source and the jobs it has handed out. Free jobs of servers come
 * back through returned: many put, the generator takes all at once. */
struct sb_service_source {
	alignas(SB_LINE) struct sb_rng rng;
	struct sb_service_job *free;
	struct sb_service_job *made; /* all, the last one first */
	uint64_t units;
	uint64_t stamps;
	alignas(SB_LINE) _Atomic(struct sb_service_job *) returned;
};

struct sb_service {
	struct sb_scheduler *scheduler;
	struct sb_distribution distribution;
	enum sb_set_kind set_kind;
	uint64_t set_bytes;
	double units_per_ns;
	struct sb_generators *generators;
	struct sb_replay *replay;
	uint32_t sources;
	struct sb_service_source *source;
	uint32_t workers;
	_Atomic(struct sb_service_ledger *) *ledger; /* [workers], each its worker's */
	_Atomic(uint64_t) wrong_sets;
	sb_pid anchor;
	uint32_t servers;
	uint32_t started; /* servers, in this round */
	sb_pid *server;	  /* [servers] */
};

struct sb_service_own {
	struct sb_service *data;
	struct sb_service_job job;
};

struct sb_service_server {
	struct sb_service *data;
	struct sb_set set;
};

/* Sums of these are equal if, and hardly unless, the requests are the same. */
uint64_t sb_service_stamp(const struct sb_request *request);

/* A request that is a process of its own; input: struct sb_service_own. A server, and
 * the anchor, which is a server without requests; input: struct sb_service. */
extern const struct sb_process_ops sb_service_own_ops;
extern const struct sb_process_ops sb_service_server_ops;

#endif
