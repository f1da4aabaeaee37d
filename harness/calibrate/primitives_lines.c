/* primitives_lines.c - what a cache line costs that two CPUs use. */
#include "core/platform/platform.h"
#include "harness/calibrate/primitives.h"
#include "harness/system/pair.h"

/* ---- a read of what another CPU wrote ---- */

static void measure_transfer(struct sb_calibration *c, int a, int b)
{
	struct sb_pair p = { .cpu = { a, b },
			     .samples = sb_calibration_samples(c, SB_PAIR_SAMPLES_MAX) };
	char of[40];

	sb_pair_describe(&p, of, sizeof(of));
	if (sb_pair_pass_lines(&p, SB_PAIR_TIME_NS))
		sb_calibration_add(c, SB_COST_line_transfer_ns, of, p.sample, p.taken);
}

/* ---- additions of two CPUs to one line ---- */

#define ADDITIONS 1000

/* A sample counts if both CPUs have made at least a quarter of the additions: on a busy machine
 * one of the threads often waits for its CPU. */
static void *add_in_competition(void *arg)
{
	struct sb_pair *p = arg;
	_Atomic(uint64_t) *counter = p->data;
	const uint64_t begin = sb_clock_ns();
	bool more = true;

	do {
		const uint64_t before = sb_load_rlx(counter);
		const uint64_t start = sb_clock_stamp_ns();
		uint64_t added;

		for (int i = 0; i < ADDITIONS; i++)
			sb_add_rlx(counter, 1);
		added = sb_load_rlx(counter) - before;
		if (added > ADDITIONS * 4 / 3 && added < ADDITIONS * 4)
			more = sb_pair_add_sample(p, (double)(sb_clock_stamp_ns() - start) /
							     (double)added);
	} while (more && sb_clock_ns() - begin < SB_PAIR_TIME_NS);
	return NULL;
}

static void *add_until_over(void *arg)
{
	struct sb_pair *p = arg;

	while (!sb_load_rlx(&p->over)) {
		for (int i = 0; i < ADDITIONS / 10; i++)
			sb_add_rlx((_Atomic(uint64_t) *)p->data, 1);
	}
	return NULL;
}

static void measure_contention(struct sb_calibration *c, int a, int b)
{
	static struct {
		alignas(SB_LINE) _Atomic(uint64_t) value;
	} counter;
	struct sb_pair p = { .cpu = { a, b },
			     .samples = sb_calibration_samples(c, SB_PAIR_SAMPLES_MAX),
			     .data = &counter.value };
	char of[40];

	sb_pair_describe(&p, of, sizeof(of));
	if (sb_pair_run(&p, add_in_competition, add_until_over))
		sb_calibration_add(c, SB_COST_contended_add_ns, of, p.sample, p.taken);
}

/* ---- all pairs ---- */

/* Among 8 CPUs there are 28 pairs; those of more CPUs would take too long. */
#define TRANSFER_CPUS 8

void sb_measure_transfers(struct sb_calibration *c)
{
	const uint32_t n = c->cpus < TRANSFER_CPUS ? c->cpus : TRANSFER_CPUS;

	if (c->cpus < 2)
		snprintf(c->note, sizeof(c->note),
			 "There is one CPU: nothing between two was measured.");
	else if (n < c->cpus)
		snprintf(c->note, sizeof(c->note),
			 "Cache lines were passed between the first %u of %u CPUs only.", n,
			 c->cpus);
	for (uint32_t a = 0; a < n; a++) {
		for (uint32_t b = a + 1; b < n; b++) {
			measure_transfer(c, c->cpu[a], c->cpu[b]);
			measure_contention(c, c->cpu[a], c->cpu[b]);
		}
	}
}
