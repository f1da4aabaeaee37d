/* What says how requests come, and how long they take. */
#include <math.h>
#include <string.h>

#include "harness/run/slo.h"
#include "tests/fuzz/fuzz.h"
#include "workloads/lib/service_set.h"
#include "workloads/load/load.h"

#define SAMPLES 16

static void use_service(const char *text)
{
	char why[SB_WHY_BYTES] = "";
	struct sb_distribution d;
	struct sb_rng rng;

	if (sb_distribution_init(&d, text, why)) {
		fuzz_check_why(why);
		return;
	}
	FUZZ_CHECK(isfinite(d.mean_ns) && d.mean_ns >= 0);
	FUZZ_CHECK(d.scv >= 0);
	sb_rng_seed(&rng, 1);
	for (int i = 0; i < SAMPLES; i++) {
		const double ns = sb_distribution_sample(&d, &rng);

		FUZZ_CHECK(ns >= 0);
		FUZZ_CHECK(sb_distribution_cdf(&d, ns) >= 0);
	}
	sb_distribution_fini(&d);
}

static void use_arrivals(const char *text)
{
	struct sb_load load = { .kind = SB_LOAD_OPEN, .rate_per_s = 1000, .generators = 2 };
	char why[SB_WHY_BYTES] = "";
	struct sb_arrivals arrivals;
	double before = 0;

	if (sb_load_set_arrival(&load, text, why)) {
		fuzz_check_why(why);
		return;
	}
	FUZZ_CHECK(isfinite(load.rate_per_s) && load.rate_per_s > 0);
	sb_arrivals_init(&arrivals, &load, 1);
	for (int i = 0; i < SAMPLES; i++) {
		const double ns = sb_arrivals_next(&arrivals);

		FUZZ_CHECK(ns >= before);
		before = ns;
	}
	sb_load_fini(&load);
}

/* But for those that name files. */
void fuzz_service(const struct fuzz_input *input)
{
	enum sb_set_kind kind;
	struct sb_slo slo;
	uint64_t bytes;

	if (!strstr(input->text, "file:"))
		use_service(input->text);
	if (!strstr(input->text, "trace:"))
		use_arrivals(input->text);
	if (sb_set_parse(input->text, &kind, &bytes))
		FUZZ_CHECK(kind == SB_SET_NONE || bytes);
	if (sb_slo_parse(input->text, &slo))
		FUZZ_CHECK(slo.below_ns > 0);
}

void fuzz_times(const struct fuzz_input *input)
{
	char why[SB_WHY_BYTES] = "";
	struct sb_times times;
	char text[80];

	if (!sb_times_read(&times, input->path, why)) {
		fuzz_check_limits(INPUT_times, input->bytes, 0, times.count);
		sb_times_fini(&times);
	}
	snprintf(text, sizeof(text), "file:%s", input->path);
	use_service(text);
	snprintf(text, sizeof(text), "trace:%s", input->path);
	use_arrivals(text);
}
