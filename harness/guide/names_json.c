/* names_json.c - the rows of names.h as JSON. */
#include <math.h>

#include "affinity/profile/profile.h"
#include "harness/cli/policy.h"
#include "harness/cli/verb.h"
#include "harness/guide/names_forms.h"

static json_t *describe_param(const struct sb_param *p)
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

json_t *sb_workload_to_json(size_t i)
{
	const struct sb_workload *w = sb_workloads[i];
	json_t *params = json_array();

	for (const struct sb_param *p = w->params; p->name; p++)
		json_array_append_new(params, describe_param(p));
	return json_pack("{ssssssssssso}", "name", w->name, "operation", w->operation, "meaning",
			 w->doc, "source", w->source, "objective", sb_workload_objective(w),
			 "parameters", params);
}

json_t *sb_param_to_json(size_t i)
{
	const struct sb_workload *owner;
	json_t *object = describe_param(sb_names_param(i, &owner));

	json_object_set_new(object, "workload", json_string(owner->name));
	return object;
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

json_t *sb_option_to_json(size_t i)
{
	const struct sb_option *option = &sb_option[i];
	char twin[64];

	sb_option_environment((enum sb_option_id)i, twin, sizeof(twin));
	return json_pack("{ssss*sssssoss}", "name", option->name, "form", option->form, "default",
			 option->initial, "meaning", option->help, "verbs", verbs_to_json(option),
			 "environment", twin);
}

json_t *sb_metric_to_json(size_t i)
{
	return json_pack("{ssssssss}", "name", sb_metric[i].name, "unit", sb_metric[i].unit,
			 "better", sb_better_text(i), "meaning", sb_metric[i].doc);
}

json_t *sb_policy_to_json(size_t i)
{
	const struct sb_policy *p = &sb_policies[i];
	json_t *options = json_object();

	for (const struct sb_policy_value *v = p->value; v->text; v++)
		json_object_set_new(options, sb_option[v->id].name, json_string(v->text));
	return json_pack("{ssssso}", "name", p->name, "meaning", p->doc, "options", options);
}

static json_t *row_rule_to_json(const struct sb_rule *r)
{
	json_t *rule = json_pack("{sssssssf}", "name", r->name, "meaning", r->doc, "metric",
				 sb_metric[r->metric].name, "suspect_above", r->suspect);

	/* Never is no number. */
	if (!isinf(r->invalid))
		json_object_set_new(rule, "invalid_above", json_real(r->invalid));
	json_object_set_new(rule, "unit", json_string(sb_metric[r->metric].unit));
	json_object_set_new(rule, "if_metric", json_string(sb_metric[r->evidence].name));
	json_object_set_new(rule, "is_at_least", json_real(r->least));
	return rule;
}

json_t *sb_rule_to_json(size_t i)
{
	struct sb_any_rule rule;

	(void)sb_names_rule(i, &rule);
	if (rule.row)
		return row_rule_to_json(rule.row);
	return json_pack("{ssssss}", "name", rule.name, "meaning", rule.doc, "threshold",
			 rule.threshold);
}

json_t *sb_profile_to_json(size_t i)
{
	const struct sb_profile *p = &sb_profiles[i];

	return json_pack("{ssssssss}", "name", p->name, "meaning", p->description, "source",
			 p->source, "synthetic", p->synthetic);
}
