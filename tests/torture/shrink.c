/*
 * shrink.c - makes a script that fails shorter.
 *
 * Parts are left out, first half of them at a time, then a quarter, and at last each alone; a script
 * stays shorter if it still fails for the same reason within a few tries. After Zeller and
 * Hildebrandt, Simplifying and isolating failure-inducing input, IEEE TSE 28(2), 2002 (ddmin), with
 * tries because threads do not run twice in the same way.
 */
#include <ctype.h>
#include <string.h>

#include "tests/torture/main.h"

/* Shorter than in main.c: a false hang here costs a longer script, not a false alarm. */
#define PATIENCE_S 6.0

struct shrinking {
	struct script *script;
	const struct verdict *verdict;
	double until_s;
	uint32_t tries;
	struct job *job;
};

/* True if the texts differ in numbers only. */
static bool is_like(const char *a, const char *b)
{
	while (*a && *b) {
		if (isxdigit((unsigned char)*a) && isxdigit((unsigned char)*b)) {
			while (isxdigit((unsigned char)*a))
				a++;
			while (isxdigit((unsigned char)*b))
				b++;
		} else if (*a++ != *b++) {
			return false;
		}
	}
	return *a == *b;
}

static bool fails_once(const struct shrinking *s)
{
	const struct verdict verdict = run_round(s->job, s->script, PATIENCE_S);

	return verdict.failed &&
	       (is_like(verdict.reason, s->verdict->reason) || (verdict.hung && s->verdict->hung));
}

static bool fails_still(const struct shrinking *s)
{
	for (uint32_t i = 0; i < s->tries; i++) {
		if (fails_once(s))
			return true;
	}
	return false;
}

static uint32_t count_failures(const struct shrinking *s)
{
	uint32_t n = 0;

	for (int i = 0; i < TRIES; i++)
		n += fails_once(s);
	return n;
}

/* Leaves out those parts from `first` on that are there. Returns whether it fails without them;
 * else they are there again. */
static bool try_without(const struct shrinking *s, uint32_t first, uint32_t parts)
{
	const struct script before = *s->script;
	const uint32_t all = script_parts(s->script);
	bool any = false;

	for (uint32_t i = first; i < first + parts && i < all; i++) {
		if (script_has_part(s->script, i)) {
			script_leave_out(s->script, i, true);
			any = true;
		}
	}
	if (!any || fails_still(s))
		return any;
	*s->script = before;
	return false;
}

uint32_t shrink(struct script *script, const struct verdict *verdict, double seconds,
		struct job *job)
{
	struct shrinking s = {
		.script = script, .verdict = verdict, .until_s = now_s() + seconds, .job = job
	};
	const uint32_t parts = script_parts(script);
	const uint32_t before = count_failures(&s);

	/* A script that fails as often as the first one is missed in 5 % of the cases. */
	s.tries = before ? 3 * TRIES / before : 2 * TRIES;
	for (uint32_t size = parts / 2; size; size /= 2) {
		for (uint32_t first = 0; first < parts && now_s() < s.until_s; first += size)
			(void)try_without(&s, first, size);
	}
	return count_failures(&s);
}
