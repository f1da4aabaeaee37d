#include "results/record/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/platform/base.h"

struct prefix {
	double factor;
	const char *name;
};

static const struct prefix times[] = {
	{ 1e9, " s" },
	{ 1e6, " ms" },
	{ 1e3, " us" },
	{ 1, " ns" },
};
static const struct prefix counts[] = {
	{ 1e9, " G" },
	{ 1e6, " M" },
	{ 1e3, " k" },
	{ 1, "" },
};

/* Three significant digits, no exponent, and no more than four behind the point;
 * whole numbers that have no prefix as they are. */
static void put_digits(char *out, double value, bool whole, const char *suffix)
{
	const double size = fabs(value);
	const int decimals = size >= 100 || whole ? 0 : size >= 10 ? 1 : size >= 0.1 ? 2 : 4;

	snprintf(out, SB_HUMAN_BYTES, "%.*f%s", decimals, value, suffix);
}

void sb_human(char *out, double value, const char *unit)
{
	const struct prefix *prefix = strcmp(unit, "ns") ? counts : times;
	size_t i = 0;

	if (!isfinite(value)) {
		snprintf(out, SB_HUMAN_BYTES, "-");
		return;
	}
	/* 999.5 would be printed as 1000. */
	while (i + 1 < SB_ARRAY_SIZE(times) && fabs(value) < 0.9995 * prefix[i].factor)
		i++;
	put_digits(out, value / prefix[i].factor, prefix[i].factor == 1 && value == floor(value),
		   prefix[i].name);
}

void sb_human_ns_range(char *out, const struct sb_spread *ns)
{
	const double size = fabs(ns->median);
	double scaled;
	size_t i = 0;
	int decimals;

	if (!isfinite(ns->min) || !isfinite(ns->max)) {
		snprintf(out, SB_RANGE_BYTES, "-");
		return;
	}
	while (i + 1 < SB_ARRAY_SIZE(times) && size < 0.9995 * times[i].factor)
		i++;
	scaled = size / times[i].factor;
	decimals = scaled >= 100 ? 1 : scaled >= 0.1 ? 2 : 4;
	snprintf(out, SB_RANGE_BYTES, "%.*f%s [%.*f .. %.*f]", decimals,
		 ns->median / times[i].factor, times[i].name, decimals, ns->min / times[i].factor,
		 decimals, ns->max / times[i].factor);
}

void sb_exact(char *out, double value)
{
	if (fabs(value) < 9e15 && value == floor(value)) {
		snprintf(out, SB_EXACT_BYTES, "%.0f", value);
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(out, SB_EXACT_BYTES, "%.*g", digits, value);
		if (strtod(out, NULL) == value)
			break;
	}
}
