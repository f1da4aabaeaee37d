/* store_rows.c - what a store holds: the plan, its configurations and slots, and the
 * rows. */
#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "harness/output/store.h"
#include "harness/output/store_file.h"
#include "results/files/file.h"

int sb_store_put_plan(struct sb_store *store, const char *key, const char *value)
{
	sqlite3_stmt *statement;
	const int rc =
		sb_store_prepare(store, "INSERT OR REPLACE INTO plan VALUES(?, ?)", &statement);

	if (rc)
		return rc;
	sb_store_bind(statement, 1, key);
	sb_store_bind(statement, 2, value);
	return sb_store_run_out(store, statement);
}

int sb_store_put_argument(struct sb_store *store, const char *text)
{
	sqlite3_stmt *statement;
	const int rc = sb_store_prepare(store, "INSERT INTO argument VALUES(?, ?)", &statement);

	if (rc)
		return rc;
	sqlite3_bind_int64(statement, 1, store->arguments++);
	sb_store_bind(statement, 2, text);
	return sb_store_run_out(store, statement);
}

int sb_store_put_configuration(struct sb_store *store, uint32_t id, const char *label)
{
	sqlite3_stmt *statement;
	const int rc =
		sb_store_prepare(store, "INSERT INTO configuration VALUES(?, ?)", &statement);

	if (rc)
		return rc;
	sqlite3_bind_int64(statement, 1, id);
	sb_store_bind(statement, 2, label);
	return sb_store_run_out(store, statement);
}

int sb_store_put_slot(struct sb_store *store, uint32_t position, uint32_t configuration,
		      uint32_t repetition)
{
	sqlite3_stmt *statement;
	const int rc = sb_store_prepare(store, "INSERT INTO planned VALUES(?, ?, ?)", &statement);

	if (rc)
		return rc;
	sqlite3_bind_int64(statement, 1, position);
	sqlite3_bind_int64(statement, 2, configuration);
	sqlite3_bind_int64(statement, 3, repetition);
	return sb_store_run_out(store, statement);
}

struct wanted {
	const char *key;
	char *value;
};

static int take_plan(sqlite3_stmt *row, void *arg)
{
	struct wanted *wanted = arg;
	const char *key = sb_store_column(row, 0);
	const char *value = sb_store_column(row, 1);

	if (key && value && !strcmp(key, wanted->key) && !wanted->value)
		wanted->value = strdup(value);
	return 0;
}

char *sb_store_plan(struct sb_store *store, const char *key)
{
	struct wanted wanted = { key, NULL };

	(void)sb_store_go_through(store, "SELECT key, value FROM plan", SB_STORE_PLAN_BYTES,
				  take_plan, &wanted);
	return wanted.value;
}

/* One of the takes below, and what it is for. */
struct taker {
	int (*text)(void *arg, const char *text);
	int (*numbered)(void *arg, uint32_t id, const char *text);
	int (*slot)(void *arg, uint32_t configuration, uint32_t repetition);
	int (*row)(void *arg, const struct sb_stored_row *row);
	void *arg;
};

static uint32_t id_at(sqlite3_stmt *row, int i)
{
	return (uint32_t)sqlite3_column_int64(row, i);
}

static const char *text_at(sqlite3_stmt *row, int i)
{
	const char *text = sb_store_column(row, i);

	return text ? text : "";
}

static int take_text(sqlite3_stmt *row, void *arg)
{
	const struct taker *taker = arg;

	return taker->text(taker->arg, text_at(row, 0));
}

static int take_numbered(sqlite3_stmt *row, void *arg)
{
	const struct taker *taker = arg;

	return taker->numbered(taker->arg, id_at(row, 0), text_at(row, 1));
}

static int take_slot(sqlite3_stmt *row, void *arg)
{
	const struct taker *taker = arg;

	return taker->slot(taker->arg, id_at(row, 0), id_at(row, 1));
}

int sb_store_arguments(struct sb_store *store, int (*take)(void *arg, const char *text), void *arg)
{
	struct taker taker = { .text = take, .arg = arg };

	return sb_store_go_through(store, "SELECT text FROM argument ORDER BY position",
				   SB_STORE_PLAN_BYTES, take_text, &taker);
}

int sb_store_configurations(struct sb_store *store,
			    int (*take)(void *arg, uint32_t id, const char *label), void *arg)
{
	struct taker taker = { .numbered = take, .arg = arg };

	return sb_store_go_through(store, "SELECT id, label FROM configuration ORDER BY id",
				   SB_STORE_PLAN_BYTES, take_numbered, &taker);
}

int sb_store_slots(struct sb_store *store,
		   int (*take)(void *arg, uint32_t configuration, uint32_t repetition), void *arg)
{
	struct taker taker = { .slot = take, .arg = arg };

	return sb_store_go_through(
		store, "SELECT configuration, repetition FROM planned ORDER BY position",
		SB_STORE_PLAN_BYTES, take_slot, &taker);
}

static int take_row(sqlite3_stmt *row, void *arg)
{
	const struct taker *taker = arg;
	const struct sb_stored_row stored = {
		.configuration = id_at(row, 0),
		.repetition = id_at(row, 1),
		.reason = sb_store_column(row, 2),
		.started = text_at(row, 3),
		.elapsed_s = sqlite3_column_double(row, 4),
		.exit_status = sqlite3_column_int(row, 5),
		.signal = sqlite3_column_int(row, 6),
		.result = sb_store_column(row, 7),
		.stderr_text = text_at(row, 8),
	};

	return taker->row(taker->arg, &stored);
}

#define SELECT_ROWS                                                                                \
	"SELECT configuration, repetition, reason, started, elapsed_s, exit_status, signal, "      \
	"result, stderr FROM row NATURAL JOIN planned "

int sb_store_rows(struct sb_store *store, int (*take)(void *arg, const struct sb_stored_row *row),
		  void *arg)
{
	struct taker taker = { .row = take, .arg = arg };

	return sb_store_go_through(store, SELECT_ROWS "ORDER BY position", SB_STORE_VALUE_BYTES,
				   take_row, &taker);
}

int sb_store_row(struct sb_store *store, uint32_t configuration, uint32_t repetition,
		 int (*take)(void *arg, const struct sb_stored_row *row), void *arg)
{
	struct taker taker = { .row = take, .arg = arg };
	char sql[300];

	snprintf(sql, sizeof(sql),
		 SELECT_ROWS "WHERE configuration = %" PRIu32 " AND repetition = %" PRIu32,
		 configuration, repetition);
	return sb_store_go_through(store, sql, SB_STORE_VALUE_BYTES, take_row, &taker);
}

/* SQLite goes on writing to a file that has been removed. */
static int check_place(struct sb_store *store)
{
	int has_moved = 0;

	(void)sqlite3_file_control(store->db, NULL, SQLITE_FCNTL_HAS_MOVED, &has_moved);
	return has_moved
		       ? sb_store_fail(
				 store, -ESTALE,
				 "%s has been removed or replaced during the %s; its rows are lost",
				 store->path, store->kind->noun)
		       : 0;
}

int sb_store_put_row(struct sb_store *store, const struct sb_stored_row *row)
{
	sqlite3_stmt *statement;
	int rc = sb_store_prepare(
		store, "INSERT OR REPLACE INTO row VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)", &statement);

	if (rc)
		return rc;
	sqlite3_bind_int64(statement, 1, row->configuration);
	sqlite3_bind_int64(statement, 2, row->repetition);
	sb_store_bind(statement, 3, row->reason);
	sb_store_bind(statement, 4, row->started);
	sqlite3_bind_double(statement, 5, row->elapsed_s);
	sqlite3_bind_int(statement, 6, row->exit_status);
	sqlite3_bind_int(statement, 7, row->signal);
	sb_store_bind(statement, 8, row->result);
	sb_store_bind(statement, 9, row->stderr_text);
	rc = sb_store_run_out(store, statement);
	return rc ? rc : check_place(store);
}

/* Closing the last connection removes the log and the shared memory. */
void sb_store_remove(struct sb_store *store)
{
	char *lock_path = sb_path_join(store->directory, store->kind->lock);

	sqlite3_close(store->db);
	store->db = NULL;
	(void)unlink(store->path);
	if (lock_path)
		(void)unlink(lock_path);
	free(lock_path);
	sb_store_close(store);
}
