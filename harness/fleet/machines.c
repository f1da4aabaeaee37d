#include "harness/fleet/machines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "core/platform/platform.h"
#include "harness/fleet/slurm.h"
#include "harness/output/outcome.h"
#include "harness/output/output.h"
#include "harness/system/child.h"
#include "harness/system/pack.h"
#include "harness/terminal/interrupts.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "results/compare/fleet.h"
#include "results/files/file.h"
#include "results/json/read.h"
#include "results/page/report.h"
#include "results/record/series.h"

/* Longer than any sweep: a child ends by itself. */
#define NO_LIMIT_NS (UINT64_C(365) * 86400 * 1000000000)

struct sweeps {
	const struct sb_options *options;
	const struct sb_arguments *plan;
	const char *directory; /* of the result */
	char **name;	       /* [n] of the machines */
	uint32_t n;

	/* Of threads. */
	struct sb_lock lock;
	uint32_t next;
	int rc; /* the last exit status that was not 0 */
};

static bool is_of_nodes(const struct sb_options *options)
{
	return options->value[SB_OPT_nodes_as].alternative == 1;
}

bool sb_machines_asked_for(const struct sb_options *options)
{
	const char *profile = options->value[SB_OPT_profile].text;

	return is_of_nodes(options) ||
	       (sb_pack_is_named(profile) && sb_opt(options, SB_OPT_virtual) &&
		sb_pack_machines(profile) > 1);
}

/* ---- one sweep ---- */

/* Adds the option that selects the machine: its profile, or a constraint on the nodes. */
static int add_machine(const struct sweeps *all, const char *name, struct sb_arguments *words)
{
	const struct sb_options *o = all->options;
	const char *on = o->value[SB_OPT_on].text;

	if (!is_of_nodes(o))
		return sb_arguments_add(words, "--profile=%s:%s", o->value[SB_OPT_profile].text,
					name);
	return sb_arguments_add(words, "--on=%s%s'constraint=%s'", on, strchr(on, ':') ? " " : ":",
				name);
}

static int arguments_of(const struct sweeps *all, const char *name, struct sb_arguments *words)
{
	const struct sb_options *o = all->options;
	int rc;

	*words = (struct sb_arguments){ .n = 0 };
	rc = sb_arguments_add(words, "sched-bench");
	for (uint32_t i = 0; i < all->plan->n && !rc; i++)
		rc = sb_arguments_add(words, "%s", all->plan->word[i]);
	rc = rc ? rc : add_machine(all, name, words);
	if (!rc && *o->value[SB_OPT_objective].text)
		rc = sb_arguments_add(words, "--objective=%s", o->value[SB_OPT_objective].text);
	if (!rc && o->value[SB_OPT_chunks].alternative)
		rc = sb_arguments_add(words, "--chunks=%s", o->value[SB_OPT_chunks].text);
	if (!rc && sb_opt(o, SB_OPT_no_plots))
		rc = sb_arguments_add(words, "--no-plots");
	rc = rc ? rc : sb_arguments_add(words, "--quiet");
	return rc ? rc : sb_arguments_add(words, "--output=%s/%s", all->directory, name);
}

/* The exit status; what the sweep has said is passed on. */
static int status_of(const struct sb_child *child, const char *name)
{
	char why[SB_REASON_BYTES];

	if (child->stderr_bytes)
		fprintf(stderr, "%s", child->stderr_text);
	if (WIFEXITED(child->wait_status))
		return WEXITSTATUS(child->wait_status);
	sb_child_describe(child, why, sizeof(why));
	return sb_fail(SB_EXIT_BUG, "the sweep of %s: %s", name, why);
}

static int sweep_one(const struct sweeps *all, const char *name)
{
	struct sb_child *child = calloc(1, sizeof(*child));
	struct sb_arguments words = { .n = 0 };
	int rc;

	if (!child || arguments_of(all, name, &words)) {
		rc = sb_fail_memory();
	} else {
		child->argv = words.word;
		child->limit_ns = NO_LIMIT_NS;
		rc = sb_child_run(child);
		rc = rc ? sb_fail(SB_EXIT_ENVIRONMENT, "a sweep cannot be started: %s",
				  strerror(-rc))
			: status_of(child, name);
	}
	sb_arguments_free(&words);
	free(child);
	return rc;
}

/* Runs one sweep after the other, until all have begun. */
static void *sweep_some(void *arg)
{
	struct sweeps *all = arg;

	sb_lock_acquire(&all->lock);
	while (all->next < all->n && !sb_load_rlx(&sb_interrupted)) {
		const char *name = all->name[all->next++];
		int rc;

		sb_lock_release(&all->lock);
		rc = sweep_one(all, name);
		sb_lock_acquire(&all->lock);
		all->rc = rc ? rc : all->rc;
	}
	sb_lock_release(&all->lock);
	return NULL;
}

/* ---- the report ---- */

struct results {
	struct sb_result *result;
	uint32_t n;
};

static int write_page(const void *what, FILE *out)
{
	const struct results *results = what;

	return sb_write_html(results->result, results->n, out);
}

static void put_answers(const struct results *results)
{
	struct sb_fleet fleet;

	if (!sb_fleet_make(&fleet, results->result, results->n)) {
		for (uint32_t i = 0; i < fleet.tables; i++) {
			char *answer = sb_fleet_answer(&fleet.table[i], fleet.results);

			printf("%s.\n", answer ? answer : "");
			free(answer);
		}
	}
	sb_fleet_free(&fleet);
}

static int report_on(const struct sweeps *all, const struct results *results)
{
	char *path = sb_path_join(all->directory, "report.html");
	int rc = path ? sb_output(path, write_page, results) : -ENOMEM;

	if (rc)
		rc = sb_fail(sb_status_of(rc), "%s/report.html cannot be written: %s",
			     all->directory, strerror(-rc));
	else if (!sb_opt(all->options, SB_OPT_quiet)) {
		put_answers(results);
		printf("result: %s (report.html, and a directory for each of %" PRIu32
		       " machines)\n",
		       all->directory, all->n);
	}
	free(path);
	return rc;
}

/* Of the sweeps that have one. */
static void read_results(const struct sweeps *all, struct results *results)
{
	char why[SB_REASON_BYTES];

	for (uint32_t i = 0; i < all->n; i++) {
		char *directory = sb_path_join(all->directory, all->name[i]);

		if (directory &&
		    !sb_result_read(&results->result[results->n], directory, why, sizeof(why)))
			results->n++;
		free(directory);
	}
}

static int report(const struct sweeps *all)
{
	struct results results = { .result = calloc(all->n, sizeof(*results.result)) };
	int rc = 0;

	if (!results.result)
		return sb_fail_memory();
	read_results(all, &results);
	if (results.n)
		rc = report_on(all, &results);
	for (uint32_t i = 0; i < results.n; i++)
		sb_result_free(&results.result[i]);
	free(results.result);
	return rc;
}

/* ---- all of them ---- */

static int find_names(struct sweeps *all)
{
	char why[SB_REASON_BYTES];
	int rc;

	if (is_of_nodes(all->options))
		return sb_slurm_node_types(&all->name, &all->n);
	rc = sb_pack_names(all->options->value[SB_OPT_profile].text, &all->name, &all->n, why,
			   sizeof(why));
	return rc ? sb_fail(sb_status_of(rc), "--profile: %s", why) : 0;
}

/* A cluster runs several at the same time; here each takes all CPUs. */
static void run_all(struct sweeps *all)
{
	sb_lock_init(&all->lock);
	sb_interrupts_catch();
	if (is_of_nodes(all->options))
		sb_child_on_all_cpus(sweep_some, all);
	else
		(void)sweep_some(all);
}

int sb_machines_sweep(const struct sb_options *options, const struct sb_arguments *plan)
{
	struct sweeps all = { .options = options, .plan = plan };
	struct sb_result result = { .directory = NULL };
	int rc = find_names(&all);

	rc = rc ? rc : sb_outcome_prepare(options, &result);
	if (!rc) {
		all.directory = result.directory;
		run_all(&all);
		rc = report(&all);
		rc = rc ? rc : all.rc;
	}
	for (uint32_t i = 0; i < all.n; i++)
		free(all.name[i]);
	free(all.name);
	sb_result_free(&result);
	return rc;
}
