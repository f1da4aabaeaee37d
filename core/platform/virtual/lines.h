/*
 * lines.h - which CPU holds which cache line, and how long an access waits for it.
 *
 * A line has an owner, the CPU that wrote it last, and a version, which each new owner
 * raises. A CPU remembers the version of the lines that it has read or written; its copy
 * is good while that is the line's version. So a write makes all other copies stale
 * without a list of them. A CPU's memory of lines is its cache, in sets of four; a new line
 * displaces the least recently used one of its set. A displaced line comes from memory, and
 * memory of another NUMA node is farther away by the transfer from there. A set takes
 * memory when a line is first kept in it, so that an idle worker costs little.
 *
 * A store waits in the CPU's store buffer, and the CPU goes on, until a read-modify-write or
 * a fence, which wait for all earlier stores.
 *
 * A prefetch begins a transfer, and the CPU goes on; an access waits for what is left of it.
 *
 * Writers of one line queue up: a transfer begins when the one before has ended and its CPU
 * has kept the line for cost.hold_ps. Without that time a loop of compare-and-swap
 * on many CPUs hardly ever succeeds, as it does on no machine.
 *
 * Lines are those of the run's region (region.h). Other memory is the caller's own: a hit. One
 * thread.
 */
#ifndef SB_CORE_PLATFORM_VIRTUAL_LINES_H
#define SB_CORE_PLATFORM_VIRTUAL_LINES_H

#include "core/platform/virtual/model.h"
#include "core/platform/virtual/region.h"
#include "core/platform/virtual/site.h"

/* TOUCH: to write an object as a whole, several lines at a time. */
enum sb_access { SB_ACCESS_READ, SB_ACCESS_WRITE, SB_ACCESS_RMW, SB_ACCESS_TOUCH };

/* Of all accesses. */
struct sb_lines_counts {
	uint64_t hits, transfers, memory;
	uint64_t queued_ps; /* spent on waiting for another CPU's access to end */
};

/* All zero: nobody has ever touched it. */
struct sb_cache_line {
	uint64_t busy_ps; /* nobody else gets it before */
	uint32_t version;
	uint16_t owner;	    /* plus 1 */
	bool is_shared : 1; /* others have read it since it was written */
	bool is_kept : 1;   /* its owner has a copy of this version */
	bool is_first : 1;  /* the same, and it is the latest of the owner's set */
	bool is_coming : 1; /* its owner has prefetched it, and has not used it since */
	uint8_t reach;	    /* how far away the farthest of those that have read it is */
};

struct sb_lines {
	const struct sb_model *model;
	struct sb_cache_line *line; /* [SB_REGION_LINES] */
	uint16_t *home;		    /* of each page, the CPU that touched it first, plus 1 */
	uint64_t cache_lines;	    /* of each CPU */
	uint32_t *chunk;	    /* of each CPU's sets in turn; 0: one that stays empty */
	uint32_t chunks;	    /* in use, but for that */
	uint64_t *copy;		    /* in chunks: a line and its version; 0: none */
	struct sb_held *held;	    /* of each CPU */
	uint64_t *stores_ps;	    /* of each CPU, when its store buffer is empty */
	struct sb_lines_counts counts;
	struct sb_site *site; /* of those that have waited */
};

/* Between begin and end, as the region. The model has to last as long. Returns 0 or -ENOMEM. */
SB_MUST_CHECK int sb_lines_begin(struct sb_lines *lines, const struct sb_model *model);
void sb_lines_end(struct sb_lines *lines);

/* Line number + 1 and version in one word. */
static inline uint64_t sb_lines_key(const struct sb_lines *lines, uint64_t line)
{
	return (line + 1) << 32 | lines->line[line].version;
}

#define SB_LINES_WAYS 4

/* Pages next to each other differ in its upper bits, too. */
static inline uint64_t sb_lines_page_hash(uint64_t line)
{
	return line / SB_REGION_PAGE_LINES * UINT64_C(0x9E3779B97F4A7C15);
}

/* Two sets, and a line of the host. */
#define SB_LINES_CHUNK 8

/* Where in a CPU's cache the lines lie that share the line's set. As pages have any address in
 * physical memory, the lines of a page follow each other from any set on. */
static inline uint64_t sb_lines_place(const struct sb_lines *lines, uint32_t cpu, uint64_t line)
{
	const uint64_t sets = lines->cache_lines / SB_LINES_WAYS;
	const uint64_t page = sb_lines_page_hash(line) >> 32;
	const uint64_t set =
		(page * SB_REGION_PAGE_LINES + line % SB_REGION_PAGE_LINES) & (sets - 1);

	return cpu * lines->cache_lines + set * SB_LINES_WAYS;
}

/* Their keys, the latest first. */
static inline uint64_t *sb_lines_set(const struct sb_lines *lines, uint32_t cpu, uint64_t line)
{
	const uint64_t place = sb_lines_place(lines, cpu, line);
	const uint64_t chunk = lines->chunk[place / SB_LINES_CHUNK];

	return &lines->copy[chunk * SB_LINES_CHUNK + place % SB_LINES_CHUNK];
}

/* The place of a key in its set; SB_LINES_WAYS: none. */
static inline int sb_lines_way(const uint64_t *set, uint64_t key)
{
	int way = 0;

	while (way < SB_LINES_WAYS && set[way] != key)
		way++;
	return way;
}

/* The line of a key in a CPU's set, if the CPU owns it, else NULL. 0 is no key. */
static inline struct sb_cache_line *sb_lines_own(const struct sb_lines *lines, uint32_t cpu,
						 uint64_t key)
{
	struct sb_cache_line *line = key ? &lines->line[(key >> 32) - 1] : NULL;

	return line && line->owner == cpu + 1 ? line : NULL;
}

/* In the CPU's set the line takes the first place, and what was before `way` moves up by one. What
 * was there is displaced, unless it was the same line. */
static inline void sb_lines_put_first(const struct sb_lines *lines, uint32_t cpu, uint64_t number,
				      uint64_t *set, int way)
{
	struct sb_cache_line *line = &lines->line[number];
	struct sb_cache_line *second = sb_lines_own(lines, cpu, set[0]);
	struct sb_cache_line *displaced = sb_lines_own(lines, cpu, set[way]);

	for (; way > 0; way--)
		set[way] = set[way - 1];
	set[0] = sb_lines_key(lines, number);
	if (second)
		second->is_first = false;
	if (displaced)
		displaced->is_kept = displaced->is_first = false;
	if (line->owner == cpu + 1)
		line->is_first = line->is_kept = true;
}

/* Whether the CPU has the line's current version; this is no use of it. The line itself says so of
 * its owner, and the host does not have to fetch the set. */
static inline bool sb_lines_has_copy(const struct sb_lines *lines, uint32_t cpu, uint64_t number)
{
	const struct sb_cache_line *line = &lines->line[number];

	if (line->owner == cpu + 1)
		return line->is_kept;
	return sb_lines_way(sb_lines_set(lines, cpu, number), sb_lines_key(lines, number)) <
	       SB_LINES_WAYS;
}

/* The same; the CPU uses its copy. */
static inline bool sb_lines_use_copy(const struct sb_lines *lines, uint32_t cpu, uint64_t number)
{
	const struct sb_cache_line *line = &lines->line[number];
	uint64_t *set;
	int way;

	if (SB_LIKELY(line->owner == cpu + 1 && line->is_first))
		return true;
	set = sb_lines_set(lines, cpu, number);
	way = sb_lines_way(set, sb_lines_key(lines, number));
	if (way == SB_LINES_WAYS)
		return false;
	sb_lines_put_first(lines, cpu, number, set, way);
	return true;
}

/* The CPU holds it as the access needs it. */
static inline bool sb_lines_hits(const struct sb_lines *lines, uint32_t cpu, uint64_t number,
				 enum sb_access access)
{
	const struct sb_cache_line *line = &lines->line[number];

	return sb_lines_use_copy(lines, cpu, number) &&
	       (access == SB_ACCESS_READ || (line->owner == cpu + 1 && !line->is_shared));
}

/* When an access that does not hit and begins at now_ps has the line. */
uint64_t sb_lines_fetch(struct sb_lines *lines, uint32_t cpu, uint64_t number,
			enum sb_access access, struct sb_site *site, uint64_t now_ps);

/* Of a line that is coming: when its owner's access has it. */
uint64_t sb_lines_await(struct sb_lines *lines, uint64_t number, enum sb_access access,
			uint64_t now_ps);

/* When an access that begins at now_ps has the line. */
static inline uint64_t sb_lines_reach(struct sb_lines *lines, uint32_t cpu, uint64_t number,
				      enum sb_access access, struct sb_site *site, uint64_t now_ps)
{
	const struct sb_cache_line *line = &lines->line[number];

	if (SB_UNLIKELY(!sb_lines_hits(lines, cpu, number, access)))
		return sb_lines_fetch(lines, cpu, number, access, site, now_ps);
	lines->counts.hits++;
	/* Others that have read it since have waited for it. */
	if (SB_UNLIKELY(line->is_coming && line->owner == cpu + 1))
		return sb_lines_await(lines, number, access, now_ps);
	return now_ps;
}

/*
 * Begins to fetch a line, to be written, if another CPU has a copy; returns when the CPU goes on,
 * which is later only if it fetches many lines already. Lines from memory come as without a prefetch:
 * what they cost was measured with prefetches.
 */
uint64_t sb_lines_prefetch(struct sb_lines *lines, uint32_t cpu, uint64_t number,
			   struct sb_site *site, uint64_t now_ps);

/* When all stores of a CPU are done: fences and read-modify-writes wait for that. */
static inline uint64_t sb_lines_drain(const struct sb_lines *lines, uint32_t cpu, uint64_t now_ps)
{
	return sb_max_u64(now_ps, lines->stores_ps[cpu]);
}

/* When an access is done that a CPU begins at now_ps. */
static inline uint64_t sb_lines_access(struct sb_lines *lines, uint32_t cpu,
				       const volatile void *address, enum sb_access access,
				       struct sb_site *site, uint64_t now_ps)
{
	const struct sb_costs *cost = &lines->model->cost;
	const uint64_t number = sb_region_line(address);
	const uint64_t own_ps = cost->hit_ps + (access == SB_ACCESS_RMW ? cost->rmw_ps : 0);
	struct sb_cache_line *line;

	if (SB_UNLIKELY(number >= SB_REGION_LINES))
		return now_ps + own_ps;
	if (access == SB_ACCESS_RMW)
		now_ps = sb_lines_drain(lines, cpu, now_ps);
	now_ps = sb_lines_reach(lines, cpu, number, access, site, now_ps) + own_ps;
	/* A CPU whose clock is behind by the look-ahead does not see it before. */
	line = &lines->line[number];
	if (access != SB_ACCESS_READ && line->owner == cpu + 1)
		line->busy_ps = sb_max_u64(line->busy_ps, now_ps);
	return now_ps;
}

#endif
