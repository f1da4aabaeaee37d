/* store_file.h - the file of a store: its statements and errors. */
#ifndef SB_HARNESS_OUTPUT_STORE_FILE_H
#define SB_HARNESS_OUTPUT_STORE_FILE_H

#include <sqlite3.h>

#include "harness/output/store.h"

struct sb_store {
	const struct sb_store_kind *kind;
	sqlite3 *db;
	char *directory;
	char *path;
	char *building; /* its name until it is published */
	int lock;
	uint32_t arguments;
	char why[300];
};

/* Keeps the reason for sb_store_why(). Returns rc. */
int sb_store_fail(struct sb_store *store, int rc, const char *format, ...) SB_PRINTF(3, 4);

/* Makes a statement. Returns 0 or -errno, as all of these. */
int sb_store_prepare(struct sb_store *store, const char *sql, sqlite3_stmt **out);

/* Runs one that gives no rows, and forgets it. */
int sb_store_run_out(struct sb_store *store, sqlite3_stmt *statement);

/* Binds the i-th parameter, from 1 on. */
void sb_store_bind(sqlite3_stmt *statement, int i, const char *text);

/* The text of a column; "" for NULL. */
const char *sb_store_column(sqlite3_stmt *statement, int i);

/* Calls take for each row of the query. A value of more bytes is an error, and is not loaded. */
int sb_store_go_through(struct sb_store *store, const char *sql, int value_bytes,
			int (*take)(sqlite3_stmt *row, void *arg), void *arg);

#endif
