#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "results/files/file.h"
#include "results/page/page.h"

#define LATENCY                                                                                    \
	"Latency by percentile: a step to the right is ten times rarer. "                          \
	"Lower and further to the right is better."

/* In the order in which they stand on the page. A picture is of the first whose
 * name it begins with. */
static const struct {
	const char *name;
	const char *doc;
} docs[] = {
	{ "cost",
	  "Wall time per operation: each repetition a mark, each median a line. Lower is better." },
	{ "sweep", "A metric over the settings that were gone through." },
	{ "heat", "A metric over two settings that were gone through." },
	{ "thresholds", "Latency and CPU time over spin thresholds: what waking up fast costs." },
	{ "scaling", "Throughput over workers, with the Universal Scalability Law fitted: "
		     "contention bends it, coherence turns it down." },
	{ "load",
	  "Latency over the load that was offered: where it turns up, the system is full." },
	{ "latency-sojourn", LATENCY },
	{ "latency-ready-to-running", LATENCY },
	{ "latency-send-to-step", LATENCY },
	{ "account", "Where the workers' time went." },
	{ "steals", "Processes stolen: who (row) stole how many from whom (column), summed over "
		    "the repetitions." },
	{ "distance", "Steals by how far thief and victim are apart." },
	{ "spins", "How long a worker without work spun until it found some, or went to sleep: "
		   "episodes by their number of spins." },
	{ "timeline", "What each worker did when." },
	{ "topology", "The machine, and what its workers did." },
	{ "latency", LATENCY },
};

/* Where it stands in the table, or behind it. */
static size_t kind_of(const char *name)
{
	size_t i = 0;

	while (i < SB_ARRAY_SIZE(docs) && strncmp(name, docs[i].name, strlen(docs[i].name)) != 0)
		i++;
	return i;
}

const char *sb_page_picture_doc(const char *name)
{
	const size_t kind = kind_of(name);

	return kind < SB_ARRAY_SIZE(docs) ? docs[kind].doc : "";
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
