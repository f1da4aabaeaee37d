/* description_actions.c - what a described process does: "10% exp:5us", "2 replica, each log". */
#include <stdlib.h>
#include <string.h>

#include "harness/plugin/description_parts.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "workloads/load/quantity.h"

/* An entry's value while it is read, word by word. */
struct words {
	struct sb_describing *d;
	const struct sb_ini_entry *entry;
	const char *at;	  /* the rest */
	const char *last; /* where the last word began */
	char word[64];
};

static int fail_at(const struct words *w, const char *at, const char *why, const char *expected)
{
	return sb_description_fail(w->d, w->entry->line,
				   w->entry->value_column + (uint32_t)(at - w->entry->value),
				   "%s: %s; expected %s", w->entry->name, why, expected);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static void skip_blanks(struct words *w)
{
	while (is_blank(*w->at))
		w->at++;
}

/* The next word, up to a blank or a comma; cut off where it is longer than any name. */
static const char *next_word(struct words *w)
{
	size_t n = 0;

	skip_blanks(w);
	w->last = w->at;
	for (; *w->at && *w->at != ',' && !is_blank(*w->at); w->at++) {
		if (n + 1 < sizeof(w->word))
			w->word[n++] = *w->at;
	}
	w->word[n] = '\0';
	return w->word;
}

/* "10%" in front of what is done, if it is there. */
static int take_share(struct words *w, struct sb_action *action)
{
	const char *const before = w->at;
	const char *word = next_word(w);

	action->share = 1;
	if (!*word || word[strlen(word) - 1] != '%') {
		w->at = before;
		return 0;
	}
	if (!sb_quantity_percent(word, &action->share) || action->share <= 0 || action->share > 1)
		return fail_at(w, w->last, "that is no share of the requests",
			       "more than 0% and up to 100%");
	skip_blanks(w);
	return 0;
}

/* The kind's next action; NULL after an error: there are too many. */
static struct sb_action *add_action(struct words *w, enum sb_act act)
{
	struct sb_kind *kind = &w->d->made->kind[w->d->kind];

	if (kind->actions == SB_ACTIONS_MAX) {
		(void)sb_description_fail(w->d, w->entry->line, w->entry->name_column,
					  "one entry too many; expected at most %d of work, call "
					  "and send in a kind",
					  SB_ACTIONS_MAX);
		return NULL;
	}
	kind->action[kind->actions].act = act;
	return &kind->action[kind->actions++];
}

int sb_description_take_work(struct sb_describing *d, const struct sb_ini_entry *entry)
{
	struct words w = { .d = d, .entry = entry, .at = entry->value };
	struct sb_action *action = add_action(&w, SB_ACT_WORK);
	char why[SB_WHY_BYTES];
	int rc = action ? take_share(&w, action) : SB_EXIT_USAGE;

	if (rc)
		return rc;
	if (sb_distribution_init(&action->work, w.at, why))
		return sb_description_fail(d, entry->line,
					   entry->value_column + (uint32_t)(w.at - entry->value),
					   "work: %s", why);
	return 0;
}

/* ---- whom it calls ---- */

/* Their number: there is none of that name. */
static uint32_t find_kind(const struct sb_description *d, const char *name)
{
	uint32_t k = 0;

	while (k < d->kinds && strcmp(d->kind[k].name, name) != 0)
		k++;
	return k;
}

static int find_target(struct words *w, const char *name, struct sb_target *target)
{
	const struct sb_description *made = w->d->made;

	target->kind = find_kind(made, name);
	if (!*name)
		return fail_at(w, w->last, "a name is missing", "the name of a kind");
	if (target->kind == made->kinds)
		return fail_at(w, w->last, "there is no such kind",
			       "NAME, COUNT NAME or each NAME, of a section below");
	if (target->kind <= w->d->kind)
		return fail_at(w, w->last, "that kind does not stand below this one",
			       "one that does, so that calls do not go in circles");
	return 0;
}

/* "replica", "2 replica" or "each replica". */
static int take_target(struct words *w, struct sb_target *target)
{
	const char *word = next_word(w);
	uint64_t n = 1;
	int rc;

	if (!strcmp(word, "each")) {
		target->is_each = true;
		word = next_word(w);
	} else if (*word >= '0' && *word <= '9') {
		if (!sb_parse_count(word, &n) || !n || n > UINT16_MAX)
			return fail_at(w, w->last, "that is no number of processes",
				       "a count from 1 to 65535");
		word = next_word(w);
	}
	rc = find_target(w, word, target);
	if (rc)
		return rc;
	target->processes = (uint32_t)n;
	w->d->is_called[target->kind] = true;
	if (w->d->least[target->kind] < target->processes)
		w->d->least[target->kind] = target->processes;
	skip_blanks(w);
	return 0;
}

static int take_targets(struct words *w, struct sb_action *action)
{
	int rc = take_share(w, action);

	while (!rc) {
		static_assert(SB_TARGETS_MAX == 8, "the text says so");
		if (action->targets == SB_TARGETS_MAX)
			return fail_at(w, w->at, "that is one too many", "at most 8 at once");
		rc = take_target(w, &action->target[action->targets++]);
		if (rc || !*w->at)
			break;
		if (*w->at++ != ',')
			return fail_at(w, w->at - 1, "there is something behind the name",
				       "a comma and the next one");
	}
	return rc;
}

static int take_asking(struct sb_describing *d, const struct sb_ini_entry *entry, enum sb_act act)
{
	struct words w = { .d = d, .entry = entry, .at = entry->value };
	struct sb_action *action = add_action(&w, act);

	return action ? take_targets(&w, action) : SB_EXIT_USAGE;
}

int sb_description_take_call(struct sb_describing *d, const struct sb_ini_entry *entry)
{
	return take_asking(d, entry, SB_ACT_CALL);
}

int sb_description_take_send(struct sb_describing *d, const struct sb_ini_entry *entry)
{
	return take_asking(d, entry, SB_ACT_SEND);
}
