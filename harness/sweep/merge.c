/* merge.c - chunks of a sweep, put together as one. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/output/identity.h"
#include "harness/sweep/session.h"
#include "harness/terminal/status.h"

/* A chunk whose rows are taken. */
struct part {
	struct sb_session *session;
	const struct sb_arguments *plan;
	struct sb_store *store;
	const char *directory;
	const char *name; /* for errors */
	bool may_repeat;
	int rc; /* an exit status */
};

static int open_part(struct part *part)
{
	const int rc = sb_store_open(&part->store, &sb_store_of_sweep, part->directory, true);

	return rc ? sb_store_failed(part->store, rc) : 0;
}

/* Its command line is the plan's, and so is its plan if it is of the same build. */
static int check_arguments(const struct part *part)
{
	struct sb_arguments arguments;
	const char *expected;
	const char *is;
	int rc = sb_session_read_arguments(part->store, part->name, &arguments);

	if (!rc && sb_arguments_differ(part->plan, &arguments, &expected, &is))
		rc = sb_fail(SB_EXIT_USAGE, "%s is of another sweep: it has %s; expected %s",
			     part->name, is, expected);
	sb_arguments_free(&arguments);
	return rc;
}

/* All have the build, and in real time the machine, of the first. */
static int check_identity(const struct part *part)
{
	const struct sb_session *s = part->session;
	int rc = 0;

	if (!sb_session_is(s, SB_OPT_other_build))
		rc = sb_identity_compare(SB_IDENTITY_BUILD, s->origin, part->store, part->name);
	if (!rc && !sb_sweep_is_virtual(&s->sweep))
		rc = sb_identity_compare(SB_IDENTITY_MACHINE, s->origin, part->store, part->name);
	return rc;
}

static int take_row(void *arg, const struct sb_stored_row *row)
{
	struct part *part = arg;
	struct sb_session *s = part->session;
	bool *done = sb_session_done(s, row->configuration, row->repetition);

	if (!done) {
		part->rc = sb_fail(SB_EXIT_USAGE, "%s has a row that its plan has not", part->name);
		return 1;
	}
	if (*done && part->may_repeat)
		return 0;
	if (*done) {
		part->rc = sb_fail(SB_EXIT_USAGE,
				   "%s: repetition %" PRIu32 " of %s has been taken from another "
				   "directory; expected each row once",
				   part->name, row->repetition,
				   s->sweep.configuration[row->configuration].label);
		return 1;
	}
	*done = true;
	s->rows_done++;
	return sb_store_put_row(s->store, row);
}

static int take_rows(struct part *part)
{
	const int rc = sb_store_rows(part->store, take_row, part);

	if (part->rc)
		return part->rc;
	/* Of the two stores, one says why. */
	if (rc < 0)
		return sb_store_failed(
			*sb_store_why(part->store) ? part->store : part->session->store, rc);
	return 0;
}

static void close_part(struct part *part)
{
	if (part->store != part->session->origin)
		sb_store_close(part->store);
}

int sb_session_take_chunk(struct sb_session *s, const struct sb_arguments *plan,
			  const char *directory, const char *name, bool may_repeat)
{
	struct part part = { .session = s,
			     .plan = plan,
			     .directory = directory,
			     .name = name,
			     .may_repeat = may_repeat };
	int rc = open_part(&part);

	if (!s->origin && !rc)
		s->origin = part.store;
	rc = rc ? rc : check_arguments(&part);
	rc = rc ? rc : check_identity(&part);
	rc = rc ? rc : take_rows(&part);
	close_part(&part);
	return rc;
}

static int take_all(struct sb_session *s, const struct sb_arguments *plan)
{
	int rc = sb_store_begin_rows(s->store);

	if (rc)
		return sb_store_failed(s->store, rc);
	for (uint32_t i = 0; i < s->given->words && !rc; i++)
		rc = sb_session_take_chunk(s, plan, s->given->word[i], s->given->word[i], false);
	if (rc)
		return rc;
	rc = sb_store_end_rows(s->store);
	return rc ? sb_store_failed(s->store, rc) : 0;
}

/* Removes a store that does not have all rows of its chunks. */
static void discard(struct sb_session *s)
{
	sb_store_remove(s->store);
	s->store = NULL;
	/* If it was made for this, it is empty again. */
	(void)rmdir(s->result.directory);
}

/* The first store stays open: its machine and its build are everyone's. */
static int plan_of_first(struct sb_session *s, struct sb_arguments *stored)
{
	struct part first = { .session = s,
			      .directory = s->given->word[0],
			      .name = s->given->word[0] };
	int rc = open_part(&first);

	s->origin = first.store;
	rc = rc ? rc : sb_session_read_arguments(first.store, first.name, stored);
	rc = rc ? rc : sb_session_parse_stored(s, stored, first.name);
	return rc ? rc : sb_session_plan(s);
}

int sb_session_merge(struct sb_session *s, struct sb_arguments *stored)
{
	int rc = plan_of_first(s, stored);

	rc = rc ? rc : sb_session_begin(s, stored);
	if (rc)
		return rc;
	rc = take_all(s, stored);
	if (rc)
		discard(s);
	return rc;
}
