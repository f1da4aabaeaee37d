/* markdown_pictures.c - links to the pictures of a result, in Markdown, each with what it shows. */
#include <stdlib.h>
#include <string.h>

#include "results/files/file.h"
#include "results/page/markdown_parts.h"

/* How to get from one directory to another, both absolute and resolved; for
 * the caller to free. */
static char *relative(const char *from, const char *to)
{
	size_t same = 0;
	char *path = NULL;
	size_t bytes;
	FILE *out = open_memstream(&path, &bytes);

	if (!out)
		return NULL;
	for (size_t i = 0;; i++) {
		const bool ends = !from[i] || from[i] == '/';

		if (ends && (!to[i] || to[i] == '/'))
			same = i;
		if (from[i] != to[i] || !from[i])
			break;
	}
	for (const char *c = from + same; *c; c++) {
		if (*c == '/' && c[1])
			fputs("../", out);
	}
	fputs(to + same + (to[same] == '/'), out);
	fclose(out);
	return path;
}

/* The way to a result's pictures; "" when one of both is no directory. */
static char *path_to(const struct sb_md_writer *w, const struct sb_result *result)
{
	char *from = realpath(w->home, NULL);
	char *plots = sb_path_join(result->directory, "plots");
	char *to = plots ? realpath(plots, NULL) : NULL;
	char *path = from && to ? relative(from, to) : strdup("");

	free(from);
	free(plots);
	free(to);
	return path;
}

/* What the picture itself says that it shows, or else what its kind shows. */
static void put_picture(const struct sb_md_writer *w, const struct sb_result *result,
			const char *path, const char *name)
{
	char *file = NULL;
	char *title = NULL;

	if (asprintf(&file, "%s/plots/%s.svg", result->directory, name) >= 0)
		title = sb_svg_title(file);
	fputs("- [", w->out);
	sb_put_markdown(w->out, name);
	fputs("](", w->out);
	sb_put_percent_encoded(w->out, path, strlen(path), SB_URL_PLAIN);
	fputs("/", w->out);
	sb_put_percent_encoded(w->out, name, strlen(name), SB_URL_PLAIN);
	fputs(".svg): ", w->out);
	sb_put_markdown(w->out, title ? title : sb_page_picture_doc(name));
	fputs("\n", w->out);
	free(title);
	free(file);
}

static void put_pictures_of(const struct sb_md_writer *w, const struct sb_result *result)
{
	struct sb_page_pictures pictures;
	char *path = path_to(w, result);

	if (!path || sb_page_pictures_find(&pictures, result)) {
		free(path);
		return;
	}
	if (pictures.pictures && *path) {
		sb_md_begin_details(w, "Pictures");
		fputs("\n", w->out);
		for (uint32_t i = 0; i < pictures.pictures && i < w->folded; i++)
			put_picture(w, result, path, pictures.name[i]);
		if (pictures.pictures > w->folded)
			sb_md_put_left_out(w, pictures.pictures - w->folded, "pictures are");
		sb_md_end_details(w);
	}
	sb_page_pictures_free(&pictures);
	free(path);
}

void sb_md_put_pictures(const struct sb_md_writer *w)
{
	for (uint32_t i = 0; i < w->page->results && i < w->folded; i++)
		put_pictures_of(w, &w->page->result[i]);
}
