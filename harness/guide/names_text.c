/* names_text.c - the rows of names.h as text. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "harness/cli/help.h"
#include "harness/cli/policy.h"
#include "harness/cli/verb.h"
#include "harness/guide/names.h"
#include "harness/guide/names_forms.h"
#include "harness/guide/topics.h"
#include "harness/plugin/plugin.h"
#include "results/convert/convert.h"
#include "results/text/escape.h"

const struct sb_param *sb_names_param(size_t i, const struct sb_workload **owner)
{
	for (const struct sb_workload **w = sb_workloads; *w; w++) {
		for (const struct sb_param *p = (*w)->params; p->name; p++) {
			if (i--)
				continue;
			if (owner)
				*owner = *w;
			return p;
		}
	}
	return NULL;
}

bool sb_names_rule(size_t i, struct sb_any_rule *out)
{
	for (const struct sb_rule *r = sb_rules; r->name; r++) {
		*out = (struct sb_any_rule){ r->name, r->doc, NULL, r };
		if (!i--)
			return true;
	}
	for (const struct sb_request_rule *r = sb_request_rules; r->name; r++) {
		*out = (struct sb_any_rule){ r->name, r->doc, r->threshold, NULL };
		if (!i--)
			return true;
	}
	for (const struct sb_series_rule *r = sb_series_rules; r->name; r++) {
		*out = (struct sb_any_rule){ r->name, r->doc, r->threshold, NULL };
		if (!i--)
			return true;
	}
	return false;
}

static void add(char *text, size_t bytes, const char *format, ...) SB_PRINTF(3, 4);

/* At the text's end. */
static void add(char *text, size_t bytes, const char *format, ...)
{
	const size_t n = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + n, bytes - n, format, args);
	va_end(args);
}

/* ---- workloads ---- */

/* "leaves of the tree (10|100) [100]": what it is, its values and its default. */
static void describe_param(const struct sb_param *p, char *out, size_t bytes)
{
	char values[SB_FORM_BYTES] = "";

	if (sb_param_is_text(p)) {
		snprintf(out, bytes, "%s [%s]", p->doc, p->choices[0]);
	} else if (p->choices) {
		sb_param_describe(p, values);
		snprintf(out, bytes, "%s (%s) [%s]", p->doc, values, p->choices[p->initial]);
	} else {
		snprintf(out, bytes, "%s (%" PRIu64 " to %" PRIu64 ") [%" PRIu64 "]", p->doc,
			 p->min, p->max, p->initial);
	}
}

/* A line below a name. */
static void put_below(const char *text)
{
	printf("    ");
	sb_help_wrapped(text, 4);
}

void sb_put_workload(size_t i)
{
	const struct sb_workload *w = sb_workloads[i];
	char text[400];

	puts(sb_terminal_text(w->name));
	put_below(w->doc);
	snprintf(text, sizeof(text), "from: %s; one operation: one %s; compared by %s", w->source,
		 w->operation, sb_workload_objective(w));
	put_below(text);
	for (const struct sb_param *p = w->params; p->name; p++) {
		describe_param(p, text, sizeof(text));
		sb_help_wrapped(text, printf("    --%-14s ", p->name));
	}
	for (const struct sb_workload_metric *m = w->metrics; m && m->name; m++) {
		snprintf(text, sizeof(text), "metric %s (%s): %s", m->name, m->unit, m->doc);
		put_below(text);
	}
}

void sb_more_of_workload(size_t i)
{
	printf("\nTry:  sched-bench run -w %s\n", sb_plugin_word(sb_workloads[i]));
}

void sb_put_param(size_t i)
{
	const struct sb_workload *owner = NULL;
	const struct sb_param *p = sb_names_param(i, &owner);
	char described[360];
	char text[400];

	describe_param(p, described, sizeof(described));
	snprintf(text, sizeof(text), "%s (%s)", described, owner->name);
	sb_help_wrapped(text, printf("--%-14s ", p->name));
}

/* ---- options ---- */

/* One name may mean something else to another verb. */
void sb_put_option(size_t i)
{
	char text[200] = "";

	sb_help_option(&sb_option[i]);
	for (const struct sb_verb_info *v = sb_verbs; v->name; v++) {
		if (v->options & sb_option[i].verbs)
			add(text, sizeof(text), "%s%s", *text ? ", " : "(", v->name);
	}
	add(text, sizeof(text), ")");
	sb_help_wrapped(text, printf("%*s", sb_help_column(), ""));
}

/* The topics whose text has the option. */
static void put_topics(const char *name)
{
	char text[400] = "sched-bench help";
	bool is_any = false;
	char option[64];

	snprintf(option, sizeof(option), "--%s", name);
	for (const struct sb_topic *t = sb_topics; t->name; t++) {
		const char *at = t->section ? NULL : strstr(t->text, option);

		while (at &&
		       (isalnum((unsigned char)at[strlen(option)]) || at[strlen(option)] == '-'))
			at = strstr(at + 1, option);
		if (!at)
			continue;
		add(text, sizeof(text), " %s", t->name);
		is_any = true;
	}
	if (is_any)
		sb_help_wrapped(text, printf("      more: "));
}

void sb_more_of_option(size_t i)
{
	char form[SB_FORM_BYTES];
	char twin[64];

	sb_option_describe(&sb_option[i], form);
	sb_option_environment((enum sb_option_id)i, twin, sizeof(twin));
	if (sb_option[i].form && !sb_option_is_text(&sb_option[i]))
		sb_help_wrapped(form, printf("      expected: "));
	printf("      in the environment: %s%s\n", twin, sb_option[i].form ? "" : "=yes");
	put_topics(sb_option[i].name);
	for (const struct sb_policy *p = sb_policies; p->name; p++) {
		for (const struct sb_policy_value *v = p->value; v->text; v++) {
			if (v->id == (enum sb_option_id)i)
				printf("      with --policy %s: %s\n", p->name, v->text);
		}
	}
}

/* ---- the others ---- */

const char *sb_better_text(size_t metric)
{
	static const char *const better[] = {
		[SB_LOWER] = "lower is better",
		[SB_HIGHER] = "higher is better",
		[SB_NEITHER] = "",
	};

	return better[sb_metric[metric].better];
}

void sb_put_metric(size_t i)
{
	const struct sb_metric *m = &sb_metric[i];

	if (sb_help_is_narrow()) {
		printf("%s\n    %s, %s\n    ", m->name, m->unit, sb_better_text(i));
		sb_help_wrapped(m->doc, 4);
	} else {
		printf("%-30s %-6s %-17s ", m->name, m->unit, sb_better_text(i));
		sb_help_wrapped(m->doc, 56);
	}
}

void sb_put_policy(size_t i)
{
	const struct sb_policy *p = &sb_policies[i];
	char text[400] = "";

	puts(p->name);
	put_below(p->doc);
	for (const struct sb_policy_value *v = p->value; v->text; v++)
		add(text, sizeof(text), "%s--%s %s", *text ? " " : "", sb_option[v->id].name,
		    v->text);
	if (*text)
		put_below(text);
}

/* What is counted has no unit. */
static void add_value(char *text, size_t bytes, double value, enum sb_metric_id metric)
{
	const char *unit = sb_metric[metric].unit;

	add(text, bytes, "%g", value);
	if (strcmp(unit, "count") != 0)
		add(text, bytes, " %s", unit);
}

static void describe_thresholds(const struct sb_rule *r, char *out, size_t bytes)
{
	const bool grows = !isinf(r->invalid) && r->invalid > r->suspect;

	snprintf(out, bytes, "%s if %s %s ", isinf(r->invalid) || grows ? "suspect" : "invalid",
		 sb_metric[r->metric].name, r->applies == SB_RULE_MORE ? "<=" : ">");
	add_value(out, bytes, r->suspect, r->metric);
	if (grows) {
		add(out, bytes, ", invalid if > ");
		add_value(out, bytes, r->invalid, r->metric);
	}
	if (r->least > 0 && r->evidence != r->metric) {
		add(out, bytes, ", and %s >= ", sb_metric[r->evidence].name);
		add_value(out, bytes, r->least, r->evidence);
	}
}

void sb_put_rule(size_t i)
{
	struct sb_any_rule rule = { .name = "" };
	char thresholds[300];
	char text[600];

	(void)sb_names_rule(i, &rule);
	if (rule.row)
		describe_thresholds(rule.row, thresholds, sizeof(thresholds));
	snprintf(text, sizeof(text), "%s: %s", rule.doc, rule.row ? thresholds : rule.threshold);
	printf("%-16s ", rule.name);
	sb_help_wrapped(text, 17);
}

void sb_more_of_picture(size_t i)
{
	printf("\nTry:  sched-bench plot %s RESULT -o FILE.svg\n",
	       sb_names_next(sb_names_find("pictures"), i));
}

void sb_more_of_format(size_t i)
{
	printf("\nTry:  sched-bench convert RESULT --to %s\n", sb_converters[i].name);
}
