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
 * Writers of one line queue up: a transfer begins when the access of the CPU before has ended, and
 * that CPU has kept the line for a random time, up to twice cost.hold_ps. A read-modify-write that
 * ends within that time needs no transfer. So most CPUs do one read-modify-write before they lose
 * the line, and a few succeed with the second: a loop of compare-and-swap on N CPUs takes a few
 * transfers for each success, as on real machines, and not N.
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
	uint64_t *latest;	    /* of each CPU, copies that are the latest of their sets */
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

/* Two sets, and a line of the host. */
#define SB_LINES_CHUNK 8

/* The keys of the lines that share the line's set in the CPU's cache, the latest first. */
uint64_t *sb_lines_set(const struct sb_lines *lines, uint32_t cpu, uint64_t number);

/* The places in a CPU's `latest`; a key has the one of its line's number, modulo this. */
#define SB_LINES_LATEST 128

static inline uint64_t *sb_lines_latest(const struct sb_lines *lines, uint32_t cpu, uint64_t number)
{
	return &lines->latest[cpu * SB_LINES_LATEST + number % SB_LINES_LATEST];
}

/* Whether the CPU's set has the line's current version, which becomes the latest of the set. */
bool sb_lines_use_set(const struct sb_lines *lines, uint32_t cpu, uint64_t number);

/* The same. Most accesses find the key in `latest`: the set stays as it is, and the host does not
 * have to fetch it. */
static inline bool sb_lines_use_copy(const struct sb_lines *lines, uint32_t cpu, uint64_t number)
{
	return SB_LIKELY(*sb_lines_latest(lines, cpu, number) == sb_lines_key(lines, number)) ||
	       sb_lines_use_set(lines, cpu, number);
}

/* The CPU holds it as the access needs it. */
static inline bool sb_lines_hits(const struct sb_lines *lines, uint32_t cpu, uint64_t number,
				 enum sb_access access)
{
	const struct sb_cache_line *line = &lines->line[number];

	return sb_lines_use_copy(lines, cpu, number) &&
	       (access == SB_ACCESS_READ || (line->owner == cpu + 1 && !line->is_shared));
}

/* The host fetches what an access of the CPU to the line will need: the line and its set. */
void sb_lines_expect(const struct sb_lines *lines, uint32_t cpu, uint64_t number);

/* The time of an access once its CPU has the line. */
static inline uint64_t sb_lines_own_ps(const struct sb_lines *lines, enum sb_access access)
{
	const struct sb_costs *cost = &lines->model->cost;

	return cost->hit_ps + (access == SB_ACCESS_RMW ? cost->rmw_ps : 0);
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
	const uint64_t number = sb_region_line(address);
	const uint64_t own_ps = sb_lines_own_ps(lines, access);
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
