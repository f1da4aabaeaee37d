/*
 * topo.c - the verb `topo`: what machine a profile is, and what a
 * placement on it would be.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/draw.h"
#include "harness/cli/help.h"
#include "harness/guide/names.h"
#include "harness/output/output.h"
#include "harness/run/placing.h"
#include "harness/system/pack.h"
#include "harness/terminal/progress.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "harness/topology/packing.h"
#include "harness/topology/rings.h"
#include "harness/verbs/verbs.h"
#include "harness/virtual/ground.h"
#include "results/files/table.h"
#include "results/files/wrap.h"
#include "results/json/json_out.h"
#include "results/record/record.h"
#include "results/text/escape.h"

/* A machine and, for those that need one, a plan on it. */
struct scene {
	const struct sb_options *options;
	const struct sb_topology *topology;
	struct sb_machine machine;
	struct sb_plan plan;
};

static void put_count(FILE *out, uint32_t n, const char *what)
{
	fprintf(out, ", %" PRIu32 " %s%s", n, what, n == 1 ? "" : "s");
}

static void put_title(const struct scene *s)
{
	const struct sb_machine *m = &s->machine;
	int columns = sb_terminal_width(stdout);
	struct sb_wrap wrap;
	FILE *out = sb_wrap_begin(&wrap, stdout, &columns);

	fprintf(out, "%s%s", sb_terminal_text(m->profile), m->emulated ? " (emulated)" : "");
	put_count(out, m->packages, "package");
	put_count(out, m->nodes, "NUMA node");
	put_count(out, m->caches, "last-level cache");
	put_count(out, m->cores, "core");
	put_count(out, m->pus, "processing unit");
	fputc('\n', out);
	sb_wrap_end(&wrap);
}

/* ---- the table of workers and generators ---- */

static int cpu_of(const struct scene *s, const struct sb_place *place)
{
	return sb_topology_os_cpu(s->topology, place->pu);
}

static int os_node_of(const struct scene *s, const struct sb_place *place)
{
	return sb_topology_os_node(s->topology, place->node);
}

static int kind_of(const struct scene *s, const struct sb_place *place)
{
	return sb_topology_kind(s->topology, place->pu);
}

/* A number of the place, or what the topology says of it; -1: none. */
static const struct column {
	const char *name;
	size_t offset;
	int (*get)(const struct scene *s, const struct sb_place *place);
} columns[] = {
	{ .name = "pu", .offset = offsetof(struct sb_place, pu) },
	{ .name = "core", .offset = offsetof(struct sb_place, core) },
	{ .name = "cache", .offset = offsetof(struct sb_place, cache) },
	{ .name = "node", .offset = offsetof(struct sb_place, node) },
	{ .name = "os_node", .get = os_node_of },
	{ .name = "package", .offset = offsetof(struct sb_place, package) },
	{ .name = "kind", .get = kind_of },
};

static int column_of(const struct scene *s, const struct sb_place *place,
		     const struct column *column)
{
	int value;

	if (column->get)
		return column->get(s, place);
	memcpy(&value, (const char *)place + column->offset, sizeof(value));
	return value;
}

static void add_line(struct sb_table *table, const struct scene *s, const struct sb_place *place)
{
	sb_table_cell(table, "%d", cpu_of(s, place));
	for (size_t c = 0; c < SB_ARRAY_SIZE(columns); c++) {
		const int value = column_of(s, place, &columns[c]);

		if (value < 0)
			sb_table_cell(table, "-");
		else
			sb_table_cell(table, "%d", value);
	}
}

static void put_table(const struct scene *s)
{
	struct sb_table table = { .keys = 1 };

	sb_table_column(&table, "worker", 0, 0);
	sb_table_column(&table, "cpu", 0, 7);
	for (size_t c = 0; c < SB_ARRAY_SIZE(columns); c++)
		sb_table_column(&table, columns[c].name, 0, 7);
	for (uint32_t w = 0; w < s->plan.placement.workers; w++) {
		sb_table_cell(&table, "%" PRIu32, w);
		add_line(&table, s, &s->plan.placement.place[w]);
	}
	for (uint32_t g = 0; g < s->plan.generators; g++) {
		sb_table_cell(&table, "G");
		add_line(&table, s, &s->plan.generator[g]);
	}
	sb_table_put(&table, stdout, sb_terminal_width(stdout), NULL);
	putchar('\n');
	sb_help_wrapped("cpu and os_node are the operating system's numbers, the others hwloc's "
			"logical ones;",
			0);
	puts("kinds of cores count from the slowest");
	if (s->plan.generators)
		puts("\nG: for generators of load; no worker is on its core");
}

static void put_row(const struct scene *s, const struct sb_place *place, const char *role)
{
	printf(",%d", cpu_of(s, place));
	for (size_t c = 0; c < SB_ARRAY_SIZE(columns); c++) {
		const int value = column_of(s, place, &columns[c]);

		if (value < 0)
			putchar(',');
		else
			printf(",%d", value);
	}
	printf(",%s,%s\n", role, s->machine.emulated ? "emulated" : "native");
}

/* A generator has no number. */
static void put_csv(const struct scene *s)
{
	printf("worker,cpu");
	for (size_t c = 0; c < SB_ARRAY_SIZE(columns); c++)
		printf(",%s", columns[c].name);
	puts(",role,topology");
	for (uint32_t w = 0; w < s->plan.placement.workers; w++) {
		printf("%" PRIu32, w);
		put_row(s, &s->plan.placement.place[w], "worker");
	}
	for (uint32_t g = 0; g < s->plan.generators; g++)
		put_row(s, &s->plan.generator[g], "generator");
}

/* ---- JSON ---- */

static void place_to_json(const struct scene *s, const struct sb_place *place, json_t *object)
{
	json_object_set_new(object, "cpu", json_integer(cpu_of(s, place)));
	for (size_t c = 0; c < SB_ARRAY_SIZE(columns); c++) {
		const int value = column_of(s, place, &columns[c]);

		json_object_set_new(object, columns[c].name,
				    value < 0 ? json_null() : json_integer(value));
	}
}

static json_t *worker_to_json(const struct scene *s, uint32_t worker)
{
	json_t *object = json_pack("{si}", "worker", (int)worker);

	place_to_json(s, &s->plan.placement.place[worker], object);
	return object;
}

static json_t *generators_to_json(const struct scene *s)
{
	json_t *list = json_array();

	for (uint32_t g = 0; g < s->plan.generators; g++) {
		json_t *object = json_object();

		place_to_json(s, &s->plan.generator[g], object);
		json_array_append_new(list, object);
	}
	return list;
}

static int put_json(const struct scene *s)
{
	json_t *workers = json_array();
	char *profile = sb_text_copy(s->machine.profile);
	json_t *document;

	for (uint32_t w = 0; w < s->plan.placement.workers; w++)
		json_array_append_new(workers, worker_to_json(s, w));
	document = json_pack("{sssssisisisisosososo}", "profile", profile, "topology",
			     s->machine.emulated ? "emulated" : "native", "packages",
			     (int)s->machine.packages, "nodes", (int)s->machine.nodes, "cores",
			     (int)s->machine.cores, "pus", (int)s->machine.pus, "workers", workers,
			     "generators", generators_to_json(s), "rings", sb_topo_rings_to_json(),
			     "node_distances", sb_topo_distances_to_json(&s->plan.placement));
	free(profile);
	if (sb_json_put(document, stdout, JSON_INDENT(1)))
		return sb_fail_memory();
	putchar('\n');
	return 0;
}

/* ---- the parts of the verb ---- */

static int plan(const struct scene *s)
{
	switch (s->options->value[SB_OPT_format].alternative) {
	case SB_FORMAT_JSON:
		return put_json(s);
	case SB_FORMAT_CSV:
		put_csv(s);
		return 0;
	case SB_FORMAT_PRETTY:
	default:
		put_title(s);
		putchar('\n');
		put_table(s);
		sb_topo_put_rings(&s->plan.placement);
		return 0;
	}
}

static int put_svg(const void *what, FILE *out)
{
	const struct scene *s = what;

	sb_draw_svg(s->topology, &s->plan, out);
	return 0;
}

static int show_model(const struct scene *s)
{
	struct sb_model_file file;
	const int rc = sb_virtual_open_model(&file, s->options);

	if (!rc)
		sb_model_file_print(&file, stdout);
	sb_model_file_free(&file);
	return rc;
}

static int show(const struct scene *s)
{
	const char *svg = s->options->value[SB_OPT_svg].text;
	const int rc = *svg ? sb_output(svg, put_svg, s) : 0;

	if (rc)
		return sb_fail(sb_status_of(rc), "--svg: '%s' cannot be written: %s", svg,
			       sb_output_why(rc));
	if (*svg)
		return 0;
	if (sb_opt(s->options, SB_OPT_topo_model))
		return show_model(s);
	put_title(s);
	sb_draw_tree(s->topology, &s->plan, stdout);
	return 0;
}

static int export(const struct scene *s)
{
	const int rc = sb_topology_export(s->topology, stdout);

	return rc ? sb_fail(sb_status_of(rc), "no export: %s", strerror(-rc)) : 0;
}

static int fingerprint(const struct scene *s)
{
	printf("%016" PRIx64 "\n", sb_topology_fingerprint(s->topology));
	return 0;
}

static int pack(const struct scene *s)
{
	const char *path = s->options->value[SB_OPT_pack_output].text;
	struct sb_pack_machine machine = { .name = NULL };
	char why[SB_REASON_BYTES];
	int rc;

	if (!*path)
		return sb_fail(SB_EXIT_USAGE, "topo pack: expected -o FILE.json, to which this "
					      "machine is added");
	if (!sb_pack_is_named(path))
		return sb_fail(SB_EXIT_USAGE,
			       "--output: '%s' is not valid; expected a name in .json", path);
	rc = sb_topo_describe(s->options, s->topology, &machine);
	if (!rc) {
		rc = sb_pack_add(path, &machine, why, sizeof(why));
		rc = rc ? sb_fail(sb_status_of(rc), "--output: %s", why) : 0;
	}
	if (!rc)
		printf("%s:%s (%s%s)\n", sb_terminal_text(path), sb_terminal_text(machine.name),
		       sb_terminal_text(machine.cpu_model),
		       machine.model ? ", with a model" : ", without a model");
	sb_pack_free(&machine);
	return rc;
}

static int list(const struct scene *s)
{
	return sb_names_put(sb_names_find("profiles"),
			    (enum sb_format)s->options->value[SB_OPT_format].alternative);
}

static const struct part {
	const char *name;
	int (*run)(const struct scene *s);
	bool has_machine;
	bool has_plan;
	bool has_svg;
	bool has_format;
} parts[] = {
	{ "list", list, false, false, false, true },
	{ "show", show, true, true, true, false },
	{ "plan", plan, true, true, false, true },
	{ "export", export, true, false, false, false },
	{ "fingerprint", fingerprint, true, false, false, false },
	{ "pack", pack, true, false, false, false },
};

static const char *part_name(const void *unused, size_t i)
{
	(void)unused;
	return i < SB_ARRAY_SIZE(parts) ? parts[i].name : NULL;
}

static const struct part *find_part(const char *name)
{
	for (size_t i = 0; i < SB_ARRAY_SIZE(parts); i++) {
		if (!strcmp(parts[i].name, name))
			return &parts[i];
	}
	return NULL;
}

/* On the command line; what the environment sets is for whom it concerns. */
static bool is_given(const struct sb_options *options, enum sb_option_id id)
{
	return !strcmp(options->value[id].source, "command line");
}

/* An option that this part would not look at. */
static const char *find_useless(const struct part *part, const struct sb_options *options)
{
	static const enum sb_option_id of_plan[] = { SB_OPT_workers, SB_OPT_placement,
						     SB_OPT_cpus,    SB_OPT_generator_cpus,
						     SB_OPT_no_smt,  SB_OPT_oversubscribe };

	if (!part->has_machine && is_given(options, SB_OPT_profile))
		return sb_option[SB_OPT_profile].name;
	if (!part->has_svg && is_given(options, SB_OPT_svg))
		return sb_option[SB_OPT_svg].name;
	if (!part->has_format && is_given(options, SB_OPT_format))
		return sb_option[SB_OPT_format].name;
	for (size_t i = 0; i < SB_ARRAY_SIZE(of_plan); i++) {
		if (!part->has_plan && is_given(options, of_plan[i]))
			return sb_option[of_plan[i]].name;
	}
	return NULL;
}

static int run_part(const struct part *part, const struct sb_options *options)
{
	struct scene s = { .options = options };
	struct sb_topology *topology;
	const char *useless = find_useless(part, options);
	int rc;

	if (useless)
		return sb_fail(SB_EXIT_USAGE, "--%s: expected without it; topo %s does not use it",
			       useless, part->name);
	if (!part->has_machine)
		return part->run(&s);
	rc = sb_placing_open(options, &topology);
	if (rc)
		return rc;
	s.topology = topology;
	sb_topology_machine(topology, &s.machine);
	if (part->has_plan)
		rc = sb_placing_plan(options, topology, &s.plan);
	if (!rc) {
		rc = part->run(&s);
		sb_plan_free(&s.plan);
	}
	sb_topology_free(topology);
	return rc;
}

static int unknown_part(const char *name)
{
	const char *like = sb_most_like(name, part_name, NULL);

	if (like)
		return sb_fail(SB_EXIT_USAGE, "topo: unknown '%s'; did you mean '%s'?", name, like);
	return sb_fail(SB_EXIT_USAGE,
		       "topo: expected list, show, plan, export, fingerprint or pack, not '%s'",
		       name);
}

int sb_command_topo(int argc, char **argv)
{
	static struct sb_options options;
	const char *name = argc > 2 ? argv[2] : "--help";
	const struct part *part = find_part(name);
	int rc;

	if (!strcmp(name, "--help") || !strcmp(name, "-h")) {
		sb_help_verb(SB_VERB_TOPO);
		return 0;
	}
	if (!part)
		return unknown_part(name);
	rc = sb_options_parse_for(&options, SB_VERB_TOPO, argc - 2, argv + 2);
	if (!rc && sb_opt(&options, SB_OPT_help))
		sb_help_verb(SB_VERB_TOPO);
	else if (!rc)
		rc = run_part(part, &options);
	sb_options_free(&options);
	return rc;
}
