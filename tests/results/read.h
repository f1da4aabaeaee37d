/* read.h - the full result, written and read, for the tests of reading. */
#ifndef SB_TESTS_READ_H
#define SB_TESTS_READ_H

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/convert/convert.h"
#include "results/files/csv.h"
#include "results/files/file.h"
#include "results/files/summary.h"
#include "results/json/read.h"
#include "results/json/write.h"
#include "results/ledger/files.h"
#include "results/page/report.h"
#include "tests/results/full_result.h"

#define WHY_BYTES 400

/* ---- writing and reading ---- */

struct text {
	char *at;
	size_t bytes;
};

static inline struct text write_text(const struct sb_result *result)
{
	struct text text = { NULL, 0 };
	FILE *out = open_memstream(&text.at, &text.bytes);

	CHECK_EQ(sb_write_json(result, out), 0);
	fclose(out);
	return text;
}

static inline struct text make_text(void)
{
	struct sb_result result;
	struct text text;

	fill_result(&result);
	text = write_text(&result);
	sb_result_free(&result);
	return text;
}

static char work[] = "/tmp/sb-test-XXXXXX";

static char path[sizeof(work) + 16];

static inline int make_work(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "%s/result.json", mkdtemp(work));
	return 0;
}

static inline int remove_work(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", work);
	return system(command);
}

static inline void save(const char *text, size_t bytes)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	assert_true(fd >= 0);
	CHECK_EQ(write(fd, text, bytes), bytes);
	close(fd);
}

/* It names the file. */
static inline void check_why(const char *why)
{
	assert_non_null(strstr(why, path));
}

/* All that there is no file of. */
static inline void convert(const struct sb_result *result)
{
	for (const struct sb_converter *c = sb_converters; c->name; c++) {
		char *text = NULL;
		size_t bytes;
		FILE *out = open_memstream(&text, &bytes);

		assert_non_null(out);
		if (c->write && c->write != sb_convert_trace)
			CHECK_EQ(c->write(result, out), 0);
		fclose(out);
		/* A text has no 0, and no number that is none. */
		CHECK_EQ(strlen(text), bytes);
		assert_null(strcasestr(text, " nan"));
		free(text);
	}
}

/* Everything that is made from a result, into files. */
static inline void write_everything(struct sb_result *result)
{
	const char *failed;
	char *summary = NULL;
	size_t bytes;
	FILE *out = open_memstream(&summary, &bytes);

	sb_write_summary(result, out, false, 0);
	fclose(out);
	free(summary);
	CHECK_EQ(sb_write_tables(result, &failed), 0);
	CHECK_EQ(sb_write_report(result), 0);
	convert(result);
}

/* What is in the file is refused for this, or else is a result whose writing
 * ends and is the same when it is read again. */
static inline int read_whatever(const char *text, size_t bytes, bool everything)
{
	struct sb_result result;
	char why[WHY_BYTES] = "";
	struct text once;
	struct text twice;
	int rc;

	save(text, bytes);
	rc = sb_result_read(&result, path, why, sizeof(why));
	if (rc) {
		assert_true(rc < 0);
		check_why(why);
		return rc;
	}
	assert_string_equal(why, "");
	once = write_text(&result);
	if (everything)
		write_everything(&result);
	sb_result_free(&result);
	save(once.at, once.bytes);
	CHECK_EQ(sb_result_read(&result, path, why, sizeof(why)), 0);
	twice = write_text(&result);
	CHECK_EQ(once.bytes, twice.bytes);
	assert_memory_equal(once.at, twice.at, once.bytes);
	sb_result_free(&result);
	free(once.at);
	free(twice.at);
	return 0;
}

static inline void refused(const char *text, size_t bytes, int rc, const char *reason)
{
	struct sb_result result;
	char why[WHY_BYTES] = "";

	save(text, bytes);
	CHECK_EQ(sb_result_read(&result, path, why, sizeof(why)), rc);
	check_why(why);
	if (!strstr(why, reason))
		fail_msg("'%s' does not say '%s'", why, reason);
}

/* ---- other versions' files ---- */

static inline json_t *at(json_t *value, const char *where)
{
	char copy[120];
	char *rest = copy;
	char *key;

	snprintf(copy, sizeof(copy), "%s", where);
	while (value && (key = strsep(&rest, "/")))
		value = json_is_array(value) ? json_array_get(value, strtoul(key, NULL, 10))
					     : json_object_get(value, key);
	return value;
}

#define ROW "benchmarks/0/sched_bench"

/* All values of a document, in a list; they are the document's. */
struct values {
	json_t **at;
	size_t n;
};

#endif
