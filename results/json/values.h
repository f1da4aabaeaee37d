/*
 * values.h - values out of a file that nobody vouches for: each is of its
 * type and possible, or the reader says where it is and what was expected.
 * Private to results/json*.c.
 */
#ifndef SB_RESULTS_JSON_VALUES_H
#define SB_RESULTS_JSON_VALUES_H

#include "results/json/json.h"

#define SB_WHERE_BYTES 160

struct sb_reader {
	const char *path;
	char *why;
	size_t bytes;
	char where[SB_WHERE_BYTES]; /* of the object at hand, "sched_bench." */
	size_t depth;		    /* how much of it is in use */
	uint64_t memory;	    /* that the result's rows take */
	int rc;			    /* 0, or -errno: why says what is wrong */
};

/* These three return false, after they have written rc and why. */
bool sb_reader_refuse(struct sb_reader *r, int rc, const char *format, ...) SB_PRINTF(3, 4);
bool sb_reader_no_memory(struct sb_reader *r);
/* key: of the object at hand. */
bool sb_reader_unexpected(struct sb_reader *r, const char *key, const char *expected);

/* Goes into a part of the object at hand; returns where it was before, for
 * leave, which returns true. */
size_t sb_reader_enter(struct sb_reader *r, const char *format, ...) SB_PRINTF(2, 3);
bool sb_reader_leave(struct sb_reader *r, size_t before);

/* NULL: it is not there, or of another type. */
json_t *sb_reader_get(struct sb_reader *r, const json_t *object, const char *key, json_type type);

/* An array of exactly so many; NULL else. */
json_t *sb_reader_get_array(struct sb_reader *r, const json_t *object, const char *key,
			    uint64_t length);

/* The value of a key. Text is the caller's. */
bool sb_reader_get_uint32(struct sb_reader *r, const json_t *object, const char *key,
			  uint32_t least, uint32_t most, uint32_t *out);
bool sb_reader_get_bool(struct sb_reader *r, const json_t *object, const char *key, bool *out);
bool sb_reader_get_text(struct sb_reader *r, const json_t *object, const char *key, char **out);

/* A value, NULL where there is none; key: for what is wrong. */
bool sb_reader_take_integer(struct sb_reader *r, const json_t *value, const char *key,
			    int64_t least, int64_t most, int64_t *out);
bool sb_reader_take_int(struct sb_reader *r, const json_t *value, const char *key, int least,
			int most, int *out);
bool sb_reader_take_count(struct sb_reader *r, const json_t *value, const char *key, uint64_t *out);
/* Absent: not measured, NaN. */
bool sb_reader_take_number(struct sb_reader *r, const json_t *value, const char *key, double *out);

/* A plain struct by its table; key: of the object. */
bool sb_reader_get_fields(struct sb_reader *r, const json_t *object, const char *key,
			  const struct sb_json_field *fields, void *to);

/* The parts of a document: in json_series.c and json_rows.c. rows: how many
 * there are in the file, which must be as many as the series have. */
bool sb_reader_get_series(struct sb_reader *r, const json_t *own, struct sb_result *out,
			  size_t rows);
/* If the object has one. */
bool sb_reader_get_waiting(struct sb_reader *r, const json_t *object, struct sb_series *series);
bool sb_reader_get_exemplars(struct sb_reader *r, const json_t *own, struct sb_record *record,
			     uint32_t workers);
bool sb_reader_get_timeseries(struct sb_reader *r, const json_t *own, struct sb_record *record);
bool sb_reader_get_rows(struct sb_reader *r, const json_t *benchmarks, const json_t *invalid,
			struct sb_result *out);

#endif
