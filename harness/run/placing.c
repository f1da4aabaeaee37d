#include "harness/run/placing.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "affinity/profile/profile.h"
#include "harness/kernel/cgroup.h"
#include "harness/run/load.h"
#include "harness/system/pack.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"

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
		return sb_fail(SB_EXIT_USAGE, "--profile: %s; did you mean '%s'?", why, like);
	return sb_fail(SB_EXIT_USAGE, "--profile: %s; sched-bench topo list names them", why);
}

int sb_placing_open(const struct sb_options *options, struct sb_topology **topology)
{
	const char *profile = options->value[SB_OPT_profile].text;
	char why[WHY_BYTES];
	const int rc = sb_pack_is_named(profile)
			       ? sb_pack_open(topology, profile, why, sizeof(why))
			       : sb_topology_open(topology, profile, why, sizeof(why));

	switch (rc) {
	case 0:
		return 0;
	case -ESRCH:
		return unknown_profile(profile, why);
	case -EIO:
		return sb_fail(SB_EXIT_ENVIRONMENT, "%s", why);
	default:
		return sb_fail(rc == -EFBIG ? SB_EXIT_USAGE : sb_status_of(rc), "--profile: %s",
			       why);
	}
}

static struct sb_plan_request make_request(const struct sb_options *o)
{
	const struct sb_option_value *workers = &o->value[SB_OPT_workers];

	return (struct sb_plan_request){
		.policy = (enum sb_placement_policy)o->value[SB_OPT_placement].alternative,
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

/* The default number of workers on this machine: no more than a CPU quota lets run at once. */
static void obey_quota(const struct sb_options *o, const struct sb_plan *plan,
		       struct sb_plan_request *request)
{
	struct sb_quota quota;

	if (strcmp(o->value[SB_OPT_workers].source, "default") != 0 || sb_opt(o, SB_OPT_virtual) ||
	    plan->placement.place[0].os_cpu < 0 || !sb_cgroup_quota("", &quota) ||
	    quota.cpus > plan->placement.workers - 1)
		return;
	request->rule = SB_WORKERS_NUMBER;
	request->workers = (uint32_t)fmax(1, ceil(quota.cpus));
}

static int make_plan(const struct sb_options *options, const struct sb_topology *topology,
		     struct sb_plan_request request, struct sb_plan *plan)
{
	const enum sb_workers_rule rule = request.rule;
	char why[WHY_BYTES];
	int rc = sb_plan_make(topology, &request, plan, why, sizeof(why));

	if (!rc)
		obey_quota(options, plan, &request);
	if (!rc && request.rule != rule) {
		sb_plan_free(plan);
		rc = sb_plan_make(topology, &request, plan, why, sizeof(why));
	}
	if (rc == -EINVAL)
		return sb_fail(SB_EXIT_USAGE, "%s: %s", option_at_fault(plan), why);
	return rc ? sb_fail_memory() : 0;
}

/*
 * By default workers are on all cores, and a generator among them cannot keep its
 * schedule: every row of such a run would be invalid. Without another word about
 * the layout it is given cores of its own, the first ones, where most interrupts
 * are; at least one is left to the workers.
 */
static bool has_own_cpus(const struct sb_options *o, const struct sb_plan *plan)
{
	return plan->placement.place[0].os_cpu >= 0 || sb_opt(o, SB_OPT_virtual);
}

static bool lacks_generator_cpus(const struct sb_options *o, const struct sb_plan *plan)
{
	return plan->placement.workers > 1 && has_own_cpus(o, plan) && !plan->generators &&
	       !sb_option_is_said(o, SB_OPT_workers) && !sb_option_is_said(o, SB_OPT_cpus) &&
	       !sb_option_is_said(o, SB_OPT_generator_cpus) && sb_load_has_schedule(o);
}

#define CPUS_BYTES 2048

static void choose_generator_cpus(const struct sb_options *o, const struct sb_placement *p,
				  char *out)
{
	const uint32_t wanted = (uint32_t)sb_opt(o, SB_OPT_generators);
	struct sb_cpu_mask cpus = { 0 };

	for (uint32_t i = 0; i < wanted && i + 1 < p->workers; i++)
		sb_cpu_mask_add(&cpus, p->place[i].os_cpu);
	(void)sb_cpu_mask_text(&cpus, out, CPUS_BYTES);
}

static int plan_with_generators(const struct sb_options *options,
				const struct sb_topology *topology, struct sb_plan *plan)
{
	struct sb_plan_request request = make_request(options);
	char cpus[CPUS_BYTES];

	choose_generator_cpus(options, &plan->placement, cpus);
	request.generator_cpus = cpus;
	sb_plan_free(plan);
	return make_plan(options, topology, request, plan);
}

int sb_placing_plan(const struct sb_options *options, const struct sb_topology *topology,
		    struct sb_plan *plan)
{
	int rc = make_plan(options, topology, make_request(options), plan);
	uint32_t workers;

	if (!rc && lacks_generator_cpus(options, plan))
		rc = plan_with_generators(options, topology, plan);
	if (rc)
		return rc;
	workers = plan->placement.workers;
	if (workers <= plan->pus || sb_opt(options, SB_OPT_oversubscribe))
		return 0;
	sb_plan_free(plan);
	return sb_fail(SB_EXIT_USAGE,
		       "--workers: %" PRIu32 " is more than the processing units that may be used "
		       "(%" PRIu32 "); expected at most that, or --oversubscribe",
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
		return sb_fail(SB_EXIT_USAGE, "%s: %s", option_at_fault(&plan), why);
	if (rc)
		return sb_fail_memory();
	*pus = plan.pus;
	sb_plan_free(&plan);
	return 0;
}

/* As it was asked for, but hardly a schedule can be kept like this. */
static void note_shared_cpus(const struct sb_options *options, const struct sb_plan *plan)
{
	const uint32_t workers = plan->placement.workers;

	if (!sb_load_has_schedule(options) || workers < plan->pus || !has_own_cpus(options, plan))
		return;
	if (plan->pus < 2)
		sb_note("%s: the generator shares the only CPU with the worker, and can hardly "
			"keep its schedule; a closed loop needs none (--closed 2)",
			options->chosen[0].workload->name);
	else
		sb_note("%s: %" PRIu32 " workers leave no CPU for the generator, which can hardly "
			"keep its schedule; --workers %" PRIu32 " leaves one",
			options->chosen[0].workload->name, workers, plan->pus - 1);
}

void sb_placing_note(const struct sb_options *options, const struct sb_topology *topology,
		     const struct sb_plan *plan)
{
	const struct sb_cpu_mask mask = sb_placing_generator_cpus(topology, plan);
	const uint32_t workers = plan->placement.workers;
	char cpus[CPUS_BYTES];

	if (!strcmp(options->value[SB_OPT_workers].source, "default") && workers < plan->cores)
		sb_note("a CPU quota lets %" PRIu32
			" worker%s run at once, not one on each of %" PRIu32
			" cores (sched-bench check); --workers sets another number",
			workers, workers > 1 ? "s" : "", plan->cores);
	if (!plan->generators)
		note_shared_cpus(options, plan);
	if (!plan->generators || sb_option_is_said(options, SB_OPT_generator_cpus))
		return;
	sb_note("%s: workers on all cores would leave none for the generator; it has CPU%s %s (as "
		"--generator-cpus %s), %" PRIu32 " worker%s the others",
		options->chosen[0].workload->name, plan->generators > 1 ? "s" : "",
		sb_cpu_mask_text(&mask, cpus, sizeof(cpus)), cpus, workers,
		workers > 1 ? "s have" : " has");
}

struct sb_cpu_mask sb_placing_generator_cpus(const struct sb_topology *topology,
					     const struct sb_plan *plan)
{
	struct sb_cpu_mask mask = { 0 };

	for (uint32_t i = 0; i < plan->generators; i++)
		sb_cpu_mask_add(&mask, sb_topology_os_cpu(topology, plan->generator[i].pu));
	return mask;
}
