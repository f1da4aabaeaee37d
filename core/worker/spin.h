/* spin.h - a worker without work: it spins, steals, and blocks. */
#ifndef SB_CORE_WORKER_SPIN_H
#define SB_CORE_WORKER_SPIN_H

#include "core/platform/base.h"

struct sb_hist;
struct sb_process;
struct sb_worker;

/* The owner's. */
struct sb_search {
	bool woken;	     /* parked since it last had work */
	bool refused;	     /* above the bound on searchers: it looks once, and parks */
	bool naps;	     /* its last sleep was shorter than config.spin_ns */
	uint32_t moments;    /* of waiting for more; see gather() in spin.c */
	uint64_t gather_ns;  /* 0: it does not wait */
	uint64_t ran_out_ns; /* when it last ran out of work */
	struct sb_hist *gap; /* for how long, by where its work came from */
	uint64_t had_ns;     /* when it could have been had; 0: when it was found */
};

/* Until there is work, or the scheduler halts: then NULL. */
struct sb_process *sb_search(struct sb_worker *worker);

/* Takes the worker's reader online. If the helper of the reclamation sleeps, the worker runs
 * unwatched at first; see UNWATCHED_NS in tick.c. */
void sb_come_online(struct sb_worker *worker, uint64_t now_ns);

#endif
