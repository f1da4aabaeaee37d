#include "harness/terminal/text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

bool sb_parse_count(const char *text, uint64_t *out)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*out = strtoull(text, &end, 10);
	return !*end && !errno;
}

/* Largest first; the last one is 1. */
struct unit {
	const char *name;
	uint64_t size;
};

static const struct unit times[] = {
	{ "h", UINT64_C(3600000000000) },
	{ "m", UINT64_C(60000000000) },
	{ "s", UINT64_C(1000000000) },
	{ "ms", 1000000 },
	{ "us", 1000 },
	{ "ns", 1 },
};
static const struct unit sizes[] = {
	{ "GiB", 1 << 30 },
	{ "MiB", 1 << 20 },
	{ "KiB", 1 << 10 },
	{ "B", 1 },
};

bool sb_parse_time(const char *text, uint64_t *out_ns)
{
	const size_t digits = strspn(text, "0123456789.");
	char *end;
	double value;

	if (!digits || text[0] == '.')
		return false;
	value = strtod(text, &end);
	if (end != text + digits)
		return false;
	if (!strcmp(text, "0")) {
		*out_ns = 0;
		return true;
	}
	for (size_t i = 0; i < SB_ARRAY_SIZE(times); i++) {
		if (strcmp(end, times[i].name))
			continue;
		value = round(value * (double)times[i].size);
		if (value >= 0x1p63)
			return false;
		*out_ns = (uint64_t)value;
		return true;
	}
	return false;
}

bool sb_parse_percent(const char *text, uint64_t *out_ppm)
{
	const size_t digits = strspn(text, "0123456789.");
	char *end;
	double value;

	if (!digits || text[0] == '.' || strcmp(text + digits, "%") != 0)
		return false;
	value = round(1e4 * strtod(text, &end));
	if (end != text + digits || value >= 0x1p63)
		return false;
	*out_ppm = (uint64_t)value;
	return true;
}

static void format(char *out, const struct unit *unit, uint64_t number)
{
	while (unit->size > 1 && (number < unit->size || number % unit->size))
		unit++;
	snprintf(out, SB_TIME_BYTES, "%" PRIu64 "%s", number / unit->size, unit->name);
}

void sb_format_time(char *out, uint64_t ns)
{
	format(out, times, ns);
}

void sb_format_size(char *out, uint64_t bytes)
{
	format(out, sizes, bytes);
}

bool sb_ends_in(const char *name, const char *ending)
{
	const size_t length = strlen(name);

	return length > strlen(ending) && !strcasecmp(name + length - strlen(ending), ending);
}

/* ---- suggestions ---- */

#define WORD_MAX 40

/* How many letters are wrong, missing, too many, or exchanged with the next one (optimal string
 * alignment), row by row. Words longer than WORD_MAX are not like anything. */
static size_t distance(const char *a, const char *b)
{
	const size_t n = strlen(b);
	const size_t m = strlen(a);
	size_t rows[3][WORD_MAX + 1];

	if (n > WORD_MAX || m > WORD_MAX)
		return SIZE_MAX;
	for (size_t j = 0; j <= n; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= m; i++) {
		size_t *row = rows[i % 3];
		const size_t *above = rows[(i + 2) % 3];
		const size_t *second = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			row[j] = sb_min_u64(above[j - 1] + (a[i - 1] != b[j - 1]),
					    1 + sb_min_u64(above[j], row[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = sb_min_u64(row[j], second[j - 2] + 1);
		}
	}
	return rows[m % 3][n];
}

void sb_format_now(char out[SB_DATE_BYTES])
{
	const time_t now = time(NULL);
	struct tm parts;

	gmtime_r(&now, &parts);
	strftime(out, SB_DATE_BYTES, "%Y-%m-%dT%H:%M:%S+00:00", &parts);
}

const char *sb_most_like(const char *word, const char *(*next)(const void *state, size_t i),
			 const void *state)
{
	/* Of three letters one may be wrong, of eight two, and one more for every four. */
	const size_t length = strlen(word);
	size_t best = length < 3 ? 0 : length < 4 ? 1 : length / 4;
	const char *found = NULL;
	const char *candidate;

	for (size_t i = 0; (candidate = next(state, i)); i++) {
		const size_t d = distance(word, candidate);

		if (d <= best && (!found || d < best)) {
			best = d;
			found = candidate;
		}
	}
	return found;
}
