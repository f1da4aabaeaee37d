/*
 * compare.c - the verb `compare`: two results -> a comparison of them
 * (results/compare/comparison.h) -> the answer, and a table with what has to be known of it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/help.h"
#include "harness/compare/compared.h"
#include "harness/terminal/status.h"
#include "harness/verbs/verbs.h"
#include "results/files/answer.h"
#include "results/compare/comparison.h"
#include "results/json/read.h"
#include "results/record/series.h"

enum { A, B, BOTH };

struct session {
	const struct sb_options *options;
	struct sb_compared compared;
	struct sb_result result[BOTH];
	uint32_t read; /* results */
	struct sb_comparison comparison;
};

static bool is_same(const struct session *s, const char *group, const char *key)
{
	return !strcmp(sb_result_fact(&s->result[A], group, key),
		       sb_result_fact(&s->result[B], group, key));
}

/* Of one machine or of two that are alike, whatever their names; in virtual time, of one model of
 * one. */
static bool are_of_one_machine(const struct session *s)
{
	if (!strcmp(sb_result_topology(&s->result[A]), "virtual"))
		return is_same(s, "profile", "topology_fingerprint") &&
		       is_same(s, "virtual", "model_hash");
	return is_same(s, "machine", "topology_fingerprint") && is_same(s, "machine", "cpu_model");
}

static int check_machines(const struct session *s)
{
	const bool is_virtual = !strcmp(sb_result_topology(&s->result[A]), "virtual");
	const char *group = is_virtual ? "profile" : "machine";
	const char *key = is_virtual ? "name" : "cpu_model";

	if (are_of_one_machine(s))
		return 0;
	return sb_fail(SB_EXIT_USAGE,
		       "A is of machine '%s' (%s), B of '%s' (%s): the difference would be that of "
		       "the machines; expected results of one, or --across",
		       sb_result_fact(&s->result[A], group, key),
		       sb_result_fact(&s->result[A], group, "topology_fingerprint"),
		       sb_result_fact(&s->result[B], group, key),
		       sb_result_fact(&s->result[B], group, "topology_fingerprint"));
}

static int read_both(struct session *s)
{
	char why[SB_REASON_BYTES];

	for (int side = 0; side < BOTH; side++) {
		const char *path = s->options->word[side];

		const int rc = sb_result_read(&s->result[side], path, why, sizeof(why));

		if (rc)
			return sb_fail(sb_status_of(rc), "%s", why);
		s->read++;
	}
	if (sb_opt(s->options, SB_OPT_across))
		return 0;
	if (strcmp(sb_result_topology(&s->result[A]), sb_result_topology(&s->result[B])) != 0)
		return sb_fail(SB_EXIT_USAGE,
			       "A is %s, B is %s: their times do not mean the same; expected two "
			       "of a kind, or --across",
			       sb_result_topology(&s->result[A]),
			       sb_result_topology(&s->result[B]));
	return check_machines(s);
}

static int compare_both(struct session *s)
{
	int rc;

	s->comparison = (struct sb_comparison){ .result = { &s->result[A], &s->result[B] },
						.metric = s->compared.metric,
						.metrics = s->compared.n,
						.is_chosen = s->compared.is_chosen };
	rc = sb_comparison_make(&s->comparison);
	if (rc == -E2BIG)
		return sb_fail(SB_EXIT_USAGE,
			       "more than %d comparisons are too many; expected fewer: choose "
			       "with --metric",
			       SB_HOLM_MAX);
	return rc ? sb_fail_memory() : 0;
}

static void print_pretty(const void *session, FILE *out)
{
	const struct session *s = session;
	char *answer = sb_findings_answer(&s->comparison.findings, s->options->word[A],
					  s->options->word[B]);

	sb_compared_put(answer ? answer : "", &s->comparison.findings, out);
	free(answer);
}

static int judge(const struct session *s)
{
	const struct sb_findings *findings = &s->comparison.findings;

	if (!s->comparison.matches)
		return sb_fail(SB_EXIT_INVALID, "nothing can be compared: %s",
			       sb_comparison_shares_workload(&s->comparison)
				       ? "no series has the same settings in both results"
				       : "no workload is in both results");
	for (uint32_t i = 0; i < findings->n; i++) {
		if (sb_finding_is_conclusive(&findings->finding[i]))
			return 0;
	}
	return sb_fail(SB_EXIT_INVALID, "nothing can be compared: too few rows with numbers");
}

static int compare(struct session *s)
{
	/* First, for they may have metrics of their own. */
	int rc = read_both(s);

	rc = rc ? rc : sb_compared_choose(&s->compared, s->options);
	rc = rc ? rc : compare_both(s);
	if (rc)
		return rc;
	sb_compared_print(&s->comparison.findings, s->options, print_pretty, s);
	return judge(s);
}

static int run(const struct sb_options *options)
{
	static struct session s;
	int rc;

	if (options->words != BOTH)
		return sb_fail(SB_EXIT_USAGE,
			       "compare: expected two results, A and B; %" PRIu32 " given",
			       options->words);
	s = (struct session){ .options = options };
	rc = compare(&s);
	for (uint32_t i = 0; i < s.read; i++)
		sb_result_free(&s.result[i]);
	sb_comparison_free(&s.comparison);
	return rc;
}

int sb_command_compare(int argc, char **argv)
{
	static struct sb_options options;
	int rc = sb_options_parse_for(&options, SB_VERB_COMPARE, argc - 1, argv + 1);

	if (!rc && sb_opt(&options, SB_OPT_help))
		sb_help_verb(SB_VERB_COMPARE);
	else if (!rc)
		rc = run(&options);
	sb_options_free(&options);
	return rc;
}
