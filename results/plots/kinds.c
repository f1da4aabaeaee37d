/*
 * kinds.c - the kinds of pictures.def, and how an order becomes scripts.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/record/series.h"
#include "results/files/file.h"
#include "results/plots/kinds.h"
#include "results/plots/plots.h"
#include "results/record/record.h"

const struct sb_plot_kind sb_plot_kinds[] = {
#define PICTURE(name, title, summary, caption, draw, argument, each_series)                        \
	{ name, title, summary, draw, argument, each_series },
#include "results/pictures.def"
	{ NULL, NULL, NULL, NULL, 0, false },
};

const struct sb_plot_kind *sb_plot_kind_find(const char *name)
{
	for (const struct sb_plot_kind *k = sb_plot_kinds; k->name; k++) {
		if (!strcmp(k->name, name))
			return k;
	}
	return NULL;
}

/* ---- from an order to scripts ---- */

struct pictures {
	uint32_t n;
	struct sb_picture *picture;
};

static void free_pictures(struct pictures *all)
{
	for (uint32_t i = 0; i < all->n; i++) {
		free(all->picture[i].name);
		free(all->picture[i].script);
	}
	free(all->picture);
	*all = (struct pictures){ 0, NULL };
}

/* " (virtual)" if a line is. */
static const char *topology_mark(const struct sb_plot_view *view)
{
	for (uint32_t i = 0; i < view->lines; i++) {
		if (view->line[i].series->reality)
			return sb_series_topology_mark(view->line[i].series);
	}
	return "";
}

/* "pingpong", and what else tells it from the others. */
static char *name_line(const struct sb_plot_line *line)
{
	const char *workload = line->series->workload;
	char *text;

	if (!strncmp(line->label, workload, strlen(workload)))
		return strdup(line->label);
	return asprintf(&text, "%s %s", workload, line->label) < 0 ? NULL : text;
}

/* The workload, if all have the same. */
static char *name_all(const struct sb_plot_view *view)
{
	for (uint32_t i = 1; i < view->lines; i++) {
		if (strcmp(view->line[i].series->workload, view->line[0].series->workload) != 0)
			return NULL;
	}
	return view->lines == 1 ? name_line(view->line) : strdup(view->line[0].series->workload);
}

static char *make_title(const struct sb_plot_kind *kind, const struct sb_plot_view *view)
{
	char *name = name_all(view);
	char *title;

	if (asprintf(&title, "%s%s%s%s", kind->title, name ? ": " : "", name ? name : "",
		     topology_mark(view)) < 0)
		title = NULL;
	free(name);
	/* Titles are also ends of sentences. */
	if (title)
		*title = (char)toupper(*title);
	return title;
}

#define NAME_BYTES 100

/* Of a file: "steals-pingpong". */
static char *make_file_name(const struct sb_plot_kind *kind, const struct sb_plot_line *line)
{
	char name[NAME_BYTES];
	char *what = line ? name_line(line) : NULL;

	snprintf(name, sizeof(name), "%s%s%s", kind->name, what ? "-" : "", what ? what : "");
	free(what);
	for (char *c = name; *c; c++) {
		if (!isalnum((unsigned char)*c) && *c != '.' && *c != '_')
			*c = '-';
	}
	return strdup(name);
}

static bool is_taken(const struct pictures *all, const char *name)
{
	for (uint32_t i = 0; i < all->n; i++) {
		if (!strcmp(all->picture[i].name, name))
			return true;
	}
	return false;
}

/* Takes the name. The second of one name, and so on, gets a number. The script
 * says where its pictures go, so this comes before it. */
static char *make_unique(const struct pictures *all, char *name)
{
	char *other = NULL;

	for (uint32_t i = 2; name && is_taken(all, other ? other : name); i++) {
		free(other);
		if (asprintf(&other, "%s-%" PRIu32, name, i) < 0) {
			free(name);
			return NULL;
		}
	}
	if (!other)
		return name;
	free(name);
	return other;
}

static int add_picture(struct pictures *all, char *name, char *script,
		       const struct sb_series *series)
{
	struct sb_picture *more = realloc(all->picture, (all->n + 1) * sizeof(*all->picture));

	if (more)
		all->picture = more;
	if (!more || !name || !script) {
		free(name);
		free(script);
		return -ENOMEM;
	}
	all->picture[all->n++] = (struct sb_picture){ name, script, series };
	return 0;
}

static int draw(struct pictures *all, struct sb_plot_order *order, const struct sb_plot_kind *kind,
		const struct sb_plot_view *view, unsigned int formats)
{
	struct sb_plot plot = { .view = view, .choice = &order->choice, .why = order->why };
	char *title = make_title(kind, view);
	char *name = make_unique(all, make_file_name(kind, kind->each_series ? view->line : NULL));
	int rc = title && name ? sb_plot_init(&plot) : -ENOMEM;

	if (!rc && !kind->draw(&plot, kind->argument))
		rc = -ENODATA;
	if (!rc) {
		rc = add_picture(all, name, sb_plot_script(&plot, title, name, formats),
				 kind->each_series ? view->line->series : NULL);
		name = NULL;
	}
	sb_plot_free(&plot);
	free(title);
	free(name);
	return rc;
}

/* Each line by itself. Those that it does not apply to are left out, unless
 * that is all of them. */
static int draw_each(struct pictures *all, struct sb_plot_order *order,
		     const struct sb_plot_kind *kind, const struct sb_plot_view *view,
		     unsigned int formats)
{
	const uint32_t before = all->n;
	int rc = -ENODATA;

	for (uint32_t i = 0; i < view->lines; i++) {
		const struct sb_plot_view one = { .lines = 1,
						  .line = &view->line[i],
						  .results = 1 };

		rc = draw(all, order, kind, &one, formats);
		if (rc && rc != -ENODATA)
			return rc;
	}
	return all->n > before ? 0 : rc;
}

/* A picture of each series of a sweep is more than anyone looks at: who wants one
 * asks for it. */
#define EACH_MOST 8

static bool too_many_for_each(const struct sb_plot_view *view)
{
	for (uint32_t i = 0; i < view->lines; i++) {
		const struct sb_series *series = view->line[i].series;

		for (uint32_t s = 0; s < series->settings; s++) {
			if (series->setting[s].swept)
				return true;
		}
	}
	return view->lines > EACH_MOST;
}

static int draw_all_kinds(struct pictures *all, struct sb_plot_order *order,
			  const struct sb_plot_view *view, unsigned int formats)
{
	int rc = 0;

	for (const struct sb_plot_kind *k = sb_plot_kinds; k->name; k++) {
		if (k->each_series && too_many_for_each(view))
			continue;
		rc = k->each_series ? draw_each(all, order, k, view, formats)
				    : draw(all, order, k, view, formats);
		if (rc && rc != -ENODATA)
			return rc;
	}
	if (all->n)
		return 0;
	/* Not the last kind's own reason. */
	snprintf(order->why, sizeof(order->why), "no kind of picture has anything to show");
	return -ENODATA;
}

static int no_lines(struct sb_plot_order *order)
{
	snprintf(order->why, sizeof(order->why),
		 order->choice.series ? "no series has '%s' in its label"
				      : "the result has no series%s",
		 order->choice.series ? order->choice.series : "");
	return -ENODATA;
}

static int fill(struct pictures *all, struct sb_plot_order *order, unsigned int formats)
{
	struct sb_plot_view view;
	int rc = sb_plot_view_init(&view, order);

	if (!rc && !view.lines)
		rc = no_lines(order);
	else if (!rc && !order->kind)
		rc = draw_all_kinds(all, order, &view, formats);
	else if (!rc && order->kind->each_series)
		rc = draw_each(all, order, order->kind, &view, formats);
	else if (!rc)
		rc = draw(all, order, order->kind, &view, formats);
	sb_plot_view_free(&view);
	if (rc == -ENOMEM)
		snprintf(order->why, sizeof(order->why), "no memory");
	return rc;
}

int sb_plots_make(struct sb_plot_order *order, const char *directory)
{
	struct pictures all = { 0, NULL };
	int rc = fill(&all, order, SB_PLOT_SVG | SB_PLOT_PNG);

	if (!rc)
		rc = sb_pictures_make(all.picture, all.n, directory, order->why);
	order->made = rc ? 0 : all.n;
	free_pictures(&all);
	return rc;
}

#define NAMES_MOST 2

/* For --series: what it looks for. */
static const char *choice_of(const struct sb_picture *picture)
{
	const struct sb_series *series = picture->series;

	if (!series)
		return picture->name;
	return series->label && *series->label ? series->label : series->workload;
}

/* One file has room for one picture. */
static int too_many(const struct pictures *all, struct sb_plot_order *order)
{
	int used = snprintf(order->why, sizeof(order->why),
			    "there are %" PRIu32
			    " of them, one for each series; expected --series TEXT to choose one "
			    "of one result:",
			    all->n);

	for (uint32_t i = 0; i < all->n && i < NAMES_MOST && used < SB_PLOT_WHY_BYTES; i++)
		used += snprintf(order->why + used, sizeof(order->why) - (size_t)used, "%s '%s'",
				 i ? "," : "", choice_of(&all->picture[i]));
	if (all->n > NAMES_MOST && used < SB_PLOT_WHY_BYTES)
		snprintf(order->why + used, sizeof(order->why) - (size_t)used, ", ...");
	return -E2BIG;
}

int sb_plots_put(struct sb_plot_order *order, enum sb_plot_format format, FILE *out)
{
	struct pictures all = { 0, NULL };
	int rc = fill(&all, order, format);

	if (!rc && all.n > 1)
		rc = too_many(&all, order);
	if (!rc)
		rc = sb_picture_put(all.picture, format, out, order->why);
	order->made = rc ? 0 : all.n;
	free_pictures(&all);
	return rc;
}

int sb_write_plots(const struct sb_result *result, char *why)
{
	struct sb_plot_order order = { .result = &result, .results = 1 };
	char *directory = sb_path_join(result->directory, "plots");
	int rc = directory ? sb_plots_make(&order, directory) : -ENOMEM;

	free(directory);
	snprintf(why, SB_PLOT_WHY_BYTES, "%s", directory ? order.why : "no memory");
	/* Without a number there is no picture. */
	return rc == -ENODATA ? 0 : rc;
}
