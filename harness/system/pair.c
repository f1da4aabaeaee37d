#include "harness/system/pair.h"

#include <math.h>
#include <stdio.h>

#include "results/stats/statistics.h"

bool sb_pair_wait_for_turn(struct sb_pair *p, uint64_t turn)
{
	for (uint32_t i = 1; sb_load_acq(&p->turn) != turn; i++) {
		if (sb_load_rlx(&p->over))
			return false;
		if (i % SB_PAIR_LOOKS)
			sb_cpu_pause();
		else
			sb_thread_yield();
	}
	return true;
}

bool sb_pair_add_sample(struct sb_pair *p, double ns)
{
	p->sample[p->taken++] = ns;
	return p->taken < p->samples;
}

bool sb_pair_run(struct sb_pair *p, void *(*first)(void *), void *(*second)(void *))
{
	struct sb_thread thread[2];
	bool ok;

	if (sb_thread_start(&thread[1], p->cpu[1], second, p))
		return false;
	ok = !sb_thread_start(&thread[0], p->cpu[0], first, p);
	if (ok)
		sb_thread_join(&thread[0]);
	sb_store_rel(&p->over, 1);
	if (p->bed)
		sb_unpark(p->bed);
	sb_thread_join(&thread[1]);
	return ok;
}

void sb_pair_describe(const struct sb_pair *p, char *out, size_t bytes)
{
	snprintf(out, bytes, "CPU %d to %d", p->cpu[0], p->cpu[1]);
}

/* ---- a cache line ---- */

#define PASSED_LINES 64

/* Each line names the next one, so that a read cannot begin before the one ahead of it has ended. */
struct passed_line {
	alignas(SB_LINE) _Atomic(uint64_t) next;
};

/* All of them, once each, in an order that no prefetcher guesses. */
static uint64_t line_after(uint64_t line)
{
	return (29 * line + 11) % PASSED_LINES;
}

struct passed_lines {
	struct passed_line line[PASSED_LINES];
	uint64_t most_ns;
};

static void write_lines(struct passed_lines *lines)
{
	for (uint64_t i = 0; i < PASSED_LINES; i++)
		sb_store_rlx(&lines->line[i].next, line_after(i));
}

static void read_lines(struct passed_lines *lines)
{
	uint64_t line = 0;

	for (int i = 0; i < PASSED_LINES; i++)
		line = sb_load_rlx(&lines->line[line].next);
	/* Otherwise the loop could be left out. */
	__asm__ __volatile__("" ::"r"(line));
}

static void *read_what_the_other_wrote(void *arg)
{
	struct sb_pair *p = arg;
	struct passed_lines *lines = p->data;
	const uint64_t begin = sb_clock_ns();
	uint64_t turn = 0;
	uint64_t start;
	double ns;

	do {
		sb_store_rel(&p->turn, turn + 1);
		turn += 2;
		if (!sb_pair_wait_for_turn(p, turn))
			break;
		start = sb_clock_stamp_ns();
		read_lines(lines);
		ns = (double)(sb_clock_stamp_ns() - start) / PASSED_LINES;
	} while (sb_pair_add_sample(p, ns) && sb_clock_ns() - begin < lines->most_ns);
	return NULL;
}

static void *write_in_turn(void *arg)
{
	struct sb_pair *p = arg;

	for (uint64_t turn = 1; sb_pair_wait_for_turn(p, turn); turn += 2) {
		write_lines(p->data);
		sb_store_rel(&p->turn, turn + 1);
	}
	return NULL;
}

bool sb_pair_pass_lines(struct sb_pair *p, uint64_t most_ns)
{
	static struct passed_lines lines;

	lines.most_ns = most_ns;
	p->data = &lines;
	return sb_pair_run(p, read_what_the_other_wrote, write_in_turn);
}

/* They take some milliseconds, or longer if other threads run on these CPUs. */
#define READING_SAMPLES 200
#define READING_LEAST	20
#define READING_NS	UINT64_C(20000000)

double sb_line_transfer_ns(int a, int b)
{
	struct sb_pair p = { .cpu = { a, b }, .samples = READING_SAMPLES };

	if (!sb_pair_pass_lines(&p, READING_NS) || p.taken < READING_LEAST)
		return NAN;
	return sb_spread_of(p.sample, p.taken).median;
}
