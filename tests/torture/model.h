/*
 * model.h - the ledger beside the library: the requests of the driver, their outcomes, and the
 * properties that must hold. The parent process shares this memory and prints the ledger when the
 * round hangs or crashes.
 *
 * All of it is accessed by relaxed atomics, so that the ledger orders nothing: a race of the
 * library stays one for ThreadSanitizer. Payloads of messages and the state of processes are plain
 * memory, which the library has to hand over in order.
 */
#ifndef SB_TESTS_TORTURE_MODEL_H
#define SB_TESTS_TORTURE_MODEL_H

#include <stdalign.h>

#include "tests/torture/script.h"

#define get(p)	   __atomic_load_n(p, __ATOMIC_RELAXED)
#define put(p, v)  __atomic_store_n(p, v, __ATOMIC_RELAXED)
#define add(p, n)  __atomic_fetch_add(p, n, __ATOMIC_RELAXED)
#define swap(p, v) __atomic_exchange_n(p, v, __ATOMIC_RELAXED)
#define cas(p, expected, v)                                                                        \
	__atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)

/* Ends the round as failed; the text names the property and the values. */
_Noreturn __attribute__((format(printf, 1, 2))) void model_fail(const char *format, ...);

#define expect(condition, ...)                                                                     \
	do {                                                                                       \
		if (SB_UNLIKELY(!(condition)))                                                     \
			model_fail(__VA_ARGS__);                                                   \
	} while (0)

/* ---- processes ---- */

/* Processes that callbacks submit have this depth. Their own callbacks make no calls, so that a
 * round ends. */
#define DEPTH_QUIET 8

/* One process from its submission on. Several may have the same chosen PID, one after another. */
struct life {
	uint64_t pid; /* 0: on_start has not seen it */
	uint64_t result;
	uint32_t number;
	uint8_t scheduler, type, depth;
	uint8_t tells;	   /* enum endgame: adds to `inside` of its scheduler */
	bool may_be_ended; /* by terminate, a link or force: -ECANCELED is no surprise */
	bool is_terminated, is_cancelled; /* the call has returned 0, and meant this life alone */
	bool has_ended_itself;		  /* its last step has returned done or an error */
	bool is_unlinked;		  /* somebody has taken a link to it away */
	bool is_probe;			  /* of a quiet moment: it serves, whatever its type */
	int32_t init_error, start_error;  /* that it will return */
	int32_t own_error;		  /* of its last step */
	int32_t exit_error;
	uint32_t inits, starts, closes, completes, running, steps;
	uint32_t cancels; /* calls that have begun, by others than stop */
	uint32_t owed;	  /* completions that it waits for, when its last step ended */
};

/* ---- messages and results ---- */

enum parcel_state {
	PARCEL_NONE,
	PARCEL_FLYING,	 /* the call that sends it has not returned */
	PARCEL_ASKED,	 /* sent by a yield whose completion has not been seen */
	PARCEL_ACCEPTED, /* the call has returned 0 */
	PARCEL_RECEIVED,
	PARCEL_DROPPED,
	PARCEL_RETURNED, /* the call has returned an error */
};

/* The value of a message or of a completion: plain memory, the last owner frees it. */
struct parcel {
	uint32_t number, check;
	uint32_t stream; /* of its sender; 0: no order */
	uint32_t scheduler;
	uint64_t sequence; /* within the stream */
	uint64_t pid;	   /* to which it is sent */
	uint32_t life;	   /* whose yield it completes */
	bool is_completion;
};

struct parcel_record {
	uint8_t state; /* enum parcel_state */
	uint8_t is_completion;
	uint32_t life; /* at which the sender aimed */
	struct parcel *parcel;
};

/* ---- the round ---- */

#define LIVES_MAX   8000
#define PARCELS_MAX 40000
#define REPORTS_MAX 8000
#define OWNS_MAX    2048
#define PENDING_MAX 32
#define SPARES_MAX  4
#define PID_TABLE   16384

/* An exit event as a monitor saw it. */
struct exit_report {
	uint64_t pid, result;
	int32_t error;
	uint32_t scheduler;
};

/* The driver's own of each thread, workers and helpers too. */
struct own {
	alignas(64) struct life *starting; /* between init and on_start */
	struct life *spare;		   /* that was given back */
	struct life *ends_meanwhile;	   /* see actor_end_meanwhile() */
	struct rng rng;
	uint64_t progress; /* operations, steps */
	uint64_t sequence; /* of a foreign thread's stream */
	uint32_t depth;	   /* of callbacks within callbacks */
};

/* The right to complete a yield, kept for later. */
struct pending {
	struct sb_completer completer;
	struct life *life;
};

struct pid_entry {
	uint64_t pid;
	uint32_t life; /* its number plus 1 */
};

struct scheduler_model {
	struct sb_receiver router; /* first: what the library hands back is this */
	struct sb_scheduler *scheduler;
	struct sb_config config;
	uint64_t alive;	 /* from init to on_complete: never more than the library counts */
	bool is_forced;	 /* a stop may have ended processes by force */
	uint32_t stops;	 /* that have begun, ever */
	uint32_t inside; /* threads of the endgame that are in their calls */
	uint32_t chosen[CHOSEN];
	bool chosen_may_end[CHOSEN]; /* the process that has the PID; see life.may_be_ended */
	struct pid_entry entry[PID_TABLE];
};

struct world {
	struct script script;
	struct scheduler_model scheduler[SCHEDULERS_MAX];
	struct sb_process_ops ops[TYPES_MAX + 1];
	struct life life[LIVES_MAX];
	uint32_t lives;
	struct parcel_record parcel[PARCELS_MAX];
	uint32_t parcels;
	struct exit_report report[REPORTS_MAX];
	uint32_t reports;
	struct own own[OWNS_MAX];
	uint32_t slot[SLOTS]; /* a life's number plus 1 */
	struct pending *pending[PENDING_MAX];
	struct sb_scheduler *spare[SPARES_MAX]; /* made on the way */
	uint32_t spares;
	uint32_t zero_inits, zero_closes; /* of processes without state */
	uint32_t at[THREADS_MAX];	  /* the operation of each thread, plus 1 */
	uint32_t threads_left;
	bool refuses_memory; /* allocations have been refused */
	bool is_calm;	     /* callbacks call nothing any more */
	bool pump_ends;
	uint64_t start_ns;
	const char *phase;
	uint32_t has_failed;
	char failure[400];
};

extern struct world *world;

struct own *own(void);

/* Steps and calls of all threads so far. */
static inline uint64_t model_progress(void)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < OWNS_MAX; i++)
		sum += get(&world->own[i].progress);
	return sum;
}

static inline const struct type *type_of(const struct life *life)
{
	return &world->script.type[get(&life->type)];
}

static inline struct scheduler_model *scheduler_of(const struct life *life)
{
	return &world->scheduler[get(&life->scheduler)];
}

/* close gets the state alone, so it cannot identify a process without state. */
static inline bool has_state(const struct life *life)
{
	return type_of(life)->is_plain || type_of(life)->state != STATE_NONE;
}

/* ---- lives ---- */

/* NULL: the round has reached its limit. */
struct life *life_new(uint32_t scheduler, uint32_t type, uint32_t depth);

/* After a submission that was refused: if init was not called, the next life_new of the calling thread
 * returns this one. */
void life_give_back(struct life *life);

/* By on_start: the life has that PID from now on. */
void life_name(struct life *life, sb_pid pid);

/* The process that has it, or had it last; NULL: none that on_start has seen. */
struct life *life_of(const struct scheduler_model *s, sb_pid pid);

/* Before a call that may end it, or another process with the same chosen PID. */
void life_may_end(struct life *life);

/* Whether it may end with -ECANCELED. */
bool life_may_be_ended(const struct life *life);

/* The life in a slot; NULL: the slot is empty. */
struct life *life_in(uint32_t slot);

/* After a submission of any kind has returned. */
void life_submitted(struct life *life, int rc);

/* on_complete reports the end of the process. */
void life_completed(struct life *life, const struct sb_exit *exit);

/* ---- parcels ---- */

/* NULL: the round has reached its limit. */
struct parcel *parcel_new(struct life *to, uint32_t stream, uint64_t *sequence);

/* The call that sends it returned rc. Frees it if it is the caller's again. */
void parcel_sent(uint32_t number, int rc);

/* It will be sent by a yield. */
void parcel_asked(struct parcel *parcel);

/* The receiver, or on_drop, got the parcel: allowed once. Frees it. */
void parcel_end(struct parcel *parcel, enum parcel_state how);

/* ---- judgement ---- */

/* True if the schedulers owe nothing: every accepted message and completion has arrived, and every
 * process that ends by itself has ended. */
bool model_is_quiet(void);

/* Checks, after a stop or destroy, that each process of the scheduler has ended as it must. */
void model_check_ended(uint32_t scheduler);

/* Checks the whole ledger after the last destroy. */
void model_check_end(void);

/* Prints what is still open, for a round that failed. */
void model_put(FILE *to);

#endif
