/*
 * pack.h - machines of a fleet in one file: what each is, and its model for virtual time.
 *
 *	{ "sched_bench_pack": 1, "machines": [
 *	  { "name": ..., "date": ..., "cpu_model": ..., "fingerprint": ..., "topology": hwloc's XML,
 *	    "model": as `calibrate --save-model` writes it, or null }, ... ] }
 *
 * --profile fleet.json:NAME is one of them; fleet.json alone is the only one of that file.
 */
#ifndef SB_HARNESS_SYSTEM_PACK_H
#define SB_HARNESS_SYSTEM_PACK_H

#include "core/platform/base.h"

#define SB_PACK_VERSION 1

/* One machine; the texts are its own. */
struct sb_pack_machine {
	char *name;
	char *date;
	char *cpu_model;
	char *fingerprint;
	char *topology; /* XML */
	char *model;	/* JSON; NULL: it has none */
};

/* Whether the text is such a profile, by its name. */
bool sb_pack_is_named(const char *profile);

/* How many machines the profile is: one that it names, or all of its file; 0: it cannot be read. */
uint32_t sb_pack_machines(const char *profile);

/* All return 0 or -errno with one line in why. */

/* The machine of that profile. For sb_pack_free in all cases. -ENOENT: no file, or no such machine. */
SB_MUST_CHECK int sb_pack_read(struct sb_pack_machine *machine, const char *profile, char *why,
			       size_t bytes);

/* The names of all machines of that file, for the caller to free, each and the list. */
SB_MUST_CHECK int sb_pack_names(const char *profile, char ***names, uint32_t *n, char *why,
				size_t bytes);

/* Its topology, under the profile's name. */
struct sb_topology;
SB_MUST_CHECK int sb_pack_open(struct sb_topology **topology, const char *profile, char *why,
			       size_t bytes);

/* Adds the machine to the file, or replaces the one of that name; several processes may do so at
 * once. */
SB_MUST_CHECK int sb_pack_add(const char *path, const struct sb_pack_machine *machine, char *why,
			      size_t bytes);

void sb_pack_free(struct sb_pack_machine *machine);

#endif
