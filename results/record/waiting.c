#include "results/record/waiting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const sb_waiting_way[SB_WAITING_WAYS] = { "core",	 "cache",  "node",
						      "package", "remote", "memory" };

static bool is_same(const struct sb_waiting_place *place, const char *file, const char *function)
{
	return !strcmp(place->function, function) && !strcmp(place->file, file);
}

static void add(struct sb_waiting_place *to, const struct sb_waiting_place *from)
{
	to->queued_ns += from->queued_ns;
	for (int way = 0; way < SB_WAITING_WAYS; way++) {
		to->fetches[way] += from->fetches[way];
		to->fetch_ns[way] += from->fetch_ns[way];
	}
}

int sb_waiting_add(struct sb_waiting *w, const struct sb_waiting_place *place, const char *file,
		   const char *function)
{
	struct sb_waiting_place *more;

	if (w->places && is_same(&w->place[w->places - 1], file, function)) {
		add(&w->place[w->places - 1], place);
		return 0;
	}
	more = realloc(w->place, (w->places + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	w->place = more;
	more += w->places;
	*more = *place;
	more->file = strdup(file);
	more->function = strdup(function);
	if (more->file && more->function) {
		w->places++;
		return 0;
	}
	free(more->file);
	free(more->function);
	return -ENOMEM;
}

double sb_waiting_ns(const struct sb_waiting_place *place)
{
	double sum = place->queued_ns;

	for (int way = 0; way < SB_WAITING_WAYS; way++)
		sum += place->fetch_ns[way];
	return sum;
}

void sb_waiting_free(struct sb_waiting *w)
{
	if (!w)
		return;
	for (uint32_t i = 0; i < w->places; i++) {
		free(w->place[i].file);
		free(w->place[i].function);
	}
	free(w->place);
	free(w);
}
