/* pair.h - two threads, each on a CPU, that take turns; and what a cache line takes between them. */
#ifndef SB_HARNESS_SYSTEM_PAIR_H
#define SB_HARNESS_SYSTEM_PAIR_H

#include "core/platform/platform.h"

#define SB_PAIR_SAMPLES_MAX 1000

/*
 * The first thread does something and gives the turn, the second answers and
 * gives it back; the first takes the times. Even turns are the first one's.
 */
struct sb_pair {
	alignas(SB_LINE) _Atomic(uint64_t) turn;
	_Atomic(uint32_t) over;
	alignas(SB_LINE) int cpu[2];
	uint32_t samples; /* wanted */
	uint32_t taken;
	double sample[SB_PAIR_SAMPLES_MAX];
	struct sb_parker *bed; /* where the second one sleeps; NULL: never */
	void *data;	       /* of what is measured */
};

/* Of all samples of a pair of CPUs, on a machine that is busy. */
#define SB_PAIR_TIME_NS UINT64_C(300000000)
#define SB_PAIR_LOOKS	2000

/* False: it is over. */
bool sb_pair_wait_for_turn(struct sb_pair *p, uint64_t turn);

/* False: there are enough of them. */
bool sb_pair_add_sample(struct sb_pair *p, double ns);

/* Runs both; false: they cannot be had there. The second one ends when the
 * first has. */
bool sb_pair_run(struct sb_pair *p, void *(*first)(void *), void *(*second)(void *));

/* Samples are reads of a cache line that the second one wrote; they end after that time. As above. */
bool sb_pair_pass_lines(struct sb_pair *p, uint64_t most_ns);

/* Their median, in about 5 ms, or 20 ms on a busy machine. It tells where a hypervisor has put the two CPUs. NaN: there are too few,
 * or the threads cannot run there. The first thread of a process alone may ask, while no scheduler runs. */
double sb_line_transfer_ns(int a, int b);

/* "CPU 0 to 1". */
void sb_pair_describe(const struct sb_pair *p, char *out, size_t bytes);

#endif
