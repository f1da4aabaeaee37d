/*
 * policy.h - named policies: sets of option values, from policies.def. A policy's
 * value comes before the default alone: what is given anywhere wins.
 */
#ifndef SB_HARNESS_CLI_POLICY_H
#define SB_HARNESS_CLI_POLICY_H

#include "harness/cli/options.h"

#define SB_POLICY_VALUES_MAX 16

struct sb_policy_value {
	enum sb_option_id id;
	const char *text;
};

struct sb_policy {
	const char *name;
	const char *doc;
	/* Ends with a text that is NULL. */
	struct sb_policy_value value[SB_POLICY_VALUES_MAX + 1];
};

/* In the order of --policy's alternatives; ends with a name that is NULL. */
extern const struct sb_policy sb_policies[];

/* Whether any policy sets the option. */
bool sb_policy_sets(enum sb_option_id id);

/* Whether --policy decides its value: some policy sets it, and it is not given. */
bool sb_policy_decides(const struct sb_options *options, enum sb_option_id id);

/* Whether the command line of another process has to have the option, so that the
 * value is the same there, and wins over any policy if it does here. */
bool sb_policy_needs_said(const struct sb_options *options, enum sb_option_id id);

#endif
