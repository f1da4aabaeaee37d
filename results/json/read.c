/*
 * read.c - result.json back into a result. Nothing in the file is believed:
 * each value is of its type and possible, or reading ends; and before anything
 * is allocated for a part, the file is known to hold that part.
 */
#include "results/json/read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "results/files/file.h"
#include "results/json/json_out.h"
#include "results/json/values.h"
#include "results/record/record.h"
#include "results/record/series.h"

/* More than a result can have. */
#define FACTS_MAX 4096

static bool read_group(struct sb_reader *r, const char *name, json_t *group, struct sb_result *out)
{
	const char *key;
	json_t *value;

	json_object_foreach (group, key, value) {
		if (out->facts >= FACTS_MAX)
			return sb_reader_unexpected(r, "meta", "fewer facts");
		if (!json_is_string(value))
			return sb_reader_unexpected(r, "meta", "texts");
		if (sb_result_add_fact(out, name, key, json_string_value(value)))
			return sb_reader_no_memory(r);
	}
	return true;
}

static bool read_facts(struct sb_reader *r, const json_t *own, struct sb_result *out)
{
	json_t *meta = sb_reader_get(r, own, "meta", JSON_OBJECT);
	const char *name;
	json_t *group;

	json_object_foreach (meta, name, group) {
		if (!read_group(r, name, group, out))
			return false;
	}
	return meta;
}

/* A metric that workloads have declared; one for which there is no room is not read. */
static bool read_added(struct sb_reader *r, json_t *value)
{
	struct sb_metric metric;
	const char *better;

	if (json_unpack(value, "{ss ss ss ss}", "name", &metric.name, "unit", &metric.unit,
			"better", &better, "meaning", &metric.doc))
		return sb_reader_unexpected(r, "workload_metrics",
					    "name, unit, better and meaning, all texts");
	if (!sb_better_find(better, &metric.better))
		return sb_reader_unexpected(r, "workload_metrics",
					    "\"lower\", \"higher\" or \"\" as \"better\"");
	(void)sb_metric_add(&metric);
	return true;
}

static bool read_all_added(struct sb_reader *r, const json_t *own)
{
	json_t *all = json_object_get(own, "workload_metrics");
	json_t *value;
	size_t i;

	if (all && !json_is_array(all))
		return sb_reader_unexpected(r, "workload_metrics", "an array");
	json_array_foreach (all, i, value) {
		if (!read_added(r, value))
			return false;
	}
	return true;
}

static bool check_schema(struct sb_reader *r, const json_t *own)
{
	const json_t *schema = json_object_get(own, "schema");
	const json_int_t version = json_integer_value(schema);

	if (!json_is_integer(schema) || version < 1)
		return sb_reader_unexpected(r, "schema", "an integer of 1 or more");
	if (version > SB_RESULT_SCHEMA)
		return sb_reader_refuse(r, -EINVAL, "schema %lld; this sched-bench reads up to %d",
					(long long)version, SB_RESULT_SCHEMA);
	return true;
}

static bool check_layout(struct sb_reader *r, const json_t *own)
{
	json_t *expected = json_pack(SB_JSON_HIST_LAYOUT, SB_JSON_HIST_KEYS);
	const bool same = json_equal(json_object_get(own, "histogram_layout"), expected);

	json_decref(expected);
	return same ||
	       sb_reader_unexpected(r, "histogram_layout", "linear_bits 6 and value_bits 42");
}

static bool read_document(struct sb_reader *r, const json_t *document, struct sb_result *out)
{
	const json_t *benchmarks = json_object_get(document, "benchmarks");
	const json_t *own = json_object_get(document, "sched_bench");
	const json_t *invalid = json_object_get(own, "invalid");
	size_t before;

	if (!json_is_array(benchmarks))
		return sb_reader_refuse(r, -EINVAL,
					"not a result of sched-bench: it has no \"benchmarks\"");
	if (!json_is_object(own))
		return sb_reader_refuse(
			r, -EINVAL,
			"a Google Benchmark file of another program: it has no \"sched_bench\"");
	before = sb_reader_enter(r, "sched_bench.");
	if (!check_schema(r, own) || !check_layout(r, own) || !read_facts(r, own, out) ||
	    !read_all_added(r, own))
		return false;
	if (!json_is_array(invalid))
		return sb_reader_unexpected(r, "invalid", "an array");
	return sb_reader_get_series(r, own, out,
				    json_array_size(benchmarks) + json_array_size(invalid)) &&
	       sb_reader_leave(r, before) && sb_reader_get_rows(r, benchmarks, invalid, out);
}

/* ---- the file ---- */

/* The most memory that jansson will take for a text, by the characters that begin its
 * values: it is not asked before that is known to be bearable. */
static uint64_t memory_for(const char *text, size_t size)
{
	uint64_t bytes = size;

	for (size_t i = 0; i < size; i++) {
		switch (text[i]) {
		case '{':
			bytes += 384;
			break;
		case '[':
			bytes += 160;
			break;
		case ':':
			bytes += 112;
			break;
		case ',':
			bytes += 64;
			break;
		default:
			break;
		}
	}
	return bytes;
}

static bool is_cut_off(const json_error_t *error, size_t size)
{
	return json_error_code(error) == json_error_premature_end_of_input ||
	       (size_t)error->position >= size;
}

static json_t *parse(struct sb_reader *r, const char *text, size_t size)
{
	json_error_t error;
	json_t *document;

	if (!size) {
		sb_reader_refuse(r, -EINVAL, "the file is empty");
		return NULL;
	}
	if (memory_for(text, size) > SB_READ_MEMORY_BYTES / 2) {
		sb_reader_refuse(r, -EFBIG,
				 "too large: it takes more than %" PRIu64 " GiB of memory",
				 SB_READ_MEMORY_BYTES >> 31);
		return NULL;
	}
	/* Some editors begin with a byte order mark. */
	if (size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
		text += 3;
		size -= 3;
	}
	document = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
	if (document)
		return document;
	if (is_cut_off(&error, size))
		sb_reader_refuse(r, -EINVAL, "truncated: it ends at line %d, column %d", error.line,
				 error.column);
	else
		sb_reader_refuse(r, -EINVAL, "not JSON: line %d, column %d: %s", error.line,
				 error.column, error.text);
	return NULL;
}

/* A whole file, for the caller to free, or NULL with -errno in error: -EFBIG if it has more bytes than
 * most. */
static char *read_whole(const char *path, uint64_t most, size_t *size, int *error)
{
	FILE *in = sb_file_open(path, most, error);
	struct stat info = { .st_size = 0 };
	char *text = NULL;

	*size = 0;
	if (!in)
		return NULL;
	if (!fstat(fileno(in), &info))
		text = malloc((size_t)info.st_size + 1);
	if (text)
		*size = fread(text, 1, (size_t)info.st_size, in);
	*error = text ? ferror(in) ? -EIO : 0 : -ENOMEM;
	fclose(in);
	if (!*error)
		return text;
	free(text);
	return NULL;
}

static json_t *parse_file(struct sb_reader *r)
{
	size_t size;
	int error;
	char *text = read_whole(r->path, SB_READ_FILE_BYTES, &size, &error);
	json_t *document = text ? parse(r, text, size) : NULL;

	if (error == -ENOMEM)
		sb_reader_no_memory(r);
	else if (error == -EFBIG)
		sb_reader_refuse(r, error, "too large; expected up to 1 GiB");
	else if (error)
		sb_reader_refuse(r, error, "%s%s",
				 error == -EINVAL ? "not a file" : strerror(-error),
				 error == -ENOENT ? "; expected a result directory" : "");
	free(text);
	return document;
}

json_t *sb_json_read_file(const char *path, size_t flags, json_error_t *error)
{
	json_error_t unused;
	size_t size;
	int rc;
	char *text = read_whole(path, SB_JSON_FILE_BYTES, &size, &rc);
	json_t *document = NULL;

	error = error ? error : &unused;
	error->line = rc ? -1 : 0;
	if (text && memory_for(text, size) > SB_JSON_MEMORY_BYTES) {
		rc = -EFBIG;
		error->line = -1;
	} else if (text)
		document = json_loadb(text, size, flags, error);
	free(text);
	if (rc)
		snprintf(error->text, sizeof(error->text), "%s",
			 rc == -EINVAL	? "not a file"
			 : rc == -EFBIG ? "larger than 16 MiB, or takes more than 256 MiB of memory"
					: strerror(-rc));
	errno = -rc;
	return document;
}

static bool is_directory(const char *path)
{
	struct stat info;

	return !stat(path, &info) && S_ISDIR(info.st_mode);
}

static bool is_of_gate(const char *directory)
{
	return sb_directory_holds(directory, "verdict.json") &&
	       !sb_directory_holds(directory, "result.json");
}

/* A document that could not be read is NULL; both are for this to give back. */
static int finish(struct sb_reader *r, json_t *document, struct sb_result *out)
{
	if (document)
		(void)read_document(r, document, out);
	json_decref(document);
	/* Another reason for the refusal may be just that. */
	if (sb_json_lacked_memory()) {
		r->rc = 0;
		sb_reader_no_memory(r);
	}
	if (!r->rc)
		return 0;
	sb_result_free(out);
	*out = (struct sb_result){ .directory = NULL };
	return r->rc;
}

/* Another file of a result directory may be meant for the result. */
static void name_result(const char *path, char *why, size_t bytes)
{
	char *directory = sb_path_directory(path);
	const char *slash = strrchr(path, '/');

	if (directory && sb_directory_holds(directory, "result.json") &&
	    strcmp(slash ? slash + 1 : path, "result.json") != 0)
		snprintf(why, bytes,
			 "%s: this file is not the result; expected its directory, '%s', or "
			 "result.json in it",
			 path, directory);
	free(directory);
}

int sb_result_read(struct sb_result *out, const char *path, char *why, size_t bytes)
{
	const bool is_inside = is_directory(path);
	char *file = is_inside ? sb_path_join(path, "result.json") : strdup(path);
	struct sb_reader r = { .path = file, .why = why, .bytes = bytes };
	json_t *document = NULL;
	int rc;

	*out = (struct sb_result){ .directory =
					   is_inside ? strdup(path) : sb_path_directory(path) };
	if (!file || !out->directory) {
		r.path = path;
		sb_reader_no_memory(&r);
	} else if (is_inside && is_of_gate(out->directory)) {
		sb_reader_refuse(&r, -EINVAL,
				 "expected a result; this is of a gate, whose answer is in "
				 "verdict.md");
	} else {
		document = parse_file(&r);
	}
	rc = finish(&r, document, out);
	if (rc == -EINVAL && !is_inside)
		name_result(path, why, bytes);
	free(file);
	return rc;
}

int sb_result_read_text(struct sb_result *out, const char *text, char *why, size_t bytes)
{
	struct sb_reader r = { .path = "result.json", .why = why, .bytes = bytes };

	*out = (struct sb_result){ .directory = NULL };
	return finish(&r, parse(&r, text, strlen(text)), out);
}
