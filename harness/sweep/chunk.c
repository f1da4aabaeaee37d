#include "harness/sweep/chunk.h"

#include <inttypes.h>
#include <stdlib.h>

#include "harness/terminal/status.h"

int sb_chunk_parse(struct sb_chunk *chunk, const char *text)
{
	char *end;

	*chunk = (struct sb_chunk){ 0, 0 };
	if (!*text)
		return 0;
	chunk->number = (uint32_t)strtoul(text, &end, 10);
	if (*end == '/' && end[1] != '-')
		chunk->of = (uint32_t)strtoul(end + 1, &end, 10);
	if (!*end && *text != '-' && chunk->number && chunk->number <= chunk->of)
		return 0;
	return sb_fail(SB_EXIT_USAGE,
		       "--chunk: '%s' is not valid; expected K/N, the K-th of N chunks, as 3/16",
		       text);
}

static uint32_t rows_of(const struct sb_sweep *sweep)
{
	return sweep->configurations * sweep->repetitions;
}

uint32_t sb_chunks_max(const struct sb_sweep *sweep)
{
	return sb_sweep_is_virtual(sweep) ? rows_of(sweep) : sweep->repetitions;
}

int sb_chunk_check(const struct sb_chunk *chunk, const struct sb_sweep *sweep)
{
	const uint32_t max = sb_chunks_max(sweep);

	if (chunk->of <= max)
		return 0;
	return sb_fail(SB_EXIT_USAGE,
		       "--chunk: %" PRIu32 " chunks are too many; expected at most %" PRIu32
		       ", as many as there are %s",
		       chunk->of, max,
		       sb_sweep_is_virtual(sweep)
			       ? "rows"
			       : "repetitions, which a sweep in real time does not divide");
}

bool sb_chunk_has(const struct sb_chunk *chunk, const struct sb_sweep *sweep, uint32_t position)
{
	const uint32_t dealt =
		sb_sweep_is_virtual(sweep) ? position : sweep->order[position].repetition;

	return !chunk->of || dealt % chunk->of == chunk->number - 1;
}

uint32_t sb_chunk_rows(const struct sb_chunk *chunk, const struct sb_sweep *sweep)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < rows_of(sweep); i++)
		n += sb_chunk_has(chunk, sweep, i);
	return n;
}
