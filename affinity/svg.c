#include <inttypes.h>
#include <string.h>

#include "affinity/draw.h"
#include "affinity/label.h"
#include "core/platform/base.h"

/* hwloc's trees are as deep as a machine is.
 * NOLINTBEGIN(misc-no-recursion) */

/* ---- SVG: sizes are computed from the leaves up, then drawn from the top ---- */

#define GAP	     6
#define LINE	     16
#define UNIT_WIDTH   132
/* "(PU 123) " */
#define NUMBER_WIDTH 54
/* Room for an entry of each colour. */
#define LEGEND_WIDTH 700

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
	char words[SB_LABEL_BYTES] = "";

	return sb_label_chain(words, obj);
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
	       2 * columns * cell.width < 3 * ((n + columns - 1) / columns) * cell.height)
		columns++;
	return columns;
}

static uint32_t unit_width(const struct sb_drawing *d)
{
	return UNIT_WIDTH + (d->has_both_numbers ? NUMBER_WIDTH : 0);
}

/* The largest child: all get that much room. */
static struct size size_of(const struct sb_drawing *d, hwloc_obj_t obj);

static struct size cell_of(const struct sb_drawing *d, hwloc_obj_t obj)
{
	struct size cell = { 0, 0 };

	for (hwloc_obj_t c = obj->first_child; c; c = c->next_sibling) {
		const struct size size = size_of(d, c);

		cell.width = max_u32(cell.width, size.width);
		cell.height = max_u32(cell.height, size.height);
	}
	return cell;
}

static struct size size_of(const struct sb_drawing *d, hwloc_obj_t obj)
{
	const uint32_t head = head_lines(obj) * LINE + GAP;
	hwloc_obj_t last = end_of_chain(obj);
	const uint32_t units = last->type == HWLOC_OBJ_PU ? 1 : max_u32(last->arity, 1);
	struct size cell;
	uint32_t columns;

	if (sb_label_is_leaf(last))
		return (struct size){ unit_width(d) + 2 * GAP, head + units * LINE + GAP };
	cell = cell_of(d, last);
	columns = columns_of(last, cell);
	return (struct size){
		columns * (cell.width + GAP) + GAP,
		head + (last->arity + columns - 1) / columns * (cell.height + GAP) + GAP,
	};
}

static void put_box(const struct sb_drawing *d, uint32_t x, uint32_t y, struct size size,
		    const char *fill)
{
	fprintf(d->out,
		"<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" fill=\"%s\" "
		"stroke=\"#555\"/>\n",
		x, y, size.width, size.height, fill);
}

static void put_text(const struct sb_drawing *d, uint32_t x, uint32_t y, const char *text)
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
static const char *const node_fill[] = { "#9ecae1", "#fdae6b", "#a1d99b", "#bcbddc",
					 "#fc9272", "#c7e9c0", "#fdd0a2", "#dadaeb" };

#define GENERATOR_FILL "#ffe45c"

/* NULL: nothing is planned there. */
static const char *fill_of_unit(const struct sb_drawing *d, hwloc_obj_t pu)
{
	const int node = d->topology->unit[pu->logical_index].place.node;

	if (sb_label_role(d, pu) == SB_ROLE_GENERATOR)
		return GENERATOR_FILL;
	for (uint32_t w = 0; w < d->plan->placement.workers; w++) {
		if (d->plan->placement.place[w].pu == (int)pu->logical_index)
			return node_fill[(uint32_t)(node < 0 ? 0 : node) %
					 SB_ARRAY_SIZE(node_fill)];
	}
	return NULL;
}

static void draw_units(const struct sb_drawing *d, hwloc_obj_t leaf, uint32_t x, uint32_t y)
{
	hwloc_obj_t pu = leaf->type == HWLOC_OBJ_PU ? leaf : leaf->first_child;

	for (; pu; pu = leaf->type == HWLOC_OBJ_PU ? NULL : pu->next_sibling) {
		const char *fill = fill_of_unit(d, pu);
		char words[SB_LABEL_BYTES] = "";

		if (fill)
			put_box(d, x, y, (struct size){ unit_width(d), LINE }, fill);
		sb_label_unit(words, d, pu);
		put_text(d, x + 3, y + LINE - 4, words);
		y += LINE;
	}
}

/* The words of a chain and its memory, a line each; returns the y below. */
static uint32_t draw_head(const struct sb_drawing *d, hwloc_obj_t obj, uint32_t x, uint32_t y)
{
	hwloc_obj_t last = end_of_chain(obj);

	for (hwloc_obj_t o = obj;; o = o->first_child) {
		char words[SB_LABEL_BYTES] = "";

		sb_label_object(words, o);
		if (o == last && sb_label_is_leaf(o))
			sb_label_kind(words, d, o);
		y += LINE;
		put_text(d, x + GAP, y - 3, words);
		if (o == last)
			break;
	}
	for (hwloc_obj_t m = last->memory_first_child; m; m = m->next_sibling) {
		char words[SB_LABEL_BYTES] = "";

		sb_label_object(words, m);
		y += LINE;
		put_text(d, x + GAP, y - 3, words);
	}
	return y + GAP;
}

/* Around what a node is local to, in the node's colour. */
static void put_border(const struct sb_drawing *d, uint32_t x, uint32_t y, struct size size,
		       hwloc_obj_t obj)
{
	if (!obj->memory_arity || obj->memory_first_child->type != HWLOC_OBJ_NUMANODE)
		return;
	fprintf(d->out,
		"<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" fill=\"none\" stroke=\"%s\" "
		"stroke-width=\"3\"/>\n",
		x + 2, y + 2, size.width - 4, size.height - 4,
		node_fill[obj->memory_first_child->logical_index % SB_ARRAY_SIZE(node_fill)]);
}

static void draw_object(const struct sb_drawing *d, hwloc_obj_t obj, uint32_t x, uint32_t y)
{
	hwloc_obj_t last = end_of_chain(obj);
	struct size cell;
	uint32_t columns;
	uint32_t i = 0;

	put_box(d, x, y, size_of(d, obj), fill_of(obj));
	put_border(d, x, y, size_of(d, obj), last);
	y = draw_head(d, obj, x, y);
	if (sb_label_is_leaf(last)) {
		draw_units(d, last, x + GAP, y);
		return;
	}
	cell = cell_of(d, last);
	columns = columns_of(last, cell);
	for (hwloc_obj_t c = last->first_child; c; c = c->next_sibling, i++)
		draw_object(d, c, x + GAP + i % columns * (cell.width + GAP),
			    y + i / columns * (cell.height + GAP));
}

/* One entry; returns the x behind it. */
static uint32_t put_legend_entry(const struct sb_drawing *d, uint32_t x, uint32_t y,
				 const char *fill, const char *text)
{
	put_box(d, x, y, (struct size){ LINE, LINE - 4 }, fill);
	put_text(d, x + LINE + 4, y + LINE - 6, text);
	return x + LINE + 4 + 8 * (uint32_t)strlen(text) + GAP;
}

/* The legend of the colours of units; nodes share them if there are more nodes. */
static void put_legend(const struct sb_drawing *d, uint32_t y)
{
	const uint32_t colours = (uint32_t)SB_ARRAY_SIZE(node_fill);
	const uint32_t nodes = d->topology->nodes;
	uint32_t x = GAP;
	char words[SB_LABEL_BYTES];
	char text[48];

	for (uint32_t i = 0; i < nodes && i < colours; i++) {
		const bool shared = i + colours < nodes;

		snprintf(text, sizeof(text), i ? "%" PRIu32 "%s" : "in use, node %" PRIu32 "%s", i,
			 shared ? " ..." : "");
		x = put_legend_entry(d, x, y, node_fill[i], text);
	}
	if (d->plan->generators)
		put_legend_entry(d, x, y, GENERATOR_FILL, "generator");
	snprintf(words, sizeof(words),
		 "frames: what a node is local to; CPU: the operating system's number, the others: "
		 "hwloc's%s",
		 d->topology->kinds ? "; kinds: 0 is the slowest" : "");
	put_text(d, GAP, y + 2 * LINE - 4, words);
}

void sb_draw_svg(const struct sb_topology *topology, const struct sb_plan *plan, FILE *out)
{
	const struct sb_drawing d = sb_label_drawing(topology, plan, out);
	hwloc_obj_t root = hwloc_get_root_obj(topology->hwloc);
	const struct size size = size_of(&d, root);
	char title[SB_LABEL_BYTES];

	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
		"font-family=\"sans-serif\" font-size=\"11\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		max_u32(size.width + 2 * GAP, LEGEND_WIDTH), size.height + 3 * LINE + 3 * GAP);
	snprintf(title, sizeof(title), "%.200s%s", topology->name,
		 topology->emulated ? " (emulated)" : "");
	put_text(&d, GAP, LINE, title);
	put_legend(&d, LINE + GAP);
	draw_object(&d, root, GAP, 3 * LINE + 2 * GAP);
	fputs("</svg>\n", out);
}

/* NOLINTEND(misc-no-recursion) */
