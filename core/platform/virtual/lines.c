#include "core/platform/virtual/lines.h"

#include <stdlib.h>

/* Bytes that move at a time, as a power of two. */
#define LINE_SHIFT 6

/* What one CPU remembers: 4096 lines are 256 KiB, about a second-level cache. */
#define COPIES 4096

/* A table is at most half full. */
#define FIRST_SLOTS 4096

struct line {
	uint64_t name; /* its address by lines, plus 1; 0: an empty slot */
	uint64_t number;
	uint64_t version;
	uint64_t busy_ps; /* nobody else gets it before */
	uint32_t owner;
	bool is_shared; /* others have read it since it was written */
	uint8_t reach;	/* how far away the farthest of them is */
};

/* Of lines that have the same place. */
struct copy {
	uint64_t number; /* plus 1; 0: none */
	uint64_t version;
};

/* The line that a CPU fetched last to write it. */
struct held {
	uint64_t number; /* plus 1; 0: none */
	uint64_t until_ps;
};

struct sb_lines {
	const struct sb_machine *machine;
	struct line *line;
	uint64_t slots, used;
	struct copy *copy; /* COPIES of each CPU */
	struct held *held; /* of each CPU */
	struct sb_lines_counts counts;
};

struct sb_lines *sb_lines_create(const struct sb_machine *machine)
{
	struct sb_lines *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->machine = machine;
	l->slots = FIRST_SLOTS;
	l->line = calloc(l->slots, sizeof(*l->line));
	l->copy = calloc((size_t)machine->cpus * COPIES, sizeof(*l->copy));
	l->held = calloc(machine->cpus, sizeof(*l->held));
	if (l->line && l->copy && l->held)
		return l;
	sb_lines_destroy(l);
	return NULL;
}

void sb_lines_destroy(struct sb_lines *l)
{
	if (!l)
		return;
	free(l->line);
	free(l->copy);
	free(l->held);
	free(l);
}

struct sb_lines_counts sb_lines_count(const struct sb_lines *l)
{
	struct sb_lines_counts counts = l->counts;

	counts.lines = l->used;
	return counts;
}

/* ---- finding a line ---- */

/* Knuth, The Art of Computer Programming, vol. 3, section 6.4: the line of that name, or
 * the empty slot where it would be. */
static struct line *slot_of(const struct sb_lines *l, uint64_t name)
{
	uint64_t i = (name * UINT64_C(0x9E3779B97F4A7C15)) >> 20;

	for (;; i++) {
		struct line *line = &l->line[i & (l->slots - 1)];

		if (line->name == name || !line->name)
			return line;
	}
}

static void grow(struct sb_lines *l)
{
	struct line *old = l->line;
	const uint64_t slots = l->slots;

	l->slots *= 2;
	l->line = calloc(l->slots, sizeof(*l->line));
	SB_CHECK((uintptr_t)l->line, !=, 0);
	for (uint64_t i = 0; i < slots; i++) {
		if (old[i].name)
			*slot_of(l, old[i].name) = old[i];
	}
	free(old);
}

/* Whoever uses a line first owns it. */
static struct line *find(struct sb_lines *l, uint32_t cpu, const volatile void *address)
{
	const uint64_t name = ((uintptr_t)address >> LINE_SHIFT) + 1;
	struct line *line = slot_of(l, name);

	if (SB_LIKELY(line->name))
		return line;
	if (2 * (l->used + 1) > l->slots) {
		grow(l);
		line = slot_of(l, name);
	}
	*line = (struct line){ .name = name, .number = l->used++, .owner = cpu };
	return line;
}

/* ---- an access ---- */

static struct copy *copy_of(const struct sb_lines *l, uint32_t cpu, const struct line *line)
{
	return &l->copy[(size_t)cpu * COPIES + line->number % COPIES];
}

static bool has_copy(const struct sb_lines *l, uint32_t cpu, const struct line *line)
{
	const struct copy *copy = copy_of(l, cpu, line);

	return copy->number == line->number + 1 && copy->version == line->version;
}

static void remember(struct sb_lines *l, uint32_t cpu, const struct line *line)
{
	*copy_of(l, cpu, line) =
		(struct copy){ .number = line->number + 1, .version = line->version };
}

/* What it takes to have it from its owner, or from memory. */
static uint64_t fetch_ps(struct sb_lines *l, uint32_t cpu, const struct line *line)
{
	if (line->owner == cpu || !has_copy(l, line->owner, line)) {
		l->counts.memory++;
		return l->machine->cost.memory_ps;
	}
	l->counts.transfers++;
	return l->machine->transfer_ps[sb_machine_hop(l->machine, line->owner, cpu)];
}

/* What it takes until no other CPU has a copy. */
static uint64_t invalidate_ps(const struct sb_lines *l, const struct line *line)
{
	return line->is_shared ? l->machine->transfer_ps[line->reach] : 0;
}

static uint64_t wait_for_line(struct sb_lines *l, const struct line *line, uint64_t now_ps)
{
	if (line->busy_ps <= now_ps)
		return now_ps;
	l->counts.queued_ps += line->busy_ps - now_ps;
	return line->busy_ps;
}

static uint64_t read_line(struct sb_lines *l, uint32_t cpu, struct line *line, uint64_t now_ps)
{
	now_ps = wait_for_line(l, line, now_ps) + fetch_ps(l, cpu, line);
	if (line->owner != cpu) {
		const uint8_t distance = (uint8_t)sb_machine_hop(l->machine, line->owner, cpu);

		line->is_shared = true;
		line->reach = distance > line->reach ? distance : line->reach;
	}
	remember(l, cpu, line);
	return now_ps;
}

static uint64_t write_line(struct sb_lines *l, uint32_t cpu, struct line *line, uint64_t now_ps)
{
	const uint64_t fetch = has_copy(l, cpu, line) ? 0 : fetch_ps(l, cpu, line);

	now_ps = wait_for_line(l, line, now_ps) + sb_max_u64(fetch, invalidate_ps(l, line));
	line->owner = cpu;
	line->version++;
	line->is_shared = false;
	line->reach = 0;
	line->busy_ps = now_ps + l->machine->cost.hold_ps;
	l->held[cpu] = (struct held){ .number = line->number + 1, .until_ps = line->busy_ps };
	remember(l, cpu, line);
	return now_ps;
}

/* Those who wait for the end of that time are its next owners already. */
static bool holds(const struct sb_lines *l, uint32_t cpu, const struct line *line, uint64_t now_ps)
{
	return l->held[cpu].number == line->number + 1 && now_ps <= l->held[cpu].until_ps;
}

static bool is_hit(const struct sb_lines *l, uint32_t cpu, const struct line *line,
		   enum sb_access access, uint64_t now_ps)
{
	if (!has_copy(l, cpu, line))
		return holds(l, cpu, line, now_ps);
	return access == SB_ACCESS_READ || (line->owner == cpu && !line->is_shared);
}

uint64_t sb_lines_access(struct sb_lines *l, uint32_t cpu, const volatile void *address,
			 enum sb_access access, uint64_t now_ps)
{
	const struct sb_costs *cost = &l->machine->cost;
	const uint64_t known = l->used;
	struct line *line = find(l, cpu, address);

	if (known != l->used)
		remember(l, cpu, line);
	if (!is_hit(l, cpu, line, access, now_ps))
		now_ps = access == SB_ACCESS_READ ? read_line(l, cpu, line, now_ps)
						  : write_line(l, cpu, line, now_ps);
	else
		l->counts.hits++;
	now_ps += cost->hit_ps + (access == SB_ACCESS_RMW ? cost->rmw_ps : 0);
	/* A CPU whose clock is behind by the look-ahead does not see it before. */
	if (access != SB_ACCESS_READ && line->owner == cpu)
		line->busy_ps = sb_max_u64(line->busy_ps, now_ps);
	return now_ps;
}
