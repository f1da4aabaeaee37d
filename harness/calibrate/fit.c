#include "harness/calibrate/fit.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/calibrate/solve.h"
#include "harness/output/facts.h"
#include "harness/run/placing.h"
#include "harness/run/series.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "harness/virtual/ground.h"
#include "results/record/series.h"

/* ---- straight code, and memory that is cold ---- */

/*
 * Costs that nothing measures by themselves. The time of an operation of each subject, on one
 * worker, is linear in them: each kind costs so much as often as an operation has it, which virtual
 * time says exactly. They are chosen so that the sum of the squares of the subjects' relative
 * errors is the least, and none is negative. A workload's own code counts as part of the kinds,
 * so these are workloads that do a typical little in a step.
 */
static const struct unknown {
	const char *kind;
	const char *other; /* of the same cost; NULL: none */
} unknowns[] = {
	{ "straight_step", NULL },
	{ "straight_send", NULL },
	{ "straight_queue", NULL },
	{ "straight_yield", NULL },
	{ "straight_spawn", "straight_end" },
	{ "cold", NULL },
};

static const struct subject {
	const char *workload;
	const char *option[4]; /* with their values; ends with NULL */
} subjects[] = {
	{ "pingpong", { "--round-trips", "20000" } },
	{ "pingpong", { "--pairs", "1000", "--round-trips", "20" } },
	{ "savina-pingpong", { "--round-trips", "20000" } },
	{ "savina-count", { "--increments", "100000" } },
	{ "savina-threadring", { "--hops", "100000" } },
	{ "savina-fjthrput", { "--messages", "1000" } },
	{ "fan-in", { "--messages", "1000" } },
	{ "tokio-yield_many", { "--yields", "1000" } },
	{ "yield", { "--yields", "20000" } },
	{ "skynet", { "--leaves", "10000" } },
	{ "skynet", { "--leaves", "100000" } },
	{ "storm", { "--processes", "100000" } },
	/* Of these, storm and this one touch two and three times as much cold memory for a process
	 * as skynet: without them the costs of a spawn and of cold memory cannot be told apart. */
	{ "savina-fjcreate", { "--processes", "40000" } },
};

#define SUBJECTS SB_ARRAY_SIZE(subjects)

static_assert(SB_ARRAY_SIZE(unknowns) == SB_UNKNOWNS, "solve.h has room for each");

/*
 * A guest's CPU shares its core with a stranger for seconds at a time, on a busy host for nearly
 * all of the time, and is then slower by half. So real time is measured in rounds of all subjects,
 * and of each one the median of the rounds counts, each by the median of its repetitions: the speed
 * that the machine has most of the time, not its luckiest moment.
 */
#define ROUNDS	    20
#define REPETITIONS 3
#define PROBE_NS    10.0

struct fit {
	struct sb_options options;
	struct sb_topology *topology;
	struct sb_plan plan;
};

static int parse(struct sb_options *options, const struct subject *s)
{
	const char *words[16] = { "run",     "--workers", "1",		"--series", "none",
				  "--forks", "1",	  "--workload", s->workload };
	char *argv[SB_ARRAY_SIZE(words)];
	int n = 9;

	for (size_t i = 0; i < SB_ARRAY_SIZE(s->option) && s->option[i]; i++)
		words[n++] = s->option[i];
	memcpy(argv, words, sizeof(argv));
	return sb_options_parse(options, n, argv);
}

static int open_fit(struct fit *fit, const struct subject *s)
{
	int rc = parse(&fit->options, s);

	if (!rc)
		rc = sb_placing_open(&fit->options, &fit->topology);
	if (!rc)
		rc = sb_placing_plan(&fit->options, fit->topology, &fit->plan);
	return rc;
}

static void close_fit(struct fit *fit)
{
	sb_plan_free(&fit->plan);
	sb_topology_free(fit->topology);
	sb_options_free(&fit->options);
}

/* file: NULL for real time. */
static int run(struct fit *fit, const struct sb_model_file *file, double *ns)
{
	struct sb_result result = { .all_series = 1 };
	struct sb_ground ground = { .placement = &fit->plan.placement };
	struct sb_virtual_machine machine = { .place = NULL };
	struct sb_options *o = &fit->options;
	int rc = sb_cpu_mask_read(&ground.usable);

	/* In virtual time one repetition is as good as many. */
	o->value[SB_OPT_repetitions].number = file ? 1 : REPETITIONS;
	o->value[SB_OPT_duration].number = file ? 5000000 : 20000000;
	o->value[SB_OPT_warmup].number = file ? 5000000 : 40000000;
	result.series = calloc(1, sizeof(*result.series));
	if (rc || !result.series ||
	    sb_series_init(result.series, o, &o->chosen[0], &fit->plan.placement)) {
		rc = sb_fail_memory();
	} else if (file) {
		/* The file stays the caller's. */
		machine.file = *file;
		rc = sb_virtual_machine_take(&machine, fit->topology, &fit->plan);
		if (!rc)
			rc = sb_virtual_measure(result.series, &o->chosen[0], o, &machine.ground,
						NULL);
		machine.file = (struct sb_model_file){ .name = NULL };
	} else {
		rc = sb_measure(result.series, &o->chosen[0], o, &ground, NULL);
	}
	*ns = rc ? NAN : sb_series_spread(result.series, SB_METRIC_ns_per_op).median;
	sb_virtual_machine_free(&machine);
	sb_result_free(&result);
	return rc;
}

static void set_cost(struct sb_model_file *file, const struct unknown *u, double ns,
		     const char *source)
{
	sb_model_file_set(file, u->kind, ns, source);
	if (u->other)
		sb_model_file_set(file, u->other, ns, source);
}

/* Of each subject the time of an operation, at the median of its rounds. */
static int measure_all(struct fit fit[SUBJECTS], struct sb_linear_time times[SUBJECTS])
{
	double round[SUBJECTS][ROUNDS];
	int rc = 0;

	for (size_t i = 0; i < ROUNDS * SUBJECTS && !rc; i++) {
		double *ns = &round[i % SUBJECTS][i / SUBJECTS];

		rc = run(&fit[i % SUBJECTS], NULL, ns);
		if (isnan(*ns))
			*ns = INFINITY;
	}
	for (size_t i = 0; i < SUBJECTS && !rc; i++) {
		times[i].real = sb_spread_of(round[i], ROUNDS).median;
		if (!isfinite(times[i].real))
			rc = sb_fail(SB_EXIT_INVALID, "%s: no valid repetition to fit a model to",
				     subjects[i].workload);
	}
	return rc;
}

/* In virtual time: without the unknown costs, and with each of them alone. */
static int predict(struct sb_model_file *file, struct fit *fit, struct sb_linear_time *times)
{
	int rc = run(fit, file, &times->without);

	for (size_t u = 0; u < SB_UNKNOWNS && !rc; u++) {
		double with;

		set_cost(file, &unknowns[u], PROBE_NS, "");
		rc = run(fit, file, &with);
		set_cost(file, &unknowns[u], 0, "");
		times->per[u] = (with - times->without) / PROBE_NS;
	}
	return rc;
}

/* The text for the source of each cost: how well the costs fit. */
static void describe_fit(const struct sb_linear_time *times, uint32_t n,
			 const double ns[SB_UNKNOWNS], char *out, size_t bytes)
{
	double error[SUBJECTS];

	for (uint32_t i = 0; i < n; i++)
		error[i] = 100 * fabs(sb_linear_error(&times[i], ns));
	sb_sort(error, n);
	snprintf(out, bytes,
		 "fitted, with the others: %" PRIu32 " kinds of work on one worker; errors that "
		 "are left: median %.1f %%, largest %.1f %%",
		 n, sb_median_of_sorted(error, n), error[n - 1]);
}

static int fit_all(struct sb_model_file *file, struct fit fit[SUBJECTS])
{
	struct sb_linear_time times[SUBJECTS];
	double ns[SB_UNKNOWNS];
	uint32_t n = SUBJECTS;
	char source[160];
	int rc = measure_all(fit, times);

	for (size_t i = 0; i < SUBJECTS && !rc; i++)
		rc = predict(file, &fit[i], &times[i]);
	if (!rc)
		rc = sb_solve(times, &n, ns);
	if (rc)
		return rc;
	describe_fit(times, n, ns, source, sizeof(source));
	for (size_t u = 0; u < SB_UNKNOWNS; u++)
		set_cost(file, &unknowns[u], ns[u], source);
	return 0;
}

static int fit_straight(struct sb_model_file *file)
{
	static struct fit fit[SUBJECTS];
	int rc = 0;

	memset(fit, 0, sizeof(fit));
	for (size_t u = 0; u < SB_UNKNOWNS; u++)
		set_cost(file, &unknowns[u], 0, "");
	for (size_t i = 0; i < SUBJECTS && !rc; i++)
		rc = open_fit(&fit[i], &subjects[i]);
	if (!rc)
		rc = fit_all(file, fit);
	for (size_t i = 0; i < SUBJECTS; i++)
		close_fit(&fit[i]);
	return rc;
}

/* ---- transfers ---- */

/* "CPU 0 to 1". */
static bool parse_pair(const char *text, int *a, int *b)
{
	static const char before[] = "CPU ";
	static const char between[] = " to ";
	char *end;

	if (strncmp(text, before, strlen(before)) != 0)
		return false;
	*a = (int)strtol(text + strlen(before), &end, 10);
	if (strncmp(end, between, strlen(between)) != 0)
		return false;
	*b = (int)strtol(end + strlen(between), NULL, 10);
	return true;
}

/* The processing unit of an operating system's CPU; -1: none that may be used. */
static int unit_of(const struct sb_virtual_machine *m, const struct sb_topology *topology, int cpu)
{
	for (uint32_t i = 0; i < m->all.workers; i++) {
		if (sb_topology_os_cpu(topology, m->all.place[i].pu) == cpu)
			return m->all.place[i].pu;
	}
	return -1;
}

#define PAIRS_MAX 64

/* The pairs' medians over that distance; returns how many. */
static uint32_t gather_pairs(const struct sb_calibration *c, const struct sb_virtual_machine *m,
			     const struct sb_topology *topology, enum sb_hop hop,
			     double ns[PAIRS_MAX])
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->costs && n < PAIRS_MAX; i++) {
		int a, b;

		if (c->cost[i].id != SB_COST_line_transfer_ns || !parse_pair(c->cost[i].of, &a, &b))
			continue;
		a = unit_of(m, topology, a);
		b = unit_of(m, topology, b);
		if (a >= 0 && b >= 0 && sb_model_hop(&m->model, (uint32_t)a, (uint32_t)b) == hop)
			ns[n++] = c->cost[i].spread.median;
	}
	return n;
}

/* By distance the median of the pairs' medians. A distance that was measured as shorter than a
 * nearer one is as long. */
static void set_transfers(struct sb_model_file *file, const struct sb_calibration *c,
			  const struct sb_virtual_machine *m, const struct sb_topology *topology)
{
	double ns[PAIRS_MAX];
	double nearer = 0;

	for (int hop = 0; hop < SB_HOPS; hop++) {
		const uint32_t n = gather_pairs(c, m, topology, (enum sb_hop)hop, ns);

		if (!n)
			continue;
		sb_sort(ns, n);
		nearer = fmax(nearer, sb_median_of_sorted(ns, n));
		sb_model_file_set(file, sb_model_value[hop].name, nearer,
				  "measured: dependent reads of lines that the other CPU wrote");
	}
}

/* Sets `hold` to the median of the values that are fitted for each pair of CPUs. */
static void set_hold(struct sb_model_file *file, const struct sb_calibration *c)
{
	const double own_ns = sb_model_file_get(file, "hit") + sb_model_file_get(file, "rmw");
	double ns[PAIRS_MAX];
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->costs && n < PAIRS_MAX; i++) {
		const struct sb_cost *cost = &c->cost[i];
		const double added = sb_calibration_median(c, SB_COST_contended_add_ns, cost->of);

		if (cost->id == SB_COST_line_transfer_ns && !isnan(added))
			ns[n++] = sb_solve_hold(added, cost->spread.median, own_ns);
	}
	sb_sort(ns, n);
	sb_model_file_set(file, "hold", n ? sb_median_of_sorted(ns, n) : SB_HOLD_LEAST * own_ns,
			  n ? "fitted: additions of two CPUs to one line"
			    : "estimate: one second try in four succeeds; two CPUs never competed");
}

static int describe(struct sb_model_file *file, const struct sb_topology *topology)
{
	struct sb_machine machine;
	char date[SB_DATE_BYTES];

	sb_topology_machine(topology, &machine);
	sb_format_now(date);
	date[10] = '\0';
	file->name = strdup("this-machine");
	file->machine = strdup(machine.cpu_model);
	file->date = strdup(date);
	file->validated_on = strdup("");
	return file->name && file->machine && file->date && file->validated_on ? 0
									       : sb_fail_memory();
}

static int fit_transfers(struct sb_model_file *file, const struct sb_calibration *c)
{
	static struct fit fit;
	struct sb_virtual_machine machine = { .place = NULL };
	int rc;

	fit = (struct fit){ .topology = NULL };
	rc = open_fit(&fit, &subjects[0]);
	if (!rc)
		rc = describe(file, fit.topology);
	if (!rc) {
		machine.file = *file;
		/* Until they are known, all are alike. */
		for (int hop = 0; hop < SB_HOPS; hop++)
			machine.file.value[hop] = 0;
		rc = sb_virtual_machine_take(&machine, fit.topology, &fit.plan);
		machine.file = (struct sb_model_file){ .name = NULL };
	}
	if (!rc)
		set_transfers(file, c, &machine, fit.topology);
	sb_virtual_machine_free(&machine);
	close_fit(&fit);
	return rc;
}

int sb_fit_model(struct sb_model_file *file, const struct sb_calibration *c)
{
	const int rc = fit_transfers(file, c);

	set_hold(file, c);
	sb_model_file_set(file, "straight_search", 20,
			  "estimate: a round of looking at queues that are empty");
	return rc ? rc : fit_straight(file);
}
