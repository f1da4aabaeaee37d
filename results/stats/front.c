#include "results/stats/front.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/platform/platform.h"

/* A share is known to 1 %. */
#define RESAMPLINGS 4000

/* Mean logarithms of one resampling. */
struct point {
	double at[SB_FRONT_OBJECTIVES];
	uint32_t configuration;
};

struct work {
	uint32_t points;		  /* configurations that are compared */
	uint32_t rounds;		  /* complete ones */
	double *log[SB_FRONT_OBJECTIVES]; /* [rounds * points] */
	uint32_t *configuration;	  /* [points] */
	struct point *point;		  /* [points] */
};

/* ---- both objectives have the same rounds ---- */

static bool has_value(double value)
{
	return value > 0 && isfinite(value);
}

void sb_front_pair(double *a, double *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!has_value(a[i]) || !has_value(b[i]))
			a[i] = b[i] = NAN;
	}
}

/* ---- the logarithms of complete rounds ---- */

static bool is_complete(const struct work *w, const struct sb_rounds *in, uint32_t round)
{
	for (uint32_t p = 0; p < w->points; p++) {
		if (isnan(in->value[(size_t)w->configuration[p] * in->rounds + round]))
			return false;
	}
	return true;
}

static void take_logarithms(struct work *w, const struct sb_rounds in[SB_FRONT_OBJECTIVES])
{
	for (uint32_t r = 0; r < in->rounds; r++) {
		if (!is_complete(w, in, r))
			continue;
		for (uint32_t p = 0; p < w->points; p++) {
			const size_t cell = (size_t)w->configuration[p] * in->rounds + r;
			const size_t to = (size_t)w->rounds * w->points + p;

			for (int o = 0; o < SB_FRONT_OBJECTIVES; o++)
				w->log[o][to] = log(in[o].value[cell]);
		}
		w->rounds++;
	}
}

static void clear_points(struct work *w)
{
	for (uint32_t p = 0; p < w->points; p++)
		w->point[p] = (struct point){ .configuration = w->configuration[p] };
}

static void add_round(struct work *w, uint32_t round)
{
	for (uint32_t p = 0; p < w->points; p++) {
		for (int o = 0; o < SB_FRONT_OBJECTIVES; o++)
			w->point[p].at[o] += w->log[o][(size_t)round * w->points + p] / w->rounds;
	}
}

/* ---- the front ---- */

static int compare_points(const void *a, const void *b)
{
	const struct point *x = a;
	const struct point *y = b;

	if (x->at[0] != y->at[0])
		return x->at[0] < y->at[0] ? -1 : 1;
	return (x->at[1] > y->at[1]) - (x->at[1] < y->at[1]);
}

/*
 * Calls each point on the front: in the order of the first objective, those that are lower
 * in the second than all before them. Points that are equal in both are all on it or none.
 */
static void each_on_front(struct work *w, struct sb_front_member *member,
			  void (*take)(struct sb_front_member *of))
{
	const struct point *last = NULL;

	qsort(w->point, w->points, sizeof(*w->point), compare_points);
	for (uint32_t p = 0; p < w->points; p++) {
		const struct point *it = &w->point[p];

		if (last && it->at[1] >= last->at[1] && compare_points(it, last) != 0)
			continue;
		last = it;
		take(&member[it->configuration]);
	}
}

static void take_estimate(struct sb_front_member *of)
{
	of->is_on_front = true;
}

static void take_resampling(struct sb_front_member *of)
{
	of->p_front += 1.0 / RESAMPLINGS;
}

/* ---- the compromise ---- */

static double least(const struct work *w, int objective)
{
	double value = INFINITY;

	for (uint32_t p = 0; p < w->points; p++)
		value = fmin(value, w->point[p].at[objective]);
	return value;
}

static uint32_t find_compromise(const struct work *w, struct sb_front_member *member)
{
	const double best[SB_FRONT_OBJECTIVES] = { least(w, 0), least(w, 1) };
	uint32_t found = w->point->configuration;

	for (uint32_t p = 0; p < w->points; p++) {
		const struct point *it = &w->point[p];
		const double above = fmax(it->at[0] - best[0], it->at[1] - best[1]);

		member[it->configuration].excess = exp(above);
		if (member[it->configuration].excess < member[found].excess)
			found = it->configuration;
	}
	return found;
}

/* ---- all of it ---- */

static void find_front(struct work *w, struct sb_front *front, struct sb_front_member *member,
		       uint64_t seed)
{
	struct sb_rng rng;

	clear_points(w);
	for (uint32_t r = 0; r < w->rounds; r++)
		add_round(w, r);
	each_on_front(w, member, take_estimate);
	front->compromise = find_compromise(w, member);
	sb_rng_seed(&rng, seed);
	for (int i = 0; i < RESAMPLINGS; i++) {
		clear_points(w);
		for (uint32_t r = 0; r < w->rounds; r++)
			add_round(w, sb_rng_below(&rng, w->rounds));
		each_on_front(w, member, take_resampling);
	}
}

static bool init_work(struct work *w, const struct sb_rounds *in, const struct sb_rank *rank)
{
	const size_t cells = (size_t)in->configurations * in->rounds + 1;

	*w = (struct work){ .points = 0 };
	w->configuration = calloc(in->configurations + 1, sizeof(*w->configuration));
	w->point = calloc(in->configurations + 1, sizeof(*w->point));
	for (int o = 0; o < SB_FRONT_OBJECTIVES; o++)
		w->log[o] = calloc(cells, sizeof(double));
	if (!w->configuration || !w->point || !w->log[0] || !w->log[1])
		return false;
	for (uint32_t c = 0; c < in->configurations; c++) {
		if (rank[c].compared)
			w->configuration[w->points++] = c;
	}
	return true;
}

int sb_front_make(struct sb_front *front, struct sb_front_member *member,
		  struct sb_rank *const rank[SB_FRONT_OBJECTIVES],
		  const struct sb_rounds in[SB_FRONT_OBJECTIVES], uint64_t seed)
{
	struct work w;
	int rc = 0;

	*front = (struct sb_front){ .compromise = 0 };
	for (uint32_t c = 0; c < in->configurations; c++)
		member[c] = (struct sb_front_member){ .excess = NAN };
	for (int o = 0; o < SB_FRONT_OBJECTIVES && !rc; o++)
		rc = sb_ranking_make(&front->ranking[o], rank[o], &in[o], seed);
	if (rc || !front->ranking->compared)
		return rc;
	if (init_work(&w, in, rank[0])) {
		take_logarithms(&w, in);
		find_front(&w, front, member, seed);
	} else {
		rc = -ENOMEM;
	}
	free(w.configuration);
	free(w.point);
	free(w.log[0]);
	free(w.log[1]);
	return rc;
}
