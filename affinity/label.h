/*
 * label.h - what is written on the objects of a drawn machine.
 */
#ifndef SB_AFFINITY_LABEL_H
#define SB_AFFINITY_LABEL_H

#include "affinity/internal.h"
#include "affinity/plan.h"

/* Where they differ, a unit has both numbers. */
struct sb_drawing {
	const struct sb_topology *topology;
	const struct sb_plan *plan;
	FILE *out;
	bool has_both_numbers;
};

struct sb_drawing sb_label_drawing(const struct sb_topology *topology, const struct sb_plan *plan,
				   FILE *out);

/* Words are of this size; what does not fit is dots, once. */
#define SB_LABEL_BYTES 4096

void sb_label_append(char *words, const char *more);

/* "L2Cache 3 (1 MiB)" */
void sb_label_object(char *words, hwloc_obj_t obj);

/* True for what the workers are shown in: a core, or the lowest cache within a core, with nothing
 * but units as children; or a unit without one. */
bool sb_label_is_leaf(hwloc_obj_t obj);

/* The object and, if it only contains one other, that one, too, and so on.
 * Returns the last. */
hwloc_obj_t sb_label_chain(char *words, hwloc_obj_t obj);

enum sb_role { SB_ROLE_NONE, SB_ROLE_GENERATOR, SB_ROLE_KEPT_FREE };

/* The plan's use of a unit besides workers: a generator, or nothing because
 * there is one on its core. */
enum sb_role sb_label_role(const struct sb_drawing *d, hwloc_obj_t pu);

/* "CPU 4 (PU 1) [worker 1 5]": the operating system's number, and hwloc's where
 * it is another one. */
void sb_label_unit(char *words, const struct sb_drawing *d, hwloc_obj_t pu);

/* " of kind 1", where a leaf's units are of one of several kinds. */
void sb_label_kind(char *words, const struct sb_drawing *d, hwloc_obj_t leaf);

#endif
