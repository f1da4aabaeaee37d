#include "harness/help.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "affinity/profile.h"
#include "harness/command_micro.h"
#include "harness/options.h"
#include "harness/status.h"
#include "harness/version.h"
#include "results/validity.h"

void sb_help(void)
{
	puts("sched-bench " SB_VERSION
	     " - measures a work-stealing process scheduler\n"
	     "\n"
	     "  sched-bench run -w WORKLOAD [options]   run workloads, print a "
	     "summary,\n"
	     "                                          write a result "
	     "directory\n"
	     "  sched-bench topo WHAT [options]         list, show, plan, "
	     "export, fingerprint:\n"
	     "                                          machines, and which "
	     "worker goes where\n"
	     "  sched-bench check [--strict]            what on this machine "
	     "would spoil a measurement\n"
	     "  sched-bench calibrate [options]         what the clock, a "
	     "wake, a steal, and\n"
	     "                                          recording itself "
	     "cost here\n"
	     "  sched-bench micro [--benchmark_...]     what each of the "
	     "scheduler's primitives costs,\n"
	     "                                          under Google "
	     "Benchmark or, --counts, valgrind\n"
	     "  sched-bench list WHAT [--json]          workloads, options, "
	     "metrics, validity, profiles\n"
	     "  sched-bench --version\n"
	     "\n"
	     "  sched-bench run --help shows the options of run; so for topo, "
	     "check, calibrate and micro.\n"
	     "\n"
	     "Try:  sched-bench run -w pingpong\n"
	     "\n"
	     "Exit status: 0 done; 2 a measurement is invalid or was "
	     "interrupted; 3 an input is\n"
	     "wrong; 4 this machine does not allow it; 70 a bug.");
}

/* "--wake local|affine|global" in one column, its help and default behind. */
static void put_option(const struct sb_option *option)
{
	char left[64];

	snprintf(left, sizeof(left), "%s%c%s--%s%s%s",
		 option->letter ? "-" : " ",
		 option->letter ? option->letter : ' ',
		 option->letter ? ", " : "  ", option->name,
		 option->form ? " " : "", option->form ? option->form : "");
	printf("  %-45s %s", left, option->help);
	if (option->form && *option->initial)
		printf(" [%s]", option->initial);
	putchar('\n');
}

/* The verb's options by group; groups without any are left out. */
static void put_options_of(enum sb_verb verb)
{
	const char *title = NULL;

#define GROUP(name) title = name;
#define OPTION(id, ...)                                                        \
	if (sb_option[SB_OPT_##id].verbs & verb) {                             \
		if (title)                                                     \
			printf("\n%s:\n", title);                              \
		title = NULL;                                                  \
		put_option(&sb_option[SB_OPT_##id]);                           \
	}
#include "harness/options.def"
#undef OPTION
#undef GROUP
}

void sb_help_run(void)
{
	puts("sched-bench run -w WORKLOAD [options]");
	put_options_of(SB_VERB_RUN);
	puts("\nEach workload has parameters of its own: sched-bench list "
	     "workloads. Each option\ncan be set in the environment: "
	     "SCHED_BENCH_SPIN_YIELD=64 is --spin-yield 64.");
}

void sb_help_topo(void)
{
	puts("sched-bench topo list|show|plan|export|fingerprint [options]\n"
	     "\n"
	     "  list         the machines that can be named with --profile\n"
	     "  show         the machine as a tree, or with --svg as a "
	     "picture, and its workers\n"
	     "  plan         where each worker goes, and whom it steals from\n"
	     "  export       the machine as hwloc's XML\n"
	     "  fingerprint  a hash of the machine's structure");
	put_options_of(SB_VERB_TOPO);
	puts("\nA profile is a name, a file of hwloc's XML, a directory of "
	     "hwloc-gather-topology, or\nhwloc's synthetic description, such "
	     "as 'pack:2 numa:2 l3:2 core:4 pu:2'. Without\none it is this "
	     "machine. On all others, runs are emulated.\n"
	     "\nTry:  sched-bench topo plan --profile laptop-6p8e --workers 8");
}

void sb_help_check(void)
{
	puts("sched-bench check [options]\n"
	     "\n"
	     "Looks for what would spoil a measurement on this machine. Each "
	     "line is ok, warn or\nunknown; behind a warning stand what it "
	     "does "
	     "to a measurement, and the command that\nmends it. Nothing is "
	     "changed. Exit status 0, or with --strict 4 when something "
	     "warns.");
	put_options_of(SB_VERB_CHECK);
}

void sb_help_calibrate(void)
{
	puts("sched-bench calibrate [options]\n"
	     "\n"
	     "Measures what this machine's primitives cost: the clock and "
	     "whether it can be trusted,\n"
	     "an atomic, a cache line from CPU to CPU, waking a thread, "
	     "changing to another one, a\n"
	     "steal, a unit of work; and how much recording adds to an "
	     "operation. Takes less than\n"
	     "20 s. Other programs that run meanwhile make everything "
	     "slower.");
	put_options_of(SB_VERB_CALIBRATE);
}

void sb_help_micro(void)
{
	puts("sched-bench micro [--benchmark_FLAG=VALUE]... [options]\n"
	     "\n"
	     "Times the scheduler's primitives under Google Benchmark, each "
	     "with a check of its answer;\n"
	     "one that fails has no numbers, and the exit status is 2.\n");
	sb_micro_help();
	put_options_of(SB_VERB_MICRO);
	puts("\nTry:  sched-bench micro --benchmark_filter=deque "
	     "--benchmark_repetitions=9 --benchmark_report_aggregates_only");
}

/* ---- list: each kind as text or as JSON ---- */

static json_t *param_to_json(const struct sb_param *p)
{
	json_t *object =
		json_pack("{ssss}", "name", p->name, "meaning", p->doc);
	json_t *choices;

	if (!p->choices) {
		json_object_set_new(object, "default",
				    json_integer((json_int_t)p->initial));
		json_object_set_new(object, "min",
				    json_integer((json_int_t)p->min));
		json_object_set_new(object, "max",
				    json_integer((json_int_t)p->max));
		return object;
	}
	if (sb_param_is_text(p)) {
		json_object_set_new(object, "default",
				    json_string(p->choices[0]));
		return object;
	}
	choices = json_array();
	for (int i = 0; p->choices[i]; i++)
		json_array_append_new(choices, json_string(p->choices[i]));
	json_object_set_new(object, "default",
			    json_string(p->choices[p->initial]));
	json_object_set_new(object, "choices", choices);
	return object;
}

static json_t *workloads_to_json(void)
{
	json_t *list = json_array();

	for (const struct sb_workload *const *w = sb_workloads; *w; w++) {
		json_t *params = json_array();

		for (const struct sb_param *p = (*w)->params; p->name; p++)
			json_array_append_new(params, param_to_json(p));
		json_array_append_new(
			list, json_pack("{ssssssssso}", "name", (*w)->name,
					"operation", (*w)->operation, "meaning",
					(*w)->doc, "source", (*w)->source,
					"parameters", params));
	}
	return list;
}

static void put_param(const struct sb_param *p)
{
	printf("    --%-14s %s ", p->name, p->doc);
	if (sb_param_is_text(p)) {
		printf("[%s]\n", p->choices[0]);
	} else if (p->choices) {
		for (int i = 0; p->choices[i]; i++)
			printf("%s%s", i ? "|" : "(", p->choices[i]);
		printf(") [%s]\n", p->choices[p->initial]);
	} else {
		printf("(%" PRIu64 " to %" PRIu64 ") [%" PRIu64 "]\n", p->min,
		       p->max, p->initial);
	}
}

static void put_workloads(void)
{
	for (const struct sb_workload *const *w = sb_workloads; *w; w++) {
		printf("%s\n    %s\n    from: %s; one operation: one %s\n",
		       (*w)->name, (*w)->doc, (*w)->source, (*w)->operation);
		for (const struct sb_param *p = (*w)->params; p->name; p++)
			put_param(p);
	}
}

static json_t *options_to_json(void)
{
	json_t *list = json_array();

	for (int i = 0; i < SB_OPTIONS; i++)
		json_array_append_new(list,
				      json_pack("{ssss*ssss}", "name",
						sb_option[i].name, "form",
						sb_option[i].form, "default",
						sb_option[i].initial, "meaning",
						sb_option[i].help));
	return list;
}

static void put_options(void)
{
	for (int i = 0; i < SB_OPTIONS; i++)
		put_option(&sb_option[i]);
}

static const char *const better[] = {
	[SB_LOWER] = "lower is better",
	[SB_HIGHER] = "higher is better",
	[SB_NEITHER] = "",
};

static json_t *metrics_to_json(void)
{
	json_t *list = json_array();

	for (int i = 0; i < SB_METRICS; i++)
		json_array_append_new(
			list, json_pack("{ssssssss}", "name", sb_metric[i].name,
					"unit", sb_metric[i].unit, "better",
					better[sb_metric[i].better], "meaning",
					sb_metric[i].doc));
	return list;
}

static void put_metrics(void)
{
	for (int i = 0; i < SB_METRICS; i++)
		printf("%-30s %-6s %-17s %s\n", sb_metric[i].name,
		       sb_metric[i].unit, better[sb_metric[i].better],
		       sb_metric[i].doc);
}

static const char *rule_unit(const struct sb_rule *rule)
{
	return sb_metric[rule->metric].unit;
}

static json_t *validity_to_json(void)
{
	json_t *list = json_array();

	for (const struct sb_rule *r = sb_rules; r->name; r++) {
		json_t *rule =
			json_pack("{sssssssf}", "name", r->name, "meaning",
				  r->doc, "metric", sb_metric[r->metric].name,
				  "suspect_above", r->suspect);

		/* Never is no number. */
		if (!isinf(r->invalid))
			json_object_set_new(rule, "invalid_above",
					    json_real(r->invalid));
		json_object_set_new(rule, "unit", json_string(rule_unit(r)));
		json_object_set_new(rule, "if_metric",
				    json_string(sb_metric[r->evidence].name));
		json_object_set_new(rule, "is_at_least", json_real(r->least));
		json_array_append_new(list, rule);
	}
	for (const struct sb_request_rule *r = sb_request_rules; r->name; r++)
		json_array_append_new(
			list, json_pack("{ssssss}", "name", r->name, "meaning",
					r->doc, "threshold", r->threshold));
	for (const struct sb_series_rule *r = sb_series_rules; r->name; r++)
		json_array_append_new(
			list, json_pack("{ssssss}", "name", r->name, "meaning",
					r->doc, "threshold", r->threshold));
	return list;
}

static void put_validity(void)
{
	for (const struct sb_rule *r = sb_rules; r->name; r++) {
		printf("%-16s %s: %s if %s > %g %s", r->name, r->doc,
		       isinf(r->invalid) ? "suspect" : "invalid",
		       sb_metric[r->metric].name,
		       isinf(r->invalid) ? r->suspect : r->invalid,
		       rule_unit(r));
		if (r->least > 1)
			printf(", and %s >= %g %s", sb_metric[r->evidence].name,
			       r->least, sb_metric[r->evidence].unit);
		putchar('\n');
	}
	for (const struct sb_request_rule *r = sb_request_rules; r->name; r++)
		printf("%-16s %s: %s\n", r->name, r->doc, r->threshold);
	for (const struct sb_series_rule *r = sb_series_rules; r->name; r++)
		printf("%-16s %s: %s\n", r->name, r->doc, r->threshold);
}

static json_t *profiles_to_json(void)
{
	json_t *list = json_array();

	for (const struct sb_profile *p = sb_profiles; p->name; p++)
		json_array_append_new(
			list, json_pack("{ssssssss}", "name", p->name,
					"meaning", p->description, "source",
					p->source, "synthetic", p->synthetic));
	return list;
}

static void put_profiles(void)
{
	for (const struct sb_profile *p = sb_profiles; p->name; p++)
		printf("%-13s %s\n", p->name, p->description);
}

static const struct list {
	const char *name;
	void (*put)(void);
	json_t *(*to_json)(void);
} lists[] = {
	{ "workloads", put_workloads, workloads_to_json },
	{ "options", put_options, options_to_json },
	{ "metrics", put_metrics, metrics_to_json },
	{ "validity", put_validity, validity_to_json },
	{ "profiles", put_profiles, profiles_to_json },
};

static int put_json(json_t *list)
{
	if (!list)
		return sb_fail(SB_EXIT_BUG, "no memory");
	json_dumpf(list, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(list);
	return 0;
}

static int put_list(const struct list *list, int argc, char **argv)
{
	const bool json = argc > 1 && !strcmp(argv[1], "--json");

	if (argc > 2 || (argc == 2 && !json))
		return sb_fail(SB_EXIT_USAGE,
			       "list: '%s' is not expected; only --json",
			       argv[json ? 2 : 1]);
	if (json)
		return put_json(list->to_json());
	list->put();
	return 0;
}

int sb_command_list(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < SB_ARRAY_SIZE(lists); i++) {
		if (!strcmp(argv[1], lists[i].name))
			return put_list(&lists[i], argc - 1, argv + 1);
	}
	return sb_fail(SB_EXIT_USAGE,
		       "list: expected workloads, options, metrics, validity "
		       "or profiles, not '%s'",
		       argc > 1 ? argv[1] : "");
}

int sb_list_profiles(int argc, char **argv)
{
	return put_list(&lists[SB_ARRAY_SIZE(lists) - 1], argc, argv);
}
