#include "core/wake/idle.h"

#include <errno.h>

#include "core/memory/arena.h"

#define ONE_SEARCHER (UINT64_C(1) << 32)
#define ONE_SLEEPER  UINT64_C(1)

static uint32_t words(uint32_t workers)
{
	return (workers + 63) / 64;
}

int sb_idle_init(struct sb_idle *idle, uint32_t workers, uint32_t searchers_max)
{
	*idle = (struct sb_idle){ .workers = workers, .searchers_max = searchers_max };
	idle->asleep = sb_mem_zalloc(SB_HEAP, words(workers) * sizeof(*idle->asleep), SB_LINE);
	return idle->asleep ? 0 : -ENOMEM;
}

void sb_idle_fini(struct sb_idle *idle)
{
	sb_mem_free(idle->asleep);
	idle->asleep = NULL;
}

static bool may_search(const struct sb_idle *idle, uint64_t counts)
{
	const uint64_t searching = sb_idle_searching(counts);
	const uint64_t awake = idle->workers - sb_idle_sleeping(counts);

	if (idle->searchers_max)
		return searching < idle->searchers_max;
	return 2 * searching < awake;
}

bool sb_idle_search_begin(struct sb_idle *idle)
{
	uint64_t counts = sb_load_rlx(&idle->counts);

	do {
		if (!may_search(idle, counts))
			return false;
	} while (!sb_cas_weak_acq_rel(&idle->counts, &counts, counts + ONE_SEARCHER));
	return true;
}

static bool is_wanted(uint64_t counts)
{
	return sb_idle_searching(counts) == 0 && sb_idle_sleeping(counts) != 0;
}

/* A version that nobody has seen yet, and to look. */
static void raise_ask(struct sb_idle *idle, uint64_t counts)
{
	uint64_t ask;

	if (!is_wanted(counts))
		return;
	SB_WINDOW();
	ask = sb_load_rlx(&idle->ask);
	while (!sb_cas_weak_acq_rel(&idle->ask, &ask, (ask | 1) + 2))
		;
}

bool sb_idle_look(struct sb_idle *idle)
{
	/* Before counts: these are no older than who has raised it left them. */
	uint64_t ask = sb_load_acq(&idle->ask);

	if (is_wanted(sb_load_acq(&idle->counts)))
		return true;
	SB_WINDOW();
	if (ask & 1)
		(void)sb_cas_acq_rel(&idle->ask, &ask, ask & ~UINT64_C(1));
	return false;
}

bool sb_idle_search_end(struct sb_idle *idle)
{
	const uint64_t before = sb_sub_acq_rel(&idle->counts, ONE_SEARCHER);

	SB_CHECK(sb_idle_searching(before), >, 0);
	raise_ask(idle, before - ONE_SEARCHER);
	return sb_idle_searching(before) == 1;
}

static _Atomic(uint64_t) *word_of(struct sb_idle *idle, uint32_t worker)
{
	return &idle->asleep[worker / 64];
}

static uint64_t bit_of(uint32_t worker)
{
	return UINT64_C(1) << (worker % 64);
}

/* Clears worker's bit; true: it was set, so it is ours. */
static bool take_bit(struct sb_idle *idle, uint32_t worker)
{
	const uint64_t bit = bit_of(worker);

	if (!(sb_load_rlx(word_of(idle, worker)) & bit))
		return false;
	return sb_and_acq_rel(word_of(idle, worker), ~bit) & bit;
}

/*
 * Takes one set bit, near's if it is set. The caller has lowered the count, so
 * there is a bit for it (see the invariant in the header); it may have to look
 * again when others take theirs in front of it.
 */
static uint32_t take_any_bit(struct sb_idle *idle, uint32_t near)
{
	const uint32_t n = words(idle->workers);

	if (take_bit(idle, near))
		return near;
	for (;;) {
		for (uint32_t i = 0; i < n; i++) {
			const uint32_t w = (near / 64 + i) % n;
			const uint64_t set = sb_load_rlx(&idle->asleep[w]);
			uint32_t worker;

			if (!set)
				continue;
			worker = w * 64 + (uint32_t)__builtin_ctzll(set);
			if (take_bit(idle, worker))
				return worker;
		}
	}
}

void sb_idle_announce(struct sb_idle *idle, uint32_t worker, bool searching)
{
	const uint64_t change = ONE_SLEEPER - (searching ? ONE_SEARCHER : 0);

	sb_or_acq_rel(word_of(idle, worker), bit_of(worker));
	SB_WINDOW();
	raise_ask(idle, sb_add_acq_rel(&idle->counts, change) + change);
}

uint32_t sb_idle_retract(struct sb_idle *idle, uint32_t worker)
{
	uint64_t counts = sb_load_rlx(&idle->counts);

	do {
		if (!sb_idle_sleeping(counts))
			return SB_IDLE_NONE;
	} while (!sb_cas_weak_acq_rel(&idle->counts, &counts, counts - ONE_SLEEPER + ONE_SEARCHER));
	SB_WINDOW();
	return take_any_bit(idle, worker);
}

bool sb_idle_is_announced(struct sb_idle *idle, uint32_t worker)
{
	return sb_load_acq(word_of(idle, worker)) & bit_of(worker);
}

static uint32_t claim(struct sb_idle *idle, uint32_t near, uint32_t searching_max)
{
	uint64_t counts = sb_load_rlx(&idle->counts);

	do {
		if (sb_idle_searching(counts) > searching_max || !sb_idle_sleeping(counts))
			return SB_IDLE_NONE;
	} while (!sb_cas_weak_acq_rel(&idle->counts, &counts, counts - ONE_SLEEPER + ONE_SEARCHER));
	SB_WINDOW();
	return take_any_bit(idle, near);
}

uint32_t sb_idle_claim(struct sb_idle *idle, uint32_t near)
{
	return claim(idle, near, 0);
}

uint32_t sb_idle_claim_anyway(struct sb_idle *idle, uint32_t near)
{
	return claim(idle, near, UINT32_MAX);
}
