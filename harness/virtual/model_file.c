#include "harness/virtual/model_file.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/virtual/models.h"
#include "results/json/read.h"
#include "results/text/escape.h"

#define PS_PER_NS     1000
#define LINES_PER_KIB 16

/* ---- the values ---- */

enum {
	TRANSFER = 0,
	COST = TRANSFER + SB_HOPS,
	COSTS_END = COST + sizeof(struct sb_costs) / sizeof(uint64_t),
	STRAIGHT = COSTS_END,
	CACHE = STRAIGHT + SB_STRAIGHTS,
	TRANSFER_SLOW,
	SCALE,
	KIND,
	SMT = KIND + SB_MODEL_KINDS,
	VALUES
};

static_assert(VALUES <= SB_MODEL_VALUES_MAX, "there is room");

const struct sb_model_value sb_model_value[] = {
	{ "transfer_core", "ns", "a cache line, from one hardware thread of a core to another",
	  true },
	{ "transfer_cache", "ns", "a cache line, between CPUs that share the last-level cache",
	  true },
	{ "transfer_node", "ns", "a cache line, between CPUs of one NUMA node", true },
	{ "transfer_package", "ns", "a cache line, between NUMA nodes of one package", true },
	{ "transfer_remote", "ns", "a cache line, from the nearest other package", true },
#define SB_COST(name, ps, meaning) { #name, "ns", meaning, false },
#include "core/platform/virtual/costs.def"
#undef SB_COST
#define SB_STRAIGHT(name, meaning) { "straight_" #name, "ns", meaning, false },
#include "core/platform/straight.def"
#undef SB_STRAIGHT
	{ "cache_kib", "kib", "a CPU's own cache, a power of two", false },
	{ "transfer_slow", "ns",
	  "a cache line, between cores that are slower than others and share the last-level cache",
	  true },
	{ "straight", "factor", "all costs of straight code, as a multiple", true },
	{ "kind_0", "factor",
	  "straight code on cores of the slowest kind, as a multiple of the fastest kind's", true },
	{ "kind_1", "factor", "the same on cores of the next kind", true },
	{ "kind_2", "factor", "the same on cores of the one after that", true },
	{ "smt", "factor", "what a core does with two busy hardware threads, in that of one",
	  true },
	{ NULL, NULL, NULL, false },
};

/* VALUES: there is no such value. */
static int index_of(const char *name)
{
	int i = 0;

	while (i < VALUES && strcmp(sb_model_value[i].name, name) != 0)
		i++;
	return i;
}

void sb_model_file_set(struct sb_model_file *file, const char *name, double value,
		       const char *source)
{
	const int i = index_of(name);

	if (i == VALUES)
		return;
	free(file->source[i]);
	file->value[i] = value;
	file->source[i] = strdup(source);
}

double sb_model_file_get(const struct sb_model_file *file, const char *name)
{
	const int i = index_of(name);

	return i == VALUES ? NAN : file->value[i];
}

double sb_model_file_kind(const struct sb_model_file *file, int kind)
{
	return kind >= 0 && kind < SB_MODEL_KINDS ? file->value[KIND + kind] : NAN;
}

static bool is_power_of_two(double kib)
{
	const uint64_t n = (uint64_t)kib;

	return (double)n == kib && n && !(n & (n - 1)) && n <= (UINT64_C(1) << 20);
}

static uint64_t as_ps(double ns)
{
	return isnan(ns) ? 0 : (uint64_t)(ns * PS_PER_NS + 0.5);
}

struct sb_model sb_model_of(const struct sb_model_file *file)
{
	const double scale = isnan(file->value[SCALE]) ? 1 : file->value[SCALE];
	struct sb_model model = { .cpus = 0 };
	uint64_t cost[COSTS_END - COST];

	for (int hop = 0; hop < SB_HOPS; hop++)
		model.transfer_ps[hop] = as_ps(file->value[TRANSFER + hop]);
	for (int i = COST; i < COSTS_END; i++)
		cost[i - COST] = as_ps(file->value[i]);
	memcpy(&model.cost, cost, sizeof(cost));
	for (int kind = 0; kind < SB_STRAIGHTS; kind++)
		model.straight_ps[kind] = as_ps(file->value[STRAIGHT + kind] * scale);
	model.transfer_slow_ps = as_ps(file->value[TRANSFER_SLOW]);
	model.smt_permille =
		isnan(file->value[SMT]) ? 0 : (uint32_t)(1000 * file->value[SMT] + 0.5);
	model.cache_lines = LINES_PER_KIB * (uint32_t)file->value[CACHE];
	return model;
}

/* FNV-1a, of the numbers as they are charged. */
uint64_t sb_model_file_hash(const struct sb_model_file *file)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (int i = 0; i < VALUES; i++) {
		uint64_t ps = isnan(file->value[i]) ? UINT64_MAX : as_ps(file->value[i]);

		for (int byte = 0; byte < 8; byte++, ps >>= 8)
			hash = (hash ^ (ps & 255)) * UINT64_C(0x100000001b3);
	}
	return hash;
}

/* ---- reading ---- */

struct reader {
	struct sb_model_file *file;
	const char *name;
	char *why;
	size_t bytes;
};

static int refuse(const struct reader *r, int rc, const char *format, ...) SB_PRINTF(3, 4);
static int refuse(const struct reader *r, int rc, const char *format, ...)
{
	const size_t used = (size_t)snprintf(r->why, r->bytes, "model '%s': ", r->name);
	va_list args;

	va_start(args, format);
	if (used < r->bytes)
		vsnprintf(r->why + used, r->bytes - used, format, args);
	va_end(args);
	return rc;
}

static int take_value(const struct reader *r, const json_t *values, int i)
{
	const struct sb_model_value *value = &sb_model_value[i];
	const json_t *object = json_object_get(values, value->name);
	const json_t *number = json_object_get(object, value->unit);
	const char *source = json_string_value(json_object_get(object, "source"));

	r->file->value[i] = NAN;
	if (!object && value->may_be_missing)
		return 0;
	if (!object)
		return refuse(r, -EINVAL, "no cost '%s'; expected %s", value->name, value->meaning);
	if (!json_is_number(number))
		return refuse(r, -EINVAL, "'%s' has no number '%s'", value->name, value->unit);
	if (!strcmp(value->unit, "factor") &&
	    !(json_number_value(number) >= 0.1 && json_number_value(number) <= 10))
		return refuse(r, -EINVAL, "'%s' is %g; expected a factor from 0.1 to 10",
			      value->name, json_number_value(number));
	if (!(json_number_value(number) >= 0) || json_number_value(number) > 1e9)
		return refuse(r, -EINVAL, "'%s' is %g; expected 0 to 1e9 %s", value->name,
			      json_number_value(number), value->unit);
	if (!source)
		return refuse(r, -EINVAL, "'%s' has no 'source'; expected where it comes from",
			      value->name);
	r->file->value[i] = json_number_value(number);
	r->file->source[i] = strdup(source);
	return r->file->source[i] ? 0 : -ENOMEM;
}

/* A misspelt name would be a cost that is silently not charged. */
static int refuse_unknown(const struct reader *r, const json_t *values)
{
	const char *name;
	json_t *unused;

	json_object_foreach ((json_t *)(uintptr_t)values, name, unused) {
		if (index_of(name) == VALUES)
			return refuse(r, -EINVAL,
				      "unknown value '%s'; sched-bench topo show --model names "
				      "them",
				      name);
	}
	return 0;
}

static int check_order(const struct reader *r)
{
	double nearer = 0;

	for (int hop = 0; hop < SB_HOPS; hop++) {
		const double ns = r->file->value[TRANSFER + hop];

		if (ns < nearer)
			return refuse(r, -EINVAL, "'%s' is %g ns, less than a nearer one's %g",
				      sb_model_value[TRANSFER + hop].name, ns, nearer);
		nearer = isnan(ns) ? nearer : ns;
	}
	if (r->file->value[SMT] < 1)
		return refuse(r, -EINVAL, "'smt' is %g; expected a factor from 1 to 10",
			      r->file->value[SMT]);
	if (!is_power_of_two(r->file->value[CACHE]))
		return refuse(r, -EINVAL, "'cache_kib' is %g; expected a power of two",
			      r->file->value[CACHE]);
	return 0;
}

static double number_of(const json_t *object, const char *key)
{
	const json_t *number = json_object_get(object, key);

	return json_is_number(number) ? json_number_value(number) : NAN;
}

static char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return strdup(text ? text : "");
}

static int take(const struct reader *r, const json_t *root)
{
	const json_t *values = json_object_get(root, "values");
	const json_t *validation = json_object_get(root, "validation");
	struct sb_model_file *file = r->file;
	int rc;

	if (json_integer_value(json_object_get(root, "sched_bench_model")) != SB_MODEL_VERSION)
		return refuse(r, -EINVAL, "expected \"sched_bench_model\": %d", SB_MODEL_VERSION);
	file->name = text_of(root, "name");
	file->machine = text_of(root, "machine");
	file->date = text_of(root, "date");
	file->median_error_pct = number_of(validation, "median_error_pct");
	file->max_error_pct = number_of(validation, "max_error_pct");
	file->tau = number_of(validation, "tau");
	file->validated_on = text_of(validation, "of");
	if (!file->name || !file->machine || !file->date || !file->validated_on)
		return -ENOMEM;
	rc = refuse_unknown(r, values);
	for (int i = 0; i < VALUES && !rc; i++)
		rc = take_value(r, values, i);
	return rc ? rc : check_order(r);
}

/* NULL: no model of that name comes with the command. */
static const struct sb_named_model *find_named(const char *name)
{
	for (const struct sb_named_model *m = sb_named_models; m->name; m++) {
		if (!strcmp(m->name, name))
			return m;
	}
	return NULL;
}

bool sb_model_is_named(const char *name)
{
	return find_named(name);
}

static json_t *load(const struct reader *r, json_error_t *error)
{
	const struct sb_named_model *named = find_named(r->name);

	return named ? json_loads(named->json, JSON_REJECT_DUPLICATES, error)
		     : sb_json_read_file(r->name, JSON_REJECT_DUPLICATES, error);
}

/* Of the JSON, which is freed; NULL: it was none. */
static int read_json(const struct reader *r, json_t *root, const json_error_t *error)
{
	int rc;

	*r->file = (struct sb_model_file){ .name = NULL };
	if (!root && error->line < 0 && errno != ENOENT)
		return refuse(r, -errno, "%s", error->text);
	if (!root && error->line < 0)
		return refuse(r, -ENOENT, "there is none of that name, and no such file");
	if (!root)
		return refuse(r, -EINVAL, "line %d: %s", error->line, error->text);
	rc = take(r, root);
	json_decref(root);
	if (rc == -ENOMEM)
		refuse(r, rc, "no memory");
	return rc;
}

int sb_model_file_open(struct sb_model_file *file, const char *name, char *why, size_t bytes)
{
	const struct reader r = { file, name, why, bytes };
	json_error_t error;
	json_t *root = load(&r, &error);

	return read_json(&r, root, &error);
}

int sb_model_file_parse(struct sb_model_file *file, const char *text, const char *name, char *why,
			size_t bytes)
{
	const struct reader r = { file, name, why, bytes };
	json_error_t error;
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);

	return read_json(&r, root, &error);
}

void sb_model_file_free(struct sb_model_file *file)
{
	free(file->name);
	free(file->machine);
	free(file->date);
	free(file->validated_on);
	for (int i = 0; i < VALUES; i++)
		free(file->source[i]);
	*file = (struct sb_model_file){ .name = NULL };
}

/* ---- writing ---- */

static json_t *values_to_json(const struct sb_model_file *file)
{
	json_t *values = json_object();

	for (int i = 0; values && i < VALUES; i++) {
		if (isnan(file->value[i]))
			continue;
		if (json_object_set_new(values, sb_model_value[i].name,
					json_pack("{s:f, s:s}", sb_model_value[i].unit,
						  file->value[i], "source", file->source[i]))) {
			json_decref(values);
			return NULL;
		}
	}
	return values;
}

static json_t *validation_to_json(const struct sb_model_file *file)
{
	if (isnan(file->median_error_pct))
		return json_null();
	return json_pack("{s:f, s:f, s:f, s:s}", "median_error_pct", file->median_error_pct,
			 "max_error_pct", file->max_error_pct, "tau", file->tau, "of",
			 file->validated_on);
}

int sb_model_file_write(const struct sb_model_file *file, FILE *out)
{
	json_t *root =
		json_pack("{s:i, s:s, s:s, s:s, s:o?, s:o?}", "sched_bench_model", SB_MODEL_VERSION,
			  "name", file->name, "machine", file->machine, "date", file->date,
			  "values", values_to_json(file), "validation", validation_to_json(file));
	int rc;

	if (!root)
		return -ENOMEM;
	rc = json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
	json_decref(root);
	return rc || fputc('\n', out) == EOF ? -EIO : 0;
}

void sb_model_file_print(const struct sb_model_file *file, FILE *out)
{
	fprintf(out, "model %s, %s, hash %016" PRIx64 "\n%s\n", sb_terminal_text(file->name),
		sb_terminal_text(file->date), sb_model_file_hash(file),
		sb_terminal_text(file->machine));
	if (isnan(file->median_error_pct))
		fputs("not validated: it has not been compared with that machine\n", out);
	else
		fprintf(out,
			"validated on %s: median error %.1f %%, largest %.1f %%, order of "
			"configurations (Kendall's tau) %.2f\n",
			sb_terminal_text(file->validated_on), file->median_error_pct,
			file->max_error_pct, file->tau);
	fputs("not modelled: " SB_NOT_MODELLED "\n\n", out);
	for (int i = 0; i < VALUES; i++) {
		if (!isnan(file->value[i]))
			fprintf(out, "%-18s %10.5g %-6s  %s\n%40s%s\n", sb_model_value[i].name,
				file->value[i], sb_model_value[i].unit, sb_model_value[i].meaning,
				"", sb_terminal_text(file->source[i]));
	}
}
