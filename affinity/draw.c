#include "affinity/draw.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "affinity/internal.h"

/* hwloc's trees are as deep as a machine is.
 * NOLINTBEGIN(misc-no-recursion) */

struct drawing {
	const struct sb_topology *topology;
	const struct sb_plan *plan;
	FILE *out;
};

/* ---- words ---- */

#define WORDS_BYTES 4096

/* What does not fit is dots, once. */
static void append(char *words, const char *more)
{
	static const char dots[] = "...";
	const size_t used = strlen(words);

	if (used >= strlen(dots) && !strcmp(words + used - strlen(dots), dots))
		return;
	if (used + strlen(more) + sizeof(dots) > WORDS_BYTES)
		more = dots;
	memcpy(words + used, more, strlen(more) + 1);
}

static void append_size(char *words, uint64_t bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	double size = (double)bytes;
	size_t unit = 0;
	char text[48];

	while (size >= 1024 && unit + 1 < SB_ARRAY_SIZE(units)) {
		size /= 1024;
		unit++;
	}
	snprintf(text, sizeof(text),
		 size == floor(size) ? " (%.0f %s)" : " (%.1f %s)", size,
		 units[unit]);
	append(words, text);
}

static const char *type_name(hwloc_obj_type_t type)
{
	return type == HWLOC_OBJ_NUMANODE ? "Node"
					  : hwloc_obj_type_string(type);
}

/* "L2Cache 3 (1 MiB)" */
static void append_object(char *words, hwloc_obj_t obj)
{
	char text[64];

	snprintf(text, sizeof(text), "%s%s %u", *words ? " + " : "",
		 type_name(obj->type), obj->logical_index);
	append(words, text);
	if (obj->type == HWLOC_OBJ_NUMANODE &&
	    obj->os_index != obj->logical_index) {
		snprintf(text, sizeof(text), " (OS %u)", obj->os_index);
		append(words, text);
	}
	if (obj->subtype) {
		snprintf(text, sizeof(text), " %.40s", obj->subtype);
		append(words, text);
	}
	if (hwloc_obj_type_is_cache(obj->type) && obj->attr->cache.size)
		append_size(words, obj->attr->cache.size);
	if (obj->type == HWLOC_OBJ_NUMANODE && obj->attr->numanode.local_memory)
		append_size(words, obj->attr->numanode.local_memory);
}

/* A core, or a unit without one: what the workers are shown in. */
static bool is_leaf(hwloc_obj_t obj)
{
	return obj->type == HWLOC_OBJ_CORE || !obj->arity;
}

/* The object and, if it only contains one other, that one, too, and so on.
 * Returns the last. */
static hwloc_obj_t append_chain(char *words, hwloc_obj_t obj)
{
	append_object(words, obj);
	while (!is_leaf(obj) && obj->arity == 1 && !obj->memory_arity &&
	       !obj->first_child->memory_arity) {
		obj = obj->first_child;
		append_object(words, obj);
	}
	return obj;
}

enum role { NO_ROLE, GENERATOR, KEPT_FREE };

/* What the plan has for a unit besides workers: a generator, or nothing because
 * there is one on its core. */
static enum role role_of(const struct drawing *d, hwloc_obj_t pu)
{
	const struct sb_unit *unit = d->topology->unit;
	enum role role = NO_ROLE;

	for (uint32_t g = 0; g < d->plan->generators; g++) {
		const int at = d->plan->generator[g].pu;

		if (at == (int)pu->logical_index)
			return GENERATOR;
		if (unit[at].core == unit[pu->logical_index].core)
			role = KEPT_FREE;
	}
	return role;
}

/* " [worker 1 5]" */
static void append_workers(char *words, const struct drawing *d, hwloc_obj_t pu)
{
	uint32_t found = 0;
	char text[24];

	for (uint32_t w = 0; w < d->plan->placement.workers; w++) {
		if (d->plan->placement.place[w].pu != (int)pu->logical_index)
			continue;
		snprintf(text, sizeof(text), "%s%" PRIu32,
			 found ? " " : " [worker ", w);
		append(words, text);
		found++;
	}
	if (found)
		append(words, "]");
}

static void append_plan(char *words, const struct drawing *d, hwloc_obj_t pu)
{
	static const char *const names[] = {
		[NO_ROLE] = "",
		[GENERATOR] = " [generator]",
		[KEPT_FREE] = " [kept free]",
	};

	append_workers(words, d, pu);
	append(words, names[role_of(d, pu)]);
}

static void append_units(char *words, const struct drawing *d, hwloc_obj_t leaf)
{
	hwloc_obj_t pu = leaf->type == HWLOC_OBJ_PU ? leaf : leaf->first_child;
	const char *separator = ": CPU ";
	char text[48];

	if (pu && d->topology->kinds) {
		snprintf(text, sizeof(text), " of kind %d",
			 d->topology->unit[pu->logical_index].speed);
		append(words, text);
	}
	for (; pu; pu = leaf->type == HWLOC_OBJ_PU ? NULL : pu->next_sibling) {
		snprintf(text, sizeof(text), "%s%u", separator, pu->os_index);
		append(words, text);
		append_plan(words, d, pu);
		separator = ", CPU ";
	}
}

/* ---- text ---- */

static void put_memory(const struct drawing *d, hwloc_obj_t obj, int depth)
{
	for (hwloc_obj_t m = obj->memory_first_child; m; m = m->next_sibling) {
		char words[WORDS_BYTES] = "";

		append_object(words, m);
		fprintf(d->out, "%*s%s\n", 2 * depth, "", words);
		put_memory(d, m, depth + 1);
	}
}

static void put_object(const struct drawing *d, hwloc_obj_t obj, int depth)
{
	char words[WORDS_BYTES] = "";

	hwloc_obj_t last = append_chain(words, obj);

	if (is_leaf(last))
		append_units(words, d, last);
	fprintf(d->out, "%*s%s\n", 2 * depth, "", words);
	put_memory(d, last, depth + 1);
	for (hwloc_obj_t c = is_leaf(last) ? NULL : last->first_child; c;
	     c = c->next_sibling)
		put_object(d, c, depth + 1);
}

void sb_draw_tree(const struct sb_topology *topology,
		  const struct sb_plan *plan, FILE *out)
{
	const struct drawing d = { topology, plan, out };

	put_object(&d, hwloc_get_root_obj(topology->hwloc), 0);
}

/* ---- SVG: sizes are computed from the leaves up, then drawn from the top ---- */

#define GAP	     6
#define LINE	     16
#define UNIT_WIDTH   132
/* Room for an entry of each colour. */
#define LEGEND_WIDTH 640

struct size {
	uint32_t width, height;
};

static uint32_t max_u32(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* The last of a chain, whose children are drawn. */
static hwloc_obj_t end_of_chain(hwloc_obj_t obj)
{
	char words[WORDS_BYTES] = "";

	return append_chain(words, obj);
}

/* Lines that the words of a chain and its memory take. */
static uint32_t head_lines(hwloc_obj_t obj)
{
	uint32_t lines = 1;

	while (obj != end_of_chain(obj)) {
		obj = obj->first_child;
		lines++;
	}
	for (hwloc_obj_t m = obj->memory_first_child; m; m = m->next_sibling)
		lines++;
	return lines;
}

/* So many that the whole is somewhat wider than high. */
static uint32_t columns_of(hwloc_obj_t obj, struct size cell)
{
	const uint32_t n = obj->arity;
	uint32_t columns = 1;

	while (columns < n &&
	       2 * columns * cell.width <
		       3 * ((n + columns - 1) / columns) * cell.height)
		columns++;
	return columns;
}

/* The largest child: all get that much room. */
static struct size size_of(hwloc_obj_t obj);

static struct size cell_of(hwloc_obj_t obj)
{
	struct size cell = { 0, 0 };

	for (hwloc_obj_t c = obj->first_child; c; c = c->next_sibling) {
		const struct size size = size_of(c);

		cell.width = max_u32(cell.width, size.width);
		cell.height = max_u32(cell.height, size.height);
	}
	return cell;
}

static struct size size_of(hwloc_obj_t obj)
{
	const uint32_t head = head_lines(obj) * LINE + GAP;
	hwloc_obj_t last = end_of_chain(obj);
	const uint32_t units =
		last->type == HWLOC_OBJ_PU ? 1 : max_u32(last->arity, 1);
	struct size cell;
	uint32_t columns;

	if (is_leaf(last))
		return (struct size){ UNIT_WIDTH + 2 * GAP,
				      head + units * LINE + GAP };
	cell = cell_of(last);
	columns = columns_of(last, cell);
	return (struct size){
		columns * (cell.width + GAP) + GAP,
		head +
			(last->arity + columns - 1) / columns *
				(cell.height + GAP) +
			GAP,
	};
}

static void put_box(const struct drawing *d, uint32_t x, uint32_t y,
		    struct size size, const char *fill)
{
	fprintf(d->out,
		"<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" "
		"fill=\"%s\" stroke=\"#555\"/>\n",
		x, y, size.width, size.height, fill);
}

static void put_text(const struct drawing *d, uint32_t x, uint32_t y,
		     const char *text)
{
	fprintf(d->out, "<text x=\"%u\" y=\"%u\">", x, y);
	for (; *text; text++) {
		switch (*text) {
		case '<':
			fputs("&lt;", d->out);
			break;
		case '>':
			fputs("&gt;", d->out);
			break;
		case '&':
			fputs("&amp;", d->out);
			break;
		default:
			/* hwloc hands on what was in the description. */
			fputc((unsigned char)*text < ' ' ? '?' : *text, d->out);
		}
	}
	fputs("</text>\n", d->out);
}

static const char *fill_of(hwloc_obj_t obj)
{
	if (obj->type == HWLOC_OBJ_PACKAGE)
		return "#e7e0d6";
	if (hwloc_obj_type_is_cache(obj->type))
		return "#f2f2f2";
	if (obj->type == HWLOC_OBJ_CORE || obj->type == HWLOC_OBJ_PU)
		return "#d5d5d5";
	return "#ffffff";
}

/* A colour for each node, so that a plan's balance can be seen. */
static const char *const node_fill[] = { "#9ecae1", "#fdae6b", "#a1d99b",
					 "#bcbddc", "#fc9272", "#c7e9c0",
					 "#fdd0a2", "#dadaeb" };

#define GENERATOR_FILL "#ffe45c"

/* NULL: nothing is planned there. */
static const char *fill_of_unit(const struct drawing *d, hwloc_obj_t pu)
{
	const int node = d->topology->unit[pu->logical_index].place.node;

	if (role_of(d, pu) == GENERATOR)
		return GENERATOR_FILL;
	for (uint32_t w = 0; w < d->plan->placement.workers; w++) {
		if (d->plan->placement.place[w].pu == (int)pu->logical_index)
			return node_fill[(uint32_t)(node < 0 ? 0 : node) %
					 SB_ARRAY_SIZE(node_fill)];
	}
	return NULL;
}

static void draw_units(const struct drawing *d, hwloc_obj_t leaf, uint32_t x,
		       uint32_t y)
{
	hwloc_obj_t pu = leaf->type == HWLOC_OBJ_PU ? leaf : leaf->first_child;

	for (; pu; pu = leaf->type == HWLOC_OBJ_PU ? NULL : pu->next_sibling) {
		const char *fill = fill_of_unit(d, pu);
		char words[WORDS_BYTES] = "";

		if (fill)
			put_box(d, x, y, (struct size){ UNIT_WIDTH, LINE },
				fill);
		snprintf(words, sizeof(words), "CPU %u", pu->os_index);
		append_plan(words, d, pu);
		put_text(d, x + 3, y + LINE - 4, words);
		y += LINE;
	}
}

/* The words of a chain and its memory, a line each; returns the y below. */
static uint32_t draw_head(const struct drawing *d, hwloc_obj_t obj, uint32_t x,
			  uint32_t y)
{
	hwloc_obj_t last = end_of_chain(obj);

	for (hwloc_obj_t o = obj;; o = o->first_child) {
		char words[WORDS_BYTES] = "";

		append_object(words, o);
		y += LINE;
		put_text(d, x + GAP, y - 3, words);
		if (o == last)
			break;
	}
	for (hwloc_obj_t m = last->memory_first_child; m; m = m->next_sibling) {
		char words[WORDS_BYTES] = "";

		append_object(words, m);
		y += LINE;
		put_text(d, x + GAP, y - 3, words);
	}
	return y + GAP;
}

static void draw_object(const struct drawing *d, hwloc_obj_t obj, uint32_t x,
			uint32_t y)
{
	hwloc_obj_t last = end_of_chain(obj);
	struct size cell;
	uint32_t columns;
	uint32_t i = 0;

	put_box(d, x, y, size_of(obj), fill_of(obj));
	y = draw_head(d, obj, x, y);
	if (is_leaf(last)) {
		draw_units(d, last, x + GAP, y);
		return;
	}
	cell = cell_of(last);
	columns = columns_of(last, cell);
	for (hwloc_obj_t c = last->first_child; c; c = c->next_sibling, i++)
		draw_object(d, c, x + GAP + i % columns * (cell.width + GAP),
			    y + i / columns * (cell.height + GAP));
}

/* One entry; returns the x behind it. */
static uint32_t put_legend_entry(const struct drawing *d, uint32_t x,
				 uint32_t y, const char *fill, const char *text)
{
	put_box(d, x, y, (struct size){ LINE, LINE - 4 }, fill);
	put_text(d, x + LINE + 4, y + LINE - 6, text);
	return x + LINE + 4 + 8 * (uint32_t)strlen(text) + GAP;
}

/* The legend of the colours of units; nodes share them if there are more nodes. */
static void put_legend(const struct drawing *d, uint32_t y)
{
	const uint32_t colours = (uint32_t)SB_ARRAY_SIZE(node_fill);
	const uint32_t nodes = d->topology->nodes;
	uint32_t x = GAP;
	char text[48];

	for (uint32_t i = 0; i < nodes && i < colours; i++) {
		const bool shared = i + colours < nodes;

		snprintf(text, sizeof(text),
			 i ? "%" PRIu32 "%s" : "in use, node %" PRIu32 "%s", i,
			 shared ? " ..." : "");
		x = put_legend_entry(d, x, y, node_fill[i], text);
	}
	if (d->plan->generators)
		put_legend_entry(d, x, y, GENERATOR_FILL, "generator");
}

void sb_draw_svg(const struct sb_topology *topology, const struct sb_plan *plan,
		 FILE *out)
{
	const struct drawing d = { topology, plan, out };
	hwloc_obj_t root = hwloc_get_root_obj(topology->hwloc);
	const struct size size = size_of(root);
	char title[WORDS_BYTES];

	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" "
		"height=\"%u\" font-family=\"sans-serif\" font-size=\"11\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		max_u32(size.width + 2 * GAP, LEGEND_WIDTH),
		size.height + 2 * LINE + 3 * GAP);
	snprintf(title, sizeof(title), "%.200s%s", topology->name,
		 topology->emulated ? " (emulated)" : "");
	put_text(&d, GAP, LINE, title);
	put_legend(&d, LINE + GAP);
	draw_object(&d, root, GAP, 2 * LINE + 2 * GAP);
	fputs("</svg>\n", out);
}

/* NOLINTEND(misc-no-recursion) */
