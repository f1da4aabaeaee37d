#include "harness/help.h"

#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "affinity/profile.h"
#include "harness/command_micro.h"
#include "harness/command_plot.h"
#include "harness/options.h"
#include "harness/policy.h"
#include "harness/progress.h"
#include "harness/status.h"
#include "harness/text.h"
#include "harness/verbs.h"
#include "harness/version.h"
#include "results/convert/convert.h"
#include "results/json_out.h"
#include "results/validity.h"

void sb_help(void)
{
	puts("sched-bench " SB_VERSION
	     " - measures a work-stealing process scheduler\n");
	for (const struct sb_verb_info *v = sb_verbs; v->name; v++)
		printf("  %-10s %s\n", v->name, v->summary);
	puts("\n"
	     "sched-bench VERB --help shows the options of each; --version the "
	     "version.\n"
	     "\n"
	     "Try:  sched-bench run -w pingpong\n"
	     "\n"
	     "Exit status: 0 done; 2 a measurement is invalid or was "
	     "interrupted; 3 an input\n"
	     "is wrong; 4 this machine does not allow it; 70 a bug.");
}

/* What is no terminal has lines that are as long as they are. */
static int columns_of_stdout(void)
{
	return isatty(STDOUT_FILENO) ? sb_terminal_columns(stdout) : INT_MAX;
}

/* The text from the column on; further lines begin there, too. */
static void put_wrapped(const char *text, int column, int columns)
{
	while ((int)strlen(text) > columns - column) {
		int n = columns - column;

		while (n > 0 && text[n] != ' ')
			n--;
		if (n <= 0)
			break;
		printf("%.*s\n%*s", n, text, column, "");
		text += n + 1;
	}
	puts(text);
}

/* With all options on a line each, what they are for begins here. */
#define WIDE	    125
#define WIDE_COLUMN 48
#define COLUMN	    28

/* "--wake local|affine|global" in one column, its help and default behind. */
static void put_option(const struct sb_option *option)
{
	const int columns = columns_of_stdout();
	const int column = columns < WIDE ? COLUMN : WIDE_COLUMN;
	char left[80];
	char right[200];
	int width;

	width = snprintf(left, sizeof(left), "  %s%c%s--%s%s%s",
			 option->letter ? "-" : " ",
			 option->letter ? option->letter : ' ',
			 option->letter ? ", " : "  ", option->name,
			 option->form ? " " : "",
			 option->form ? option->form : "");
	snprintf(right, sizeof(right),
		 option->form && *option->initial ? "%s [%s]" : "%s",
		 option->help, option->initial);
	if (width >= column)
		printf("%s\n%*s", left, column, "");
	else
		printf("%-*s", column, left);
	put_wrapped(right, column, columns);
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
	puts("sched-bench run [JOB.ini...] [-w WORKLOAD] [options]\n"
	     "sched-bench run --resume DIRECTORY");
	put_options_of(SB_VERB_RUN);
	puts("\nEach workload has parameters of its own: sched-bench list "
	     "workloads. Each option\ncan be set in the environment "
	     "(SCHED_BENCH_SPIN_YIELD=64 is --spin-yield 64) and\nin a job "
	     "file (spin-yield=64 in a section, which is a job; [global] is "
	     "for all).\n"
	     "\nTry:  sched-bench run -w pingpong --spin-yield 64 --show-job "
	     ">spin.ini\n"
	     "      sched-bench run spin.ini");
}

void sb_help_sweep(void)
{
	puts("sched-bench sweep -w WORKLOAD -L NAME=A,B,... "
	     "-P NAME=LO..HI[:STEP|:log2] ... [options]\n"
	     "sched-bench sweep JOB.ini [options]\n"
	     "sched-bench sweep --resume DIRECTORY\n"
	     "\n"
	     "Runs every combination of the values, each repetition in a "
	     "process of its own: a crash\n"
	     "or a hang costs its row alone. A round is one repetition of "
	     "each, in random order.\n"
	     "What is there is in DIRECTORY/sweep.db after each row.");
	put_options_of(SB_VERB_SWEEP);
	puts("\nTry:  sched-bench sweep -w skynet -L spin-yield=0,12,64 -L "
	     "batch=1,16 -d 200ms -r 5");
}

void sb_help_ab(void)
{
	puts("sched-bench ab -A 'OPTIONS' -B 'OPTIONS' -w WORKLOAD [options]\n"
	     "sched-bench ab -A './old/sched-bench OPTIONS' -B 'OPTIONS' -w "
	     "WORKLOAD [options]\n"
	     "\n"
	     "Runs both sides in pairs of processes, in blocks A B B A or B A "
	     "A B as a coin falls, and says\n"
	     "for each metric by how much B differs, or how small a "
	     "difference it would have seen. A side\n"
	     "is the options in which it differs, quoted as for a shell (none "
	     "is run); the options below are\n"
	     "for both. Exit status 0 whatever the difference, 2 if there are "
	     "too few valid pairs.");
	put_options_of(SB_VERB_AB);
	puts("\nWithout --metric: ns_per_op, cpu_ns_per_op, and where they "
	     "are measured\nready_to_running_ns_p99, send_to_step_ns_p99, "
	     "sojourn_ns_p99, wake_ns_p99. A workload's own parameter\n--pairs "
	     "goes into -A and -B.\n"
	     "\nTry:  sched-bench ab -A '--spin-yield 12' -B '--spin-yield 0' "
	     "-w pingpong");
}

void sb_help_compare(void)
{
	puts("sched-bench compare A B [options]\n"
	     "\n"
	     "Compares two results, each a result directory or a result.json: "
	     "series with the same\n"
	     "workload and settings, by Mann and Whitney's test. They were "
	     "measured at different\n"
	     "times, which no statistics can mend: sched-bench ab does better. "
	     "Exit status 0\n"
	     "whatever the difference, 2 if nothing can be compared.");
	put_options_of(SB_VERB_COMPARE);
	puts("\nTry:  sched-bench compare sched-bench-results/old "
	     "sched-bench-results/new");
}

void sb_help_topo(void)
{
	puts("sched-bench topo list|show|plan|export|fingerprint [options]\n"
	     "\n"
	     "  list         the machines that can be named with --profile\n"
	     "  show         the machine as a tree, or as a picture (--svg), "
	     "and its workers\n"
	     "  plan         where each worker goes, and whom it steals from\n"
	     "  export       the machine as hwloc's XML\n"
	     "  fingerprint  a hash of the machine's structure");
	put_options_of(SB_VERB_TOPO);
	puts("\nA profile is a name, a file of hwloc's XML, a directory of\n"
	     "hwloc-gather-topology, or hwloc's synthetic description, such "
	     "as\n'pack:2 numa:2 l3:2 core:4 pu:2'. Without one it is this "
	     "machine. On all\nothers, runs are emulated.\n"
	     "\nTry:  sched-bench topo plan --profile laptop-6p8e --workers 8");
}

void sb_help_plot(void)
{
	puts("sched-bench plot KIND|all RESULT... [-o FILE.svg|FILE.png|-]\n"
	     "\n"
	     "Draws results, each a directory or a result.json. Without a "
	     "file, "
	     "SVG, PNG and the\ngnuplot script go to plots/ in the result. "
	     "Kinds:\n");
	sb_list_plots();
	put_options_of(SB_VERB_PLOT);
	puts("\nTry:  sched-bench plot cost sched-bench-results/* -o cost.svg");
}

void sb_help_check(void)
{
	puts("sched-bench check [options]\n"
	     "\n"
	     "Looks for what would spoil a measurement on this machine. Each "
	     "line is ok,\nwarn or unknown; behind a warning stand what it "
	     "does to a measurement, and the\ncommand that mends it. Nothing "
	     "is changed. Exit status 0, or with --strict 4\nwhen something "
	     "warns.");
	put_options_of(SB_VERB_CHECK);
}

void sb_help_calibrate(void)
{
	puts("sched-bench calibrate [options]\n"
	     "\n"
	     "Measures what this machine's primitives cost: the clock and "
	     "whether it can be\n"
	     "trusted, an atomic, a cache line from CPU to CPU, waking a "
	     "thread, changing to\nanother one, a steal, a unit of work; and "
	     "how much recording adds to an\noperation. Takes less than 20 s. "
	     "Other programs that run meanwhile make\neverything slower.");
	put_options_of(SB_VERB_CALIBRATE);
}

void sb_help_micro(void)
{
	puts("sched-bench micro [--benchmark_FLAG=VALUE]... [options]\n"
	     "\n"
	     "Times the scheduler's primitives under Google Benchmark, each "
	     "with a check of\n"
	     "its answer; one that fails has no numbers, and the exit status "
	     "is 2.\n");
	sb_micro_help();
	put_options_of(SB_VERB_MICRO);
	puts("\nTry:  sched-bench micro --benchmark_filter=deque "
	     "--benchmark_repetitions=9");
}

void sb_help_gate(void)
{
	puts("sched-bench gate --baseline BINARY|REVISION|RESULT [options]\n"
	     "sched-bench gate --calibrate [N] | --selftest [N]\n"
	     "\n"
	     "Has something become worse than a limit? Both sides run in "
	     "interleaved pairs of\n"
	     "processes until that is clear. Exit status: 0 no; 1 yes; 2 "
	     "cannot tell.\n"
	     "Without -w: pingpong, yield and skynet in short rounds, by "
	     "--limit ns_per_op=3%,\n"
	     "cpu_ns_per_op=3%; and imbalanced-tree on two workers, by "
	     "steals_per_op=±50%,\n"
	     "wakes_per_op=100%,parks_per_op=100%. With --counts: "
	     "instructions, by 1%.");
	put_options_of(SB_VERB_GATE);
	puts("\nTry:  sched-bench gate --baseline HEAD~1\n"
	     "      sched-bench gate --baseline ./sched-bench-old -w skynet "
	     "--limit cpu_ns_per_op=+5%");
}

void sb_help_convert(void)
{
	puts("sched-bench convert RESULT --to FORMAT [options]\n"
	     "\n"
	     "Writes a result (its directory, or its result.json) in the "
	     "format "
	     "of another tool:\n");
	for (const struct sb_converter *c = sb_converters; c->name; c++)
		printf("  %-16s %-21s %s\n", c->name,
		       c->file ? c->file : "runs.csv, ...", c->doc);
	put_options_of(SB_VERB_CONVERT);
	puts("\nWithout --output it goes into the result's directory, under "
	     "the name above. Rows\nthat are invalid have no numbers, and are "
	     "left out.\n"
	     "\nTry:  sched-bench convert results/skynet --to benchstat -o -");
}

void sb_help_report(void)
{
	puts("sched-bench report RESULT... [options]\n"
	     "\n"
	     "Writes one self-contained page on a result, or on several side "
	     "by "
	     "side: what was run\n"
	     "and where, whether it may be believed, headline numbers with "
	     "their spread, pictures,\n"
	     "tables that sort, and every metric with its definition. RESULT "
	     "is a result directory or\n"
	     "a result.json. Pictures are those in plots/ of the result's "
	     "directory.");
	put_options_of(SB_VERB_REPORT);
	puts("\nTry:  sched-bench report sched-bench-results/* -o all.html\n"
	     "      sched-bench report sched-bench-results/new -o - --format "
	     "md");
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

static json_t *verbs_to_json(const struct sb_option *option)
{
	json_t *list = json_array();

	for (const struct sb_verb_info *v = sb_verbs; v->name; v++) {
		if (v->options & option->verbs)
			json_array_append_new(list, json_string(v->name));
	}
	return list;
}

static json_t *options_to_json(void)
{
	json_t *list = json_array();

	for (int i = 0; i < SB_OPTIONS; i++) {
		char twin[64];

		sb_option_environment((enum sb_option_id)i, twin, sizeof(twin));
		json_array_append_new(list,
				      json_pack("{ssss*sssssoss}", "name",
						sb_option[i].name, "form",
						sb_option[i].form, "default",
						sb_option[i].initial, "meaning",
						sb_option[i].help, "verbs",
						verbs_to_json(&sb_option[i]),
						"environment", twin));
	}
	return list;
}

/* One name may mean something else to another verb. */
static void put_options(void)
{
	for (int i = 0; i < SB_OPTIONS; i++) {
		const char *before = "(";

		put_option(&sb_option[i]);
		printf("%*s", columns_of_stdout() < WIDE ? COLUMN : WIDE_COLUMN,
		       "");
		for (const struct sb_verb_info *v = sb_verbs; v->name; v++) {
			if (!(v->options & sb_option[i].verbs))
				continue;
			printf("%s%s", before, v->name);
			before = ", ";
		}
		puts(")");
	}
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
		const bool grows =
			!isinf(r->invalid) && r->invalid > r->suspect;

		printf("%-16s %s: %s if %s > %g %s", r->name, r->doc,
		       isinf(r->invalid) || grows ? "suspect" : "invalid",
		       sb_metric[r->metric].name, r->suspect, rule_unit(r));
		if (grows)
			printf(", invalid if > %g %s", r->invalid,
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

static json_t *policies_to_json(void)
{
	json_t *list = json_array();

	for (const struct sb_policy *p = sb_policies; p->name; p++) {
		json_t *options = json_object();

		for (const struct sb_policy_value *v = p->value; v->text; v++)
			json_object_set_new(options, sb_option[v->id].name,
					    json_string(v->text));
		json_array_append_new(
			list, json_pack("{ssssso}", "name", p->name, "meaning",
					p->doc, "options", options));
	}
	return list;
}

static void put_policies(void)
{
	for (const struct sb_policy *p = sb_policies; p->name; p++) {
		printf("%s\n    %s\n", p->name, p->doc);
		if (p->value->text)
			fputs("   ", stdout);
		for (const struct sb_policy_value *v = p->value; v->text; v++)
			printf(" --%s %s%s", sb_option[v->id].name, v->text,
			       v[1].text ? "" : "\n");
	}
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
	const char *help;
	void (*put)(void);
	json_t *(*to_json)(void);
} lists[] = {
	{ "workloads", "what can be run, with the parameters of each",
	  put_workloads, workloads_to_json },
	{ "options", "all options of all verbs", put_options, options_to_json },
	{ "metrics",
	  "what is measured, its unit, and which direction is better",
	  put_metrics, metrics_to_json },
	{ "policies", "sets of option values that can be named with --policy",
	  put_policies, policies_to_json },
	{ "validity", "what makes a row suspect or invalid", put_validity,
	  validity_to_json },
	{ "profiles", "the machines that can be named with --profile",
	  put_profiles, profiles_to_json },
};

static int put_json(json_t *list)
{
	if (sb_json_put(list, stdout, JSON_INDENT(1)))
		return sb_fail_memory();
	putchar('\n');
	return 0;
}

static bool is_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h");
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

static void help_list(void)
{
	puts("sched-bench list WHAT [--json]\n");
	for (size_t i = 0; i < SB_ARRAY_SIZE(lists); i++)
		printf("  %-10s %s\n", lists[i].name, lists[i].help);
	puts("\nTry:  sched-bench list workloads");
}

static const char *list_name(const void *unused, size_t i)
{
	(void)unused;
	return i < SB_ARRAY_SIZE(lists) ? lists[i].name : NULL;
}

int sb_command_list(int argc, char **argv)
{
	const char *name = argc > 2 ? argv[2] : "--help";
	const char *like;

	if (is_help(name) || (argc > 3 && is_help(argv[3]))) {
		help_list();
		return 0;
	}
	for (size_t i = 0; i < SB_ARRAY_SIZE(lists); i++) {
		if (!strcmp(name, lists[i].name))
			return put_list(&lists[i], argc - 2, argv + 2);
	}
	like = sb_most_like(name, list_name, NULL);
	if (like)
		return sb_fail(SB_EXIT_USAGE,
			       "list: unknown '%s'; did you mean '%s'?", name,
			       like);
	return sb_fail(SB_EXIT_USAGE,
		       "list: expected workloads, options, metrics, policies, "
		       "validity or profiles, not '%s'",
		       name);
}

int sb_list_profiles(int argc, char **argv)
{
	if (argc > 1 && is_help(argv[1])) {
		sb_help_topo();
		return 0;
	}
	return put_list(&lists[SB_ARRAY_SIZE(lists) - 1], argc, argv);
}
