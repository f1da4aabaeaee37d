/*
 * shim.h - Google Benchmark for C. No type of C++ crosses it: shim.cc is the one
 * file that knows the library.
 */
#ifndef SB_HARNESS_MICRO_SHIM_H
#define SB_HARNESS_MICRO_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One thread's run of a benchmark. */
struct sb_gbench_run;

enum sb_gbench_fit { SB_GBENCH_FIT_NONE, SB_GBENCH_FIT_1, SB_GBENCH_FIT_N };

/* A benchmark: every argument with every number of threads. */
struct sb_gbench {
	const char *name;
	const char *arg_name; /* NULL: no argument */
	const int64_t *arg;
	uint32_t args;
	const uint32_t *threads; /* how many, in turn */
	uint32_t thread_counts;
	bool wall_time; /* and the CPU time of the whole process */
	enum sb_gbench_fit fit;
	/* Called by each thread, with its own run. */
	void (*body)(struct sb_gbench_run *run, const void *data);
	const void *data;
};

/* Called first. The library ends the program where it has no memory or no thread, by an
 * exception that nobody catches; then give_up is called instead, with the reason, and does not
 * return. It is called with NULL where the library has said why and exits. */
void sb_gbench_begin(void (*give_up)(const char *why));

/* Copies what it is given but for data. */
void sb_gbench_register(const struct sb_gbench *benchmark);

/* A pair for the output's "context". */
void sb_gbench_context(const char *key, const char *value);

/* Runs those that the flags choose, whose form has been checked: argv[0] and
 * then Google's flags. Returns how many matched. */
size_t sb_gbench_main(int argc, char **argv);

/* ---- in a body ---- */

uint32_t sb_gbench_thread(const struct sb_gbench_run *run);
uint32_t sb_gbench_threads(const struct sb_gbench_run *run);
int64_t sb_gbench_arg(const struct sb_gbench_run *run); /* there is one */

/* How often this thread is to do its operation. */
uint64_t sb_gbench_iterations(const struct sb_gbench_run *run);

/* Whether to do n more. All threads wait for each other at the first and behind
 * the last of them, and the time between is taken. */
bool sb_gbench_next(struct sb_gbench_run *run, uint64_t n);

/* The benchmark has failed, and has no numbers. */
void sb_gbench_fail(struct sb_gbench_run *run, const char *why);

/* By one thread, for all. Items are put out per second, a counter per
 * iteration. */
void sb_gbench_items(struct sb_gbench_run *run, uint64_t items);
void sb_gbench_counter(struct sb_gbench_run *run, const char *name, double value);

#ifdef __cplusplus
}
#endif
#endif
