/*
 * pairs.h - runs two sides as interleaved pairs of processes, and keeps what they
 * measured. A side is a program and the arguments of its `run`; one process is one
 * value of each metric. What to conclude is results/stats/paired.h.
 *
 *     warm-up pair (not kept) -> blocks of two pairs, A B B A or B A A B by a coin
 *                                from the seed -> after(...) says whether to go on
 *
 * Both sides must ask for the same times, duration and warm-up, and processes get
 * everything from their arguments: the caller has cleared the environment's
 * SCHED_BENCH_ variables, and called sb_interrupts_catch(). Each
 * process warms up by itself; the warm-up pair before all others is for files and
 * processor speeds, and is left out.
 *
 * Pairs that are saved are not run again: they take their place in the order, as do
 * their time and what `after` says of them. The first pair that is run behind such
 * has a warm-up of its own.
 *
 * A process that crashes, hangs, is refused or gives an invalid row costs its pair,
 * which counts as invalid and says why; suspect rows count, and are counted.
 */
#ifndef SB_HARNESS_COMPARE_PAIRS_H
#define SB_HARNESS_COMPARE_PAIRS_H

#include "harness/run/saved.h"
#include "harness/system/awake.h"
#include "results/record/record.h"
#include "results/stats/paired.h"

enum sb_side_id { SB_SIDE_A, SB_SIDE_B, SB_SIDES };

struct sb_side {
	const char *program; /* a path; NULL: this program */
	/* "sched-bench", "run", one workload, options; ends with NULL. Without
	 * --repetitions, --seed, --output, --no-plots and --quiet, which are
	 * added. */
	char *const *argv;
	uint64_t limit_ns; /* a process that takes longer hangs */
};

struct sb_pair {
	uint32_t block;
	enum sb_side_id first;
	bool is_valid;	     /* both have numbers */
	bool is_suspect;     /* at least one of them is */
	uint64_t elapsed_ns; /* both processes */
};

#define SB_PAIRS_MAX	  1000
/* The number of the warm-up. */
#define SB_PAIR_WARM_UP	  UINT32_MAX
/* A pair without numbers is nothing to conclude from; so many in a row, and no
 * valid one before, are the end: it would go on like that. */
#define SB_PAIRS_HOPELESS 3

struct sb_pairs {
	/* In. */
	struct sb_side side[SB_SIDES];
	uint32_t most;	  /* pairs, the invalid included, at most SB_PAIRS_MAX */
	uint64_t time_ns; /* of pairs; no block but the first begins after that; 0: no limit */
	bool has_warm_up; /* a pair before the others */
	/* After the warm-up. Auto: if its workers hardly blocked. */
	enum sb_awake_when keep_awake;
	uint64_t seed;	     /* of the coin; runs of pair i get seed + i */
	const char *scratch; /* a directory that is there, and gets empty */
	/* Where each pair is saved, in the store of scratch, as soon as it has been measured:
	 * side A's processes as series number first_series, B's as the next; NULL: nowhere. */
	struct sb_saved *saved;
	uint32_t first_series;
	/* Gets what failed processes said, after a line that tells which; NULL:
	 * nothing is kept. It is there only if one has failed. */
	const char *failures;
	/* Both optional. Before each process (nobody draws while one runs); after
	 * each pair but the warm-up: false ends it. */
	void (*before)(void *arg, uint32_t pair, enum sb_side_id side);
	bool (*after)(void *arg);
	void *arg;

	/* Out. Pair i is record i of both sides' series. */
	uint32_t pairs;
	struct sb_pair *pair;
	uint32_t valid, suspect; /* of these; a suspect one is valid, too */
	uint64_t elapsed_ns;	 /* of all processes, the warm-up included */
	bool is_interrupted;
	bool is_kept_awake;
	struct sb_awake *awake; /* while it runs */
	bool is_cold;		/* the warm-up was in another process */
	/* Of each side: its only series, and the facts of its first process that
	 * wrote a result. all_series is 0: none did. */
	struct sb_result result[SB_SIDES];
};

/*
 * Runs them: in is filled in, out zero. Returns 0, also if no pair was valid or
 * it was interrupted, or an exit status after an error has been printed: a
 * process cannot be started, or a program refuses its arguments in the first pair
 * (what it said is printed). In any case sb_pairs_free takes what is there.
 */
SB_MUST_CHECK int sb_pairs_run(struct sb_pairs *pairs);

/* What sb_pairs_run saves of a workload as a series of most pairs: they, and the warm-up last. */
static inline struct sb_saved_series sb_pairs_series(const char *workload, uint32_t most)
{
	return (struct sb_saved_series){ workload, most + 1 };
}

void sb_pairs_free(struct sb_pairs *pairs);

/* The values of a metric in the valid pairs so far, in their order, for
 * sb_paired_compare. a, b, block: [SB_PAIRS_MAX], the caller's, which the answer
 * points to. */
struct sb_pair_values sb_pairs_values(const struct sb_pairs *pairs, enum sb_metric_id metric,
				      double *a, double *b, uint32_t *block);

#endif
