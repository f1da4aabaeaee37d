#include "affinity/draw.h"

#include "affinity/label.h"

/* hwloc's trees are as deep as a machine is.
 * NOLINTBEGIN(misc-no-recursion) */

static void put_memory(const struct sb_drawing *d, hwloc_obj_t obj, int depth)
{
	for (hwloc_obj_t m = obj->memory_first_child; m; m = m->next_sibling) {
		char words[SB_LABEL_BYTES] = "";

		sb_label_object(words, m);
		fprintf(d->out, "%*s%s\n", 2 * depth, "", words);
		put_memory(d, m, depth + 1);
	}
}

/* ": CPU 0 [worker 0], CPU 1" */
static void append_units(char *words, const struct sb_drawing *d, hwloc_obj_t leaf)
{
	hwloc_obj_t pu = leaf->type == HWLOC_OBJ_PU ? leaf : leaf->first_child;
	const char *separator = ": ";

	sb_label_kind(words, d, leaf);
	for (; pu; pu = leaf->type == HWLOC_OBJ_PU ? NULL : pu->next_sibling) {
		sb_label_append(words, separator);
		sb_label_unit(words, d, pu);
		separator = ", ";
	}
}

static void put_object(const struct sb_drawing *d, hwloc_obj_t obj, int depth)
{
	char words[SB_LABEL_BYTES] = "";

	hwloc_obj_t last = sb_label_chain(words, obj);

	if (sb_label_is_leaf(last))
		append_units(words, d, last);
	fprintf(d->out, "%*s%s\n", 2 * depth, "", words);
	put_memory(d, last, depth + 1);
	for (hwloc_obj_t c = sb_label_is_leaf(last) ? NULL : last->first_child; c;
	     c = c->next_sibling)
		put_object(d, c, depth + 1);
}

void sb_draw_tree(const struct sb_topology *topology, const struct sb_plan *plan, FILE *out)
{
	const struct sb_drawing d = sb_label_drawing(topology, plan, out);

	put_object(&d, hwloc_get_root_obj(topology->hwloc), 0);
}

/* NOLINTEND(misc-no-recursion) */
