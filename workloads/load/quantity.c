#include "workloads/load/quantity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct unit {
	const char *name;
	double factor;
};

static const struct unit times[] = {
	{ "ns", 1 },   { "us", 1e3 },	{ "ms", 1e6 }, { "s", 1e9 },
	{ "m", 6e10 }, { "h", 3.6e12 }, { NULL, 0 },
};
static const struct unit rates[] = {
	{ "/s", 1 },
	{ "k/s", 1e3 },
	{ "M/s", 1e6 },
	{ NULL, 0 },
};
static const struct unit percents[] = { { "%", 0.01 }, { NULL, 0 } };
static const struct unit sizes[] = {
	{ "B", 1 }, { "KiB", 0x1p10 }, { "MiB", 0x1p20 }, { "GiB", 0x1p30 }, { NULL, 0 },
};
static const struct unit none[] = { { "", 1 }, { NULL, 0 } };

/* Digits with at most one point between them; strtod would take more. */
static bool parse(const char *text, const struct unit *units, double *out)
{
	const size_t digits = strspn(text, "0123456789.");
	char *end;
	double value;

	if (!digits || text[0] == '.' || text[digits - 1] == '.')
		return false;
	value = strtod(text, &end);
	if (end != text + digits)
		return false;
	for (; units->name; units++) {
		if (strcmp(end, units->name))
			continue;
		*out = value * units->factor;
		return isfinite(*out);
	}
	return false;
}

bool sb_quantity_time(const char *text, double *ns)
{
	/* 292 years: so squares and sums of them are finite. */
	return parse(text, times, ns) && *ns < 0x1p63;
}

bool sb_quantity_rate(const char *text, double *per_s)
{
	return parse(text, rates, per_s);
}

bool sb_quantity_percent(const char *text, double *fraction)
{
	return parse(text, percents, fraction);
}

bool sb_quantity_bytes(const char *text, uint64_t *bytes)
{
	double value;

	if (!parse(text, sizes, &value) || value >= 0x1p63)
		return false;
	*bytes = (uint64_t)value;
	return value == (double)*bytes;
}

bool sb_quantity_number(const char *text, double *number)
{
	return parse(text, none, number);
}
