/*
 * command_run.c - the verb `run`: options -> topology -> placement -> result
 * directory -> each workload -> files, pictures, page -> summary.
 */
#include "harness/command_run.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "harness/facts.h"
#include "harness/help.h"
#include "harness/load.h"
#include "harness/measure.h"
#include "harness/memory.h"
#include "harness/placing.h"
#include "harness/series.h"
#include "harness/status.h"
#include "harness/timing.h"
#include "results/file.h"
#include "results/write.h"

enum format { PRETTY, JSON, CSV };

/* ---- the result directory ---- */

static char *choose_directory(const struct sb_options *options)
{
	const char *given = options->value[SB_OPT_output].text;
	const time_t now = time(NULL);
	char name[40];
	struct tm parts;

	if (*given)
		return strdup(given);
	localtime_r(&now, &parts);
	strftime(name, sizeof(name), "%Y%m%d-%H%M%S", &parts);
	return sb_path_join(options->value[SB_OPT_output_root].text, name);
}

/* result.json is written first, and all else can be made again from it;
 * meta.json is written last. A directory with either is left alone. */
static bool holds_result(const char *directory)
{
	static const char *const names[] = { "result.json", "meta.json" };
	bool found = false;

	for (size_t i = 0; i < SB_ARRAY_SIZE(names) && !found; i++) {
		char *path = sb_path_join(directory, names[i]);

		found = path && !access(path, F_OK);
		free(path);
	}
	return found;
}

/* Found out now, not after the measurement. */
static int try_writing(const char *directory)
{
	struct sb_file file;
	int rc = sb_directory_make(directory);

	if (rc)
		return rc;
	sb_directory_clear_leftovers(directory);
	rc = sb_file_begin(&file, directory, "try");
	if (!rc)
		sb_file_abandon(&file);
	return rc;
}

int sb_run_prepare_directory(const struct sb_options *options,
			     struct sb_result *result)
{
	int rc;

	result->directory = choose_directory(options);
	if (!result->directory)
		return sb_fail(SB_EXIT_BUG, "no memory");
	if (holds_result(result->directory))
		return sb_fail(SB_EXIT_USAGE,
			       "result directory '%s' already holds a result; "
			       "expected a new one",
			       result->directory);
	rc = try_writing(result->directory);
	if (rc)
		return sb_fail(SB_EXIT_USAGE,
			       "result directory '%s' cannot be written: %s",
			       result->directory, strerror(-rc));
	return 0;
}

/* ---- progress, on a terminal only ---- */

struct progress_state {
	uint32_t done;
	uint32_t all;
	struct timespec start;
};

static double seconds_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - start->tv_sec) +
	       1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

static void show_progress(void *arg, const struct sb_series *series)
{
	struct progress_state *state = arg;
	const double passed = seconds_since(&state->start);

	state->done++;
	/* --until-ci may want more than there were to be. */
	if (state->all < state->done)
		state->all = state->done;
	fprintf(stderr,
		"\r\033[K%" PRIu32 "/%" PRIu32
		"  %s %.1f ns per %s  about %.0f s left",
		state->done, state->all, series->workload,
		sb_series_spread(series, SB_METRIC_ns_per_op).median,
		series->operation,
		passed / state->done * (state->all - state->done));
	if (state->done == state->all)
		fputs("\r\033[K", stderr);
}

static void no_progress(void *arg, const struct sb_series *series)
{
	(void)arg;
	(void)series;
}

/* ---- the run ---- */

/* A wrapper's group kill and its own kill may both arrive: one Ctrl-C. */
#define SAME_INTERRUPT_S 0.5

static void on_interrupt(int signal_number)
{
	static struct timespec first;

	if (!sb_load_rlx(&sb_interrupted)) {
		clock_gettime(CLOCK_MONOTONIC, &first);
		sb_store_rlx(&sb_interrupted, true);
	} else if (seconds_since(&first) > SAME_INTERRUPT_S) {
		signal(signal_number, SIG_DFL);
		raise(signal_number);
	}
}

/* The first Ctrl-C ends the run in order; a second one ends the program. */
void sb_run_catch_interrupts(void)
{
	struct sigaction action = { .sa_handler = on_interrupt };

	/* One at a time, so that first is written before it is read. */
	sigaddset(&action.sa_mask, SIGINT);
	sigaddset(&action.sa_mask, SIGTERM);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static int add_answer(struct sb_result *result, const struct sb_series *series)
{
	if (series->answer &&
	    sb_result_add_fact(result, "run", "find_slo", series->answer))
		return sb_fail(SB_EXIT_BUG, "no memory");
	return 0;
}

/* What a run is placed on. */
struct spot {
	const struct sb_topology *topology;
	const struct sb_plan *plan;
	bool emulated;
};

static int measure_one(struct sb_result *result,
		       const struct sb_options *options,
		       const struct sb_chosen *chosen, const struct spot *spot,
		       struct sb_ground *ground,
		       const struct sb_progress *progress)
{
	struct sb_series *series = &result->series[result->all_series++];
	int rc =
		sb_series_init(series, options, chosen, &spot->plan->placement);

	if (rc)
		return sb_fail(SB_EXIT_BUG, "no memory");
	series->emulated = spot->emulated;
	rc = sb_measure(series, chosen, options, ground, progress);
	return rc ? rc : add_answer(result, series);
}

static int measure_all(struct sb_result *result,
		       const struct sb_options *options,
		       const struct spot *spot, struct sb_ground *ground)
{
	const bool visible =
		isatty(STDERR_FILENO) && !sb_opt(options, SB_OPT_quiet);
	struct progress_state state = {
		.all = options->chosens *
		       (uint32_t)sb_opt(options, SB_OPT_repetitions)
	};
	const struct sb_progress progress = { visible ? show_progress
						      : no_progress,
					      &state };
	int rc = 0;

	clock_gettime(CLOCK_MONOTONIC, &state.start);
	result->series = calloc(options->chosens, sizeof(*result->series));
	if (!result->series)
		return sb_fail(SB_EXIT_BUG, "no memory");
	for (uint32_t i = 0; i < options->chosens && !rc; i++)
		rc = measure_one(result, options, &options->chosen[i], spot,
				 ground, &progress);
	return rc;
}

/*
 * This thread submits and waits: it is the generator, and is bound to the
 * generators' CPUs (NULL: there are none) before the first scheduler is made,
 * because the threads that it starts inherit that: RCU's helper, which outlives
 * all schedulers, and those of a workload. They disturb nobody there; on the
 * workers' cores they would. Workers are pinned one by one.
 */
static int measure_beside(struct sb_result *result,
			  const struct sb_options *options,
			  const struct spot *spot,
			  const struct sb_cpu_mask *generator_cpus)
{
	struct sb_ground ground = { .placement = &spot->plan->placement };
	struct sb_cpu_mask home;
	int rc = sb_cpu_mask_read(&home);

	if (!rc && generator_cpus)
		rc = sb_cpu_mask_bind(generator_cpus);
	if (!rc)
		rc = sb_cpu_mask_read(&ground.usable);
	if (rc)
		return sb_fail(SB_EXIT_ENVIRONMENT,
			       "the thread that submits cannot be pinned: %s",
			       strerror(-rc));
	rc = measure_all(result, options, spot, &ground);
	/* gnuplot would inherit it, too. What a cpuset has lost meanwhile stays
	 * lost. */
	if (generator_cpus)
		(void)sb_cpu_mask_bind(&home);
	return rc;
}

#define GENERATOR_CPUS_BYTES 1024

static int add_generator_cpus(struct sb_result *result,
			      const struct sb_cpu_mask *cpus)
{
	char text[GENERATOR_CPUS_BYTES];

	return sb_result_add_fact(result, "run", "generator_cpus",
				  sb_cpu_mask_text(cpus, text, sizeof(text)))
		       ? sb_fail(SB_EXIT_BUG, "no memory")
		       : 0;
}

/* ---- what is written ---- */

static int cannot_write(const struct sb_result *result, const char *name,
			int rc)
{
	return sb_fail(SB_EXIT_ENVIRONMENT, "%s/%s cannot be written: %s",
		       result->directory, name, strerror(-rc));
}

static int write_document(const struct sb_result *result, const char *name,
			  int (*write)(const struct sb_result *result,
				       FILE *out))
{
	struct sb_file file;
	int rc = sb_file_begin(&file, result->directory, name);

	if (!rc) {
		rc = write(result, file.stream);
		if (rc)
			sb_file_abandon(&file);
		else
			rc = sb_file_commit(&file);
	}
	return rc ? cannot_write(result, name, rc) : 0;
}

/* Without gnuplot, or with one that does not draw, all else is still there. */
static int write_plots(const struct sb_result *result)
{
	const int rc = sb_write_plots(result);

	if (rc == -ENOENT)
		fputs("sched-bench: no plots: gnuplot is not installed\n",
		      stderr);
	else if (rc == -EIO)
		fprintf(stderr, "sched-bench: no plots: see %s/plots\n",
			result->directory);
	else if (rc)
		return cannot_write(result, "plots", rc);
	return 0;
}

/* The measurement itself first: whatever happens then, it is safe. */
int sb_run_write_directory(const struct sb_result *result,
			   const struct sb_options *options)
{
	const char *failed;
	int rc = write_document(result, "result.json", sb_write_json);

	if (rc)
		return rc;
	rc = sb_write_csv_files(result, &failed);
	if (rc)
		return cannot_write(result, failed, rc);
	if (!sb_opt(options, SB_OPT_no_plots))
		rc = write_plots(result);
	if (rc)
		return rc;
	rc = sb_write_report(result);
	if (rc)
		return cannot_write(result, "report.html", rc);
	return write_document(result, "meta.json", sb_write_meta);
}

static void put_place(const struct sb_result *result,
		      const struct sb_options *options)
{
	printf("result: %s (report.html, result.json, runs.csv%s)\n",
	       result->directory,
	       sb_opt(options, SB_OPT_no_plots) ? "" : ", plots");
}

static void print_pretty(const struct sb_result *result)
{
	sb_write_summary(result, stdout,
			 isatty(STDOUT_FILENO) && !getenv("NO_COLOR"));
	if (*sb_result_fact(result, "run", "find_slo"))
		printf("%s\n", sb_result_fact(result, "run", "find_slo"));
}

void sb_run_print(const struct sb_result *result,
		  const struct sb_options *options, bool is_written,
		  void (*pretty)(const struct sb_result *result))
{
	if (sb_opt(options, SB_OPT_quiet))
		return;
	switch (options->value[SB_OPT_format].alternative) {
	case JSON:
		(void)sb_write_json(result, stdout);
		break;
	case CSV:
		sb_write_runs_csv(result, stdout);
		break;
	case PRETTY:
	default:
		pretty(result);
		if (is_written)
			put_place(result, options);
		break;
	}
}

/* Suspect rows have numbers, and say what is wrong with them: status 0. */
bool sb_run_all_measured(const struct sb_result *result)
{
	for (uint32_t i = 0; i < result->all_series; i++) {
		if (sb_series_count(&result->series[i], SB_INVALID))
			return false;
	}
	return true;
}

static int run_placed(const struct sb_options *options, const struct spot *spot,
		      struct sb_result *result, int argc, char **argv)
{
	const struct sb_plan *plan = spot->plan;
	const struct sb_cpu_mask generator_cpus =
		sb_placing_generator_cpus(spot->topology, plan);
	const bool is_pinned = plan->generators && !spot->emulated;
	bool is_foretold;
	int rc = sb_run_prepare_directory(options, result);

	if (!rc)
		rc = sb_timing_choose(options);
	if (!rc)
		rc = sb_facts_gather(result, options, spot->topology,
				     plan->placement.workers, argc, argv);
	if (!rc && plan->generators)
		rc = add_generator_cpus(result, &generator_cpus);
	if (rc)
		return rc;
	sb_run_catch_interrupts();
	is_foretold = sb_memory_foretell(options);
	rc = measure_beside(result, options, spot,
			    is_pinned ? &generator_cpus : NULL);
	sb_memory_report(options, result, is_foretold);
	if (!rc && sb_timing_add_drift(result))
		rc = sb_fail(SB_EXIT_BUG, "no memory");
	if (rc)
		return rc;
	/* What cannot be written was measured all the same. */
	rc = sb_run_write_directory(result, options);
	sb_run_print(result, options, !rc, print_pretty);
	if (rc)
		return rc;
	return sb_run_all_measured(result) ? SB_EXIT_OK : SB_EXIT_INVALID;
}

static int run_on(const struct sb_options *options,
		  const struct sb_topology *topology, int argc, char **argv)
{
	struct sb_result result = { .directory = NULL };
	struct sb_machine machine;
	struct sb_plan plan;
	struct spot spot = { topology, &plan, false };
	int rc = sb_placing_plan(options, topology, &plan);

	if (!rc && plan.placement.workers > SB_WORKERS_MAX) {
		rc = sb_fail(SB_EXIT_USAGE,
			     "--workers: %" PRIu32
			     " are too many to run; expected at most %d",
			     plan.placement.workers, SB_WORKERS_MAX);
		sb_plan_free(&plan);
	}
	if (rc)
		return rc;
	sb_topology_machine(topology, &machine);
	spot.emulated = machine.emulated;
	rc = run_placed(options, &spot, &result, argc, argv);
	sb_result_free(&result);
	sb_plan_free(&plan);
	return rc;
}

static int run(const struct sb_options *options, int argc, char **argv)
{
	struct sb_topology *topology;
	int rc = sb_load_check(options);

	if (!rc)
		rc = sb_placing_open(options, &topology);

	if (rc)
		return rc;
	rc = run_on(options, topology, argc, argv);
	sb_topology_free(topology);
	return rc;
}

int sb_command_run(int argc, char **argv)
{
	static struct sb_options options;
	int rc = sb_options_parse(&options, argc - 1, argv + 1);

	if (!rc && sb_opt(&options, SB_OPT_help))
		sb_help_run();
	else if (!rc)
		rc = run(&options, argc, argv);
	sb_options_free(&options);
	return rc;
}
