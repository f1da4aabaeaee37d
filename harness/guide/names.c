#include "harness/guide/names.h"

#include <stdio.h>
#include <string.h>

#include "affinity/profile/profile.h"
#include "harness/cli/help.h"
#include "harness/cli/policy.h"
#include "harness/guide/names_forms.h"
#include "harness/guide/topics.h"
#include "harness/output/rows.h"
#include "harness/virtual/models.h"
#include "results/convert/convert.h"
#include "results/page/page.h"
#include "results/plots/plots.h"

static const struct sb_named nothing = { NULL, NULL };

/* at_NAME(i): row i of an array of structs that ends with a NULL name. */
#define ROWS(NAME, array, doc)                                                                     \
	static struct sb_named at_##NAME(size_t i) {                                               \
		return (struct sb_named){ (array)[i].name, (array)[i].doc };                       \
	}
ROWS(policy, sb_policies, doc)
ROWS(profile, sb_profiles, description)
ROWS(format, sb_converters, doc)
ROWS(topic, sb_topics, summary)

static struct sb_named at_workload(size_t i)
{
	const struct sb_workload *w = sb_workloads[i];

	return w ? (struct sb_named){ w->name, w->doc } : nothing;
}

static struct sb_named at_param(size_t i)
{
	const struct sb_param *p = sb_names_param(i, NULL);

	return p ? (struct sb_named){ p->name, p->doc } : nothing;
}

static struct sb_named at_option(size_t i)
{
	return i < SB_OPTIONS ? (struct sb_named){ sb_option[i].name, sb_option[i].help } : nothing;
}

static struct sb_named at_metric(size_t i)
{
	return i < sb_metrics() ? (struct sb_named){ sb_metric[i].name, sb_metric[i].doc }
				: nothing;
}

static struct sb_named at_rule(size_t i)
{
	struct sb_any_rule rule;

	return sb_names_rule(i, &rule) ? (struct sb_named){ rule.name, rule.doc } : nothing;
}

static struct sb_named at_verdict(size_t i)
{
	const enum sb_verdict verdict = (enum sb_verdict)i;

	return verdict < SB_VERDICTS
		       ? (struct sb_named){ sb_verdict_name(verdict), sb_page_verdict_doc(verdict) }
		       : nothing;
}

/* The rules that decide it. */
static void put_rules(size_t i)
{
	(void)i;
	puts("\nRules of validity (sched-bench help validity):");
	(void)sb_names_put(sb_names_find("validity"), SB_FORMAT_PRETTY);
}

static struct sb_named at_model(size_t i)
{
	return (struct sb_named){ sb_named_models[i].name, "costs of that machine, for --virtual" };
}

/* Behind the kinds come two that are no gnuplot scripts. */
static struct sb_named at_picture(size_t i)
{
	static const struct sb_named others[] = {
		{ SB_PICTURE_TOPOLOGY,
		  "what each processing unit did, on the machine, drawn by lstopo" },
		{ SB_PICTURE_ALL, "all that apply, but for topology" },
	};
	size_t n = 0;

	while (sb_plot_kinds[n].name && n < i)
		n++;
	if (sb_plot_kinds[n].name)
		return (struct sb_named){ sb_plot_kinds[n].name, sb_plot_kinds[n].doc };
	return i - n < SB_ARRAY_SIZE(others) ? others[i - n] : nothing;
}

const struct sb_names sb_names[] = {
	{ "workloads", "Workload", "what can be run, with the parameters of each", at_workload,
	  sb_put_workload, sb_more_of_workload, sb_workload_to_json },
	{ "parameters", "Parameter of a workload", "all parameters of all workloads", at_param,
	  sb_put_param, NULL, sb_param_to_json },
	{ "options", "Option", "all options of all verbs", at_option, sb_put_option,
	  sb_more_of_option, sb_option_to_json },
	{ "metrics", "Metric", "what is measured, its unit, and which direction is better",
	  at_metric, sb_put_metric, NULL, sb_metric_to_json },
	{ "policies", "Policy", "sets of option values that can be named with --policy", at_policy,
	  sb_put_policy, NULL, sb_policy_to_json },
	{ "validity", "Rule of validity", "what makes a row suspect or invalid", at_rule,
	  sb_put_rule, NULL, sb_rule_to_json },
	{ "verdicts", "Verdict on a row", "whether a row may be believed", at_verdict, NULL,
	  put_rules, NULL },
	{ "profiles", "Profile of a machine", "the machines that can be named with --profile",
	  at_profile, NULL, NULL, sb_profile_to_json },
	{ "models", "Model of a machine", "the models that can be named with --model", at_model,
	  NULL, NULL, NULL },
	{ "pictures", "Picture", "the kinds of pictures that plot draws", at_picture, NULL,
	  sb_more_of_picture, NULL },
	{ "formats", "Format", "what convert writes", at_format, NULL, sb_more_of_format, NULL },
	{ "topics", "Topic", "the texts that help prints", at_topic, NULL, NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL, NULL, NULL },
};

const struct sb_names *sb_names_find(const char *plural)
{
	for (const struct sb_names *names = sb_names; names->plural; names++) {
		if (!strcmp(names->plural, plural))
			return names;
	}
	return NULL;
}

const char *sb_names_next(const void *names, size_t i)
{
	const struct sb_names *kind = names;

	if (kind)
		return kind->at(i).name;
	for (kind = sb_names; kind->plural; kind++) {
		size_t n = 0;

		while (kind->at(n).name && n < i)
			n++;
		if (kind->at(n).name)
			return kind->at(n).name;
		i -= n;
	}
	return NULL;
}

static int widest_name(const struct sb_names *names)
{
	size_t width = 0;

	for (size_t i = 0; names->at(i).name; i++)
		width = sb_max_u64(width, strlen(names->at(i).name));
	return (int)width;
}

static void put(const struct sb_names *names, size_t i)
{
	const struct sb_named named = names->at(i);
	int column;

	if (names->put) {
		names->put(i);
		return;
	}
	column = printf("%-*s  ", widest_name(names), named.name);
	sb_help_wrapped(named.doc, column);
}

static json_t *to_json(const struct sb_names *names, size_t i)
{
	const struct sb_named named = names->at(i);

	if (names->to_json)
		return names->to_json(i);
	return json_pack("{ssss}", "name", named.name, "meaning", named.doc);
}

int sb_names_put(const struct sb_names *names, enum sb_format format)
{
	json_t *rows = format == SB_FORMAT_PRETTY ? NULL : json_array();

	for (size_t i = 0; names->at(i).name; i++) {
		if (format == SB_FORMAT_PRETTY)
			put(names, i);
		else
			json_array_append_new(rows, to_json(names, i));
	}
	return format == SB_FORMAT_PRETTY ? 0 : sb_rows_put(rows, format);
}

int sb_names_explain(const char *name)
{
	int n = 0;

	for (const struct sb_names *names = sb_names; names->plural; names++) {
		for (size_t i = 0; names->at(i).name; i++) {
			if (names->at == at_topic || strcmp(names->at(i).name, name) != 0)
				continue;
			printf("%s%s:\n", n++ ? "\n" : "", names->title);
			put(names, i);
			if (names->more)
				names->more(i);
		}
	}
	return n;
}

/* ---- names and texts that have a word ---- */

#define FOUND_MOST 12

static bool has_word(const char *text, const char *word)
{
	return text && strcasestr(text, word);
}

static bool is_found(const struct sb_names *names, size_t i, const char *word, bool by_name)
{
	const struct sb_named named = names->at(i);

	if (by_name || has_word(named.name, word))
		return by_name && has_word(named.name, word);
	return has_word(named.doc, word) ||
	       (names->at == at_topic && has_word(sb_topics[i].text, word));
}

static void put_found(const struct sb_names *names, size_t i, const char *word, int n)
{
	const struct sb_named named = names->at(i);
	int column;

	if (n > FOUND_MOST)
		return;
	if (n == 1)
		printf("Nothing is called '%s'. It is a part of:\n", word);
	column = printf("  %s %s  ", names->title, named.name);
	sb_help_wrapped(named.doc, column);
}

bool sb_names_have(const char *word)
{
	for (size_t i = 0; sb_names_next(NULL, i); i++) {
		if (has_word(sb_names_next(NULL, i), word))
			return true;
	}
	return false;
}

int sb_names_search(const char *word)
{
	int n = 0;

	for (int by_name = 1; by_name >= 0; by_name--) {
		for (const struct sb_names *names = sb_names; names->plural; names++) {
			for (size_t i = 0; names->at(i).name; i++) {
				if (is_found(names, i, word, by_name))
					put_found(names, i, word, ++n);
			}
		}
	}
	if (n > FOUND_MOST)
		printf("  and %d more\n", n - FOUND_MOST);
	return n;
}
