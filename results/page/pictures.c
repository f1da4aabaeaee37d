#include "results/page/page.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "results/file.h"

/* By the beginning of a picture's name; the first that fits. */
static const struct {
	const char *name;
	const char *doc;
} docs[] = {
	{ "cost", "Wall time per operation: each repetition a mark, each "
		  "median a line. Lower is better." },
	{ "latency", "Latency by percentile: a step to the right is ten times "
		     "rarer. Lower and further to the right is better." },
	{ "load", "Latency over the load that was offered: where it turns up, "
		  "the system is full." },
	{ "steals-distance", "Steals by how far thief and victim are apart." },
	{ "steal-distance", "Steals by how far thief and victim are apart." },
	{ "distance", "Steals by how far thief and victim are apart." },
	{ "steals", "Processes stolen: who (row) stole how many from whom "
		    "(column), summed over the repetitions." },
	{ "spins-cost", "Latency and CPU time over spin thresholds: what is "
			"paid for waking up fast." },
	{ "spins", "How long a worker without work spun until it found some, "
		   "or went to sleep: episodes by their number of spins." },
	{ "scaling", "Throughput over workers, with the Universal Scalability "
		     "Law fitted: contention bends it, coherence turns it "
		     "down." },
	{ "sweep", "A metric over the settings that were gone through." },
	{ "heat", "A metric over two settings that were gone through." },
	{ "timeline", "What each worker did when." },
	{ "account", "Where the workers' time went." },
	{ "time", "Where the workers' time went." },
	{ "topology", "The machine, and what its workers did." },
};

const char *sb_page_picture_doc(const char *name)
{
	for (size_t i = 0; i < SB_ARRAY_SIZE(docs); i++) {
		if (!strncmp(name, docs[i].name, strlen(docs[i].name)))
			return docs[i].doc;
	}
	return "";
}

static int is_svg(const struct dirent *entry)
{
	const size_t length = strlen(entry->d_name);

	return length > 4 && !strcmp(entry->d_name + length - 4, ".svg");
}

static int take_names(struct sb_page_pictures *pictures, struct dirent **found,
		      int n)
{
	pictures->name = calloc((size_t)n + 1, sizeof(*pictures->name));
	if (!pictures->name)
		return -ENOMEM;
	for (int i = 0; i < n; i++) {
		char *name =
			strndup(found[i]->d_name, strlen(found[i]->d_name) - 4);

		if (!name)
			return -ENOMEM;
		pictures->name[pictures->pictures++] = name;
	}
	return 0;
}

int sb_page_pictures_find(struct sb_page_pictures *pictures,
			  const struct sb_result *result)
{
	char *directory = sb_path_join(result->directory, "plots");
	struct dirent **found = NULL;
	int rc = 0;
	int n;

	*pictures = (struct sb_page_pictures){ NULL, 0 };
	if (!directory)
		return -ENOMEM;
	n = scandir(directory, &found, is_svg, versionsort);
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
