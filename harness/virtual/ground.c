#include "core/worker/distance.h"
#include "harness/virtual/ground.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/output/output.h"
#include "harness/system/pack.h"
#include "harness/terminal/status.h"
#include "results/record/series.h"

#define WHY_BYTES 512

/* ---- the model ---- */

static int open_model(struct sb_model_file *file, const char *name)
{
	char why[WHY_BYTES];
	const int rc = sb_model_file_open(file, name, why, sizeof(why));

	return rc ? sb_fail(sb_status_of(rc), "--model: %s", why) : 0;
}

static int open_own(struct sb_model_file *file)
{
	char *path = sb_cache_path(SB_MODEL_OWN);
	FILE *exists = path ? fopen(path, "re") : NULL;
	int rc;

	if (exists) {
		fclose(exists);
		rc = open_model(file, path);
	} else {
		rc = sb_fail(SB_EXIT_USAGE,
			     "--virtual: this machine has no model yet; sched-bench calibrate "
			     "--save-model makes it, or --profile NAME has one");
	}
	free(path);
	return rc;
}

static int open_packed(struct sb_model_file *file, const char *profile)
{
	struct sb_pack_machine machine;
	char why[WHY_BYTES];
	int rc = sb_pack_read(&machine, profile, why, sizeof(why));

	if (!rc && !machine.model) {
		rc = -EINVAL;
		snprintf(why, sizeof(why),
			 "'%s' has no model; expected --model, or topo pack after calibrate "
			 "--save-model",
			 profile);
	}
	if (!rc)
		rc = sb_model_file_parse(file, machine.model, profile, why, sizeof(why));
	sb_pack_free(&machine);
	return rc ? sb_fail(sb_status_of(rc), "--profile: %s", why) : 0;
}

bool sb_virtual_has_model(const struct sb_options *options)
{
	const char *profile = options->value[SB_OPT_profile].text;
	char *own;
	bool is_there;

	if (*options->value[SB_OPT_model].text)
		return true;
	if (*profile)
		return sb_model_is_named(profile) || sb_pack_is_named(profile);
	own = sb_cache_path(SB_MODEL_OWN);
	is_there = own && !access(own, F_OK);
	free(own);
	return is_there;
}

int sb_virtual_open_model(struct sb_model_file *file, const struct sb_options *options)
{
	const char *name = options->value[SB_OPT_model].text;
	const char *profile = options->value[SB_OPT_profile].text;

	*file = (struct sb_model_file){ .name = NULL };
	if (*name)
		return open_model(file, name);
	if (!*profile)
		return open_own(file);
	if (sb_model_is_named(profile))
		return open_model(file, profile);
	if (sb_pack_is_named(profile))
		return open_packed(file, profile);
	return sb_fail(SB_EXIT_USAGE,
		       "--virtual: profile '%s' has no model of its own; expected --model NAME or "
		       "FILE.json",
		       profile);
}

/* ---- the machine ---- */

static uint32_t count_cpus(const struct sb_placement *all)
{
	int most = 0;

	for (uint32_t i = 0; i < all->workers; i++)
		most = all->place[i].pu > most ? all->place[i].pu : most;
	return (uint32_t)most + 1;
}

/* Something of its own, where the topology has no such object. */
static uint16_t number_of(int object, int otherwise)
{
	return (uint16_t)(object >= 0 ? object : otherwise);
}

static uint16_t slowness_of(const struct sb_virtual_machine *m, const struct sb_topology *topology,
			    int pu)
{
	const double factor = sb_model_file_kind(&m->file, sb_topology_kind(topology, pu));

	return isnan(factor) ? 1000 : (uint16_t)lround(1000 * factor);
}

static void take_places(struct sb_virtual_machine *m, const struct sb_topology *topology)
{
	for (uint32_t i = 0; i < m->all.workers; i++) {
		const struct sb_place *p = &m->all.place[i];

		m->place[p->pu] = (struct sb_model_place){
			.core = number_of(p->core, p->pu),
			.cache = number_of(p->cache, UINT16_MAX - p->pu),
			.node = number_of(p->node, 0),
			.package = number_of(p->package, 0),
			.slow_permille = slowness_of(m, topology, p->pu),
		};
	}
	m->model.place = m->place;
}

static void take_distances(struct sb_virtual_machine *m)
{
	const struct sb_placement *p = &m->all;
	uint32_t nearest = UINT32_MAX;

	for (uint32_t i = 0; p->node_distance && i < p->workers; i++) {
		for (uint32_t k = 0; k < i; k++) {
			const uint32_t far = sb_place_node_distance(p, &p->place[i], &p->place[k]);

			if (p->place[i].package != p->place[k].package && far && far < nearest)
				nearest = far;
		}
	}
	if (nearest == UINT32_MAX)
		return;
	m->model.node_distance = p->node_distance;
	m->model.nodes = p->nodes;
	m->model.nearest_remote = nearest;
}

/* Every distance between CPUs of the topology has a cost. */
static int check_hops(const struct sb_virtual_machine *m)
{
	bool is_there[SB_HOPS] = { false };

	for (uint32_t i = 1; i < m->all.workers; i++)
		is_there[sb_model_hop(&m->model, (uint32_t)m->all.place[0].pu,
				      (uint32_t)m->all.place[i].pu)] = true;
	for (int hop = 0; hop < SB_HOPS; hop++) {
		if (is_there[hop] && isnan(m->file.value[hop]))
			return sb_fail(SB_EXIT_USAGE,
				       "model '%s' does not fit the topology: it has no '%s' "
				       "(%s), and the topology has such CPUs",
				       m->file.name, sb_model_value[hop].name,
				       sb_model_value[hop].meaning);
	}
	return 0;
}

/* What of the machine the workers use that one factor, or none, stands for. */
static void note_use(struct sb_virtual_machine *m, const struct sb_topology *topology)
{
	const struct sb_placement *p = &m->ground.placement;
	int fastest = -1;

	for (uint32_t i = 0; i < m->all.workers; i++) {
		const int kind = sb_topology_kind(topology, m->all.place[i].pu);

		fastest = kind > fastest ? kind : fastest;
	}
	for (uint32_t i = 0; i < p->workers; i++) {
		const int kind = sb_topology_kind(topology, p->place[i].pu);

		m->has_slow_cores |= kind < fastest;
		m->has_unknown_cores |= kind < fastest && isnan(sb_model_file_kind(&m->file, kind));
		for (uint32_t k = 0; k < i; k++)
			m->shares_cores |= sb_model_hop(&m->model, (uint32_t)p->place[k].pu,
							(uint32_t)p->place[i].pu) == SB_HOP_CORE;
	}
}

static int place_threads(struct sb_virtual_machine *m, const struct sb_plan *plan)
{
	struct sb_virtual_ground *g = &m->ground;

	g->model = &m->model;
	if (sb_placement_copy(&g->placement, &plan->placement))
		return sb_fail_memory();
	for (uint32_t i = 0; i < g->placement.workers; i++)
		g->placement.place[i].os_cpu = g->placement.place[i].pu;
	/* There are no pages to bind. */
	free(g->placement.os_node);
	g->placement.os_node = NULL;
	if (!plan->generators)
		return 0;
	g->may_run = calloc(m->model.cpus, sizeof(*g->may_run));
	if (!g->may_run)
		return sb_fail_memory();
	g->first_cpu = (uint32_t)plan->generator[0].pu;
	for (uint32_t i = 0; i < plan->generators; i++)
		g->may_run[plan->generator[i].pu] = true;
	return 0;
}

int sb_virtual_machine_take(struct sb_virtual_machine *m, const struct sb_topology *topology,
			    const struct sb_plan *plan)
{
	struct sb_machine machine;
	int rc;

	sb_topology_machine(topology, &machine);
	m->model = sb_model_of(&m->file);
	if (sb_placement_make(topology, machine.pus, &m->all))
		return sb_fail_memory();
	m->model.cpus = count_cpus(&m->all);
	m->place = calloc(m->model.cpus, sizeof(*m->place));
	if (!m->place)
		return sb_fail_memory();
	take_places(m, topology);
	take_distances(m);
	rc = check_hops(m);
	rc = rc ? rc : place_threads(m, plan);
	if (!rc)
		note_use(m, topology);
	return rc;
}

int sb_virtual_machine_make(struct sb_virtual_machine *m, const struct sb_options *options,
			    const struct sb_topology *topology, const struct sb_plan *plan)
{
	int rc;

	*m = (struct sb_virtual_machine){ .place = NULL };
	rc = sb_virtual_open_model(&m->file, options);
	return rc ? rc : sb_virtual_machine_take(m, topology, plan);
}

void sb_virtual_machine_free(struct sb_virtual_machine *m)
{
	sb_model_file_free(&m->file);
	sb_placement_free(&m->all);
	sb_placement_free(&m->ground.placement);
	free(m->ground.may_run);
	free(m->place);
	*m = (struct sb_virtual_machine){ .place = NULL };
}

/* ---- facts ---- */

static int add_number(struct sb_result *result, const char *key, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%g", value);
	return sb_result_add_fact(result, "virtual", key, isnan(value) ? "" : text);
}

static int add_not_modelled(struct sb_result *result, const struct sb_virtual_machine *m)
{
	const bool has_smt = !isnan(sb_model_file_get(&m->file, "smt"));
	char text[256];

	snprintf(text, sizeof(text), "%s%s%s%s%s", SB_NOT_MODELLED,
		 m->shares_cores ? ", hardware threads of one core (in use)" : "",
		 m->shares_cores && has_smt ? " beyond one factor" : "",
		 m->has_slow_cores ? ", kinds of cores (in use)" : "",
		 m->has_slow_cores && !m->has_unknown_cores ? " beyond one factor" : "");
	return sb_result_add_fact(result, "virtual", "not_modelled", text);
}

int sb_virtual_add_facts(struct sb_result *result, const struct sb_virtual_machine *m)
{
	const struct sb_model_file *file = &m->file;
	char hash[20];
	int rc = 0;

	snprintf(hash, sizeof(hash), "%016" PRIx64, sb_model_file_hash(file));
	rc |= sb_result_add_fact(result, "virtual", "model", file->name);
	rc |= sb_result_add_fact(result, "virtual", "model_machine", file->machine);
	rc |= sb_result_add_fact(result, "virtual", "model_hash", hash);
	rc |= sb_result_add_fact(result, "virtual", "model_date", file->date);
	rc |= sb_result_add_fact(result, "virtual", "validated_on", file->validated_on);
	rc |= add_number(result, "median_error_pct", file->median_error_pct);
	rc |= add_number(result, "max_error_pct", file->max_error_pct);
	rc |= add_number(result, "tau", file->tau);
	rc |= add_not_modelled(result, m);
	return rc ? sb_fail_memory() : 0;
}
