#include "workloads/load/replay.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A request, as its generator knows it. */
struct note {
	uint64_t intended_ns;
	uint64_t submitted_ns;
	double asked_ns;
};

/* Of one generator. Workers write service_ns, and nothing else here. */
struct notes {
	alignas(SB_LINE) uint64_t noted; /* more than capacity: not all of them */
	uint64_t capacity;
	struct note *note;    /* [capacity] */
	uint64_t *service_ns; /* [capacity] */
};

struct sb_replay {
	uint32_t generators;
	struct notes notes[];
};

/* ---- servers ---- */

int sb_servers_init(struct sb_servers *s, uint32_t servers)
{
	*s = (struct sb_servers){ servers, calloc(servers, sizeof(double)) };
	return s->free_ns ? 0 : -ENOMEM;
}

void sb_servers_fini(struct sb_servers *s)
{
	free(s->free_ns);
}

/* Of i's two children the one that is free first; servers: it has none. */
static uint32_t first_child(const struct sb_servers *s, uint32_t i)
{
	const uint32_t left = 2 * i + 1;

	if (left + 1 < s->servers && s->free_ns[left + 1] < s->free_ns[left])
		return left + 1;
	return left < s->servers ? left : s->servers;
}

/* The first one is now free later: down with it. */
static void sink_first(struct sb_servers *s)
{
	const double free_ns = s->free_ns[0];
	uint32_t i = 0;
	uint32_t child;

	while ((child = first_child(s, i)) < s->servers && s->free_ns[child] < free_ns) {
		s->free_ns[i] = s->free_ns[child];
		i = child;
	}
	s->free_ns[i] = free_ns;
}

double sb_servers_take(struct sb_servers *s, double arrival_ns, double service_ns)
{
	const double end = fmax(arrival_ns, s->free_ns[0]) + service_ns;

	s->free_ns[0] = end;
	sink_first(s);
	return end;
}

/* ---- notes ---- */

int sb_replay_create(struct sb_replay **out, uint32_t generators)
{
	const size_t bytes = sizeof(**out) + generators * sizeof((*out)->notes[0]);

	*out = aligned_alloc(SB_LINE, bytes);
	if (!*out)
		return -ENOMEM;
	memset(*out, 0, bytes);
	(*out)->generators = generators;
	return 0;
}

static void free_notes(struct notes *notes)
{
	free(notes->note);
	free(notes->service_ns);
	*notes = (struct notes){ .noted = 0 };
}

void sb_replay_destroy(struct sb_replay *replay)
{
	for (uint32_t i = 0; replay && i < replay->generators; i++)
		free_notes(&replay->notes[i]);
	free(replay);
}

/* Bursts come in whole ones, and a generator has at least one. */
static uint64_t expected(const struct sb_load *load, uint64_t duration_ns)
{
	const double mean = load->rate_per_s * 1e-9 * (double)duration_ns / load->generators;
	const double burst = load->arrival == SB_ARRIVAL_BURSTY
				     ? load->rate_per_s * 1e-9 * (load->on_ns + load->off_ns)
				     : 0;

	return (uint64_t)(1.1 * mean + 10 * sqrt(mean) + burst + 64);
}

static void make_room(struct notes *notes, uint64_t capacity)
{
	if (notes->capacity < capacity) {
		free_notes(notes);
		notes->note = malloc(capacity * sizeof(*notes->note));
		notes->service_ns = malloc(capacity * sizeof(*notes->service_ns));
		if (!notes->note || !notes->service_ns) {
			free_notes(notes);
			return;
		}
		notes->capacity = capacity;
	}
	/* Also to have the pages now, and not while it is measured. */
	memset(notes->note, 0, notes->capacity * sizeof(*notes->note));
	memset(notes->service_ns, 0, notes->capacity * sizeof(*notes->service_ns));
}

void sb_replay_prepare(struct sb_replay *replay, const struct sb_load *load, uint64_t duration_ns)
{
	const uint64_t capacity = load->kind == SB_LOAD_OPEN ? expected(load, duration_ns) : 0;

	for (uint32_t i = 0; i < replay->generators; i++) {
		struct notes *notes = &replay->notes[i];

		notes->noted = 0;
		if (!capacity || capacity * replay->generators > SB_REPLAY_MAX)
			free_notes(notes);
		else
			make_room(notes, capacity);
	}
}

void sb_replay_submitted(struct sb_replay *replay, const struct sb_request *request,
			 double asked_ns)
{
	struct notes *notes = &replay->notes[request->generator];

	notes->noted = request->number + 1;
	if (SB_LIKELY(request->number < notes->capacity))
		notes->note[request->number] =
			(struct note){ request->intended_ns, request->submitted_ns, asked_ns };
}

void sb_replay_served(struct sb_replay *replay, const struct sb_request *request,
		      uint64_t service_ns)
{
	struct notes *notes = &replay->notes[request->generator];

	if (SB_LIKELY(request->number < notes->capacity))
		notes->service_ns[request->number] = service_ns;
}

/* ---- working it out ---- */

/* One of the two ways: when a request comes, and how long it takes. */
struct way {
	uint64_t (*arrival_ns)(const struct notes *notes, uint64_t i);
	double (*service_ns)(const struct notes *notes, uint64_t i);
};

static uint64_t intended_ns(const struct notes *notes, uint64_t i)
{
	return notes->note[i].intended_ns;
}

static double asked_ns(const struct notes *notes, uint64_t i)
{
	return notes->note[i].asked_ns;
}

static uint64_t submitted_ns(const struct notes *notes, uint64_t i)
{
	return notes->note[i].submitted_ns;
}

static double took_ns(const struct notes *notes, uint64_t i)
{
	return (double)notes->service_ns[i];
}

static const struct way ideal = { intended_ns, asked_ns };
static const struct way replayed = { submitted_ns, took_ns };

/* Whose next request comes first; next: how far each generator is. generators:
 * there are no more. */
static uint32_t first_of(const struct sb_replay *replay, const uint64_t *next,
			 const struct way *way)
{
	uint32_t first = replay->generators;
	uint64_t first_ns = UINT64_MAX;

	for (uint32_t g = 0; g < replay->generators; g++) {
		const struct notes *notes = &replay->notes[g];
		uint64_t ns;

		if (next[g] >= notes->noted)
			continue;
		ns = way->arrival_ns(notes, next[g]);
		if (first < replay->generators && ns >= first_ns)
			continue;
		first = g;
		first_ns = ns;
	}
	return first;
}

static void count(struct sb_hist_counts *hist, double ns)
{
	const uint64_t value = (uint64_t)ns;

	hist->bucket[sb_hist_index(value)]++;
	hist->count++;
	hist->sum += value;
	hist->max = sb_max_u64(hist->max, value);
}

/* Times are taken from the first request's, to keep all digits. */
static int serve_all(const struct sb_replay *replay, uint32_t servers, const struct way *way,
		     uint64_t from_ns, struct sb_hist_counts *sojourn)
{
	uint64_t *next = calloc(replay->generators, sizeof(*next));
	struct sb_servers s;
	uint64_t start = UINT64_MAX;
	uint32_t g;
	int rc = next ? sb_servers_init(&s, servers) : -ENOMEM;

	for (g = 0; g < replay->generators; g++) {
		if (replay->notes[g].noted)
			start = sb_min_u64(start, intended_ns(&replay->notes[g], 0));
	}
	while (!rc && (g = first_of(replay, next, way)) < replay->generators) {
		const struct notes *notes = &replay->notes[g];
		const uint64_t i = next[g]++;
		const double end = sb_servers_take(&s, (double)(way->arrival_ns(notes, i) - start),
						   way->service_ns(notes, i));

		if (intended_ns(notes, i) >= from_ns)
			count(sojourn, end - (double)(intended_ns(notes, i) - start));
	}
	if (!rc)
		sb_servers_fini(&s);
	free(next);
	return rc;
}

static bool has_all(const struct sb_replay *replay, uint64_t requests)
{
	uint64_t noted = 0;

	for (uint32_t g = 0; g < replay->generators; g++) {
		noted += replay->notes[g].noted;
		if (replay->notes[g].noted > replay->notes[g].capacity)
			return false;
	}
	return noted == requests;
}

void sb_replay_work_out(struct sb_replay *replay, uint32_t servers, uint64_t requests,
			uint64_t from_ns, struct sb_requests *out)
{
	if (!has_all(replay, requests) ||
	    serve_all(replay, servers, &ideal, from_ns, &out->hist[SB_REQUEST_ideal]) ||
	    serve_all(replay, servers, &replayed, from_ns, &out->hist[SB_REQUEST_replayed]))
		out->not_replayed = true;
}
