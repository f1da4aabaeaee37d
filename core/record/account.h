/*
 * account.h - what a worker spends its time on, without gaps: the counters
 * busy_ns, steal_ns, steal_failed_ns, spin_ns and blocked_ns.
 *
 * Invariant: of two readings of a worker while it is started, the differences of
 * the five add up to the difference of account_ns, exactly. account_ns is the
 * time of the reading, by the same clock, but for a worker that searches: its
 * account goes up to when it last cut its search, at most SB_ACCOUNT_CUT_NS and
 * one look at everything before.
 *
 * Cheap, because time is cut where the activity changes and not at each step.
 * One word says what the worker is at and since when:
 *
 *   busy      from finding work to running out of it; may be read in the middle
 *   search    looks at queues, in which rounds of stealing count apart, by
 *             whether they took something; not to be split in the middle
 *   spin      gives its thread away between two looks; may be read in the middle
 *   blocked   parked, or not let go yet; may be read in the middle
 *   rest      not started
 *
 *   rest -> blocked -> busy <-> search <-> spin
 *                      busy -> rest         search <-> blocked
 *
 * Roles: the owner changes word and counters; anyone reads. A reading that falls
 * into a change is repeated, as with a sequence lock: the word is 0 during it,
 * and names a new time afterwards. (The same time again means that no time has
 * passed, so nothing was added.)
 *
 * A reader adds what has passed of an activity that goes on, so the owner must
 * not end that activity earlier than the reader's look at the clock, or time
 * that was given to one would later turn out to be another's:
 *
 *   reader                              owner
 *   read word: busy since a
 *                                       now = clock            (5)
 *   now = clock (7): busy is 7 - a
 *                                       busy_ns += 5 - a       less than 7 - a
 *
 * So the owner announces the change first, fences, and looks at the clock then;
 * and the reader looks at the clock, fences, and reads the word once more. If it
 * still is what it was, the owner's look comes after the reader's.
 */
#ifndef SB_CORE_RECORD_ACCOUNT_H
#define SB_CORE_RECORD_ACCOUNT_H

#include "core/counters.h"

/* A search is cut when it has taken so long. */
#define SB_ACCOUNT_CUT_NS UINT64_C(20000)

enum sb_activity {
	SB_ACTIVITY_REST,
	SB_ACTIVITY_BUSY,
	SB_ACTIVITY_SEARCH,
	SB_ACTIVITY_SPIN,
	SB_ACTIVITY_BLOCKED,
};

struct sb_account {
	_Atomic(uint64_t) word; /* since when:61 | enum sb_activity:3 */

	/* The owner's. */
	struct sb_counters *counters; /* NULL: no account is kept */
	uint64_t look_ns;	      /* its last look at the clock */
	uint64_t steal_ns;	      /* rounds since the word's time: */
	uint64_t steal_failed_ns;
	uint64_t aside_ns; /* of a spin that gave the thread away, just before the word's time */
};

/* At rest. counters: the worker's, or NULL to keep no account. */
void sb_account_init(struct sb_account *account, struct sb_counters *counters);

/* ---- by the owner; without an account they do nothing ---- */

/* rest -> blocked: it waits for the start of all; -> busy; and -> rest. */
void sb_account_start(struct sb_account *account);
void sb_account_go(struct sb_account *account);
void sb_account_stop(struct sb_account *account);

/* busy, spin or blocked -> search. */
void sb_account_search(struct sb_account *account);

/* search -> busy, at a time that the owner has just read. */
void sb_account_busy(struct sb_account *account, uint64_t now_ns);

/* search -> spin, at the last look at the clock. */
void sb_account_spin(struct sb_account *account);

/* search -> blocked. */
void sb_account_block(struct sb_account *account);

/* Looks at the clock, once in each look at all sources of work. */
uint64_t sb_account_look(struct sb_account *account);

/* A round of stealing has ended, which that look began. */
void sb_account_round(struct sb_account *account, uint64_t look_ns, bool took);

/* ---- by anyone ---- */

/* Whether the worker is parked, and has been since then; false without an account. */
bool sb_account_is_parked_since(struct sb_account *account, uint64_t then_ns);

/* The five counters, account_ns and read_ns of a reading. Waits for a change
 * that is under way, which is a few instructions of the owner's. */
void sb_account_read(struct sb_account *account, struct sb_counters *counters,
		     struct sb_worker_reading *out);

#endif
