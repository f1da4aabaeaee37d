/* names_forms.h - rows of the kinds of names.h, as text and as JSON; for names.c. */
#ifndef SB_HARNESS_GUIDE_NAMES_FORMS_H
#define SB_HARNESS_GUIDE_NAMES_FORMS_H

#include <jansson.h>

#include "results/record/validity.h"
#include "workloads/workload.h"

/* Parameter i of all workloads, and whose it is, if that is asked; NULL: there is none. */
const struct sb_param *sb_names_param(size_t i, const struct sb_workload **owner);

/* Rule i: of a row by thresholds on a metric, of requests, or of a series. */
struct sb_any_rule {
	const char *name;
	const char *doc;
	const char *threshold;	   /* in words; NULL: the row says it */
	const struct sb_rule *row; /* or NULL */
};
bool sb_names_rule(size_t i, struct sb_any_rule *out);

void sb_put_workload(size_t i);
void sb_put_param(size_t i);
void sb_put_option(size_t i);
void sb_put_metric(size_t i);
void sb_put_policy(size_t i);
void sb_put_rule(size_t i);

void sb_more_of_workload(size_t i);
void sb_more_of_option(size_t i);
void sb_more_of_picture(size_t i);
void sb_more_of_format(size_t i);

json_t *sb_workload_to_json(size_t i);
json_t *sb_param_to_json(size_t i);
json_t *sb_option_to_json(size_t i);
json_t *sb_metric_to_json(size_t i);
json_t *sb_policy_to_json(size_t i);
json_t *sb_rule_to_json(size_t i);
json_t *sb_profile_to_json(size_t i);

/* "lower is better"; "" if neither is. */
const char *sb_better_text(size_t metric);

#endif
