/*
 * floor - what this machine takes for crossing from one CPU to another, with
 * nothing of a scheduler in between; and so the state that the machine is in,
 * for on a virtual one that changes from one minute to the next.
 *
 * line_hop   a number goes back and forth in one cache line between two threads
 *            that never wait for anything else: half a round trip. The median of
 *            many short bursts, so that an interrupt does not count.
 * futex_hop  a thread lets 200 us pass and wakes another, which waits for a
 *            futex on another CPU: from just before the wake to the first
 *            instruction after the wait. What `wake_sleep` is to a scheduler,
 *            without one.
 *
 * Check: each number has been answered once, and each wake found a sleeper; one
 * that did not is no sample, and more than a few of those are an error.
 *
 * usage: floor SLEEPERS-CPU WAKERS-CPU WAKES
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/platform/atomic.h"
#include "core/platform/base.h"

#define BURSTS	     100
#define BURST_TRIPS  1000
#define PAUSE_NS     200000
#define WAKES_MAX    1000000
#define EXIT_MISTAKE 3 /* as in sched-bench: usage, and what the system refuses */
#define EXIT_REFUSED 4

static void die(int status, const char *what, const char *why)
{
	fprintf(stderr, "floor: %s: %s\n", what, why);
	exit(status);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die(EXIT_REFUSED, "a CPU to run on", strerror(errno));
}

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a;
	const uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Sorts them. The smallest that so many percent are not above. */
static uint64_t percentile(uint64_t *sample, size_t n, unsigned percent)
{
	const size_t rank = (n * percent + 99) / 100;

	qsort(sample, n, sizeof(*sample), compare);
	return sample[rank ? rank - 1 : 0];
}

/* The data that the two threads share; each word has its cache line. */
struct shared {
	_Alignas(SB_LINE) _Atomic(uint64_t) ball;
	_Alignas(SB_LINE) _Atomic(uint32_t) wake; /* number of the latest wake */
	_Alignas(SB_LINE) _Atomic(uint32_t) answered;
	_Alignas(SB_LINE) uint64_t begun_ns; /* of that wake */
	uint64_t *sample;		     /* [wakes], by the sleeper */
	int cpu;			     /* the sleeper's */
	uint32_t wakes;
};

/* ---- a line ---- */

static void await(struct shared *s, uint64_t ball)
{
	while (sb_load_acq(&s->ball) != ball)
		;
}

/* Answers 1, 3, 5, ... with 2, 4, 6, ... */
static void return_balls(struct shared *s)
{
	for (uint64_t i = 0; i < (uint64_t)BURSTS * BURST_TRIPS; i++) {
		await(s, 2 * i + 1);
		sb_store_rel(&s->ball, 2 * i + 2);
	}
}

static double time_line_hop(struct shared *s)
{
	uint64_t burst_ns[BURSTS];
	uint64_t ball = 0;

	for (int b = 0; b < BURSTS; b++) {
		const uint64_t start = now_ns();

		for (int i = 0; i < BURST_TRIPS; i++, ball += 2) {
			sb_store_rel(&s->ball, ball + 1);
			await(s, ball + 2);
		}
		burst_ns[b] = now_ns() - start;
	}
	return (double)percentile(burst_ns, BURSTS, 50) / (2 * BURST_TRIPS);
}

/* ---- a futex ---- */

static long futex(_Atomic(uint32_t) *word, int operation, uint32_t value)
{
	return syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

static void answer_wakes(struct shared *s)
{
	for (uint32_t i = 1; i <= s->wakes; i++) {
		while (sb_load_acq(&s->wake) != i)
			futex(&s->wake, FUTEX_WAIT_PRIVATE, i - 1);
		s->sample[i - 1] = now_ns() - s->begun_ns;
		sb_store_rel(&s->answered, i);
	}
}

static void pause_a_while(void)
{
	const struct timespec pause = { 0, PAUSE_NS };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
}

/* Returns whether somebody was asleep. */
static bool wake_once(struct shared *s, uint32_t number)
{
	bool slept;

	pause_a_while();
	s->begun_ns = now_ns();
	sb_store_rel(&s->wake, number);
	slept = futex(&s->wake, FUTEX_WAKE_PRIVATE, 1) == 1;
	while (sb_load_acq(&s->answered) != number)
		pause_a_while();
	return slept;
}

/* Returns how many samples there are; they are the first ones. */
static uint32_t make_wakes(struct shared *s)
{
	uint32_t kept = 0;

	for (uint32_t i = 1; i <= s->wakes; i++) {
		if (wake_once(s, i))
			s->sample[kept++] = s->sample[i - 1];
	}
	return kept;
}

/* ---- both ---- */

static void *sleeper(void *arg)
{
	struct shared *s = arg;

	pin(s->cpu);
	return_balls(s);
	answer_wakes(s);
	return NULL;
}

static uint32_t parse(const char *text, uint32_t min, uint32_t max)
{
	char *end;
	const unsigned long value = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || value < min || value > max)
		die(EXIT_MISTAKE, text, "expected SLEEPERS-CPU WAKERS-CPU WAKES");
	return (uint32_t)value;
}

static void measure(struct shared *s)
{
	pthread_t thread;
	double line_hop;
	uint32_t kept;

	if (pthread_create(&thread, NULL, sleeper, s))
		die(EXIT_REFUSED, "a thread", strerror(errno));
	line_hop = time_line_hop(s);
	kept = make_wakes(s);
	pthread_join(thread, NULL);
	if (kept < s->wakes - s->wakes / 10)
		die(EXIT_REFUSED, "a sleeper", "it was awake too often");
	printf("line_hop %.2f futex_hop_p50 %" PRIu64 " futex_hop_p99 %" PRIu64 "\n", line_hop,
	       percentile(s->sample, kept, 50), percentile(s->sample, kept, 99));
}

int main(int argc, char **argv)
{
	static struct shared shared;
	int cpu;

	if (argc != 4)
		die(EXIT_MISTAKE, "arguments", "expected SLEEPERS-CPU WAKERS-CPU WAKES");
	shared.cpu = (int)parse(argv[1], 0, CPU_SETSIZE - 1);
	cpu = (int)parse(argv[2], 0, CPU_SETSIZE - 1);
	shared.wakes = parse(argv[3], 1, WAKES_MAX);
	/* On one CPU each would wait for the other's time slice. */
	if (cpu == shared.cpu)
		die(EXIT_MISTAKE, argv[2], "expected another CPU than the sleeper's");
	shared.sample = calloc(shared.wakes, sizeof(*shared.sample));
	if (!shared.sample)
		die(EXIT_REFUSED, "memory", strerror(errno));
	pin(cpu);
	measure(&shared);
	free(shared.sample);
	return 0;
}
