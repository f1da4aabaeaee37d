#include "harness/system/clock_choice.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/mask.h"
#include "harness/terminal/status.h"
#include "results/record/series.h"

/* auto|tsc|gettime */
enum choice { AUTO, TSC, GETTIME };

int sb_timing_cpus(int **cpu, uint32_t *cpus)
{
	struct sb_cpu_mask mask;
	int rc = sb_cpu_mask_read(&mask);

	*cpus = 0;
	*cpu = rc ? NULL : malloc(SB_CPUS_MAX * sizeof(**cpu));
	if (!rc && !*cpu)
		rc = -ENOMEM;
	for (int i = 0; i < SB_CPUS_MAX && !rc; i++) {
		if (sb_cpu_mask_has(&mask, i))
			(*cpu)[(*cpus)++] = i;
	}
	return rc;
}

int sb_timing_choose(const struct sb_options *options)
{
	const unsigned int choice = options->value[SB_OPT_clock].alternative;
	struct sb_clock_info info;
	uint32_t cpus;
	int *cpu;
	int rc;

	if (choice == GETTIME)
		return 0;
	rc = sb_timing_cpus(&cpu, &cpus);
	if (rc)
		return sb_fail(SB_EXIT_ENVIRONMENT, "the CPUs that may be used cannot be read: %s",
			       strerror(-rc));
	rc = sb_clock_calibrate(cpu, cpus, &info);
	free(cpu);
	if (!rc || choice == AUTO)
		return 0;
	return sb_fail(SB_EXIT_ENVIRONMENT,
		       "--clock: the processor's counter (%s) cannot be trusted: %s; expected auto "
		       "or gettime",
		       SB_CLOCK_COUNTER, info.reason);
}

static uint64_t read_clock(void)
{
	return sb_clock_ns();
}

/* Values that were not measured are left out. */
static int add_number(struct sb_result *result, const char *key, double value)
{
	char text[40];

	if (isnan(value))
		return 0;
	/* Of large numbers the rest is below their error. */
	snprintf(text, sizeof(text), value == floor(value) || value > 1e6 ? "%.0f" : "%.3f", value);
	return sb_result_add_fact(result, "clock", key, text);
}

int sb_timing_add_facts(struct sb_result *result, const struct sb_options *options)
{
	const struct sb_clock_cost cost = sb_clock_cost(read_clock);
	struct sb_clock_info info;
	int rc;

	sb_clock_describe(&info);
	rc = sb_result_add_fact(result, "clock", "source", info.source);
	if (!info.is_counter)
		rc |= sb_result_add_fact(result, "clock", "reason",
					 options->value[SB_OPT_clock].alternative == GETTIME
						 ? "it was asked for"
						 : info.reason);
	rc |= add_number(result, "hz", info.hz);
	rc |= add_number(result, "error_ppm", info.error_ppm);
	if (info.cpus)
		rc |= add_number(result, "cpus", info.cpus);
	rc |= add_number(result, "offset_ns", info.offset_ns);
	rc |= add_number(result, "offset_bound_ns", info.offset_bound_ns);
	rc |= add_number(result, "read_ns", cost.read_ns);
	rc |= add_number(result, "step_ns", (double)cost.step_ns);
	return rc;
}

int sb_timing_add_drift(struct sb_result *result)
{
	return add_number(result, "drift_ppm", sb_clock_drift_ppm());
}
