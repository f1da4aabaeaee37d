/* params.c - which workloads there are to run, and the parameters of each. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/options.h"
#include "harness/cli/policy.h"
#include "harness/cli/reading.h"
#include "harness/plugin/plugin.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "workloads/described/description.h"

static const char *workload_name(const void *unused, size_t i)
{
	(void)unused;
	return sb_workloads[i] ? sb_workloads[i]->name : NULL;
}

/* "FILE:LINE:COLUMN: " before an error, where there is one. */
#define AT(where) ((where) ? (where) : ""), ((where) ? ": " : "")

static int unknown_workload(const char *name, const char *where)
{
	const char *like = sb_most_like(name, workload_name, NULL);

	if (name[strspn(name, "0123456789")] == '\0')
		return sb_fail(SB_EXIT_USAGE,
			       "%s%sunknown workload '%s'; -w names a workload, --warmup is a time",
			       AT(where), name);
	if (like)
		return sb_fail(SB_EXIT_USAGE, "%s%sunknown workload '%s'; did you mean '%s'?",
			       AT(where), name, like);
	return sb_fail(SB_EXIT_USAGE,
		       "%s%sunknown workload '%s'; sched-bench list workloads names them",
		       AT(where), name);
}

static int find_plugin(const char *name, const char *where, const struct sb_workload **out)
{
	const int rc = sb_plugin_load(name, where, out);

	if (rc)
		return rc;
	for (const struct sb_param *p = (*out)->params; p->name; p++) {
		if (sb_option_find(SB_VERB_RUN, p->name) != SB_OPTIONS)
			return sb_fail(SB_EXIT_USAGE,
				       "%s%s%s: its parameter '%s' has the name of an option; "
				       "expected another",
				       AT(where), name, p->name);
	}
	return 0;
}

static int find(const char *name, const char *where, const struct sb_workload **out)
{
	if (sb_plugin_is_file(name))
		return find_plugin(name, where, out);
	*out = sb_workload_find(name);
	return *out ? 0 : unknown_workload(name, where);
}

static int choose(struct sb_options *options, const char *name)
{
	const struct sb_workload *workload = NULL;
	struct sb_chosen *chosen;
	const int rc = find(name, options->value[SB_OPT_workload].where, &workload);

	if (rc)
		return rc;
	for (uint32_t i = 0; i < options->chosens; i++) {
		if (options->chosen[i].workload == workload)
			return sb_fail(SB_EXIT_USAGE,
				       "%s%sworkload '%s' is named twice; expected each once "
				       "(--repetitions repeats)",
				       AT(options->value[SB_OPT_workload].where), name);
	}
	if (options->chosens == SB_WORKLOADS_MAX)
		return sb_fail(SB_EXIT_USAGE, "--workload: more than %d", SB_WORKLOADS_MAX);
	chosen = &options->chosen[options->chosens++];
	chosen->workload = workload;
	for (uint32_t i = 0; workload->params[i].name; i++) {
		SB_CHECK(i, <, SB_PARAMS_MAX);
		chosen->param[i] = workload->params[i].initial;
		if (sb_param_is_text(&workload->params[i]))
			chosen->text[i] = workload->params[i].choices[0];
	}
	return 0;
}

/* How often requests come to the only workload, as it describes it, unless an option says. */
static void take_described_load(struct sb_options *options, const struct sb_description *d)
{
	static const enum sb_option_id others[] = { SB_OPT_rate, SB_OPT_load, SB_OPT_closed,
						    SB_OPT_find_slo };
	bool said = false;

	for (size_t i = 0; i < SB_ARRAY_SIZE(others); i++)
		said |= sb_option_is_said(options, others[i]);
	if (!d || said)
		return;
	if (d->rate)
		options->value[SB_OPT_rate].text = d->rate;
	if (d->arrival && !sb_option_is_said(options, SB_OPT_arrival))
		options->value[SB_OPT_arrival].text = d->arrival;
}

static int choose_workloads(struct sb_options *options)
{
	char *names = strdup(options->value[SB_OPT_workload].text);
	char *rest = names;
	char *name;
	int rc = 0;

	if (!names)
		return sb_fail_memory();
	while (!rc && (name = strsep(&rest, ",")))
		rc = *name || options->chosens ? choose(options, name) : 0;
	free(names);
	if (!rc && options->chosens == 1)
		take_described_load(options, options->chosen[0].workload->description);
	if (!rc && !options->chosens)
		rc = sb_fail(
			SB_EXIT_USAGE,
			"%s%sno workload; expected %s, as sched-bench list workloads names them",
			AT(options->where), options->where ? "workload=NAME" : "-w NAME");
	return rc;
}

static bool parse_choice(const struct sb_param *param, const char *text, uint64_t *value)
{
	for (uint64_t i = 0; param->choices[i]; i++) {
		if (!strcmp(param->choices[i], text)) {
			*value = i;
			return true;
		}
	}
	return false;
}

void sb_param_describe(const struct sb_param *param, char *out)
{
	const size_t bytes = SB_FORM_BYTES;
	size_t used = 0;

	if (!param->choices) {
		snprintf(out, bytes, "a count from %" PRIu64 " to %" PRIu64, param->min,
			 param->max);
		return;
	}
	out[0] = '\0';
	for (int i = 0; param->choices[i] && used < bytes; i++)
		used += (size_t)snprintf(out + used, bytes - used, "%s%s", i ? "|" : "",
					 param->choices[i]);
}

static int refuse_given(const struct sb_given_param *given, const char *expected)
{
	if (given->where)
		return sb_fail(SB_EXIT_USAGE, "%s: %s: '%s' is not valid; %s", given->where,
			       given->name, given->text, expected);
	return sb_fail(SB_EXIT_USAGE, "--%s: '%s' (from the command line) is not valid; %s",
		       given->name, given->text, expected);
}

static int set_param(const struct sb_param *param, const struct sb_given_param *given,
		     uint64_t *value)
{
	char expected[SB_FORM_BYTES + 16] = "expected ";
	const bool ok = param->choices ? parse_choice(param, given->text, value)
				       : sb_parse_count(given->text, value) &&
						 *value >= param->min && *value <= param->max;

	if (ok)
		return 0;
	sb_param_describe(param, expected + strlen(expected));
	return refuse_given(given, expected);
}

static int set_text(struct sb_chosen *chosen, uint32_t i, const struct sb_given_param *given)
{
	const struct sb_param *param = &chosen->workload->params[i];
	char why[SB_WHY_BYTES] = "";

	chosen->text[i] = given->text;
	if (chosen->workload->accept(param, given->text, why))
		return 0;
	return refuse_given(given, why);
}

/* Gives the parameter to every chosen workload that has it. */
static int apply_given(struct sb_options *options, struct sb_given_param *given)
{
	int rc = 0;

	for (uint32_t i = 0; i < options->chosens; i++) {
		struct sb_chosen *chosen = &options->chosen[i];
		const struct sb_param *params = chosen->workload->params;

		for (uint32_t p = 0; params[p].name && !rc; p++) {
			if (strcmp(params[p].name, given->name))
				continue;
			given->is_used = true;
			rc = sb_param_is_text(&params[p])
				     ? set_text(chosen, p, given)
				     : set_param(&params[p], given, &chosen->param[p]);
		}
	}
	return rc;
}

static int unused_param(const struct sb_options *options, const struct sb_given_param *given)
{
	return sb_fail(SB_EXIT_USAGE, "%s%s%s%s: none of the chosen workloads (%s) has it",
		       AT(given->where), given->where ? "" : "--", given->name,
		       options->value[SB_OPT_workload].text);
}

/* [global] speaks for all jobs, and so does the command line. */
static bool may_be_unused(const struct sb_options *options, const struct sb_given_param *given)
{
	return given->where ? given->is_global : options->where != NULL;
}

int sb_options_choose(struct sb_options *options)
{
	int rc = choose_workloads(options);

	for (uint32_t i = 0; i < options->givens && !rc; i++) {
		struct sb_given_param *given = &options->given[i];

		rc = apply_given(options, given);
		if (!rc && !given->is_used && !may_be_unused(options, given))
			rc = unused_param(options, given);
	}
	return rc;
}

bool sb_param_is_given(const struct sb_options *options, const char *name)
{
	for (uint32_t i = 0; i < options->givens; i++) {
		if (!strcmp(options->given[i].name, name))
			return true;
	}
	return false;
}

const struct sb_param *sb_param_find(const char *name)
{
	for (const struct sb_workload **w = sb_workloads; *w; w++) {
		for (const struct sb_param *p = (*w)->params; p->name; p++) {
			if (!strcmp(p->name, name))
				return p;
		}
	}
	return NULL;
}
