/*
 * service_set.h - a working set: memory that requests work in, and the work.
 *
 *	chase   each load's address comes from the one before it, in one cycle
 *		of random order through all lines; a unit is one load
 *	stream  line after line is read, added to and written; a unit is a line
 *
 * Both leave behind what they have done, and can so be checked. One owner.
 */
#ifndef SB_WORKLOADS_LIB_SERVICE_SET_H
#define SB_WORKLOADS_LIB_SERVICE_SET_H

#include "core/platform/base.h"

enum sb_set_kind { SB_SET_NONE, SB_SET_CHASE, SB_SET_STREAM };

#define SB_SET_LINE_BYTES 64

struct sb_set_line {
	uint64_t word[SB_SET_LINE_BYTES / sizeof(uint64_t)];
};

struct sb_set {
	enum sb_set_kind kind;
	uint64_t lines;
	struct sb_set_line *line; /* the caller's */
	uint64_t position;
	uint64_t done; /* units */
};

/* Sets it up in a block of bytes (at least one line) aligned to a line. */
void sb_set_init(struct sb_set *set, enum sb_set_kind kind, void *block, uint64_t bytes);
void sb_set_work(struct sb_set *set, uint64_t units);

/* Whether the memory shows exactly the units that were done. */
bool sb_set_is_right(const struct sb_set *set);

/* By CPU time, in a set of that size; 0: no memory for one. */
uint64_t sb_set_units_per_ms(enum sb_set_kind kind, uint64_t bytes);

/* "spin", "chase:64KiB", "stream:1MiB". False: it is none of these. */
bool sb_set_parse(const char *text, enum sb_set_kind *kind, uint64_t *bytes);

#endif
