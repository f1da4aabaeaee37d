/* session_store.c - creates the store of a sweep, or opens an existing one. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/trust.h"
#include "harness/output/identity.h"
#include "harness/output/outcome.h"
#include "harness/plugin/plugin.h"
#include "harness/sweep/session.h"
#include "harness/terminal/status.h"

/* Keys of the plan; there if it is so. */
#define NO_PLOTS "no_plots"
#define CHUNK	 "chunk"

static const char *store_directory(const struct sb_session *s)
{
	return s->store_directory ? s->store_directory : s->result.directory;
}

/* ---- a new store ---- */

static int put_everything(struct sb_session *s, const struct sb_arguments *plan)
{
	char seed[24];
	int rc;

	snprintf(seed, sizeof(seed), "%" PRIu64, sb_opt(s->options, SB_OPT_seed));
	rc = sb_store_put_plan(s->store, "seed", seed);
	if (!rc && sb_opt(s->given, SB_OPT_no_plots))
		rc = sb_store_put_plan(s->store, NO_PLOTS, "yes");
	if (!rc && s->chunk.of)
		rc = sb_store_put_plan(s->store, CHUNK, s->given->value[SB_OPT_chunk].text);
	for (uint32_t i = 1; i < plan->n && !rc; i++)
		rc = sb_store_put_argument(s->store, plan->word[i]);
	for (uint32_t i = 0; i < s->sweep.configurations && !rc; i++)
		rc = sb_store_put_configuration(s->store, i, s->sweep.configuration[i].label);
	for (uint32_t i = 0; i < s->rows && !rc; i++)
		rc = sb_store_put_slot(s->store, i, s->sweep.order[i].configuration,
				       s->sweep.order[i].repetition);
	return rc;
}

int sb_session_begin(struct sb_session *s, const struct sb_arguments *plan)
{
	int rc = sb_outcome_prepare(s->given, &s->result);

	if (rc)
		return rc;
	sb_outcome_try_plots(s->given);
	rc = sb_store_create(&s->store, &sb_store_of_sweep, store_directory(s));
	if (rc)
		return sb_store_failed(s->store, rc);
	rc = s->origin ? sb_identity_copy(s->origin, s->store) : sb_identity_put(s->store);
	rc = rc ? rc : put_everything(s, plan);
	rc = rc ? rc : sb_store_publish(s->store);
	return rc ? sb_store_failed(s->store, rc) : 0;
}

/* ---- a store that is there ---- */

static int take_argument(void *arg, const char *text)
{
	struct sb_arguments *arguments = arg;

	if (arguments->n == SB_SWEEP_ARGS_MAX)
		return SB_EXIT_USAGE;
	arguments->word[arguments->n] = strdup(text);
	if (!arguments->word[arguments->n])
		return SB_EXIT_BUG;
	arguments->n++;
	return 0;
}

int sb_session_read_arguments(struct sb_store *store, const char *directory,
			      struct sb_arguments *out)
{
	int rc;

	*out = (struct sb_arguments){ .n = 0 };
	rc = take_argument(out, "sweep");
	if (!rc)
		rc = sb_store_arguments(store, take_argument, out);
	if (rc < 0)
		return sb_store_failed(store, rc);
	return rc ? sb_fail(rc, "%s: its command line cannot be read", directory) : 0;
}

static int check_command_line(const struct sb_session *s, const struct sb_arguments *stored)
{
	const char *expected;
	const char *now;

	if (!sb_arguments_differ(stored, &s->canonical, &expected, &now))
		return 0;
	/* Only its workload, which comes first, is allowed again. */
	if (s->canonical.n == 2 && *s->given->value[SB_OPT_workload].text && stored->n > 1 &&
	    !strcmp(stored->word[1], s->canonical.word[1]))
		return 0;
	return sb_fail(SB_EXIT_USAGE,
		       "%s was begun with another command line: expected %s; this one has %s "
		       "(--resume with the directory alone takes what it was begun with)",
		       s->result.directory, expected, now);
}

int sb_session_parse_stored(struct sb_session *s, struct sb_arguments *stored, const char *name)
{
	int rc;

	sb_plugin_distrust(sb_session_is(s, SB_OPT_trust) ? NULL : name);
	rc = sb_options_parse_for(&s->plan_options, SB_VERB_SWEEP, (int)stored->n, stored->word);
	s->options = &s->plan_options;
	rc = rc ? rc : sb_options_choose(s->options);
	sb_plugin_distrust(NULL);
	return rc ? rc : sb_trust_check(s->options, s->given, name);
}

static int take_label(void *arg, uint32_t id, const char *label)
{
	const struct sb_session *s = arg;

	return id >= s->sweep.configurations ||
	       strcmp(s->sweep.configuration[id].label, label) != 0;
}

struct order_check {
	struct sb_session *s;
	uint32_t slots;
};

/* The store's order counts, whatever this program would draw. */
static int take_slot(void *arg, uint32_t configuration, uint32_t repetition)
{
	struct order_check *check = arg;
	const struct sb_sweep *sweep = &check->s->sweep;

	if (check->slots == check->s->rows && sb_sweep_may_add(sweep) &&
	    sb_session_add_round(check->s))
		return SB_EXIT_BUG;
	if (check->slots == check->s->rows || configuration >= sweep->configurations ||
	    repetition >= sweep->repetitions)
		return 1;
	sweep->order[check->slots++] = (struct sb_slot){ configuration, repetition };
	return 0;
}

static int not_its_plan(const struct sb_session *s)
{
	return sb_fail(SB_EXIT_USAGE,
		       "%s: its plan is not what its command line gives; expected the store of "
		       "this version",
		       s->result.directory);
}

static int check_plan(struct sb_session *s)
{
	struct order_check check = { s, 0 };
	int rc = sb_store_configurations(s->store, take_label, s);

	rc = rc ? rc : sb_store_slots(s->store, take_slot, &check);
	if (rc < 0)
		return sb_store_failed(s->store, rc);
	return rc || check.slots != s->rows ? not_its_plan(s) : 0;
}

static int take_done(void *arg, const struct sb_stored_row *row)
{
	struct sb_session *s = arg;
	bool *done = sb_session_done(s, row->configuration, row->repetition);

	/* In a store of ours, each is there once. */
	if (!done || *done)
		return 1;
	*done = true;
	s->rows_done++;
	return 0;
}

static int read_done(struct sb_session *s)
{
	const int rc = sb_store_rows(s->store, take_done, s);

	if (rc < 0)
		return sb_store_failed(s->store, rc);
	return rc ? not_its_plan(s) : 0;
}

static int open_there(struct sb_session *s)
{
	const char *directory = s->given->value[SB_OPT_output].text;
	int rc;

	if (!*directory)
		return sb_fail(
			SB_EXIT_USAGE,
			"--%s: a directory is missing; expected the result directory of a sweep",
			sb_session_is(s, SB_OPT_resume) ? "resume" : "collect");
	s->result.directory = strdup(directory);
	if (!s->result.directory)
		return sb_fail_memory();
	rc = sb_store_open(&s->store, &sb_store_of_sweep, store_directory(s),
			   !sb_session_is(s, SB_OPT_resume));
	return rc ? sb_store_failed(s->store, rc) : 0;
}

/* The sweep goes on without plots if it was begun without them. */
static void take_no_plots(struct sb_session *s)
{
	char *text = sb_store_plan(s->store, NO_PLOTS);

	if (text)
		s->given->value[SB_OPT_no_plots].number = 1;
	free(text);
}

/* And its chunk is the store's. */
static int take_chunk(struct sb_session *s)
{
	char *text = sb_store_plan(s->store, CHUNK);
	const int rc = sb_chunk_parse(&s->chunk, text ? text : "");

	free(text);
	return rc;
}

/* The plan by its own command line, if what it needs is here: its build, and the machine for
 * times that are those of this machine. */
static int plan_again(struct sb_session *s, struct sb_arguments *stored)
{
	const bool runs = sb_session_is(s, SB_OPT_resume);
	const char *directory = s->result.directory;
	int rc = 0;

	if (runs && !sb_session_is(s, SB_OPT_other_build))
		rc = sb_identity_check(s->store, SB_IDENTITY_BUILD, directory);
	rc = rc ? rc : sb_session_parse_stored(s, stored, directory);
	if (!rc && runs && !s->store_directory && !sb_opt(s->options, SB_OPT_virtual))
		rc = sb_identity_check(s->store, SB_IDENTITY_MACHINE, directory);
	rc = rc ? rc : take_chunk(s);
	return rc ? rc : sb_session_plan(s);
}

int sb_session_resume(struct sb_session *s, struct sb_arguments *stored)
{
	int rc = open_there(s);

	rc = rc ? rc : sb_session_read_arguments(s->store, s->result.directory, stored);
	/* With the directory alone, there is nothing to compare. */
	if (!rc && s->canonical.n > 1)
		rc = check_command_line(s, stored);
	rc = rc ? rc : plan_again(s, stored);
	rc = rc ? rc : check_plan(s);
	if (rc)
		return rc;
	take_no_plots(s);
	return read_done(s);
}
