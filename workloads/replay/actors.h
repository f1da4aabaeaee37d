/*
 * actors.h - what processes did in a run, to be done again: a text file, compressed by zstd or not.
 *
 *	# sched-bench actors 1           the first line; other lines with # are comments
 *	spawn TIME PROCESS               from outside: by a thread that is no worker
 *	message TIME PROCESS             the same
 *	step TIME PROCESS MESSAGES WORK [+PROCESS | >PROCESS]...
 *
 * TIME and WORK are nanoseconds; TIME counts from the start, and lines come in its order. PROCESS is
 * a number from 0 on. A step takes so many messages, works for so long, and spawns (+) and sends to
 * (>) processes, in that order. A process has ended after its last step.
 */
#ifndef SB_WORKLOADS_REPLAY_ACTORS_H
#define SB_WORKLOADS_REPLAY_ACTORS_H

#include "core/platform/base.h"

#define SB_ACTORS_FIRST_LINE "# sched-bench actors 1"
#define SB_ACTORS_PROCESSES  (UINT32_C(1) << 24)

/* A compressed recording may become that many times its size, and any that many bytes. */
#define SB_ACTORS_EXPANSION   200
#define SB_ACTORS_PLAIN_BYTES (UINT64_C(4) << 20)

/* What a step does to another process. */
struct sb_actor_act {
	uint32_t process;
	bool spawns; /* it; else sends to it */
};

struct sb_actor_step {
	uint32_t messages;
	uint32_t acts;
	uint64_t work_ns;
	uint64_t first_act;
};

struct sb_actor {
	uint64_t first_step;
	uint64_t steps;
};

/* From outside. */
struct sb_actor_arrival {
	uint64_t at_ns;
	struct sb_actor_act act;
};

struct sb_actors {
	struct sb_actor *actor; /* [actors] */
	uint32_t actors;
	struct sb_actor_step *step; /* [steps], each actor's together and in their order */
	uint64_t steps;
	struct sb_actor_act *act; /* [acts] */
	uint64_t acts;
	struct sb_actor_arrival *arrival; /* [arrivals], in the order of time */
	uint64_t arrivals;
};

/* Returns 0, or -errno with what is wrong, and in which line, in why (SB_WHY_BYTES of it). Only after
 * 0 there is something to free. */
SB_MUST_CHECK int sb_actors_parse(struct sb_actors *actors, const char *text, size_t bytes,
				  char *why);
SB_MUST_CHECK int sb_actors_read(struct sb_actors *actors, const char *path, char *why);
void sb_actors_free(struct sb_actors *actors);

#endif
