#include "core/platform/virtual/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/platform/virtual/reserve.h"

#define PAGE_BYTES UINT64_C(4096)
#define PAGES	   (SB_REGION_LINES / SB_REGION_PAGE_LINES)

/* Of the pages that a CPU reads in turn, each the line that it fetched last from memory. */
#define STREAMS_LOG2 4

/* Prefetches that a CPU has under way, at most: about as many as it has line fill buffers. */
#define PREFETCHES 12

/* About as far ahead as a CPU looks. */
#define WINDOW_PS UINT64_C(20000)

/* The line that a CPU fetched last to write it, its streams, and its prefetches. */
struct sb_held {
	uint64_t number; /* plus 1; 0: none */
	uint64_t until_ps;
	uint64_t read; /* the line that it fetched last to read it, plus 1 */
	uint64_t read_from_ps, read_until_ps;
	uint64_t stream[1 << STREAMS_LOG2];
	uint64_t arrival_ps[PREFETCHES]; /* of its latest prefetches */
	uint32_t prefetched;
};

/* Both tables are reserved once and used by one run after the other. */
static struct sb_cache_line *all_lines;
static uint16_t *all_homes;

static bool reserve(void)
{
	if (!all_lines)
		all_lines = sb_reserve(SB_REGION_LINES * sizeof(*all_lines), PAGE_BYTES);
	if (!all_homes)
		all_homes = sb_reserve(PAGES * sizeof(*all_homes), PAGE_BYTES);
	return all_lines && all_homes;
}

int sb_lines_begin(struct sb_lines *l, const struct sb_model *model)
{
	uint64_t chunks;

	*l = (struct sb_lines){ .model = model };
	if (!reserve())
		return -ENOMEM;
	l->line = all_lines;
	l->home = all_homes;
	l->cache_lines = model->cache_lines ? model->cache_lines : SB_MODEL_CACHE_LINES;
	chunks = model->cpus * l->cache_lines / SB_LINES_CHUNK;
	l->chunk = calloc(chunks, sizeof(*l->chunk));
	l->copy = calloc((chunks + 1) * SB_LINES_CHUNK, sizeof(*l->copy));
	l->latest = calloc(model->cpus * SB_LINES_LATEST, sizeof(*l->latest));
	l->held = calloc(model->cpus, sizeof(*l->held));
	l->stores_ps = calloc(model->cpus, sizeof(*l->stores_ps));
	if (l->chunk && l->copy && l->latest && l->held && l->stores_ps)
		return 0;
	sb_lines_end(l);
	return -ENOMEM;
}

static void clear_sites(struct sb_lines *l)
{
	while (l->site) {
		struct sb_site *next = l->site->next;

		*l->site = (struct sb_site){ .file = l->site->file, .function = l->site->function };
		l->site = next;
	}
}

void sb_lines_end(struct sb_lines *l)
{
	const uint64_t used = sb_region_used() >> SB_REGION_LINE_SHIFT;

	clear_sites(l);
	if (l->line)
		sb_reserve_clear(l->line, used * sizeof(*l->line));
	if (l->home)
		sb_reserve_clear(l->home,
				 used / SB_REGION_PAGE_LINES * sizeof(*l->home) + sizeof(*l->home));
	free(l->chunk);
	free(l->copy);
	free(l->latest);
	free(l->held);
	free(l->stores_ps);
	*l = (struct sb_lines){ .model = NULL };
}

/* ---- a CPU's cache ---- */

/* Pages next to each other differ in its upper bits, too. */
static uint64_t page_hash(uint64_t number)
{
	return number / SB_REGION_PAGE_LINES * UINT64_C(0x9E3779B97F4A7C15);
}

/* Where the line's set begins. As pages have any address in physical memory, the lines of a page
 * follow each other from any set on. */
static uint64_t place_of(const struct sb_lines *l, uint32_t cpu, uint64_t number)
{
	const uint64_t sets = l->cache_lines / SB_LINES_WAYS;
	const uint64_t page = page_hash(number) >> 32;
	const uint64_t set =
		(page * SB_REGION_PAGE_LINES + number % SB_REGION_PAGE_LINES) & (sets - 1);

	return cpu * l->cache_lines + set * SB_LINES_WAYS;
}

uint64_t *sb_lines_set(const struct sb_lines *l, uint32_t cpu, uint64_t number)
{
	const uint64_t place = place_of(l, cpu, number);
	const uint64_t chunk = l->chunk[place / SB_LINES_CHUNK];

	return &l->copy[chunk * SB_LINES_CHUNK + place % SB_LINES_CHUNK];
}

/* The place of a key in its set; SB_LINES_WAYS: none. */
static int way_of(const uint64_t *set, uint64_t key)
{
	int way = 0;

	while (way < SB_LINES_WAYS && set[way] != key)
		way++;
	return way;
}

/* Puts the line's current version first in its set. It displaces the key at `way`; the keys before
 * that move up by one. */
static void put_first(const struct sb_lines *l, uint32_t cpu, uint64_t number, uint64_t *set,
		      int way)
{
	/* Of an empty set, any place: a 0 in it stays 0. */
	uint64_t *was_latest = sb_lines_latest(l, cpu, (set[0] >> 32) - 1);

	if (*was_latest == set[0])
		*was_latest = 0;
	for (; way > 0; way--)
		set[way] = set[way - 1];
	set[0] = sb_lines_key(l, number);
	*sb_lines_latest(l, cpu, number) = set[0];
}

bool sb_lines_use_set(const struct sb_lines *l, uint32_t cpu, uint64_t number)
{
	uint64_t *set = sb_lines_set(l, cpu, number);
	const int way = way_of(set, sb_lines_key(l, number));

	if (way == SB_LINES_WAYS)
		return false;
	put_first(l, cpu, number, set, way);
	return true;
}

void sb_lines_expect(const struct sb_lines *l, uint32_t cpu, uint64_t number)
{
	__builtin_prefetch(sb_region_start + (number << SB_REGION_LINE_SHIFT));
	__builtin_prefetch(sb_lines_set(l, cpu, number));
}

/* Whether the CPU has the line's current version. The order of the set does not change. */
static bool has_copy(const struct sb_lines *l, uint32_t cpu, uint64_t number)
{
	return way_of(sb_lines_set(l, cpu, number), sb_lines_key(l, number)) < SB_LINES_WAYS;
}

/* ---- waits ---- */

static void note(struct sb_lines *l, struct sb_site *site)
{
	if (site->is_listed)
		return;
	site->is_listed = true;
	site->next = l->site;
	l->site = site;
}

static uint64_t wait_for_line(struct sb_lines *l, const struct sb_cache_line *line,
			      struct sb_site *site, uint64_t now_ps)
{
	if (line->busy_ps <= now_ps)
		return now_ps;
	l->counts.queued_ps += line->busy_ps - now_ps;
	site->queued_ps += line->busy_ps - now_ps;
	return line->busy_ps;
}

/* ---- fetching ---- */

/* The last line of these pages to come from memory was a neighbour: the prefetcher has seen it. */
static bool continues_stream(const struct sb_lines *l, uint32_t cpu, uint64_t number)
{
	const uint64_t stream = page_hash(number) >> (64 - STREAMS_LOG2);
	uint64_t *last = &l->held[cpu].stream[stream];
	const bool does = *last + 1 == number || *last == number + 1;

	*last = number;
	return does;
}

static uint64_t memory_ps(const struct sb_lines *l, uint32_t cpu, uint64_t number,
			  enum sb_access access)
{
	const struct sb_model *model = l->model;
	uint16_t *home = &l->home[number / SB_REGION_PAGE_LINES];
	uint64_t far_ps;

	if (!*home)
		*home = (uint16_t)(cpu + 1);
	far_ps = sb_model_transfer_ps(model, *home - 1u, cpu);
	/* Stores miss several at a time, as the parts of an object do. */
	if (continues_stream(l, cpu, number) || access == SB_ACCESS_TOUCH ||
	    access == SB_ACCESS_WRITE)
		return model->cost.cold_ps;
	return model->cost.memory_ps + (far_ps > model->transfer_ps[SB_HOP_NODE]
						? far_ps - model->transfer_ps[SB_HOP_NODE]
						: 0);
}

static uint64_t note_fetch(struct sb_site *site, uint32_t way, uint64_t ps)
{
	site->fetches[way]++;
	site->fetch_ps[way] += ps;
	return ps;
}

/* The time to get it from its owner, or from memory. */
static uint64_t fetch_ps(struct sb_lines *l, uint32_t cpu, uint64_t number, enum sb_access access,
			 struct sb_site *site)
{
	const struct sb_cache_line *line = &l->line[number];
	enum sb_hop hop;

	if (!line->owner)
		return note_fetch(site, SB_FROM_MEMORY,
				  memory_ps(l, cpu, number, access) +
					  l->model->cost.first_touch_ps);
	if (line->owner == cpu + 1 || !has_copy(l, line->owner - 1u, number)) {
		l->counts.memory++;
		return note_fetch(site, SB_FROM_MEMORY, memory_ps(l, cpu, number, access));
	}
	l->counts.transfers++;
	hop = sb_model_hop(l->model, line->owner - 1u, cpu);
	return note_fetch(site, hop, sb_model_transfer_ps(l->model, line->owner - 1u, cpu));
}

/* In place of its earlier version, or of the line that was used longest ago. */
static void remember(struct sb_lines *l, uint32_t cpu, uint64_t number)
{
	uint32_t *chunk = &l->chunk[place_of(l, cpu, number) / SB_LINES_CHUNK];
	uint64_t *set;
	int way = 0;

	if (!*chunk)
		*chunk = ++l->chunks;
	set = sb_lines_set(l, cpu, number);
	while (way < SB_LINES_WAYS - 1 && set[way] >> 32 != number + 1)
		way++;
	put_first(l, cpu, number, set, way);
}

static uint64_t read_line(struct sb_lines *l, uint32_t cpu, uint64_t number, struct sb_site *site,
			  uint64_t now_ps)
{
	struct sb_cache_line *line = &l->line[number];
	const uint64_t start_ps = now_ps;

	now_ps = wait_for_line(l, line, site, now_ps) +
		 fetch_ps(l, cpu, number, SB_ACCESS_READ, site);
	/* Of those that have a copy the owner is the one that others get it from. */
	if (!line->owner || !has_copy(l, line->owner - 1u, number)) {
		line->owner = (uint16_t)(cpu + 1);
		line->is_coming = false;
	} else if (line->owner != cpu + 1) {
		const uint8_t distance = (uint8_t)sb_model_hop(l->model, line->owner - 1u, cpu);

		line->is_shared = true;
		line->reach = distance > line->reach ? distance : line->reach;
	}
	l->held[cpu].read = number + 1;
	l->held[cpu].read_from_ps = start_ps;
	l->held[cpu].read_until_ps = now_ps;
	remember(l, cpu, number);
	return now_ps;
}

/* When nobody else has a copy any more. A CPU that writes what it has just read had begun then. */
static uint64_t invalidate_ps(const struct sb_lines *l, uint32_t cpu, uint64_t number,
			      uint64_t now_ps)
{
	const struct sb_cache_line *line = &l->line[number];
	const struct sb_held *held = &l->held[cpu];
	uint64_t ps = line->is_shared ? l->model->transfer_ps[line->reach] : 0;

	if (held->read == number + 1 && now_ps <= held->read_until_ps + WINDOW_PS)
		ps -= sb_min_u64(ps, now_ps - held->read_from_ps);
	return ps;
}

/* How long a CPU keeps a line after its access. By line and version, so each run has the same times. */
static uint64_t kept_ps(const struct sb_lines *l, uint64_t number)
{
	const uint64_t random = sb_lines_key(l, number) * UINT64_C(0x9E3779B97F4A7C15) >> 32;

	return random * (2 * l->model->cost.hold_ps) >> 32;
}

static uint64_t write_line(struct sb_lines *l, uint32_t cpu, uint64_t number, enum sb_access access,
			   struct sb_site *site, uint64_t now_ps)
{
	struct sb_cache_line *line = &l->line[number];
	const bool is_new = !line->owner;
	const uint64_t invalidate = invalidate_ps(l, cpu, number, now_ps);
	uint64_t fetch = 0;

	if (!has_copy(l, cpu, number))
		fetch = fetch_ps(l, cpu, number, access, site);
	if (invalidate > fetch)
		fetch += note_fetch(site, line->reach, invalidate - fetch);
	now_ps = wait_for_line(l, line, site, now_ps) + fetch;
	line->owner = (uint16_t)(cpu + 1);
	line->version++;
	line->is_shared = line->is_coming = false;
	line->reach = 0;
	if (!is_new) {
		line->busy_ps = now_ps + sb_lines_own_ps(l, access) + kept_ps(l, number);
		l->held[cpu].number = number + 1;
		l->held[cpu].until_ps = line->busy_ps;
	}
	remember(l, cpu, number);
	return now_ps;
}

/* Whether the CPU still keeps the line until the end of the access. Those who wait for that are its
 * next owners already. */
static bool holds(const struct sb_lines *l, uint32_t cpu, uint64_t number, enum sb_access access,
		  uint64_t now_ps)
{
	return l->held[cpu].number == number + 1 &&
	       now_ps + sb_lines_own_ps(l, access) <= l->held[cpu].until_ps &&
	       !has_copy(l, cpu, number);
}

uint64_t sb_lines_fetch(struct sb_lines *l, uint32_t cpu, uint64_t number, enum sb_access access,
			struct sb_site *site, uint64_t now_ps)
{
	if (holds(l, cpu, number, access, now_ps)) {
		l->counts.hits++;
		return now_ps;
	}
	note(l, site);
	/* The CPU goes on; others get the line after. */
	if (access == SB_ACCESS_WRITE) {
		l->stores_ps[cpu] = sb_max_u64(l->stores_ps[cpu],
					       write_line(l, cpu, number, access, site, now_ps));
		return now_ps;
	}
	return access == SB_ACCESS_READ ? read_line(l, cpu, number, site, now_ps)
					: write_line(l, cpu, number, access, site, now_ps);
}

/* ---- prefetches ---- */

uint64_t sb_lines_prefetch(struct sb_lines *l, uint32_t cpu, uint64_t number, struct sb_site *site,
			   uint64_t now_ps)
{
	struct sb_cache_line *line = &l->line[number];
	struct sb_held *held = &l->held[cpu];
	uint64_t *arrival_ps = &held->arrival_ps[held->prefetched % PREFETCHES];

	/* The CPU's own alone, nobody's, or displaced. */
	if ((line->owner == cpu + 1 && !line->is_shared) || !line->owner ||
	    !has_copy(l, line->owner - 1u, number))
		return now_ps;
	note(l, site);
	held->prefetched++;
	now_ps = sb_max_u64(now_ps, *arrival_ps);
	*arrival_ps = write_line(l, cpu, number, SB_ACCESS_WRITE, site, now_ps);
	line->busy_ps = held->until_ps = *arrival_ps + l->model->cost.hold_ps;
	line->is_coming = true;
	return now_ps;
}

uint64_t sb_lines_await(struct sb_lines *l, uint64_t number, enum sb_access access, uint64_t now_ps)
{
	struct sb_cache_line *line = &l->line[number];
	const uint64_t arrival_ps = line->busy_ps - l->model->cost.hold_ps;
	uint64_t *stores_ps = &l->stores_ps[line->owner - 1u];

	line->is_coming = false;
	if (access != SB_ACCESS_WRITE)
		return sb_max_u64(now_ps, arrival_ps);
	*stores_ps = sb_max_u64(*stores_ps, arrival_ps);
	return now_ps;
}
