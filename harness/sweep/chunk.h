/*
 * chunk.h - a part of a sweep that a process runs apart from the others, perhaps on another
 * machine: which rows of the plan it has.
 *
 * In virtual time rows are dealt out one by one, in the order of the plan. In real time whole
 * rounds are, because the configurations of a round are compared with each other, so that they
 * have to run on one machine.
 */
#ifndef SB_HARNESS_SWEEP_CHUNK_H
#define SB_HARNESS_SWEEP_CHUNK_H

#include "harness/sweep/sweep.h"

/* The number-th of so many; {0, 0}: all rows are one part. */
struct sb_chunk {
	uint32_t number; /* from 1 on */
	uint32_t of;
};

/* From "3/16", and "" for all rows. Returns 0, or an exit status after an error has been
 * printed, as the next one. */
int sb_chunk_parse(struct sb_chunk *chunk, const char *text);

/* Each of the chunks has a row. */
int sb_chunk_check(const struct sb_chunk *chunk, const struct sb_sweep *sweep);

/* The most chunks that each have a row. */
uint32_t sb_chunks_max(const struct sb_sweep *sweep);

/* Whether the chunk has the row at that position of the order. */
bool sb_chunk_has(const struct sb_chunk *chunk, const struct sb_sweep *sweep, uint32_t position);

/* How many rows it has. */
uint32_t sb_chunk_rows(const struct sb_chunk *chunk, const struct sb_sweep *sweep);

#endif
