/*
 * view.c - the series that a picture shows, of one result or of several, and
 * what tells them apart.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/plots/plot.h"
#include "results/record/series.h"
#include "results/text/escape.h"

static bool is_in(const char *name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(name, list[i]))
			return true;
	}
	return false;
}

/* Among series of the same workload; other workloads have other settings. */
static bool setting_differs(const struct sb_plot_view *view, const struct sb_series *series,
			    const struct sb_setting *setting)
{
	for (uint32_t i = 0; i < view->lines; i++) {
		const struct sb_series *other = view->line[i].series;
		const struct sb_setting *its;

		if (strcmp(other->workload, series->workload) != 0)
			continue;
		its = sb_series_setting(other, setting->name);
		if (!its || strcmp(its->text, setting->text) != 0)
			return true;
	}
	return false;
}

static bool workload_differs(const struct sb_plot_view *view)
{
	for (uint32_t i = 1; i < view->lines; i++) {
		if (strcmp(view->line[i].series->workload, view->line[0].series->workload) != 0)
			return true;
	}
	return false;
}

/* The last part of a directory's name. */
static void put_result_name(FILE *out, const char *directory)
{
	size_t end = strlen(directory);
	size_t start;

	while (end > 1 && directory[end - 1] == '/')
		end--;
	for (start = end; start && directory[start - 1] != '/'; start--)
		;
	fprintf(out, "%.*s", (int)(end - start), directory + start);
}

/* The text that tells a line from the others, without some settings; "" if that is
 * nothing. */
static char *distinction(const struct sb_plot_view *view, uint32_t i, const char *const *except,
			 size_t excepts, bool by_result)
{
	const struct sb_plot_line *line = &view->line[i];
	const struct sb_series *series = line->series;
	const char *separator = "";
	char *text = NULL;
	char *clean;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	if (by_result && line->result->directory) {
		put_result_name(out, line->result->directory);
		separator = " ";
	}
	if (workload_differs(view) && !is_in("workload", except, excepts)) {
		fprintf(out, "%s%s", separator, series->workload);
		separator = " ";
	}
	for (uint32_t s = 0; s < series->settings; s++) {
		const struct sb_setting *setting = &series->setting[s];

		if (is_in(setting->name, except, excepts) ||
		    !setting_differs(view, series, setting))
			continue;
		fprintf(out, "%s%s=%s", separator, setting->name, setting->text);
		separator = " ";
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	/* A directory's name may be anything. */
	clean = sb_text_copy(text);
	free(text);
	return clean;
}

/* With nothing to tell, the workload names it. */
static int label_all(struct sb_plot_view *view)
{
	static const char *const workload[] = { "workload" };

	for (uint32_t i = 0; i < view->lines; i++) {
		struct sb_plot_line *line = &view->line[i];

		line->label = distinction(view, i, NULL, 0, view->results > 1);
		if (line->label && !*line->label) {
			free(line->label);
			line->label = strdup(line->series->workload);
		}
		line->detail = distinction(view, i, workload, 1, view->results > 1);
		if (!line->label || !line->detail)
			return -ENOMEM;
	}
	return 0;
}

static bool is_chosen(const struct sb_plot_choice *choice, const struct sb_series *series)
{
	return !choice->series || !*choice->series || strstr(series->workload, choice->series) ||
	       (series->label && strstr(series->label, choice->series));
}

int sb_plot_view_init(struct sb_plot_view *view, const struct sb_plot_order *order)
{
	uint32_t all = 0;
	uint32_t lines = 0;

	*view = (struct sb_plot_view){ .results = order->results };
	for (uint32_t r = 0; r < order->results; r++)
		all += order->result[r]->all_series;
	view->line = calloc(all + 1, sizeof(*view->line));
	if (!view->line)
		return -ENOMEM;
	for (uint32_t r = 0; r < order->results; r++) {
		const struct sb_result *result = order->result[r];

		for (uint32_t s = 0; s < result->all_series; s++) {
			if (is_chosen(&order->choice, &result->series[s]))
				view->line[lines++] =
					(struct sb_plot_line){ result, &result->series[s], NULL,
							       NULL };
		}
	}
	view->lines = lines;
	return label_all(view);
}

void sb_plot_view_free(struct sb_plot_view *view)
{
	for (uint32_t i = 0; view->line && i < view->lines; i++) {
		free(view->line[i].label);
		free(view->line[i].detail);
	}
	free(view->line);
	*view = (struct sb_plot_view){ 0 };
}

static bool is_common(const struct sb_plot_view *view, const struct sb_setting *setting)
{
	for (uint32_t i = 1; i < view->lines; i++) {
		const struct sb_setting *its =
			sb_series_setting(view->line[i].series, setting->name);

		if (!its || strcmp(its->text, setting->text) != 0)
			return false;
	}
	return true;
}

/* One line alone has some of its settings in its label. */
static bool is_labelled(const struct sb_plot_view *view, const struct sb_setting *setting)
{
	const char *at = view->line[0].label;

	for (; view->lines == 1 && (at = strstr(at, setting->name)); at++) {
		const char *value = at + strlen(setting->name);

		if (*value == '=' && !strncmp(value + 1, setting->text, strlen(setting->text)))
			return true;
	}
	return false;
}

void sb_plot_put_common(FILE *out, const struct sb_plot_view *view, const char *prefix)
{
	const struct sb_series *series = view->line[0].series;
	const char *separator = prefix;

	for (uint32_t s = 0; s < series->settings; s++) {
		const struct sb_setting *setting = &series->setting[s];

		if (!is_common(view, setting) || is_labelled(view, setting))
			continue;
		fprintf(out, "%s%s=%s", separator, setting->name, setting->text);
		separator = ", ";
	}
}

/* Takes the label. */
static void put_in_group(struct sb_plot_groups *groups, uint32_t line, char *label)
{
	uint32_t g = 0;

	while (g < groups->groups && strcmp(groups->label[g], label) != 0)
		g++;
	groups->of[line] = g;
	if (g < groups->groups) {
		free(label);
		return;
	}
	groups->label[groups->groups++] = label;
}

int sb_plot_groups_init(struct sb_plot_groups *groups, const struct sb_plot_view *view,
			const char *const *except, size_t excepts, bool by_result)
{
	*groups = (struct sb_plot_groups){
		.of = calloc(view->lines + 1, sizeof(*groups->of)),
		.label = calloc(view->lines + 1, sizeof(*groups->label)),
	};
	for (uint32_t i = 0; i < view->lines; i++) {
		char *label = NULL;

		if (groups->of && groups->label)
			label = distinction(view, i, except, excepts, by_result);
		if (!label) {
			sb_plot_groups_free(groups);
			return -ENOMEM;
		}
		put_in_group(groups, i, label);
	}
	return groups->of && groups->label ? 0 : -ENOMEM;
}

void sb_plot_groups_free(struct sb_plot_groups *groups)
{
	for (uint32_t g = 0; groups->label && g < groups->groups; g++)
		free(groups->label[g]);
	free(groups->label);
	free(groups->of);
	*groups = (struct sb_plot_groups){ 0 };
}

bool sb_plot_is_suspect(const struct sb_series *series)
{
	return sb_series_count(series, SB_SUSPECT) > 0;
}
