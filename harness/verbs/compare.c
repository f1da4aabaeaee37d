/*
 * compare.c - the verb `compare`: two results -> a comparison of them
 * (results/compare/comparison.h) -> the answer, and a table with what has to be known of it.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/help.h"
#include "harness/compare/compared.h"
#include "harness/output/runs.h"
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
	struct sb_result result[BOTH][SB_COMPARED_RUNS_MAX];
	uint32_t runs[BOTH];	/* that were read */
	const char *name[BOTH]; /* all of a side */
	struct sb_spreads spreads;
	struct sb_comparison comparison;
};

/* In all results. */
static bool is_same(const struct session *s, const char *group, const char *key)
{
	const char *first = sb_result_fact(s->result[A], group, key);
	bool same = true;

	for (int side = 0; side < BOTH; side++) {
		for (uint32_t i = 0; i < s->runs[side]; i++)
			same &= !strcmp(first, sb_result_fact(&s->result[side][i], group, key));
	}
	return same;
}

/* Of one machine or of several that are alike, whatever their names; in virtual time, of one model of
 * one. */
static bool are_of_one_machine(const struct session *s)
{
	if (!strcmp(sb_result_topology(s->result[A]), "virtual"))
		return is_same(s, "profile", "topology_fingerprint") &&
		       is_same(s, "virtual", "model_hash");
	return is_same(s, "machine", "topology_fingerprint") && is_same(s, "machine", "cpu_model");
}

static int check_machines(const struct session *s)
{
	const bool is_virtual = !strcmp(sb_result_topology(s->result[A]), "virtual");
	const char *group = is_virtual ? "profile" : "machine";
	const char *key = is_virtual ? "name" : "cpu_model";

	if (are_of_one_machine(s))
		return 0;
	return sb_fail(SB_EXIT_USAGE,
		       "A is of machine '%s' (%s), B of '%s' (%s): the difference would be that of "
		       "the machines; expected results of one, or --across",
		       sb_result_fact(s->result[A], group, key),
		       sb_result_fact(s->result[A], group, "topology_fingerprint"),
		       sb_result_fact(s->result[B], group, key),
		       sb_result_fact(s->result[B], group, "topology_fingerprint"));
}

static int read_one(struct session *s, int side, const char *path)
{
	char why[SB_REASON_BYTES];
	int rc;

	if (s->runs[side] == SB_COMPARED_RUNS_MAX)
		return sb_fail(SB_EXIT_USAGE, "compare: expected at most %d results on a side",
			       SB_COMPARED_RUNS_MAX);
	rc = sb_result_read(&s->result[side][s->runs[side]], path, why, sizeof(why));
	if (rc)
		return sb_fail(sb_status_of(rc), "%s", why);
	s->runs[side]++;
	return 0;
}

/* A and B; or all words are of A, and B is behind --with. */
static int read_results(struct session *s)
{
	const struct sb_options *o = s->options;
	const char *with = o->value[SB_OPT_with].text;
	char *names = strdup(with);
	char *rest = names;
	int rc = names ? 0 : sb_fail_memory();

	for (uint32_t i = 0; i < o->words && !rc; i++)
		rc = read_one(s, *with ? A : (int)i, o->word[i]);
	while (!rc && *with && rest)
		rc = read_one(s, B, strsep(&rest, ","));
	free(names);
	s->name[A] = o->word[0];
	s->name[B] = *with ? with : o->word[B];
	return rc;
}

static int read_both(struct session *s)
{
	const int rc = read_results(s);

	if (rc)
		return rc;
	if (sb_opt(s->options, SB_OPT_across))
		return 0;
	if (strcmp(sb_result_topology(s->result[A]), sb_result_topology(s->result[B])) != 0)
		return sb_fail(SB_EXIT_USAGE,
			       "A is %s, B is %s: their times do not mean the same; expected two "
			       "of a kind, or --across",
			       sb_result_topology(s->result[A]), sb_result_topology(s->result[B]));
	return check_machines(s);
}

static int compare_both(struct session *s)
{
	int rc;

	s->comparison = (struct sb_comparison){ .result = { s->result[A], s->result[B] },
						.runs = { s->runs[A], s->runs[B] },
						.metric = s->compared.metric,
						.metrics = s->compared.n,
						.is_chosen = s->compared.is_chosen,
						.spreads = &s->spreads };
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
	char *answer = sb_findings_answer(&s->comparison.findings, s->name[A], s->name[B]);

	sb_compared_put(answer ? answer : "", &s->comparison.findings, out);
	free(answer);
}

static int judge(const struct session *s)
{
	const struct sb_findings *findings = &s->comparison.findings;
	bool is_elsewhere = false;

	if (!s->comparison.matches)
		return sb_fail(SB_EXIT_INVALID, "nothing can be compared: %s",
			       sb_comparison_shares_workload(&s->comparison)
				       ? "no series has the same settings in both results"
				       : "no workload is in both results");
	for (uint32_t i = 0; i < findings->n; i++) {
		const struct sb_finding *f = &findings->finding[i];

		if (sb_finding_is_conclusive(f) || (f->is_open && !isnan(f->estimate)))
			return 0;
		is_elsewhere |= f->is_open && *f->why;
	}
	if (is_elsewhere)
		return sb_fail(SB_EXIT_INVALID, "nothing can be compared: the host has moved a "
						"CPU between A and B, or during one of them");
	return sb_fail(SB_EXIT_INVALID, "nothing can be compared: too few rows with numbers");
}

static int compare(struct session *s)
{
	/* First, for they may have metrics of their own. */
	int rc = read_both(s);

	rc = rc ? rc : sb_compared_choose(&s->compared, s->options);
	if (!rc)
		sb_spreads_open(&s->spreads);
	rc = rc ? rc : compare_both(s);
	if (rc)
		return rc;
	sb_compared_print(&s->comparison.findings, s->options, print_pretty, s);
	return judge(s);
}

static int run(const struct sb_options *options)
{
	static struct session s;
	const bool has_with = *options->value[SB_OPT_with].text;
	int rc;

	if (has_with ? !options->words : options->words != BOTH)
		return sb_fail(
			SB_EXIT_USAGE,
			"compare: expected two results, A and B, or several: A1 A2 --with B1 B2; "
			"%" PRIu32 " given",
			options->words);
	s = (struct session){ .options = options };
	rc = compare(&s);
	for (int side = 0; side < BOTH; side++) {
		for (uint32_t i = 0; i < s.runs[side]; i++)
			sb_result_free(&s.result[side][i]);
	}
	sb_comparison_free(&s.comparison);
	sb_spreads_free(&s.spreads);
	return rc;
}

/* "--with B1 B2" as "--with=B1 --with=B2"; out: [argc + 1], for free_words. */
static bool spell_out(int argc, char **argv, char **out)
{
	bool is_with = false;

	for (int i = 0; i < argc; i++) {
		const bool begins = !strcmp(argv[i], "--with") && i + 1 < argc;

		is_with = begins || (is_with && argv[i][0] != '-');
		if (begins)
			continue;
		if (asprintf(out++, "%s%s", is_with ? "--with=" : "", argv[i]) < 0) {
			out[-1] = NULL;
			return false;
		}
	}
	return true;
}

static void free_words(char **word)
{
	for (char **w = word; w && *w; w++)
		free(*w);
	free(word);
}

int sb_command_compare(int argc, char **argv)
{
	static struct sb_options options;
	char **word = calloc((size_t)argc + 1, sizeof(*word));
	int words = 0;
	int rc;

	if (!word || !spell_out(argc, argv, word)) {
		free_words(word);
		return sb_fail_memory();
	}
	while (word[words])
		words++;
	rc = sb_options_parse_for(&options, SB_VERB_COMPARE, words - 1, word + 1);
	if (!rc && sb_opt(&options, SB_OPT_help))
		sb_help_verb(SB_VERB_COMPARE);
	else if (!rc)
		rc = run(&options);
	sb_options_free(&options);
	free_words(word);
	return rc;
}
