#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "results/files/file.h"
#include "results/page/page.h"

/* In the order of the page. */
static const struct {
	const char *name;
	const char *caption;
} kinds[] = {
#define PICTURE(name, title, summary, caption, draw, argument, each_series) { name, caption },
#include "results/pictures.def"
	{ "topology", "The machine, and what its workers did." },
};

/* A picture's name is its kind's, or begins with it and a dash; latency-wake-to-running
 * is not of the kind latency-wake. Returns its place in the table, or the table's end. */
static size_t kind_of(const char *name)
{
	size_t found = SB_ARRAY_SIZE(kinds);
	size_t most = 0;

	for (size_t i = 0; i < SB_ARRAY_SIZE(kinds); i++) {
		const size_t length = strlen(kinds[i].name);

		if (length > most && !strncmp(name, kinds[i].name, length)) {
			found = i;
			most = length;
		}
	}
	return found;
}

const char *sb_page_picture_doc(const char *name)
{
	const size_t kind = kind_of(name);

	return kind < SB_ARRAY_SIZE(kinds) ? kinds[kind].caption : "";
}

static int by_kind(const struct dirent **a, const struct dirent **b)
{
	const size_t x = kind_of((*a)->d_name);
	const size_t y = kind_of((*b)->d_name);

	return x != y ? (x > y) - (x < y) : versionsort(a, b);
}

static int is_svg(const struct dirent *entry)
{
	const size_t length = strlen(entry->d_name);

	return length > 4 && !strcmp(entry->d_name + length - 4, ".svg");
}

static int take_names(struct sb_page_pictures *pictures, struct dirent **found, int n)
{
	pictures->name = calloc((size_t)n + 1, sizeof(*pictures->name));
	if (!pictures->name)
		return -ENOMEM;
	for (int i = 0; i < n; i++) {
		char *name = strndup(found[i]->d_name, strlen(found[i]->d_name) - 4);

		if (!name)
			return -ENOMEM;
		pictures->name[pictures->pictures++] = name;
	}
	return 0;
}

int sb_page_pictures_find(struct sb_page_pictures *pictures, const struct sb_result *result)
{
	char *directory = sb_path_join(result->directory, "plots");
	struct dirent **found = NULL;
	int rc = 0;
	int n;

	*pictures = (struct sb_page_pictures){ NULL, 0 };
	if (!directory)
		return -ENOMEM;
	n = scandir(directory, &found, is_svg, by_kind);
	free(directory);
	if (n > 0)
		rc = take_names(pictures, found, n);
	for (int i = 0; i < n; i++)
		free(found[i]);
	free(found);
	if (rc)
		sb_page_pictures_free(pictures);
	return rc;
}

void sb_page_pictures_free(struct sb_page_pictures *pictures)
{
	for (uint32_t i = 0; i < pictures->pictures; i++)
		free(pictures->name[i]);
	free(pictures->name);
	*pictures = (struct sb_page_pictures){ NULL, 0 };
}
