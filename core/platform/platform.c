#include "core/platform/platform.h"

#include <stdio.h>
#include <stdlib.h>

void sb_check_failed(const char *file, int line, const char *text, unsigned long long left,
		     unsigned long long right)
{
	fprintf(stderr, "%s:%d: broken invariant: %s (%llu, %llu)\n", file, line, text, left,
		right);
	abort();
}

/* SplitMix64 spreads small seeds over the whole state; zero is not a state. */
void sb_rng_seed(struct sb_rng *rng, uint64_t seed)
{
	uint64_t z = seed + UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	z ^= z >> 31;
	rng->state = z ? z : 1;
}

/* ---- lock ---- */

#define LOCK_SPINS  128
#define LOCK_YIELDS 64

/* The first sleep; each is twice as long as the one before, up to a limit. */
#define LOCK_SLEEP_NS	  20000
#define LOCK_SLEEP_MAX_NS 1000000

static void wait_for_lock(unsigned int spins, uint64_t *sleep_ns)
{
	if (spins < LOCK_SPINS) {
		sb_cpu_pause();
	} else if (spins < LOCK_SPINS + LOCK_YIELDS) {
		sb_thread_yield();
	} else {
		sb_thread_sleep(*sleep_ns);
		*sleep_ns = sb_min_u64(2 * *sleep_ns, LOCK_SLEEP_MAX_NS);
	}
}

void sb_lock_contended(struct sb_lock *lock)
{
	uint64_t sleep_ns = LOCK_SLEEP_NS;
	unsigned int spins = 0;

	do {
		while (sb_load_rlx(&lock->held))
			wait_for_lock(spins++, &sleep_ns);
	} while (sb_xchg_acq(&lock->held, 1));
}

/* ---- race windows ---- */

#ifdef SB_TEST_DELAYS
/* Now and then gives the processor away, or holds it for a while. */
void sb_test_delay(void)
{
	static _Atomic(uint64_t) threads;
	static _Thread_local struct sb_rng rng;
	uint64_t n;

	if (!rng.state)
		sb_rng_seed(&rng, sb_add_rlx(&threads, 1));
	n = sb_rng_next(&rng) >> 40;
	if (n % 64 == 0)
		sb_thread_yield();
	else if (n % 16 == 0)
		for (n = (n >> 6) % 256; n; n--)
			sb_cpu_pause();
}
#endif
