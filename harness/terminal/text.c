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

/* Levenshtein distance, row by row. Words longer than WORD_MAX are not like
 * anything. */
static size_t distance(const char *a, const char *b)
{
	const size_t n = strlen(b);
	size_t row[WORD_MAX + 1];

	if (n > WORD_MAX || strlen(a) > WORD_MAX)
		return SIZE_MAX;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < n; j++) {
			const size_t replace = diagonal + (a[i] != b[j]);
			const size_t shift = 1 + sb_min_u64(row[j], row[j + 1]);

			diagonal = row[j + 1];
			row[j + 1] = sb_min_u64(replace, shift);
		}
	}
	return row[n];
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
	/* One letter may be wrong, and one more for every four. */
	size_t best = strlen(word) / 4 + 1;
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
