#include "harness/output/facts.h"

#include <errno.h>
#include <gnu/libc-version.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "harness/cli/version.h"
#include "harness/kernel/procfs.h"
#include "harness/system/clock_choice.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "results/record/series.h"
#include "results/text/escape.h"
#include "revision.h"

static int add_count(struct sb_result *result, const char *group, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return sb_result_add_fact(result, group, key, text);
}

/* The first line of a small file of the kernel's, or "unknown". */
static const char *read_line(const char *path, char *out, size_t bytes)
{
	if (!sb_procfs_line("", path, out, bytes) || !*out)
		snprintf(out, bytes, "unknown");
	return out;
}

static int add_kernel(struct sb_result *result)
{
	struct utsname names;
	char line[128];
	int rc = 0;

	if (uname(&names))
		return 0;
	rc |= sb_result_add_fact(result, "machine", "host_name", names.nodename);
	rc |= sb_result_add_fact(result, "machine", "kernel", names.release);
	rc |= sb_result_add_fact(result, "machine", "architecture", names.machine);
	rc |= sb_result_add_fact(result, "machine", "boot_id",
				 read_line("/proc/sys/kernel/random/boot_id", line, sizeof(line)));
	rc |= sb_result_add_fact(
		result, "machine", "clock_source",
		read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", line,
			  sizeof(line)));
	rc |= sb_result_add_fact(result, "machine", "governor",
				 read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
					   line, sizeof(line)));
	return rc;
}

static int add_counts(struct sb_result *result, const char *group, const struct sb_machine *machine)
{
	int rc = 0;

	rc |= add_count(result, group, "packages", machine->packages);
	rc |= add_count(result, group, "nodes", machine->nodes);
	rc |= add_count(result, group, "last_level_caches", machine->caches);
	rc |= add_count(result, group, "cores", machine->cores);
	rc |= add_count(result, group, "pus", machine->pus);
	return rc;
}

static int add_fingerprint(struct sb_result *result, const char *group,
			   const struct sb_topology *topology)
{
	char text[24];

	snprintf(text, sizeof(text), "%016" PRIx64, sb_topology_fingerprint(topology));
	return sb_result_add_fact(result, group, "topology_fingerprint", text);
}

/* Where there is one; the counts are there in any case. */
static int add_description(struct sb_result *result, const char *group,
			   const struct sb_topology *topology)
{
	char text[SB_SYNTHETIC_BYTES];

	if (sb_topology_describe(topology, text))
		return 0;
	return sb_result_add_fact(result, group, "topology", text);
}

static int add_machine(struct sb_result *result, const struct sb_topology *topology)
{
	struct sb_machine machine;
	int rc = 0;

	sb_topology_machine(topology, &machine);
	rc |= sb_result_add_fact(result, "machine", "cpu_model", machine.cpu_model);
	rc |= add_counts(result, "machine", &machine);
	rc |= add_fingerprint(result, "machine", topology);
	rc |= add_description(result, "machine", topology);
	return rc | add_kernel(result);
}

/* The machine that the run is placed on, if it is not this one. */
static int add_profile(struct sb_result *result, const struct sb_topology *topology)
{
	struct sb_machine machine;
	int rc = 0;

	sb_topology_machine(topology, &machine);
	rc |= sb_result_add_fact(result, "profile", "name", machine.profile);
	rc |= add_counts(result, "profile", &machine);
	rc |= add_fingerprint(result, "profile", topology);
	return rc | add_description(result, "profile", topology);
}

enum sb_reality sb_facts_reality(const struct sb_options *options, bool is_other_machine)
{
	if (sb_opt(options, SB_OPT_virtual))
		return SB_SIMULATED;
	return is_other_machine ? SB_EMULATED : SB_NATIVE;
}

static bool is_emulated(const struct sb_topology *topology)
{
	struct sb_machine machine;

	sb_topology_machine(topology, &machine);
	return machine.emulated;
}

static int add_machines(struct sb_result *result, const struct sb_options *options,
			const struct sb_topology *topology)
{
	struct sb_topology *real;
	int rc;

	if (sb_facts_reality(options, is_emulated(topology)) == SB_NATIVE)
		return add_machine(result, topology);
	rc = sb_topology_load(&real);
	if (rc)
		return rc;
	rc = add_machine(result, real) | add_profile(result, topology);
	sb_topology_free(real);
	return rc;
}

char *sb_facts_join(int argc, char **argv)
{
	char *line = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&line, &bytes);

	if (!out)
		return NULL;
	for (int i = 0; i < argc; i++) {
		fputs(i ? " " : "", out);
		sb_put_shell(out, argv[i]);
	}
	fclose(out);
	return line;
}

static int add_run(struct sb_result *result, int argc, char **argv)
{
	char date[SB_DATE_BYTES];
	char *command = sb_facts_join(argc, argv);
	int rc = 0;

	if (!command)
		return -ENOMEM;
	sb_format_now(date);
	rc |= sb_result_add_fact(result, "run", "date", date);
	rc |= sb_result_add_fact(result, "run", "version", SB_VERSION);
	rc |= sb_result_add_fact(result, "run", "git_revision", SB_REVISION);
	rc |= sb_result_add_fact(result, "run", "build_mode", SB_BUILD_MODE);
	rc |= sb_result_add_fact(result, "run", "compiler", __VERSION__);
	rc |= sb_result_add_fact(result, "run", "libc", gnu_get_libc_version());
	rc |= sb_result_add_fact(result, "run", "executable", argv[0]);
	rc |= sb_result_add_fact(result, "run", "command_line", command);
	free(command);
	return rc;
}

static int add_options(struct sb_result *result, const struct sb_options *options)
{
	int rc = 0;

	for (int id = 0; id < SB_OPTIONS; id++) {
		if (!(sb_option[id].verbs & SB_VERB_RUN))
			continue;
		rc |= sb_result_add_fact(result, "options", sb_option[id].name,
					 options->value[id].text);
		rc |= sb_result_add_fact(result, "option_sources", sb_option[id].name,
					 options->value[id].source);
	}
	return rc;
}

const char *sb_facts_build(void)
{
	return SB_VERSION ", revision " SB_REVISION ", " SB_BUILD_MODE ", compiler " __VERSION__;
}

int sb_facts_gather(struct sb_result *result, const struct sb_options *options,
		    const struct sb_topology *topology, uint32_t workers, int argc, char **argv)
{
	const enum sb_reality reality = sb_facts_reality(options, is_emulated(topology));
	int rc = add_machines(result, options, topology);

	if (rc == -EIO)
		return sb_fail(SB_EXIT_ENVIRONMENT, "this machine's topology cannot be read");
	rc |= add_run(result, argc, argv);
	rc |= add_count(result, "run", "workers", workers);
	rc |= sb_result_add_fact(result, "run", "topology", sb_reality_name(reality));
	rc |= add_options(result, options);
	rc |= sb_timing_add_facts(result, options);
	return rc ? sb_fail_memory() : 0;
}
