/* session_result.c - the result of a sweep: facts about it, its files, and what is said of it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/policy.h"
#include "harness/cli/trust.h"
#include "harness/output/facts.h"
#include "harness/output/outcome.h"
#include "harness/sweep/collect.h"
#include "harness/sweep/session.h"
#include "harness/sweep/table.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "results/files/answer.h"
#include "results/files/summary_virtual.h"
#include "results/files/wrap.h"
#include "results/record/series.h"

/* "2.0 0.0 1.0 ...": configuration and repetition, in the order of the plan. */
static char *order_text(const struct sb_session *s)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	for (uint32_t i = 0; i < s->rows; i++)
		fprintf(out, "%s%" PRIu32 ".%" PRIu32, i ? " " : "",
			s->sweep.order[i].configuration, s->sweep.order[i].repetition);
	fclose(out);
	return text;
}

/* The series that run with the defaults, by number: "3 7". */
static char *default_text(const struct sb_session *s)
{
	const char *before = "";
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	for (uint32_t i = 0; i < s->sweep.configurations; i++) {
		if (!sb_sweep_is_default(&s->sweep, &s->sweep.configuration[i]))
			continue;
		fprintf(out, "%s%" PRIu32, before, i);
		before = " ";
	}
	fclose(out);
	return text;
}

static char *answer_text(const struct sb_sweep_view *view)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	sb_sweep_put_answers(view, out);
	fclose(out);
	return text;
}

/* As it can be given again: the plan, and what it is ranked by and written to, which are no part of
 * it. */
static char *command_text(const struct sb_session *s, const struct sb_arguments *plan)
{
	static const enum sb_option_id others[] = { SB_OPT_objective, SB_OPT_output };
	static char program[] = "sched-bench";
	struct sb_arguments also = { .n = 0 };
	char *words[2 * SB_SWEEP_ARGS_MAX + 1] = { program };
	char *text = NULL;
	int n = 1;
	int rc = 0;

	for (size_t i = 0; i < SB_ARRAY_SIZE(others) && !rc; i++) {
		if (*s->given->value[others[i]].text)
			rc = sb_arguments_add(&also, "--%s=%s", sb_option[others[i]].name,
					      s->given->value[others[i]].text);
	}
	for (uint32_t i = 0; i < plan->n; i++)
		words[n++] = plan->word[i];
	for (uint32_t i = 0; i < also.n; i++)
		words[n++] = also.word[i];
	if (!rc)
		text = sb_facts_join(n, words);
	sb_arguments_free(&also);
	return text;
}

static int add_owned(struct sb_result *result, const char *group, const char *key, char *value)
{
	const int rc = value ? sb_result_add_fact(result, group, key, value) : -ENOMEM;

	free(value);
	return rc;
}

static int add_number(struct sb_result *result, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return sb_result_add_fact(result, "sweep", key, text);
}

/* Whether the dimension goes through the option's values, itself or as policy. */
static bool goes_through(const struct sb_session *s, const struct sb_dimension *d, int id)
{
	return d->option == id ||
	       (d->option == SB_OPT_policy && sb_policy_decides(s->options, (enum sb_option_id)id));
}

static bool is_swept(const struct sb_session *s, int id)
{
	for (uint32_t d = 0; d < s->sweep.dimensions; d++) {
		if (goes_through(s, &s->sweep.dimension[d], id))
			return true;
	}
	return false;
}

/* The runs' own options said one repetition, and one value of each. */
static int correct_options(struct sb_session *s)
{
	int rc = 0;

	for (int id = 0; id < SB_OPTIONS && !rc; id++) {
		const struct sb_option_value *value = &s->options->value[id];

		if (!(sb_option[id].verbs & SB_VERB_RUN) || !(sb_option[id].verbs & SB_VERB_SWEEP))
			continue;
		rc = sb_result_add_fact(&s->result, "options", sb_option[id].name,
					is_swept(s, id) ? "swept" : value->text);
		rc |= sb_result_add_fact(&s->result, "option_sources", sb_option[id].name,
					 value->source);
	}
	return rc;
}

/* "wake_ns_p99,cpu_ns_per_op", of each workload. */
static int add_objectives(struct sb_session *s)
{
	int rc = 0;

	for (uint32_t i = 0; i < s->options->chosens && !rc; i++) {
		const struct sb_chosen *chosen = &s->options->chosen[i];
		const struct sb_objectives *o = sb_sweep_objectives(&s->sweep, chosen);
		char text[160];

		snprintf(text, sizeof(text), "%s%s%s", sb_metric[o->metric[0]].name,
			 o->n > 1 ? "," : "", o->n > 1 ? sb_metric[o->metric[1]].name : "");
		rc = sb_result_add_fact(&s->result, "objectives", chosen->workload->name, text);
	}
	return rc;
}

static int add_facts(struct sb_session *s, const struct sb_arguments *arguments,
		     const struct sb_sweep_view *view)
{
	struct sb_result *result = &s->result;
	int rc = correct_options(s);

	rc |= add_owned(result, "run", "command_line", command_text(s, arguments));
	rc |= add_number(result, "configurations", s->sweep.configurations);
	rc |= add_number(result, "repetitions", s->sweep.repetitions);
	rc |= add_number(result, "extra_repetitions", s->sweep.repetitions - s->sweep.planned);
	rc |= add_number(result, "rows_done", s->rows_done);
	rc |= add_number(result, "seed", sb_opt(s->options, SB_OPT_seed));
	rc |= add_objectives(s);
	rc |= add_owned(result, "sweep", "order", order_text(s));
	rc |= add_owned(result, "sweep", "default_series", default_text(s));
	rc |= add_owned(result, "answer", "text", answer_text(view));
	rc |= sb_sweep_add_rankings(view, result);
	return rc ? sb_fail_memory() : 0;
}

static struct sb_sweep_view view_of(const struct sb_session *s)
{
	return (struct sb_sweep_view){ .sweep = &s->sweep, .result = &s->result };
}

static void print_pretty(const void *session, FILE *out)
{
	struct sb_sweep_view view = view_of(session);
	struct sb_wrap wrap;

	view.columns = sb_terminal_width(out);
	out = sb_wrap_begin(&wrap, out, &view.columns);
	fputc('\n', out);
	sb_answer_put(out, sb_answer_of(view.result), "", "");
	fputc('\n', out);
	sb_summary_put_virtual(out, view.result);
	sb_sweep_put_tables(&view, out);
	sb_wrap_end(&wrap);
}

static void note_missing(const struct sb_session *s)
{
	if (s->rows_done == s->rows)
		return;
	if (s->chunk.of)
		sb_note("this is chunk %" PRIu32 " of %" PRIu32
			": sched-bench sweep --merge -o DIRECTORY CHUNK...",
			s->chunk.number, s->chunk.of);
	else
		sb_note("%" PRIu32 " of %" PRIu32
			" rows are missing: sched-bench sweep --resume %s%s",
			s->rows - s->rows_done, s->rows, s->result.directory,
			sb_trust_hint(s->options));
}

int sb_session_finish(struct sb_session *s, const struct sb_arguments *plan)
{
	const struct sb_sweep_view view = view_of(s);
	int rc = sb_collect(&s->sweep, s->store, s->topology, &s->result);

	rc = rc ? rc : add_facts(s, plan, &view);
	if (rc)
		return rc;
	rc = sb_outcome_write(&s->result, s->given);
	sb_outcome_print(&s->result, s->given, !rc, print_pretty, s);
	if (rc)
		return rc;
	note_missing(s);
	return sb_outcome_status(&s->result, s->given);
}
