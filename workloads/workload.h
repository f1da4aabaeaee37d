/*
 * workload.h - what a workload is to the harness: a const struct, one for each
 * file of this folder and those in it, listed in workloads/list.def.
 *
 * The harness runs a workload in rounds:
 *
 *	setup                   once; the scheduler exists and is not started
 *	  start, (idle), check  for each round: submit, wait until no process is
 *	                        alive, check the answer
 *	teardown                once; the scheduler is stopped
 *
 * All are called by the harness's thread. A workload without a check of its
 * answer is not a workload: a round whose check fails has no numbers.
 */
#ifndef SB_WORKLOADS_WORKLOAD_H
#define SB_WORKLOADS_WORKLOAD_H

#include "core/readings.h"
#include "core/requests.h"
#include "workloads/load/load.h"

/*
 * A parameter, set with --NAME. A number with a range, or, if choices is not
 * NULL, one of its NULL-terminated words; the value is then the word's index.
 * With max SB_PARAM_TEXT it is a text: choices[0] is the default, the value is
 * in the run's text, and the workload's accept says whether it is one.
 */
#define SB_PARAM_TEXT UINT64_MAX

struct sb_param {
	const char *name;
	uint64_t initial;
	uint64_t min;
	uint64_t max;
	const char *const *choices;
	const char *doc;
};

static inline bool sb_param_is_text(const struct sb_param *param)
{
	return param->choices && param->max == SB_PARAM_TEXT;
}

/* A metric that a workload has besides those that all have. */
struct sb_workload_metric {
	const char *name;   /* of letters, digits and '_'; that of no other metric */
	const char *unit;   /* "ns", "count": letters, digits, blanks and %/_.*^() */
	const char *better; /* "lower", "higher", or "" */
	const char *doc;
};

#define SB_WORKLOAD_METRICS_MAX 32 /* of a workload */

/* A round's own figures, if it has any; zeroed before its start. */
struct sb_round {
	/* The workload's metrics, in their order; check sets them. NaN: not measured. A
	 * repetition has the mean of its rounds. */
	double own[SB_WORKLOAD_METRICS_MAX];
	/* When the part that counts began, by sb_clock_ns, after what start had
	 * to prepare; 0: with start. It ends with the last completion. */
	uint64_t start_ns;
	/* Of that part, until the last submission, or message from outside, had
	 * been accepted; 0: not measured. */
	uint64_t submit_ns;
	/* How long that part took, if it has another end; 0: it has not. */
	uint64_t wall_ns;
	uint64_t cpu_ns;	  /* of the whole program, in that part */
	double bytes_per_process; /* 0: not measured */
};

/* Times from a submission or message to the step it woke. long_step: those of
 * all whose cause was in a step that went on working. The harness's thread alone
 * records them. */
struct sb_wake_times {
	struct sb_hist all;
	struct sb_hist long_step;
};

struct sb_workload_run {
	const struct sb_workload *workload;
	const uint64_t *param;	 /* in the order of workload->params */
	const char *const *text; /* the same, of those that are texts */

	/* For a workload that takes requests. Those that are intended within
	 * duration_ns, after relax_ns that make the queue forget that it was empty,
	 * are measured and added to requests. */
	const struct sb_load *load;
	uint64_t relax_ns;
	uint64_t duration_ns;
	struct sb_requests *requests;
	/* Set by setup: the work that a request asks for, its mean and squared
	 * coefficient of variation. */
	double asked_ns;
	double asked_scv;

	struct sb_scheduler *scheduler;
	struct sb_round round;
	struct sb_wake_times *wakes; /* of all rounds; NULL: nobody asks */
	void *data;		     /* the workload's own, from setup to teardown */
};

struct sb_description; /* workloads/described/description.h */

struct sb_workload {
	const char *name;
	const char *operation;	       /* what one operation is, singular */
	const char *doc;	       /* definition, one sentence */
	const char *source;	       /* who defined it, and where */
	const struct sb_param *params; /* ends with a NULL name */

	const struct sb_workload_metric *metrics; /* ends with a NULL name; NULL: none */

	/* run->data, from before setup to after teardown; filled with zero
	 * before setup. 0: setup may set data itself. */
	size_t data_bytes;

	/* What a described workload does; NULL for all others. */
	const struct sb_description *description;

	/* Whether a parameter may have this text; if not, why: what is wrong and
	 * what was expected, SB_WHY_BYTES of it. NULL: it has no such parameter. */
	bool (*accept)(const struct sb_param *param, const char *text, char *why);

	/* Its rounds take requests as run->load says. */
	bool takes_requests;

	/* Of one that does: adds how many requests of the round have been completed so far, and
	 * their sojourn times. Any thread, from the return of start until check is called. */
	void (*peek)(const struct sb_workload_run *run, uint64_t *completed,
		     struct sb_hist_counts *sojourn);

	/* What it is for: the metric by which a sweep ranks configurations of it and
	 * that a run reports first, or two of them, "A,B". NULL: ns_per_op. */
	const char *objective;

	/* How many threads that are no workers submit or send throughout a round, for these
	 * parameters; the thread that calls start is one. NULL: none but run->load's generators. */
	uint32_t (*submitters)(const uint64_t *param);

	/* Registers handlers, allocates what else there is; NULL: nothing.
	 * Returns 0 or -errno; after an error teardown is not called. */
	int (*setup)(struct sb_workload_run *run);

	/* Writes what bounds the result whatever the scheduler does, and which option removes that. False:
	 * nothing does. NULL: the same. After setup. */
	bool (*describe_bound)(const struct sb_workload_run *run, char *out, size_t bytes);

	/* Submits a round's first processes. Returns 0 or -errno. */
	int (*start)(struct sb_workload_run *run);

	/* Operations of one round, for these parameters. */
	uint64_t (*operations)(const struct sb_workload_run *run);

	/* Whether the round just ended gave the right answer; if not, why. */
	bool (*check)(struct sb_workload_run *run, char *why, size_t why_bytes);

	/* Frees what setup has allocated; NULL: nothing. */
	void (*teardown)(struct sb_workload_run *run);
};

/* For submitters, where start itself submits. */
static inline uint32_t sb_workload_one_submitter(const uint64_t *param)
{
	(void)param;
	return 1;
}

/* The time, as sb_clock_ns. */
uint64_t sb_workload_now_ns(void);

static inline void sb_run_record_wake(const struct sb_workload_run *run, uint64_t ns)
{
	if (run->wakes)
		sb_hist_record(&run->wakes->all, ns);
}

/* Besides sb_run_record_wake. */
static inline void sb_run_record_wake_of_long_step(const struct sb_workload_run *run, uint64_t ns)
{
	if (run->wakes)
		sb_hist_record(&run->wakes->long_step, ns);
}

/* Both with the data: what the harness calls. As setup and teardown. */
SB_MUST_CHECK int sb_workload_set_up(struct sb_workload_run *run);
void sb_workload_tear_down(struct sb_workload_run *run);

/* For accept where every text is a time with its unit, "1ms", of at most 10 s; and
 * such a text in nanoseconds. */
bool sb_workload_accept_time(const struct sb_param *param, const char *text, char *why);
uint64_t sb_workload_time_ns(const char *text);

static inline const char *sb_workload_objective(const struct sb_workload *workload)
{
	return workload->objective ? workload->objective : "ns_per_op";
}

#define SB_WORKLOADS_MAX 64
#define SB_PARAMS_MAX	 16 /* of a workload */

/* All workloads, ends with NULL: those of list.def, then those that were added. */
extern const struct sb_workload *sb_workloads[];

/* Returns NULL when there is none of that name. */
const struct sb_workload *sb_workload_find(const char *name);

/* Adds one that stays where it is, for good; the harness's thread, before any run. False: there are
 * SB_WORKLOADS_ADDED already. */
#define SB_WORKLOADS_ADDED 8
bool sb_workload_add(const struct sb_workload *workload);

#endif
