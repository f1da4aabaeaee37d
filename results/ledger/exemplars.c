#include "results/ledger/exemplars.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/record/number.h"
#include "results/record/series.h"
#include "results/text/escape.h"

/* ---- how much of the time a cause explains ---- */

/* What the system counts is known for a time that reaches beyond the event: it is taken to have
 * come at once, up to this many times as dense as on average. */
#define DENSE 16

static double within(const struct sb_exemplar *e, double counted_ns)
{
	const double awake = (double)e->looked_ns - (double)e->parked_ns;
	const double took = (double)e->took_ns;

	if (!e->looked_ns)
		return 0;
	/* Of a longer event only the end was looked at. */
	if ((double)e->looked_ns < took)
		return fmin(took, counted_ns * took / (double)e->looked_ns);
	return fmin(took, counted_ns * fmin(1, DENSE * took / fmax(awake, 1)));
}

static double stopped(const struct sb_exemplars *all, const struct sb_exemplar *e)
{
	double sum = 0;

	for (uint32_t i = 0; i < all->stops; i++) {
		const uint64_t begin = sb_max_u64(all->stop[i].begin_ns, e->begin_ns);
		const uint64_t end = sb_min_u64(all->stop[i].end_ns, e->begin_ns + e->took_ns);

		sum += end > begin ? (double)(end - begin) : 0;
	}
	return sum;
}

/* Neither on a CPU, nor waiting for one, nor parked. */
static double blocked(const struct sb_exemplar *e)
{
	const uint64_t known = e->cpu_ns + e->parked_ns + e->delay_ns;

	return e->gave_up && e->looked_ns > known ? within(e, (double)(e->looked_ns - known)) : 0;
}

/* How much of the event's time each of them explains. */
static void weigh(double ns[SB_CAUSES], const struct sb_exemplars *all, const struct sb_exemplar *e)
{
	const double front = (double)e->front_ns;
	const double idle = (double)e->idle_ns;

	ns[SB_CAUSE_STOPPED] = stopped(all, e);
	ns[SB_CAUSE_GENERATOR] = (double)e->late_ns;
	ns[SB_CAUSE_PREEMPTED] = within(e, (double)e->delay_ns);
	ns[SB_CAUSE_BLOCKED] = blocked(e);
	ns[SB_CAUSE_FAULTS] = isnan(all->fault_ns) ? 0 : within(e, all->fault_ns * e->faults);
	ns[SB_CAUSE_OWN_STEP] = (double)(e->took_ns - e->wait_ns);
	ns[SB_CAUSE_STEP] = e->front_steps == 1 ? front : 0;
	ns[SB_CAUSE_STEPS] = e->front_steps > 1 ? front : 0;
	ns[SB_CAUSE_ASLEEP] = e->was_parked ? idle : 0;
	ns[SB_CAUSE_SEARCH] = e->was_parked ? 0 : idle;
	ns[SB_CAUSE_BUSY] = (double)(e->wait_ns - e->idle_ns);
	ns[SB_CAUSE_UNKNOWN] = 0;
}

/* ---- in words ---- */

struct words {
	char part[SB_HUMAN_BYTES]; /* what the cause explains */
	char took[SB_HUMAN_BYTES];
	char cpu[SB_HUMAN_BYTES];
	char looked[SB_HUMAN_BYTES];
	char front[SB_HUMAN_BYTES];   /* the longest run */
	const struct sb_thief *thief; /* the last before the event's end; NULL: unknown */
};

static void say_stopped(FILE *out, const struct sb_exemplar *e, const struct words *w)
{
	(void)e;
	fprintf(out, "the process was stopped for %s of %s", w->part, w->took);
}

static void say_late(FILE *out, const struct sb_exemplar *e, const struct words *w)
{
	(void)e;
	fprintf(out, "the generator was %s late, of %s", w->part, w->took);
}

static void say_preempted(FILE *out, const struct sb_exemplar *e, const struct words *w)
{
	fprintf(out, "the thread of worker %" PRIu32 " waited for a CPU for %s of %s", e->worker,
		w->part, w->took);
	if (e->preempted == 1)
		fputs(", preempted once", out);
	else if (e->preempted)
		fprintf(out, ", preempted %" PRIu32 " times", e->preempted);
	if (w->thief)
		fprintf(out, ", %sby %.*s (thread %" PRId32 ")", e->preempted > 1 ? "last " : "",
			(int)sizeof(w->thief->name), w->thief->name, w->thief->thread_id);
}

static void say_blocked(FILE *out, const struct sb_exemplar *e, const struct words *w)
{
	fprintf(out, "the thread of worker %" PRIu32 " was blocked in a step for %s of %s",
		e->worker, w->part, w->took);
}

static void say_faults(FILE *out, const struct sb_exemplar *e, const struct words *w)
{
	fprintf(out, "page faults: %" PRIu32 " in %s on worker %" PRIu32 ", about %s", e->faults,
		w->looked, e->worker, w->part);
}

static void say_own_step(FILE *out, const struct sb_exemplar *e, const struct words *w)
{
	fprintf(out, "its own step took %s", w->part);
	if (e->wait_ns)
		fprintf(out, " of %s", w->took);
}

static bool is_behind_itself(const struct sb_exemplar *e)
{
	return e->front_steps == 1 && e->front_pid && e->front_pid == e->pid;
}

static void put_visible(FILE *out, const struct sb_exemplar *e)
{
	if (2 * e->visible_ns >= e->took_ns)
		fputs("; not visible until the step ended", out);
}

static void say_step(FILE *out, const struct sb_exemplar *e, const struct words *w)
{
	if (is_behind_itself(e)) {
		fprintf(out, "waited %s until its own process's step ended", w->part);
		return;
	}
	if (e->front_pid)
		fprintf(out, "waited %s behind pid %" PRIu64 "'s step on worker %" PRIu32, w->part,
			e->front_pid, e->worker);
	else
		fprintf(out, "waited %s behind another step on worker %" PRIu32, w->part,
			e->worker);
	put_visible(out, e);
}

static void say_steps(FILE *out, const struct sb_exemplar *e, const struct words *w)
{
	fprintf(out, "waited %s until a run of %" PRIu32 " steps on worker %" PRIu32 " ended",
		w->part, e->front_steps, e->worker);
	if (e->front_pid)
		fprintf(out, ", the last of them pid %" PRIu64 "'s", e->front_pid);
	put_visible(out, e);
}

static void say_asleep(FILE *out, const struct sb_exemplar *e, const struct words *w)
{
	fprintf(out, "worker %" PRIu32 " was parked; it took %s of %s until it was at work",
		e->worker, w->part, w->took);
}

static void say_search(FILE *out, const struct sb_exemplar *e, const struct words *w)
{
	fprintf(out, "worker %" PRIu32 " searched for %s of %s until it found work", e->worker,
		w->part, w->took);
}

static void say_busy(FILE *out, const struct sb_exemplar *e, const struct words *w)
{
	fprintf(out, "worker %" PRIu32 " had other steps to run for %s", e->worker, w->part);
	if (e->front_steps == 1)
		fprintf(out, ", the longest known for %s", w->front);
}

static void say_unknown(FILE *out, const struct sb_exemplar *e, const struct words *w)
{
	fputs("nothing that is recorded explains it", out);
	if (e->looked_ns)
		fprintf(out, " (in %s the thread had a CPU for %s)", w->looked, w->cpu);
}

/* ---- the causes, in the order of their ranks ---- */

static const struct {
	const char *name;
	void (*say)(FILE *out, const struct sb_exemplar *e, const struct words *w);
} causes[SB_CAUSES] = {
	[SB_CAUSE_STOPPED] = { "stopped", say_stopped },
	[SB_CAUSE_GENERATOR] = { "late generator", say_late },
	[SB_CAUSE_PREEMPTED] = { "no CPU", say_preempted },
	[SB_CAUSE_BLOCKED] = { "blocked in a step", say_blocked },
	[SB_CAUSE_FAULTS] = { "page faults", say_faults },
	[SB_CAUSE_OWN_STEP] = { "own step", say_own_step },
	[SB_CAUSE_STEP] = { "step in front", say_step },
	[SB_CAUSE_STEPS] = { "steps in front", say_steps },
	[SB_CAUSE_ASLEEP] = { "asleep", say_asleep },
	[SB_CAUSE_SEARCH] = { "search", say_search },
	[SB_CAUSE_BUSY] = { "busy", say_busy },
	[SB_CAUSE_UNKNOWN] = { "unknown", say_unknown },
};

const char *sb_cause_name(enum sb_cause cause)
{
	return causes[cause].name;
}

#define IS_THE_CAUSE 0.5
#define IS_A_CAUSE   0.2

static enum sb_cause find_cause(const struct sb_exemplars *all, const struct sb_exemplar *e,
				double *part_ns)
{
	const double took = (double)e->took_ns;
	enum sb_cause most = SB_CAUSE_UNKNOWN;
	double ns[SB_CAUSES];

	weigh(ns, all, e);
	*part_ns = IS_A_CAUSE * took;
	for (int c = 0; c < SB_CAUSE_UNKNOWN; c++) {
		if (ns[c] <= *part_ns)
			continue;
		most = (enum sb_cause)c;
		*part_ns = ns[c];
		if (ns[c] >= IS_THE_CAUSE * took)
			break;
	}
	return most;
}

/* What is true besides. */
static void put_more(FILE *out, const struct sb_exemplar *e, enum sb_cause cause)
{
	const double delay = within(e, (double)e->delay_ns);
	char text[SB_HUMAN_BYTES];

	sb_human(text, delay, "ns");
	if (cause > SB_CAUSE_PREEMPTED && delay > IS_A_CAUSE * (double)e->took_ns)
		fprintf(out, "; %s of it without a CPU", text);
	if (is_behind_itself(e))
		return;
	if (e->has_sleeper)
		fprintf(out, "; worker %" PRIu32 " was parked", e->sleeper);
	if (e->last_worker != SB_WORKER_NONE && e->last_worker != e->worker)
		fprintf(out, "; it came from worker %" PRIu32, e->last_worker);
}

/* Whoever took the CPU may have done so before the event began. */
static const struct sb_thief *find_thief(const struct sb_exemplars *all,
					 const struct sb_exemplar *e)
{
	const struct sb_thief *found = NULL;

	for (uint32_t i = 0; i < all->thieves; i++) {
		const struct sb_thief *thief = &all->thief[i];

		if (thief->worker == e->worker && thief->at_ns <= e->begin_ns + e->took_ns &&
		    thief->at_ns + e->delay_ns >= e->begin_ns)
			found = thief;
	}
	return found;
}

enum sb_cause sb_exemplar_explain(char text[SB_CAUSE_BYTES], const struct sb_exemplars *all,
				  const struct sb_exemplar *e)
{
	double part;
	const enum sb_cause cause = find_cause(all, e, &part);
	FILE *out = fmemopen(text, SB_CAUSE_BYTES, "w");
	struct words words;

	*text = '\0';
	if (!out)
		return cause;
	sb_human(words.part, part, "ns");
	sb_human(words.took, (double)e->took_ns, "ns");
	sb_human(words.cpu, (double)e->cpu_ns, "ns");
	sb_human(words.front, (double)e->front_ns, "ns");
	sb_human(words.looked, (double)e->looked_ns, "ns");
	words.thief = find_thief(all, e);
	causes[cause].say(out, e, &words);
	put_more(out, e, cause);
	fclose(out);
	text[SB_CAUSE_BYTES - 1] = '\0';
	return cause;
}

/* ---- of a series ---- */

static int compare(const void *a, const void *b)
{
	const struct sb_exemplar_spot *x = a;
	const struct sb_exemplar_spot *y = b;

	if (x->exemplar->took_ns != y->exemplar->took_ns)
		return x->exemplar->took_ns > y->exemplar->took_ns ? -1 : 1;
	return (x->record->repetition > y->record->repetition) -
	       (x->record->repetition < y->record->repetition);
}

/* Those of an invalid repetition say why it is. */
static const struct sb_exemplar_list *list_of(const struct sb_series *series, uint32_t row,
					      enum sb_exemplar_kind kind)
{
	static const struct sb_exemplar_list none;
	const struct sb_record *record = &series->record[row];

	if (record->exemplars && (sb_series_pools(series, row) || !sb_record_has_numbers(record)))
		return &record->exemplars->of[kind];
	return &none;
}

struct sb_exemplar_spot *sb_series_slowest(const struct sb_series *series,
					   enum sb_exemplar_kind kind, uint32_t *n)
{
	struct sb_exemplar_spot *spot;
	uint32_t most = 0;
	uint32_t all = 0;

	for (uint32_t r = 0; r < series->records; r++) {
		all += list_of(series, r, kind)->n;
		most = (uint32_t)sb_max_u64(most, list_of(series, r, kind)->n);
	}
	*n = most;
	spot = all ? calloc(all, sizeof(*spot)) : NULL;
	if (!spot)
		return NULL;
	all = 0;
	for (uint32_t r = 0; r < series->records; r++) {
		const struct sb_exemplar_list *list = list_of(series, r, kind);

		for (uint32_t i = 0; i < list->n; i++)
			spot[all++] =
				(struct sb_exemplar_spot){ &series->record[r], &list->exemplar[i] };
	}
	qsort(spot, all, sizeof(*spot), compare);
	return spot;
}

bool sb_series_has_exemplars(const struct sb_series *series, enum sb_exemplar_kind kind)
{
	for (uint32_t r = 0; r < series->records; r++) {
		if (list_of(series, r, kind)->n)
			return true;
	}
	return false;
}

enum sb_exemplar_kind sb_series_main_exemplars(const struct sb_series *series,
					       const char *objective)
{
	enum sb_exemplar_kind found = SB_EXEMPLAR_KINDS;

	for (enum sb_exemplar_kind kind = SB_EXEMPLAR_KINDS; kind-- > 0;) {
		if (sb_series_has_exemplars(series, kind))
			found = kind;
	}
	for (int kind = 0; kind < SB_EXEMPLAR_KINDS; kind++) {
		const char *name = sb_exemplar_kind_name((enum sb_exemplar_kind)kind);

		if (!strncmp(objective, name, strlen(name)) &&
		    sb_series_has_exemplars(series, (enum sb_exemplar_kind)kind))
			return (enum sb_exemplar_kind)kind;
	}
	return found;
}

bool sb_result_has_exemplars(const struct sb_result *result)
{
	for (uint32_t i = 0; i < result->all_series; i++) {
		if (sb_series_main_exemplars(&result->series[i], "") < SB_EXEMPLAR_KINDS)
			return true;
	}
	return false;
}

void sb_put_slowest(FILE *out, const struct sb_result *result, const struct sb_series *series)
{
	const enum sb_exemplar_kind kind = sb_series_main_exemplars(
		series, sb_result_fact(result, "objectives", series->workload));
	struct sb_exemplar_spot *spot = NULL;
	char title[SB_SERIES_TITLE_BYTES];
	char took[SB_HUMAN_BYTES];
	char why[SB_CAUSE_BYTES];
	uint32_t n = 0;

	if (kind < SB_EXEMPLAR_KINDS)
		spot = sb_series_slowest(series, kind, &n);
	if (!spot)
		return;
	sb_series_title(title, series);
	sb_human(took, (double)spot->exemplar->took_ns, "ns");
	(void)sb_exemplar_explain(why, spot->record->exemplars, spot->exemplar);
	fprintf(out, "%s: the slowest %s, %s: %s\n", sb_terminal_text(title),
		sb_exemplar_kind_name(kind), took, sb_terminal_text(why));
	free(spot);
}
