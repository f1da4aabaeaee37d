#include "workloads/load/level.h"

#include <math.h>

void sb_level_look(struct sb_level *l, uint64_t now_ns, uint64_t late_ns, double value)
{
	const double gap = l->begun ? (double)(now_ns - l->last_ns) : 0;

	l->time += gap;
	l->time_square += gap * gap;
	l->area += gap * (l->last + value) / 2;
	l->moment += gap * value;
	l->moment_square += gap * value * value;
	l->unknown += fmin((double)late_ns, gap) * fmax(l->last, value);
	l->begun = true;
	l->last_ns = now_ns;
	l->last = value;
}

double sb_level_mean(const struct sb_level *l)
{
	return l->time > 0 ? l->area / l->time : NAN;
}

double sb_level_error(const struct sb_level *l)
{
	double mean;
	double variance;

	if (l->time <= 0)
		return NAN;
	mean = l->moment / l->time;
	variance = fmax(0, l->moment_square / l->time - mean * mean);
	return sqrt(variance * l->time_square) / l->time;
}

double sb_level_unknown(const struct sb_level *l)
{
	return l->time > 0 ? l->unknown / l->time : NAN;
}
