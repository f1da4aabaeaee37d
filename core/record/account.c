#include "core/record/account.h"

#include "core/platform/platform.h"

#define KIND_BITS 3

static uint64_t pack(enum sb_activity activity, uint64_t since)
{
	return since << KIND_BITS | activity;
}

static enum sb_activity activity_of(uint64_t word)
{
	return (enum sb_activity)(word & ((1u << KIND_BITS) - 1));
}

static uint64_t since_of(uint64_t word)
{
	return word >> KIND_BITS;
}

/* Where the time of each goes. A search is spinning, but for its rounds. */
static const enum sb_counter_id counter_of[] = {
	[SB_ACTIVITY_BUSY] = SB_COUNTER_busy_ns,
	[SB_ACTIVITY_SEARCH] = SB_COUNTER_spin_ns,
	[SB_ACTIVITY_SPIN] = SB_COUNTER_spin_ns,
	[SB_ACTIVITY_BLOCKED] = SB_COUNTER_blocked_ns,
};

static sb_counter *counter(struct sb_counters *counters, enum sb_counter_id id)
{
	return (sb_counter *)counters + id;
}

void sb_account_init(struct sb_account *a, struct sb_counters *counters)
{
	*a = (struct sb_account){ .counters = counters };
	sb_store_rel(&a->word, pack(SB_ACTIVITY_REST, 1));
}

/* ---- changes ---- */

/* Release: who sees the counter sees that the word is 0, or newer. */
static void add(struct sb_account *a, enum sb_counter_id id, uint64_t ns)
{
	SB_WINDOW();
	sb_counter_add_rel(counter(a->counters, id), ns);
}

static uint64_t begin_change(struct sb_account *a)
{
	const uint64_t word = sb_load_rlx(&a->word);

	sb_store_rlx(&a->word, 0);
	return word;
}

static void end_change(struct sb_account *a, enum sb_activity to, uint64_t now)
{
	a->look_ns = now;
	SB_WINDOW();
	sb_store_rel(&a->word, pack(to, now));
}

/* Ends an activity that readers may have counted in part: see the header. */
static void leave(struct sb_account *a, enum sb_activity to)
{
	const uint64_t word = begin_change(a);
	uint64_t now;

	sb_fence_store_load(&a->word);
	now = sb_clock_ns();
	if (activity_of(word) != SB_ACTIVITY_REST)
		add(a, counter_of[activity_of(word)], sb_clock_passed(since_of(word), now));
	a->aside_ns =
		activity_of(word) == SB_ACTIVITY_SPIN ? sb_clock_passed(since_of(word), now) : 0;
	end_change(a, to, now);
}

/* A spin that gave the thread away ends where the next one does. */
static void end_aside(struct sb_account *a, uint64_t look_ns)
{
	if (!a->aside_ns)
		return;
	add(a, SB_COUNTER_asides, 1);
	add(a, SB_COUNTER_aside_ns, a->aside_ns + look_ns);
}

/* Ends a search, or a part of it, of which readers have counted nothing. */
static void cut_search(struct sb_account *a, enum sb_activity to, uint64_t now)
{
	const uint64_t word = begin_change(a);
	const uint64_t rounds = a->steal_ns + a->steal_failed_ns;

	SB_ASSERT(activity_of(word), ==, SB_ACTIVITY_SEARCH);
	add(a, SB_COUNTER_steal_ns, a->steal_ns);
	add(a, SB_COUNTER_steal_failed_ns, a->steal_failed_ns);
	/* The rest of it; on a worker that is not pinned, clocks of several
	 * cores may disagree by more than that. */
	add(a, SB_COUNTER_spin_ns, sb_clock_passed(rounds, sb_clock_passed(since_of(word), now)));
	if (to == SB_ACTIVITY_SPIN)
		end_aside(a, sb_clock_passed(since_of(word), now));
	a->aside_ns = 0;
	a->steal_ns = 0;
	a->steal_failed_ns = 0;
	end_change(a, to, now);
}

void sb_account_start(struct sb_account *a)
{
	if (a->counters)
		leave(a, SB_ACTIVITY_BLOCKED);
}

void sb_account_go(struct sb_account *a)
{
	if (a->counters)
		leave(a, SB_ACTIVITY_BUSY);
}

void sb_account_stop(struct sb_account *a)
{
	if (a->counters)
		leave(a, SB_ACTIVITY_REST);
}

void sb_account_search(struct sb_account *a)
{
	if (a->counters)
		leave(a, SB_ACTIVITY_SEARCH);
}

void sb_account_busy(struct sb_account *a, uint64_t now)
{
	if (a->counters)
		cut_search(a, SB_ACTIVITY_BUSY, now);
}

void sb_account_spin(struct sb_account *a)
{
	if (a->counters)
		cut_search(a, SB_ACTIVITY_SPIN, a->look_ns);
}

void sb_account_block(struct sb_account *a)
{
	if (a->counters)
		cut_search(a, SB_ACTIVITY_BLOCKED, sb_clock_ns());
}

uint64_t sb_account_look(struct sb_account *a)
{
	if (!a->counters)
		return 0;
	a->look_ns = sb_clock_ns();
	if (sb_clock_passed(since_of(sb_load_rlx(&a->word)), a->look_ns) >= SB_ACCOUNT_CUT_NS)
		cut_search(a, SB_ACTIVITY_SEARCH, a->look_ns);
	return a->look_ns;
}

void sb_account_round(struct sb_account *a, uint64_t look_ns, bool took)
{
	if (!a->counters)
		return;
	a->look_ns = sb_clock_ns();
	*(took ? &a->steal_ns : &a->steal_failed_ns) += sb_clock_passed(look_ns, a->look_ns);
}

/* ---- readings ---- */

bool sb_account_is_parked_since(struct sb_account *a, uint64_t then_ns)
{
	const uint64_t word = sb_load_rlx(&a->word);

	return activity_of(word) == SB_ACTIVITY_BLOCKED && since_of(word) <= then_ns;
}

static const enum sb_counter_id kept[] = {
	SB_COUNTER_busy_ns, SB_COUNTER_steal_ns,   SB_COUNTER_steal_failed_ns,
	SB_COUNTER_spin_ns, SB_COUNTER_blocked_ns,
};

/* The word, when no change is under way. Acquire: its counters are as new. */
static uint64_t settled_word(struct sb_account *a)
{
	uint64_t word = sb_load_acq(&a->word);

	while (!word) {
		sb_thread_yield();
		word = sb_load_acq(&a->word);
	}
	return word;
}

/* True: all of it is of one moment, read_ns, between two changes. */
static bool try_read(struct sb_account *a, uint64_t word, struct sb_counters *counters,
		     struct sb_worker_reading *out)
{
	for (size_t i = 0; i < SB_ARRAY_SIZE(kept); i++)
		out->counter[kept[i]] = sb_counter_read_acq(counter(counters, kept[i]));
	SB_WINDOW();
	/* Stored before the fence, so the clock is read before the word is. */
	out->read_ns = sb_clock_ns();
	sb_fence_store_load(&a->word);
	return sb_load_rlx(&a->word) == word;
}

void sb_account_read(struct sb_account *a, struct sb_counters *counters,
		     struct sb_worker_reading *out)
{
	uint64_t word;

	do {
		word = settled_word(a);
	} while (!try_read(a, word, counters, out));
	out->account_ns = since_of(word);
	switch (activity_of(word)) {
	case SB_ACTIVITY_REST:
	case SB_ACTIVITY_SEARCH:
		return;
	case SB_ACTIVITY_BUSY:
	case SB_ACTIVITY_SPIN:
	case SB_ACTIVITY_BLOCKED:
		out->account_ns = out->read_ns;
		out->counter[counter_of[activity_of(word)]] +=
			sb_clock_passed(since_of(word), out->read_ns);
	}
}
