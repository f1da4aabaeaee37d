#include "harness/cli/policy.h"

#include <string.h>

const struct sb_policy sb_policies[] = {
#define VALUE(id, text)		  { SB_OPT_##id, text },
#define POLICY(name, doc, values) { name, doc, { values{ SB_OPTIONS, NULL } } },
#include "harness/cli/policies.def"
#undef POLICY
#undef VALUE
	{ NULL, NULL, { { SB_OPTIONS, NULL } } },
};

bool sb_policy_sets(enum sb_option_id id)
{
	for (const struct sb_policy *p = sb_policies; p->name; p++) {
		for (const struct sb_policy_value *v = p->value; v->text; v++) {
			if (v->id == id)
				return true;
		}
	}
	return false;
}

bool sb_policy_decides(const struct sb_options *options, enum sb_option_id id)
{
	const char *source = options->value[id].source;

	return sb_policy_sets(id) && (!strcmp(source, "default") || !strcmp(source, "policy"));
}

/* A default that is given is said all the same if a policy would change it. */
bool sb_policy_needs_said(const struct sb_options *options, enum sb_option_id id)
{
	if (sb_policy_sets(id))
		return !sb_policy_decides(options, id);
	return strcmp(options->value[id].text, sb_option[id].initial) != 0;
}
