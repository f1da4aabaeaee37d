#include "harness/help.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "harness/options.h"
#include "harness/status.h"
#include "harness/version.h"
#include "results/record.h"

void sb_help(void)
{
	puts("sched-bench " SB_VERSION
	     " - measures a work-stealing process scheduler\n"
	     "\n"
	     "  sched-bench run -w WORKLOAD [options]   run workloads, print a "
	     "summary,\n"
	     "                                          write a result "
	     "directory\n"
	     "  sched-bench list WHAT [--json]          workloads, options or "
	     "metrics\n"
	     "  sched-bench --version\n"
	     "\n"
	     "  sched-bench run --help shows the options of run.\n"
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
			list, json_pack("{ssssssso}", "name", (*w)->name,
					"operation", (*w)->operation, "meaning",
					(*w)->doc, "parameters", params));
	}
	return list;
}

static void put_param(const struct sb_param *p)
{
	printf("    --%-14s %s ", p->name, p->doc);
	if (p->choices) {
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
		printf("%-10s %s; one operation: one %s\n", (*w)->name,
		       (*w)->doc, (*w)->operation);
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

static const struct {
	const char *name;
	void (*put)(void);
	json_t *(*to_json)(void);
} lists[] = {
	{ "workloads", put_workloads, workloads_to_json },
	{ "options", put_options, options_to_json },
	{ "metrics", put_metrics, metrics_to_json },
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

int sb_command_list(int argc, char **argv)
{
	const bool json = argc == 3 && !strcmp(argv[2], "--json");

	for (size_t i = 0; argc > 1 && i < SB_ARRAY_SIZE(lists); i++) {
		if (strcmp(argv[1], lists[i].name))
			continue;
		if (argc > 3 || (argc == 3 && !json))
			return sb_fail(
				SB_EXIT_USAGE,
				"list: '%s' is not expected; only --json",
				argv[json ? 3 : 2]);
		if (json)
			return put_json(lists[i].to_json());
		lists[i].put();
		return 0;
	}
	return sb_fail(SB_EXIT_USAGE,
		       "list: expected workloads, options or metrics, not '%s'",
		       argc > 1 ? argv[1] : "");
}
