/*
 * list.c - the verb `list`: the tables that the command is made of, each as text
 * or as JSON.
 */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "affinity/profile/profile.h"
#include "harness/cli/help.h"
#include "harness/cli/options.h"
#include "harness/cli/policy.h"
#include "harness/cli/verb.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "harness/verbs/verbs.h"
#include "results/json/json_out.h"
#include "results/record/validity.h"
#include "workloads/workload.h"

static json_t *param_to_json(const struct sb_param *p)
{
	json_t *object = json_pack("{ssss}", "name", p->name, "meaning", p->doc);
	json_t *choices;

	if (!p->choices) {
		json_object_set_new(object, "default", json_integer((json_int_t)p->initial));
		json_object_set_new(object, "min", json_integer((json_int_t)p->min));
		json_object_set_new(object, "max", json_integer((json_int_t)p->max));
		return object;
	}
	if (sb_param_is_text(p)) {
		json_object_set_new(object, "default", json_string(p->choices[0]));
		return object;
	}
	choices = json_array();
	for (int i = 0; p->choices[i]; i++)
		json_array_append_new(choices, json_string(p->choices[i]));
	json_object_set_new(object, "default", json_string(p->choices[p->initial]));
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
		json_array_append_new(list,
				      json_pack("{ssssssssssso}", "name", (*w)->name, "operation",
						(*w)->operation, "meaning", (*w)->doc, "source",
						(*w)->source, "objective",
						sb_workload_objective(*w), "parameters", params));
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
		printf("(%" PRIu64 " to %" PRIu64 ") [%" PRIu64 "]\n", p->min, p->max, p->initial);
	}
}

static void put_workloads(void)
{
	for (const struct sb_workload *const *w = sb_workloads; *w; w++) {
		printf("%s\n    %s\n    from: %s; one operation: one %s; compared by %s\n",
		       (*w)->name, (*w)->doc, (*w)->source, (*w)->operation,
		       sb_workload_objective(*w));
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
		json_array_append_new(
			list, json_pack("{ssss*sssssoss}", "name", sb_option[i].name, "form",
					sb_option[i].form, "default", sb_option[i].initial,
					"meaning", sb_option[i].help, "verbs",
					verbs_to_json(&sb_option[i]), "environment", twin));
	}
	return list;
}

/* One name may mean something else to another verb. */
static void put_options(void)
{
	for (int i = 0; i < SB_OPTIONS; i++) {
		const char *before = "(";

		sb_help_option(&sb_option[i]);
		printf("%*s", sb_help_column(), "");
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
		json_array_append_new(list, json_pack("{ssssssss}", "name", sb_metric[i].name,
						      "unit", sb_metric[i].unit, "better",
						      better[sb_metric[i].better], "meaning",
						      sb_metric[i].doc));
	return list;
}

static void put_metrics(void)
{
	for (int i = 0; i < SB_METRICS; i++)
		printf("%-30s %-6s %-17s %s\n", sb_metric[i].name, sb_metric[i].unit,
		       better[sb_metric[i].better], sb_metric[i].doc);
}

static const char *rule_unit(const struct sb_rule *rule)
{
	return sb_metric[rule->metric].unit;
}

static json_t *validity_to_json(void)
{
	json_t *list = json_array();

	for (const struct sb_rule *r = sb_rules; r->name; r++) {
		json_t *rule = json_pack("{sssssssf}", "name", r->name, "meaning", r->doc, "metric",
					 sb_metric[r->metric].name, "suspect_above", r->suspect);

		/* Never is no number. */
		if (!isinf(r->invalid))
			json_object_set_new(rule, "invalid_above", json_real(r->invalid));
		json_object_set_new(rule, "unit", json_string(rule_unit(r)));
		json_object_set_new(rule, "if_metric", json_string(sb_metric[r->evidence].name));
		json_object_set_new(rule, "is_at_least", json_real(r->least));
		json_array_append_new(list, rule);
	}
	for (const struct sb_request_rule *r = sb_request_rules; r->name; r++)
		json_array_append_new(list, json_pack("{ssssss}", "name", r->name, "meaning",
						      r->doc, "threshold", r->threshold));
	for (const struct sb_series_rule *r = sb_series_rules; r->name; r++)
		json_array_append_new(list, json_pack("{ssssss}", "name", r->name, "meaning",
						      r->doc, "threshold", r->threshold));
	return list;
}

static void put_validity(void)
{
	for (const struct sb_rule *r = sb_rules; r->name; r++) {
		const bool grows = !isinf(r->invalid) && r->invalid > r->suspect;

		printf("%-16s %s: %s if %s > %g %s", r->name, r->doc,
		       isinf(r->invalid) || grows ? "suspect" : "invalid",
		       sb_metric[r->metric].name, r->suspect, rule_unit(r));
		if (grows)
			printf(", invalid if > %g %s", r->invalid, rule_unit(r));
		if (r->least > 1)
			printf(", and %s >= %g %s", sb_metric[r->evidence].name, r->least,
			       sb_metric[r->evidence].unit);
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
			json_object_set_new(options, sb_option[v->id].name, json_string(v->text));
		json_array_append_new(list, json_pack("{ssssso}", "name", p->name, "meaning",
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
			printf(" --%s %s%s", sb_option[v->id].name, v->text, v[1].text ? "" : "\n");
	}
}

static json_t *profiles_to_json(void)
{
	json_t *list = json_array();

	for (const struct sb_profile *p = sb_profiles; p->name; p++)
		json_array_append_new(list, json_pack("{ssssssss}", "name", p->name, "meaning",
						      p->description, "source", p->source,
						      "synthetic", p->synthetic));
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
	{ "workloads", "what can be run, with the parameters of each", put_workloads,
	  workloads_to_json },
	{ "options", "all options of all verbs", put_options, options_to_json },
	{ "metrics", "what is measured, its unit, and which direction is better", put_metrics,
	  metrics_to_json },
	{ "policies", "sets of option values that can be named with --policy", put_policies,
	  policies_to_json },
	{ "validity", "what makes a row suspect or invalid", put_validity, validity_to_json },
	{ "profiles", "the machines that can be named with --profile", put_profiles,
	  profiles_to_json },
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
		return sb_fail(SB_EXIT_USAGE, "list: '%s' is not expected; only --json",
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
		return sb_fail(SB_EXIT_USAGE, "list: unknown '%s'; did you mean '%s'?", name, like);
	return sb_fail(SB_EXIT_USAGE,
		       "list: expected workloads, options, metrics, policies, validity or "
		       "profiles, not '%s'",
		       name);
}

int sb_list_profiles(int argc, char **argv)
{
	if (argc > 1 && is_help(argv[1])) {
		sb_help_verb(SB_VERB_TOPO);
		return 0;
	}
	return put_list(&lists[SB_ARRAY_SIZE(lists) - 1], argc, argv);
}
