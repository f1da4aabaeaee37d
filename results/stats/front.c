#include "results/stats/front.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct point {
	double at[SB_FRONT_OBJECTIVES];
	uint32_t configuration;
};

static int compare_points(const void *a, const void *b)
{
	const struct point *x = a;
	const struct point *y = b;

	if (x->at[0] != y->at[0])
		return x->at[0] < y->at[0] ? -1 : 1;
	return (x->at[1] > y->at[1]) - (x->at[1] < y->at[1]);
}

/* On the front are, in the order of the first objective, those that are lower in the second
 * than all before them. Points that are equal in both are all on it or none. */
static void find_front(struct point *point, uint32_t points, struct sb_front_member *member)
{
	const struct point *last = NULL;

	qsort(point, points, sizeof(*point), compare_points);
	for (uint32_t p = 0; p < points; p++) {
		const struct point *it = &point[p];

		if (last && it->at[1] >= last->at[1] && compare_points(it, last) != 0)
			continue;
		last = it;
		member[it->configuration].is_on_front = true;
	}
}

int sb_front_make(struct sb_front *front, struct sb_front_member *member,
		  const struct sb_ranking *const ranking[SB_FRONT_OBJECTIVES],
		  const struct sb_rank *const rank[SB_FRONT_OBJECTIVES], uint32_t configurations)
{
	const double least[] = { rank[0][ranking[0]->leader].estimate,
				 rank[1][ranking[1]->leader].estimate };
	struct point *point = calloc((size_t)configurations + 1, sizeof(*point));
	uint32_t points = 0;

	*front = (struct sb_front){ .compromise = UINT32_MAX };
	if (!point)
		return -ENOMEM;
	for (uint32_t c = 0; c < configurations; c++) {
		const struct point it = { { rank[0][c].estimate, rank[1][c].estimate }, c };

		member[c] = (struct sb_front_member){ .excess = NAN };
		if (isnan(it.at[0]) || isnan(it.at[1]))
			continue;
		point[points++] = it;
		if (rank[0][c].n < SB_RANKING_ROUNDS || rank[1][c].n < SB_RANKING_ROUNDS)
			continue;
		member[c].excess = fmax(it.at[0] / least[0], it.at[1] / least[1]);
		if (front->compromise == UINT32_MAX ||
		    member[c].excess < member[front->compromise].excess)
			front->compromise = c;
	}
	find_front(point, points, member);
	free(point);
	return 0;
}
