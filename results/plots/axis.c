/*
 * axis.c - axes: ranges, and tics with SI prefixes or words. gnuplot's own tics
 * show no prefix that fits all of them, and none at all where a logarithmic axis
 * is less than a decade long.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/worker/distance.h"
#include "results/plots/plot.h"
#include "results/plots/text.h"

const char *const sb_plot_distance_words[SB_DISTANCES] = {
	[SB_DISTANCE_SELF] = "same unit",     [SB_DISTANCE_SMT] = "same core",
	[SB_DISTANCE_CACHE] = "same cache",   [SB_DISTANCE_NODE] = "same NUMA node",
	[SB_DISTANCE_REMOTE] = "remote node",
};

void sb_plot_range_add(struct sb_plot_range *range, double value)
{
	if (!isfinite(value))
		return;
	if (!range->any || value < range->low)
		range->low = value;
	if (!range->any || value > range->high)
		range->high = value;
	if (value > 0 && (range->least <= 0 || value < range->least))
		range->least = value;
	range->any = true;
}

double sb_plot_clamp(double value, double edge)
{
	return value < edge ? edge : value;
}

/* ---- units ---- */

struct unit {
	const char *name;
	const char *base; /* what a prefix goes before */
	double factor;	  /* of one, in bases */
	bool prefixed;
};

static const struct unit units[] = {
	{ "ns", "s", 1e-9, true }, { "ms", "s", 1e-3, true }, { "s", "s", 1, true },
	{ "1/s", "/s", 1, true },  { "count", "", 1, true },  { "bytes", "B", 1, true },
	{ "spins", "", 1, true },  { "items", "", 1, true },  { "processes", "", 1, true },
};

static struct unit unit_of(const char *name)
{
	for (size_t i = 0; i < SB_ARRAY_SIZE(units); i++) {
		if (!strcmp(units[i].name, name))
			return units[i];
	}
	return (struct unit){ name, name, 1, false };
}

struct prefix {
	double factor;
	const char *text;
};

/* The one that leaves one to three digits before the point. */
static struct prefix prefix_of(const struct unit *unit, double value)
{
	static const struct prefix prefixes[] = {
		{ 1e12, "T" }, { 1e9, "G" },  { 1e6, "M" },  { 1e3, "k" },   { 1, "" },
		{ 1e-3, "m" }, { 1e-6, "u" }, { 1e-9, "n" }, { 1e-12, "p" },
	};
	const double base = fabs(value) * unit->factor;

	/* Parts of a count have no prefix. */
	for (size_t i = 0; i < SB_ARRAY_SIZE(prefixes) && unit->prefixed; i++) {
		if (prefixes[i].factor < 1 && !*unit->base)
			break;
		if (base >= prefixes[i].factor * (1 - 1e-9))
			return prefixes[i];
	}
	return (struct prefix){ 1, "" };
}

/* gnuplot's word for an axis. */
static const char *axis_word(char name)
{
	switch (name) {
	case 'x':
		return "x";
	case 'y':
		return "y";
	default:
		return "cb";
	}
}

/* ---- tics of numbers ---- */

/* The next of 1, 2 and 5 times a power of ten. */
static double nice_step(double least)
{
	const double ten = pow(10, floor(log10(least)));
	const double part = least / ten;

	return ten * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

static struct sb_plot_panel *last_panel(struct sb_plot *plot)
{
	return &plot->panel[plot->panels - 1];
}

static enum sb_plot_side side_of(char name)
{
	return name == 'x' ? SB_PLOT_X : name == 'y' ? SB_PLOT_Y : SB_PLOT_COLOUR;
}

/* Below an axis: its tics' labels, and its own. */
#define TIC_ROOM   28
#define LABEL_ROOM 20

static void put_axis_label(struct sb_plot *plot, char name, const char *label, const char *prefix,
			   const char *base)
{
	char **text = &last_panel(plot)->label[side_of(name)];
	const bool has_unit = *prefix || *base;

	if (asprintf(text, "%s%s%s%s", label, *label && has_unit ? ", " : "", prefix, base) < 0)
		*text = NULL;
	if (name == 'x')
		last_panel(plot)->x_room = TIC_ROOM + (*label ? LABEL_ROOM : 0);
}

static void set_scale(struct sb_plot *plot, char name, double low, double high, bool is_log)
{
	last_panel(plot)->scale[side_of(name)] = (struct sb_plot_scale){ is_log, low, high };
	sb_plot_set(plot, "%sset %srange [%.9g:%.9g]",
		    !is_log	  ? ""
		    : name == 'x' ? "set logscale x\n"
		    : name == 'y' ? "set logscale y\n"
				  : "set logscale cb\n",
		    axis_word(name), low, high);
}

#define TIC_FONT 12

/* The labels of tics stand between the axis and its label. */
static void make_room(struct sb_plot *plot, char name, double width)
{
	const double needed = 38 + width;

	if (name != 'y')
		return;
	last_panel(plot)->y_room = (uint32_t)fmax(last_panel(plot)->y_room, needed);
	plot->left = (uint32_t)fmax(plot->left, last_panel(plot)->y_room);
}

/* The same distance between all. */
static double linear_axis(struct sb_plot *plot, const struct sb_plot_axis *axis, double low,
			  double high)
{
	const struct unit unit = unit_of(axis->unit);
	const struct prefix prefix = prefix_of(&unit, fmax(fabs(low), fabs(high)));
	const double scale = unit.prefixed ? unit.factor / prefix.factor : 1;
	const double wanted = nice_step((high - low) / 7);
	const double step = axis->whole ? fmax(1, wanted) : wanted;
	/* Across, the axis ends with the data. */
	const bool tight = axis->name == 'x';
	const double first = tight ? ceil(low / step - 1e-9) : floor(low / step + 1e-9);
	const double last = tight ? floor(high / step + 1e-9) : ceil(high / step - 1e-9);
	const int digits = (int)fmax(0, -floor(log10(step * scale) + 1e-9));

	set_scale(plot, axis->name, tight ? low : first * step, tight ? high : last * step, false);
	fprintf(last_panel(plot)->setup, "set %stics norotate (", axis_word(axis->name));
	for (int i = 0; first + i <= last; i++) {
		const double at = (first + i) * step;
		char text[40];

		snprintf(text, sizeof(text), "%.*f", digits, at == 0 ? 0 : at * scale);
		make_room(plot, axis->name, sb_plot_text_width(text, TIC_FONT));
		fprintf(last_panel(plot)->setup, "%s'%s' %.9g", i ? ", " : "", text, at);
	}
	sb_plot_set(plot, ")");
	put_axis_label(plot, axis->name, axis->label, unit.prefixed ? prefix.text : "", unit.base);
	return tight ? low : first * step;
}

static void put_log_tic(struct sb_plot *plot, char name, double value, const struct unit *unit,
			bool first)
{
	const struct prefix prefix = prefix_of(unit, value);
	const double scale = unit->prefixed ? unit->factor / prefix.factor : 1;
	const bool spaced = *prefix.text || *unit->base;
	char text[60];

	snprintf(text, sizeof(text), "%.4g%s%s%s", value * scale, spaced ? " " : "",
		 unit->prefixed ? prefix.text : "", unit->base);
	make_room(plot, name, sb_plot_text_width(text, TIC_FONT));
	fputs(first ? "" : ", ", last_panel(plot)->setup);
	sb_plot_quote(last_panel(plot)->setup, text, sizeof(text), true);
	fprintf(last_panel(plot)->setup, " %.9g", value);
}

/* Powers of ten, with 2 and 5 times these where there is room. */
static double log_axis(struct sb_plot *plot, const struct sb_plot_axis *axis, double low,
		       double high)
{
	static const double parts[] = { 1, 2, 5 };
	const struct unit unit = unit_of(axis->unit);
	const double decades = log10(high / low);
	const size_t per_decade = decades < 2.2 ? 3 : 1;
	const int stride = decades > 9 ? 2 : 1;
	bool first = true;

	set_scale(plot, axis->name, low, high, true);
	fprintf(last_panel(plot)->setup, "set %stics norotate (", axis_word(axis->name));
	for (int e = (int)floor(log10(low)); e <= ceil(log10(high)); e += stride) {
		for (size_t p = 0; p < per_decade; p++) {
			const double value = parts[p] * pow(10, e);

			if (value < low * (1 - 1e-9) || value > high * (1 + 1e-9))
				continue;
			put_log_tic(plot, axis->name, value, &unit, first);
			first = false;
		}
	}
	sb_plot_set(plot, ")");
	put_axis_label(plot, axis->name, axis->label, "", "");
	return low;
}

/* Down, and up, to the next of 1, 2 and 5 times a power of ten. */
static double log_floor(double value)
{
	const double above = nice_step(value);

	return above <= value * (1 + 1e-9) ? above : nice_step(value / 2.6);
}

double sb_plot_axis(struct sb_plot *plot, const struct sb_plot_axis *axis)
{
	const struct sb_plot_range *r = &axis->range;
	double low = r->any ? r->low : 0;
	double high = r->any ? r->high : 1;

	if (axis->log && r->least > 0 && high / r->least >= 10) {
		/* 0 stands at the edge, apart from the least. */
		const double edge = low <= 0 ? r->least / 2 : r->least;

		if (low <= 0)
			sb_plot_note(plot, "0 stands at the lower edge");

		return log_axis(plot, axis, log_floor(edge), nice_step(high));
	}
	if (axis->zero && low > 0)
		low = 0;
	/* What is all the same by itself is not to look as if it were not. */
	if (high - low < 0.01 * fmax(fabs(high), fabs(low)) || high == low) {
		const double around = high != 0 ? fabs(high) / 100 : 1;

		low -= low > 0 || !axis->zero ? around : 0;
		high += around;
	}
	return linear_axis(plot, axis, low, high);
}

/* ---- tics of words ---- */

/* Longer ones lose their middle. */
#define WORD_WIDTH  190
#define LINE_HEIGHT 15

static double word_width(const struct sb_plot_tic *tic)
{
	return fmin(WORD_WIDTH, sb_plot_text_width(tic->text, TIC_FONT));
}

static uint32_t widest_word(const struct sb_plot_tic *tic, uint32_t tics)
{
	double widest = 1;

	for (uint32_t i = 0; i < tics; i++)
		widest = fmax(widest, word_width(&tic[i]));
	return (uint32_t)widest;
}

/* The least distance between two, in pixels; on an axis of that many. */
static double least_gap(const struct sb_plot_tic *tic, uint32_t tics, double pixels)
{
	double least = INFINITY;

	for (uint32_t i = 1; i < tics; i++)
		least = fmin(least, pixels * (tic[i].at - tic[i - 1].at));
	return least;
}

/* Side by side, with a space between. */
static bool words_fit(const struct sb_plot_tic *tic, uint32_t tics, double pixels, double axis)
{
	for (uint32_t i = 1; i < tics; i++) {
		const double needed = (word_width(&tic[i]) + word_width(&tic[i - 1])) / 2 + 8;

		if (pixels * (tic[i].at - tic[i - 1].at) < needed)
			return false;
	}
	/* One alone has the axis and the margins. */
	return tics > 1 || word_width(tic) < axis;
}

static void put_words(struct sb_plot *plot, const struct sb_plot_tic *tic, uint32_t tics,
		      uint32_t stride)
{
	FILE *out = last_panel(plot)->setup;

	for (uint32_t i = 0; i < tics; i += stride) {
		fputs(i ? ", " : "", out);
		sb_plot_quote(out, tic[i].text, sb_plot_fit(tic[i].text, TIC_FONT, WORD_WIDTH),
			      true);
		fprintf(out, " %.9g", tic[i].at);
	}
	fputs(")\n", out);
}

/* Every so many, for room of that many pixels each. */
static uint32_t stride_for(double room, double needed)
{
	return room >= needed ? 1 : (uint32_t)ceil(needed / fmax(room, 1e-3));
}

void sb_plot_words(struct sb_plot *plot, char name, const char *label,
		   const struct sb_plot_words *words)
{
	const struct sb_plot_tic *tic = words->tic;
	const uint32_t tics = words->tics;
	FILE *out = last_panel(plot)->setup;
	const bool is_x = name == 'x';
	const double axis = is_x ? sb_plot_panel_width(plot) : sb_plot_panel_height(plot);
	const double pixels = axis / (words->high - words->low);
	const double room = least_gap(tic, tics, pixels);
	const uint32_t width = widest_word(tic, tics);
	const bool turned = is_x && !words_fit(tic, tics, pixels, axis);

	set_scale(plot, name, words->low, words->high, false);
	put_axis_label(plot, name, label, "", "");
	fprintf(out, "set %stics %s (", axis_word(name),
		turned ? "rotate by 90 right" : "norotate");
	make_room(plot, name, width);
	put_words(plot, tic, tics, is_x && !turned ? 1 : stride_for(room, LINE_HEIGHT));
	if (turned)
		last_panel(plot)->x_room = (*label ? LABEL_ROOM : 0) + 14 + width;
}

void sb_plot_numbers(struct sb_plot *plot, char name, const char *label, uint32_t n)
{
	const double axis = name == 'x' ? sb_plot_panel_width(plot) : sb_plot_panel_height(plot);
	const uint32_t step = (uint32_t)fmax(1, nice_step(n * 32 / axis));

	put_axis_label(plot, name, label, "", "");
	make_room(plot, name, sb_plot_text_width("888", TIC_FONT));
	sb_plot_set(plot, "set %stics norotate 0,%" PRIu32, axis_word(name), step);
	/* Down, as a matrix is written. */
	set_scale(plot, name, name == 'y' ? n - 0.5 : -0.5, name == 'y' ? -0.5 : n - 0.5, false);
}

double sb_plot_part(const struct sb_plot_scale *scale, double at)
{
	if (scale->log)
		return log(at / scale->low) / log(scale->high / scale->low);
	return (at - scale->low) / (scale->high - scale->low);
}

bool sb_plot_is_dark(const struct sb_plot *plot, double value)
{
	return sb_plot_part(&plot->panel[plot->panels - 1].scale[SB_PLOT_COLOUR], value) > 0.55;
}
