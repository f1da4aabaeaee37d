/* described.h - a described workload while it is measured. */
#ifndef SB_WORKLOADS_DESCRIBED_DESCRIBED_H
#define SB_WORKLOADS_DESCRIBED_DESCRIBED_H

#include "core/scheduler.h"
#include "workloads/described/description.h"
#include "workloads/lib/failure.h"
#include "workloads/lib/service_set.h"
#include "workloads/load/served.h"

/*
 * A request, from outside or from another process. It belongs to the process that serves it, and
 * is sent to it twice or more: when it is asked, and with each reply that it waits for.
 */
struct sb_asked {
	struct sb_asked *caller; /* which waits for the reply; NULL: nobody does */
	sb_pid server;		 /* who serves it; 0: it has not been begun */
	uint32_t kind;
	uint32_t action;  /* the next one */
	uint32_t replies; /* that are still to come */
	bool from_outside;
	uint64_t asked_ns; /* by sb_clock_ns */
	uint64_t start_ns;
	struct sb_request request; /* from_outside */
};

/* Of one kind, by one worker. */
struct sb_kind_ledger {
	_Atomic(uint64_t) asked;  /* requests sent to the kind */
	_Atomic(uint64_t) served; /* and done */
	uint64_t called;	  /* by its processes, with a reply */
	uint64_t replied;	  /* replies that they got */
	uint64_t units;		  /* of work */
	struct sb_hist took;	  /* from being asked to being done */
};

/* One worker's records; it alone writes, and others read. */
struct sb_described_ledger {
	struct sb_served served;      /* requests from outside */
	struct sb_kind_ledger kind[]; /* [kinds] */
};

/* A generator's. */
struct sb_described_source {
	alignas(SB_LINE) struct sb_rng rng;
	_Atomic(uint64_t) asked;
};

struct sb_described {
	struct sb_failure failure;
	const struct sb_description *description;
	double units_per_ns[SB_KINDS_MAX];
	struct sb_generators *generators;
	uint32_t sources;
	struct sb_described_source *source;
	uint32_t workers;
	_Atomic(struct sb_described_ledger *) *ledger; /* [workers], each its worker's */
	uint64_t seed;
	uint32_t processes;
	uint32_t first[SB_KINDS_MAX + 1]; /* of each kind's processes, and of none */
	sb_pid *process;		  /* [processes] */
	_Atomic(uint32_t) alive;
	_Atomic(uint64_t) wrong_states;
};

/* A process that serves requests of a kind. */
struct sb_server {
	struct sb_described *data; /* first: see failure.h */
	uint32_t kind;
	uint32_t number;
	struct sb_rng rng;
	struct sb_set set;
};

/* Input: struct sb_server with data, kind and number. A message without a request is the last. */
extern const struct sb_process_ops sb_server_ops;

static inline uint32_t sb_kind_processes(const struct sb_described *data, uint32_t kind)
{
	return data->first[kind + 1] - data->first[kind];
}

/* Counts one more; its thread alone does. Who reads it with acquire sees what was before. */
static inline void sb_count(_Atomic(uint64_t) *counter)
{
	sb_store_rel(counter, sb_load_rlx(counter) + 1);
}

#endif
