/*
 * entry.c - a measurement as the first thread of a virtual run. Of the world of virtual time;
 * see harness/virtual/virtual.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/platform/virtual/engine.h"
#include "harness/plugin/plugin.h"
#include "harness/terminal/status.h"
#include "harness/virtual/virtual.h"
#include "results/record/waiting.h"
#include "workloads/described/description.h"

#define PS_PER_NS 1000

struct entry {
	struct sb_series *series;
	const struct sb_chosen *chosen;
	const struct sb_options *options;
	struct sb_ground ground;
	const struct sb_watch *watch;
	int rc;
};

/* ---- the profile of waiting ---- */

static int by_place(const void *a, const void *b)
{
	const struct sb_site *x = *(const struct sb_site *const *)a;
	const struct sb_site *y = *(const struct sb_site *const *)b;
	const int file = strcmp(x->file, y->file);

	return file ? file : strcmp(x->function, y->function);
}

static int add_site(struct sb_waiting *waiting, const struct sb_site *site)
{
	struct sb_waiting_place place = {
		.queued_ns = (double)site->queued_ps / PS_PER_NS,
	};

	static_assert(SB_WAITING_WAYS == SB_WAYS, "hops and memory");
	for (int way = 0; way < SB_WAYS; way++) {
		place.fetches[way] = site->fetches[way];
		place.fetch_ns[way] = (double)site->fetch_ps[way] / PS_PER_NS;
	}
	return sb_waiting_add(waiting, &place, site->file, site->function);
}

/* In the order of places, several of one function as one. */
static int keep_waiting(struct sb_series *series)
{
	const struct sb_site **sorted;
	size_t n = 0;
	int rc = 0;

	for (const struct sb_site *s = sb_virtual_sites(); s; s = s->next)
		n++;
	sorted = calloc(n + 1, sizeof(*sorted));
	series->waiting = calloc(1, sizeof(*series->waiting));
	if (!sorted || !series->waiting) {
		free(sorted);
		return -ENOMEM;
	}
	n = 0;
	for (const struct sb_site *s = sb_virtual_sites(); s; s = s->next)
		sorted[n++] = s;
	qsort(sorted, n, sizeof(*sorted), by_place);
	for (size_t i = 0; i < n && !rc; i++)
		rc = add_site(series->waiting, sorted[i]);
	free(sorted);
	return rc;
}

/* ---- the run ---- */

static void *measure(void *arg)
{
	struct entry *e = arg;

	e->rc = sb_measure(e->series, e->chosen, e->options, &e->ground, e->watch);
	if (!e->rc && keep_waiting(e->series))
		e->rc = sb_fail_memory();
	return NULL;
}

int sb_virtual_measure(struct sb_series *series, const struct sb_chosen *chosen,
		       const struct sb_options *options, struct sb_virtual_ground *ground,
		       const struct sb_watch *watch)
{
	const struct sb_model plain = sb_model_plain(SB_VIRTUAL_EXPLORE_CPUS);
	const struct sb_virtual_setup setup = {
		.model = ground->explore ? &plain : ground->model,
		.explore = ground->explore,
		.seed = sb_opt(options, SB_OPT_seed),
		.lookahead_ps = PS_PER_NS * sb_opt(options, SB_OPT_look_ahead),
		.first_cpu = ground->first_cpu,
		.may_run = ground->may_run,
	};
	/* This world's workload of that name; a plug-in is in both, with other calls. */
	struct sb_chosen own = *chosen;
	struct sb_workload described;
	struct entry entry = { .series = series,
			       .chosen = &own,
			       .options = options,
			       .ground = { .placement = &ground->placement },
			       .watch = watch };
	struct sb_virtual_counts counts;
	int rc;

	if (chosen->workload->description) {
		described = sb_described_workload(chosen->workload->description);
		own.workload = &described;
	} else if (!sb_plugin_use(chosen->workload, &sb_plugin_calls)) {
		own.workload = sb_workload_find(chosen->workload->name);
	}
	rc = sb_virtual_run(&setup, measure, &entry, &counts);
	(void)sb_plugin_use(chosen->workload, NULL);
	if (rc)
		return sb_fail(SB_EXIT_ENVIRONMENT, "the virtual run cannot be set up: %s",
			       strerror(-rc));
	return entry.rc;
}
