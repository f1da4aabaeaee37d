#include "harness/placing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "affinity/profile.h"
#include "harness/status.h"
#include "harness/text.h"

#define WHY_BYTES 512

static const char *profile_name(const void *unused, size_t i)
{
	(void)unused;
	return sb_profiles[i].name;
}

static int unknown_profile(const char *name, const char *why)
{
	const char *like = sb_most_like(name, profile_name, NULL);

	if (like)
		return sb_fail(SB_EXIT_USAGE,
			       "--profile: %s; did you mean '%s'?", why, like);
	return sb_fail(SB_EXIT_USAGE,
		       "--profile: %s; sched-bench topo list names them", why);
}

int sb_placing_open(const struct sb_options *options,
		    struct sb_topology **topology)
{
	const char *profile = options->value[SB_OPT_profile].text;
	char why[WHY_BYTES];
	const int rc = sb_topology_open(topology, profile, why, sizeof(why));

	switch (rc) {
	case 0:
		return 0;
	case -ESRCH:
		return unknown_profile(profile, why);
	case -EIO:
		return sb_fail(SB_EXIT_ENVIRONMENT, "%s", why);
	default:
		return sb_fail(sb_status_of(rc), "--profile: %s", why);
	}
}

static struct sb_plan_request make_request(const struct sb_options *o)
{
	const struct sb_option_value *workers = &o->value[SB_OPT_workers];

	return (struct sb_plan_request){
		.policy = (enum sb_placement_policy)o->value[SB_OPT_placement]
				  .alternative,
		.rule = (enum sb_workers_rule)workers->alternative,
		.workers = (uint32_t)workers->number,
		.no_smt = sb_opt(o, SB_OPT_no_smt),
		.cpus = o->value[SB_OPT_cpus].text,
		.generator_cpus = o->value[SB_OPT_generator_cpus].text,
	};
}

static const char *option_at_fault(const struct sb_plan *plan)
{
	switch (plan->fault) {
	case SB_PLAN_FAULT_CPUS:
		return "--cpus";
	case SB_PLAN_FAULT_GENERATOR_CPUS:
		return "--generator-cpus";
	case SB_PLAN_FAULT_WORKERS:
	default:
		return "--workers";
	}
}

int sb_placing_plan(const struct sb_options *options,
		    const struct sb_topology *topology, struct sb_plan *plan)
{
	const struct sb_plan_request request = make_request(options);
	char why[WHY_BYTES];
	int rc = sb_plan_make(topology, &request, plan, why, sizeof(why));
	uint32_t workers;

	if (rc == -EINVAL)
		return sb_fail(SB_EXIT_USAGE, "%s: %s", option_at_fault(plan),
			       why);
	if (rc)
		return sb_fail_memory();
	workers = plan->placement.workers;
	if (workers <= plan->pus || sb_opt(options, SB_OPT_oversubscribe))
		return 0;
	sb_plan_free(plan);
	return sb_fail(SB_EXIT_USAGE,
		       "--workers: %" PRIu32 " is more than the %" PRIu32
		       " processing units that may be used; expected fewer, or "
		       "--oversubscribe",
		       workers, plan->pus);
}

int sb_placing_room(const struct sb_options *options, uint32_t *pus)
{
	struct sb_plan_request request = make_request(options);
	struct sb_topology *topology = NULL;
	struct sb_plan plan;
	char why[WHY_BYTES];
	int rc = sb_placing_open(options, &topology);

	if (rc)
		return rc;
	request.rule = SB_WORKERS_PER_PU;
	rc = sb_plan_make(topology, &request, &plan, why, sizeof(why));
	sb_topology_free(topology);
	if (rc == -EINVAL)
		return sb_fail(SB_EXIT_USAGE, "%s: %s", option_at_fault(&plan),
			       why);
	if (rc)
		return sb_fail_memory();
	*pus = plan.pus;
	sb_plan_free(&plan);
	return 0;
}

struct sb_cpu_mask sb_placing_generator_cpus(const struct sb_topology *topology,
					     const struct sb_plan *plan)
{
	struct sb_cpu_mask mask = { 0 };

	for (uint32_t i = 0; i < plan->generators; i++)
		sb_cpu_mask_add(
			&mask,
			sb_topology_os_cpu(topology, plan->generator[i].pu));
	return mask;
}
