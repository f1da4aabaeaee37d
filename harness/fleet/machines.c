#include "harness/fleet/machines.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "core/platform/platform.h"
#include "harness/cli/trust.h"
#include "harness/fleet/machines_plan.h"
#include "harness/fleet/slurm.h"
#include "harness/output/outcome.h"
#include "harness/output/output.h"
#include "harness/output/store.h"
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
#include "results/text/escape.h"

/* Longer than any sweep: a child ends by itself. */
#define NO_LIMIT_NS (UINT64_C(365) * 86400 * 1000000000)

struct sweeps {
	const struct sb_options *options;
	const char *directory; /* of the result */
	json_t *plan;	       /* as in the file */
	json_t *sweep;	       /* in the plan, borrowed: arguments by machine */
	bool resumes;

	/* Of threads. */
	struct sb_lock lock;
	void *next; /* machine, of jansson's iterator */
	int rc;	    /* the last exit status that was not 0 */
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

/* ---- the plan ---- */

/* What --resume needs: {"at_once": false, "sweeps": {"xeon-2s": ["sweep", ...], ...}}, with the
 * arguments of each machine's sweep, but its output. */

/* Adds the option that selects the machine: its profile, or a constraint on the nodes. */
static int add_machine(const struct sb_options *o, const char *name, struct sb_arguments *words)
{
	const char *on = o->value[SB_OPT_on].text;

	if (!is_of_nodes(o))
		return sb_arguments_add(words, "--profile=%s:%s", o->value[SB_OPT_profile].text,
					name);
	return sb_arguments_add(words, "--on=%s%s'constraint=%s'", on, strchr(on, ':') ? " " : ":",
				name);
}

static int arguments_of(const struct sb_options *o, const struct sb_arguments *plan,
			const char *name, struct sb_arguments *words)
{
	int rc = 0;

	*words = (struct sb_arguments){ .n = 0 };
	for (uint32_t i = 0; i < plan->n && !rc; i++)
		rc = sb_arguments_add(words, "%s", plan->word[i]);
	rc = rc ? rc : add_machine(o, name, words);
	if (!rc && *o->value[SB_OPT_objective].text)
		rc = sb_arguments_add(words, "--objective=%s", o->value[SB_OPT_objective].text);
	if (!rc && o->value[SB_OPT_chunks].alternative)
		rc = sb_arguments_add(words, "--chunks=%s", o->value[SB_OPT_chunks].text);
	if (!rc && sb_opt(o, SB_OPT_no_plots))
		rc = sb_arguments_add(words, "--no-plots");
	return rc;
}

/* A new array of strings; NULL: no memory, or a word is not UTF-8. */
static json_t *plan_of(const struct sb_options *options, const struct sb_arguments *plan,
		       const char *name)
{
	json_t *texts = json_array();
	struct sb_arguments words;
	int rc = arguments_of(options, plan, name, &words);

	for (uint32_t i = 0; i < words.n && !rc; i++)
		rc = json_array_append_new(texts, json_string(words.word[i]));
	sb_arguments_free(&words);
	if (!rc)
		return texts;
	json_decref(texts);
	return NULL;
}

static int find_names(const struct sb_options *options, char ***name, uint32_t *n)
{
	char why[SB_REASON_BYTES];
	int rc;

	if (is_of_nodes(options))
		return sb_slurm_node_types(name, n);
	rc = sb_pack_names(options->value[SB_OPT_profile].text, name, n, why, sizeof(why));
	return rc ? sb_fail(sb_status_of(rc), "--profile: %s", why) : 0;
}

static int make_plan(struct sweeps *all, const struct sb_arguments *plan)
{
	char **name = NULL;
	uint32_t n = 0;
	int rc = find_names(all->options, &name, &n);

	if (!rc) {
		all->plan =
			json_pack("{s:b, s:{}}", "at_once", is_of_nodes(all->options), "sweeps");
		all->sweep = json_object_get(all->plan, "sweeps");
	}
	for (uint32_t i = 0; i < n && !rc; i++) {
		if (json_object_set_new(all->sweep, name[i], plan_of(all->options, plan, name[i])))
			rc = sb_fail(SB_EXIT_USAGE,
				     "%s: its command line cannot be stored; expected UTF-8",
				     name[i]);
	}
	for (uint32_t i = 0; i < n; i++)
		free(name[i]);
	free(name);
	return rc;
}

static int dump(const void *plan, FILE *out)
{
	return json_dumpf(plan, out, JSON_INDENT(1)) ? -EIO : 0;
}

static int write_plan(struct sweeps *all)
{
	char *path = sb_path_join(all->directory, SB_MACHINES_FILE);
	int rc = path ? sb_output_inside(path, dump, all->plan) : -ENOMEM;

	if (rc)
		rc = sb_output_failed(path ? path : SB_MACHINES_FILE, rc);
	free(path);
	return rc;
}

static int read_plan(struct sweeps *all)
{
	const int rc = sb_machines_read_plan(&all->plan, all->directory, all->options);

	all->sweep = json_object_get(all->plan, "sweeps");
	return rc;
}

bool sb_machines_have_begun(const char *directory)
{
	return sb_directory_holds(directory, SB_MACHINES_FILE);
}

/* ---- one sweep ---- */

static bool has_rows(const struct sweeps *all, const char *name)
{
	char *directory = sb_path_join(all->directory, name);
	const bool has = directory && sb_directory_holds(directory, sb_store_of_sweep.name);

	free(directory);
	return has;
}

/* The number with that key in the group "sweep"; 0: there is none. */
static unsigned long number_of(const json_t *meta, const char *key)
{
	const char *text = json_string_value(json_object_get(json_object_get(meta, "sweep"), key));

	return text ? strtoul(text, NULL, 10) : 0;
}

/* Whether it has its result, with all rows: meta.json is small, and written last. */
static bool has_ended(const struct sweeps *all, const char *name)
{
	char *directory = sb_path_join(all->directory, name);
	char *path = directory ? sb_path_join(directory, "meta.json") : NULL;
	json_t *meta = path && sb_directory_holds(directory, "result.json")
			       ? sb_json_read_file(path, 0, NULL)
			       : NULL;
	const unsigned long done = number_of(meta, "rows_done");
	const unsigned long rows =
		number_of(meta, "configurations") * number_of(meta, "repetitions");

	json_decref(meta);
	free(path);
	free(directory);
	return done && done == rows;
}

/* The objective is no part of what the rows are, so a store does not have it. */
static int add_objective(const struct sweeps *all, const json_t *arguments,
			 struct sb_arguments *words)
{
	const char *given = all->options->value[SB_OPT_objective].text;
	size_t i;
	json_t *text;

	if (*given)
		return sb_arguments_add(words, "--objective=%s", given);
	json_array_foreach (arguments, i, text) {
		if (!strncmp(json_string_value(text), "--objective=", 12))
			return sb_arguments_add(words, "%s", json_string_value(text));
	}
	return 0;
}

/* The command line that begins the machine's sweep, or continues it. */
static int words_of(const struct sweeps *all, const char *name, const json_t *arguments,
		    struct sb_arguments *words)
{
	size_t i;
	json_t *text;
	int rc = sb_arguments_add(words, "sched-bench");

	if (all->resumes && has_rows(all, name)) {
		rc = rc ? rc : sb_arguments_add(words, "sweep");
		rc = rc ? rc : sb_arguments_add(words, "--resume");
		rc = rc ? rc : add_objective(all, arguments, words);
		if (!rc && sb_opt(all->options, SB_OPT_other_build))
			rc = sb_arguments_add(words, "--other-build");
	} else {
		json_array_foreach (arguments, i, text)
			rc = rc ? rc : sb_arguments_add(words, "%s", json_string_value(text));
	}
	if (!rc && all->resumes && sb_opt(all->options, SB_OPT_trust) && has_rows(all, name))
		rc = sb_arguments_add(words, "--trust");
	rc = rc ? rc : sb_arguments_add(words, "--quiet");
	return rc ? rc : sb_arguments_add(words, "--output=%s/%s", all->directory, name);
}

/* The exit status; what the sweep has said is passed on. */
static int status_of(const struct sb_child *child, const char *name)
{
	char why[SB_REASON_BYTES];

	if (child->stderr_bytes)
		fprintf(stderr, "%s", child->stderr_text);
	/* Before it could catch the signal. */
	if (child->interrupted && WIFSIGNALED(child->wait_status))
		return SB_EXIT_INVALID;
	if (WIFEXITED(child->wait_status))
		return WEXITSTATUS(child->wait_status);
	sb_child_describe(child, why, sizeof(why));
	return sb_fail(SB_EXIT_BUG, "the sweep of %s: %s", name, why);
}

static int sweep_one(const struct sweeps *all, const char *name, const json_t *arguments)
{
	struct sb_child *child = calloc(1, sizeof(*child));
	struct sb_arguments words = { .n = 0 };
	int rc;

	if (!child || words_of(all, name, arguments, &words)) {
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
	while (all->next && !sb_load_rlx(&sb_interrupted)) {
		const char *name = json_object_iter_key(all->next);
		const json_t *arguments = json_object_iter_value(all->next);
		int rc = 0;

		all->next = json_object_iter_next(all->sweep, all->next);
		sb_lock_release(&all->lock);
		if (!all->resumes || !has_ended(all, name))
			rc = sweep_one(all, name, arguments);
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

			printf("%s.\n", sb_terminal_text(answer ? answer : ""));
			free(answer);
		}
	}
	sb_fleet_free(&fleet);
}

static int report_on(const struct sweeps *all, const struct results *results)
{
	char *path = sb_path_join(all->directory, "report.html");
	int rc = path ? sb_output_inside(path, write_page, results) : -ENOMEM;

	if (rc)
		rc = sb_fail(sb_status_of(rc), "%s/report.html cannot be written: %s",
			     all->directory, strerror(-rc));
	else if (!sb_opt(all->options, SB_OPT_quiet)) {
		put_answers(results);
		printf("result: %s (report.html, and a directory for each of %zu machines)\n",
		       sb_terminal_text(all->directory), json_object_size(all->sweep));
	}
	free(path);
	return rc;
}

/* Of the sweeps that have one. */
static void read_results(const struct sweeps *all, struct results *results)
{
	char why[SB_REASON_BYTES];
	const char *name;
	json_t *arguments;

	json_object_foreach (all->sweep, name, arguments) {
		char *directory = sb_path_join(all->directory, name);

		if (directory &&
		    !sb_result_read(&results->result[results->n], directory, why, sizeof(why)))
			results->n++;
		free(directory);
	}
}

static int report(const struct sweeps *all)
{
	struct results results = { .result = calloc(json_object_size(all->sweep),
						    sizeof(*results.result)) };
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

/* A cluster runs several at the same time; here each takes all CPUs. */
static int run_all(struct sweeps *all)
{
	int rc;

	all->next = json_object_iter(all->sweep);
	sb_lock_init(&all->lock);
	sb_interrupts_catch();
	if (json_is_true(json_object_get(all->plan, "at_once")))
		sb_child_on_all_cpus(sweep_some, all);
	else
		(void)sweep_some(all);
	if (sb_load_rlx(&sb_interrupted) && (all->next || all->rc)) {
		sb_note("the rest: sched-bench sweep --resume %s%s", all->directory,
			json_is_true(json_object_get(all->plan, "at_once"))
				? " --trust"
				: sb_trust_hint(all->options));
		all->rc = all->rc ? all->rc : SB_EXIT_INVALID;
	}
	rc = report(all);
	return rc ? rc : all->rc;
}

/* Writes or reads the plan in the result directory, and runs it. */
static int run_in_directory(struct sweeps *all, int (*take_plan)(struct sweeps *))
{
	struct sb_result result = { .directory = NULL };
	int rc = sb_outcome_prepare(all->options, &result);

	all->directory = result.directory;
	rc = rc ? rc : take_plan(all);
	rc = rc ? rc : run_all(all);
	sb_result_free(&result);
	return rc;
}

int sb_machines_sweep(const struct sb_options *options, const struct sb_arguments *plan)
{
	struct sweeps all = { .options = options };
	int rc = make_plan(&all, plan);

	rc = rc ? rc : run_in_directory(&all, write_plan);
	json_decref(all.plan);
	return rc;
}

int sb_machines_resume(const struct sb_options *options, const struct sb_arguments *plan)
{
	struct sweeps all = { .options = options, .resumes = true };
	int rc;

	/* The word "sweep" is always there. */
	if (plan->n > 1)
		return sb_fail(SB_EXIT_USAGE,
			       "%s is not expected; expected --resume DIRECTORY alone",
			       plan->word[1]);
	rc = run_in_directory(&all, read_plan);
	json_decref(all.plan);
	return rc;
}
