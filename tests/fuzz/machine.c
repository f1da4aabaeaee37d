/* Machines and places on them. hwloc itself is tried in a child process, whose
 * crashes are an answer. */
#include <string.h>
#include <unistd.h>

#include "affinity/plan.h"
#include "affinity/profile/profile.h"
#include "tests/fuzz/fuzz.h"

#define WHY_BYTES 512

static void plan(const struct sb_topology *topology, const struct sb_plan_request *request)
{
	char why[WHY_BYTES] = "";
	struct sb_plan made;

	if (sb_plan_make(topology, request, &made, why, sizeof(why)))
		fuzz_check_why(why);
	else
		sb_plan_free(&made);
}

static void use(struct sb_topology *topology)
{
	char text[SB_SYNTHETIC_BYTES];
	struct sb_machine machine;

	sb_topology_machine(topology, &machine);
	FUZZ_CHECK(machine.pus && machine.cores && machine.emulated);
	fuzz_check_limits(INPUT_machine, 0, 0, machine.pus);
	(void)sb_topology_fingerprint(topology);
	FUZZ_CHECK(!sb_topology_export(topology, fuzz_sink()));
	if (!sb_topology_describe(topology, text))
		FUZZ_CHECK(strlen(text) < sizeof(text));
	for (int p = SB_PLACEMENT_COMPACT; p <= SB_PLACEMENT_DISTRIB; p++)
		plan(topology, &(struct sb_plan_request){ .policy = (enum sb_placement_policy)p,
							  .workers = 5 });
	for (int r = SB_WORKERS_PER_CORE; r <= SB_WORKERS_PER_NUMA; r++)
		plan(topology, &(struct sb_plan_request){ .rule = (enum sb_workers_rule)r });
}

static bool open_machine(const char *profile)
{
	char why[WHY_BYTES] = "";
	struct sb_topology *topology;

	if (sb_topology_open(&topology, profile, why, sizeof(why))) {
		fuzz_check_why(why);
		return false;
	}
	use(topology);
	sb_topology_free(topology);
	return true;
}

/* hwloc takes seconds for thousands of children of one object, which are refused
 * when it takes too many. */
static bool has_large_number(const char *text)
{
	for (; *text; text++) {
		if (strspn(text, "0123456789") > 3)
			return true;
	}
	return false;
}

/* What names a file, or this machine, is not the same everywhere. */
void fuzz_synthetic(const struct fuzz_input *input)
{
	if (*input->text && !has_large_number(input->text) &&
	    strcmp(input->text, SB_PROFILE_THIS) != 0 && access(input->text, F_OK))
		(void)open_machine(input->text);
}

void fuzz_xml(const struct fuzz_input *input)
{
	uint64_t tags = 0;

	if (!open_machine(input->path))
		return;
	for (const char *at = input->text; (at = strchr(at, '<')); at++)
		tags++;
	fuzz_check_limits(INPUT_xml, input->bytes, 0, tags);
	/* No entity of its own. */
	FUZZ_CHECK(fuzz_expansion(INPUT_xml) > 1 || !strstr(input->text, "<!ENTITY"));
}

void fuzz_cpus(const struct fuzz_input *input)
{
	static const char *const machines[] = { "epyc-2s-nps4", "laptop-6p8e", "cxl-2s" };
	static struct sb_topology *topology[SB_ARRAY_SIZE(machines)];
	char *text = strdup(input->text);
	char *generators = text;
	const char *cpus = strsep(&generators, "\n");

	for (size_t i = 0; i < SB_ARRAY_SIZE(machines); i++) {
		char why[WHY_BYTES];

		if (!topology[i])
			FUZZ_CHECK(!sb_topology_open(&topology[i], machines[i], why, sizeof(why)));
		plan(topology[i], &(struct sb_plan_request){ .rule = SB_WORKERS_PER_CORE,
							     .cpus = cpus,
							     .generator_cpus = generators });
	}
	free(text);
}
