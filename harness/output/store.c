#include "harness/output/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/output/store_file.h"
#include "harness/terminal/status.h"
#include "results/files/file.h"

/* "sbsw": what the file's header says it is for. */
#define APPLICATION_ID 0x73627377

const struct sb_store_kind sb_store_of_sweep = { "sweep.db",	"sweep.lock", "sweep",
						 SB_VERB_SWEEP, "sweep",      "meta.json" };
const struct sb_store_kind sb_store_of_run = { "run.db",    "run.lock", "run",
					       SB_VERB_RUN, "run",	"meta.json" };
const struct sb_store_kind sb_store_of_ab = { "ab.db",	  "ab.lock", "comparison",
					      SB_VERB_AB, "ab",	     "meta.json" };
const struct sb_store_kind sb_store_of_gate = { "gate.db",    "gate.lock", "gate",
						SB_VERB_GATE, "gate",	   "verdict.json" };

static const char schema[] =
	"CREATE TABLE plan(key TEXT PRIMARY KEY, value TEXT NOT NULL);"
	"CREATE TABLE argument(position INTEGER PRIMARY KEY, text TEXT NOT NULL);"
	"CREATE TABLE configuration(id INTEGER PRIMARY KEY, label TEXT NOT NULL);"
	"CREATE TABLE planned(position INTEGER PRIMARY KEY, configuration INTEGER NOT NULL "
	"REFERENCES configuration(id), repetition INTEGER NOT NULL, UNIQUE(configuration, "
	"repetition));"
	"CREATE TABLE row(configuration INTEGER NOT NULL, repetition INTEGER NOT NULL, reason "
	"TEXT, started TEXT NOT NULL, elapsed_s REAL NOT NULL, exit_status INTEGER, signal "
	"INTEGER, result TEXT, stderr TEXT NOT NULL, PRIMARY KEY(configuration, repetition), "
	"FOREIGN KEY(configuration, repetition) REFERENCES planned(configuration, repetition));";

/* ---- errors ---- */

int sb_store_fail(struct sb_store *store, int rc, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(store->why, sizeof(store->why), format, args);
	va_end(args);
	return rc;
}

static int not_a_store(struct sb_store *store)
{
	return sb_store_fail(store, -EINVAL, "%s is not the store of a %s", store->path,
			     store->kind->noun);
}

/* Whether a read or write of the file has failed, the last one that did. */
static bool has_io_error(struct sb_store *store)
{
	int error = 0;

	sqlite3_file_control(store->db, "main", SQLITE_FCNTL_LAST_ERRNO, &error);
	return error == EIO || sqlite3_system_errno(store->db) == EIO;
}

/* SQLite takes a disk that cannot be read for a file that is damaged. */
static int fail_damaged(struct sb_store *store)
{
	if (has_io_error(store))
		return sb_store_fail(store, -EIO, "%s cannot be read: %s", store->path,
				     strerror(EIO));
	return sb_store_fail(store, -EINVAL, "%s is damaged or cut short", store->path);
}

static int fail_of(struct sb_store *store, int code)
{
	switch (code & 0xff) {
	case SQLITE_NOTADB:
		return not_a_store(store);
	case SQLITE_ERROR:
		return sb_store_fail(store, -EINVAL, "%s is not the store of a %s: %s", store->path,
				     store->kind->noun, sqlite3_errmsg(store->db));
	case SQLITE_CORRUPT:
		return fail_damaged(store);
	case SQLITE_FULL:
		return sb_store_fail(store, -ENOSPC, "%s cannot be written: the disk is full",
				     store->path);
	case SQLITE_TOOBIG:
		return sb_store_fail(
			store, -EINVAL, "%s has a value of more than %d MiB; expected less",
			store->path, sqlite3_limit(store->db, SQLITE_LIMIT_LENGTH, -1) >> 20);
	case SQLITE_NOMEM:
		return sb_store_fail(store, -ENOMEM, "no memory");
	default:
		return sb_store_fail(store, -EIO, "%s cannot be used: %s", store->path,
				     sqlite3_errmsg(store->db));
	}
}

const char *sb_store_why(const struct sb_store *store)
{
	return store ? store->why : "no memory";
}

/* The environment is at fault, unless the input is. */
int sb_store_failed(const struct sb_store *store, int rc)
{
	const bool is_input = rc == -EINVAL || rc == -ENOENT || rc == -EEXIST || rc == -EBUSY;

	return sb_fail(is_input ? SB_EXIT_USAGE : SB_EXIT_ENVIRONMENT, "%s", sb_store_why(store));
}

/* ---- statements ---- */

static int execute(struct sb_store *store, const char *sql)
{
	const int code = sqlite3_exec(store->db, sql, NULL, NULL, NULL);

	return code == SQLITE_OK ? 0 : fail_of(store, code);
}

int sb_store_prepare(struct sb_store *store, const char *sql, sqlite3_stmt **out)
{
	const int code = sqlite3_prepare_v2(store->db, sql, -1, out, NULL);

	return code == SQLITE_OK ? 0 : fail_of(store, code);
}

int sb_store_run_out(struct sb_store *store, sqlite3_stmt *statement)
{
	const int code = sqlite3_step(statement);
	const int rc = code == SQLITE_DONE ? 0 : fail_of(store, code);

	sqlite3_finalize(statement);
	return rc;
}

void sb_store_bind(sqlite3_stmt *statement, int i, const char *text)
{
	sqlite3_bind_text(statement, i, text, -1, SQLITE_STATIC);
}

const char *sb_store_column(sqlite3_stmt *statement, int i)
{
	return (const char *)sqlite3_column_text(statement, i);
}

static int too_many(struct sb_store *store)
{
	return sb_store_fail(store, -EINVAL,
			     "%s has more than %d records in a table; expected "
			     "fewer",
			     store->path, SB_STORE_RECORDS);
}

int sb_store_go_through(struct sb_store *store, const char *sql, int value_bytes,
			int (*take)(sqlite3_stmt *row, void *arg), void *arg)
{
	sqlite3_stmt *statement;
	const int most = sqlite3_limit(store->db, SQLITE_LIMIT_LENGTH, value_bytes);
	uint32_t records = 0;
	int code = SQLITE_ROW;
	int rc = sb_store_prepare(store, sql, &statement);

	if (rc)
		return rc;
	while (!rc && (code = sqlite3_step(statement)) == SQLITE_ROW)
		rc = records++ < SB_STORE_RECORDS ? take(statement, arg) : too_many(store);
	if (!rc && code != SQLITE_DONE)
		rc = fail_of(store, code);
	sqlite3_finalize(statement);
	sqlite3_limit(store->db, SQLITE_LIMIT_LENGTH, most);
	return rc;
}

static int take_number(sqlite3_stmt *row, void *arg)
{
	*(int64_t *)arg = sqlite3_column_int64(row, 0);
	return 0;
}

static int number_of(struct sb_store *store, const char *sql, int64_t *out)
{
	*out = 0;
	return sb_store_go_through(store, sql, SB_STORE_PLAN_BYTES, take_number, out);
}

/* ---- opening and closing ---- */

static struct sb_store *allocate(const struct sb_store_kind *kind, const char *directory)
{
	struct sb_store *store = calloc(1, sizeof(*store));

	if (!store)
		return NULL;
	store->kind = kind;
	store->lock = -1;
	store->directory = strdup(directory);
	store->path = sb_path_join(directory, kind->name);
	if (store->path && asprintf(&store->building, "%s.new", store->path) < 0)
		store->building = NULL;
	if (store->directory && store->path && store->building)
		return store;
	sb_store_close(store);
	return NULL;
}

void sb_store_close(struct sb_store *store)
{
	if (!store)
		return;
	sqlite3_close(store->db);
	if (store->lock >= 0)
		close(store->lock);
	free(store->directory);
	free(store->path);
	free(store->building);
	free(store);
}

/* Held as long as the program lives, and no longer. The lock belongs to the process: flock()'s
 * would belong to the open file, which the process of a row shares until it executes its program,
 * and would hold if the sweep is killed just then. */
static int lock(struct sb_store *store, const char *directory)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char *path = sb_path_join(directory, store->kind->lock);
	int rc = path ? 0 : -ENOMEM;

	if (path)
		store->lock = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (path && store->lock < 0)
		rc = sb_store_fail(store, -errno, "%s cannot be written: %s", path,
				   strerror(errno));
	else if (path && fcntl(store->lock, F_SETLK, &whole))
		rc = sb_store_fail(store, -EBUSY,
				   "another %s is using %s; expected to be the only one",
				   store->kind->noun, directory);
	free(path);
	return rc;
}

/* The file may come from anywhere: nothing in its schema is run. */
static void distrust(sqlite3 *db)
{
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, SB_STORE_VALUE_BYTES);
}

static int connect(struct sb_store *store, const char *path, int flags)
{
	const int code = sqlite3_open_v2(path, &store->db, flags, NULL);

	if (code != SQLITE_OK)
		return fail_of(store, code);
	distrust(store->db);
	/* For a reader beside the writer. */
	sqlite3_busy_timeout(store->db, 10000);
	sqlite3_extended_result_codes(store->db, 1);
	return 0;
}

static int begin_building(struct sb_store *store)
{
	char text[80];
	int rc;

	/* The rest of a sweep that was killed here. */
	if (unlink(store->building) && errno != ENOENT)
		return sb_store_fail(store, -errno, "%s cannot be replaced: %s", store->building,
				     strerror(errno));
	rc = connect(store, store->building, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
	snprintf(text, sizeof(text), "PRAGMA application_id = %d; PRAGMA user_version = %d; BEGIN",
		 APPLICATION_ID, SB_STORE_SCHEMA);
	rc = rc ? rc : execute(store, text);
	return rc ? rc : execute(store, schema);
}

int sb_store_create(struct sb_store **out, const struct sb_store_kind *kind, const char *directory)
{
	struct sb_store *store = *out = allocate(kind, directory);
	int rc;

	if (!store)
		return -ENOMEM;
	rc = lock(store, directory);
	if (!rc && !access(store->path, F_OK))
		rc = sb_store_fail(store, -EEXIST,
				   "'%s' already holds a %s; expected --resume, or a new directory",
				   directory, kind->noun);
	return rc ? rc : begin_building(store);
}

static int prepare_for_rows(struct sb_store *store)
{
	return execute(store, "PRAGMA journal_mode = WAL;"
			      "PRAGMA synchronous = FULL;"
			      "PRAGMA foreign_keys = ON");
}

int sb_store_begin_rows(struct sb_store *store)
{
	return execute(store, "BEGIN IMMEDIATE");
}

int sb_store_end_rows(struct sb_store *store)
{
	return execute(store, "COMMIT");
}

int sb_store_settle(struct sb_store *store)
{
	return execute(store, "PRAGMA wal_checkpoint(TRUNCATE)");
}

int sb_store_publish(struct sb_store *store)
{
	int rc = execute(store, "COMMIT");

	if (rc)
		return rc;
	sqlite3_close(store->db);
	store->db = NULL;
	rc = rename(store->building, store->path) ? -errno : sb_directory_sync(store->directory);
	if (rc)
		return sb_store_fail(store, rc, "%s cannot be written: %s", store->path,
				     strerror(-rc));
	rc = connect(store, store->path, SQLITE_OPEN_READWRITE);
	return rc ? rc : prepare_for_rows(store);
}

static int take_verdict(sqlite3_stmt *row, void *arg)
{
	const char *verdict = sb_store_column(row, 0);

	*(bool *)arg = verdict && !strcmp(verdict, "ok");
	return 0;
}

/* None is too large, and no table has too many. */
static int check_values(struct sb_store *store)
{
	int64_t unused;
	int rc = number_of(store,
			   "SELECT value FROM plan UNION ALL SELECT text FROM argument UNION ALL "
			   "SELECT label FROM configuration",
			   &unused);

	return rc ? rc
		  : sb_store_go_through(store, "SELECT reason, result, stderr FROM row",
					SB_STORE_VALUE_BYTES, take_number, &unused);
}

/* Ours, of a version that is understood, and whole. */
static int check_file(struct sb_store *store)
{
	int64_t id;
	int64_t version;
	bool whole = false;
	int rc = number_of(store, "PRAGMA application_id", &id);

	rc = rc ? rc : number_of(store, "PRAGMA user_version", &version);
	if (rc)
		return rc;
	if (id != APPLICATION_ID)
		return not_a_store(store);
	if (version != SB_STORE_SCHEMA)
		return sb_store_fail(store, -EINVAL,
				     "%s has version %" PRId64
				     " of its schema; expected %d: it was written by another "
				     "version of sched-bench",
				     store->path, version, SB_STORE_SCHEMA);
	rc = check_values(store);
	rc = rc ? rc
		: sb_store_go_through(store, "PRAGMA quick_check(1)", SB_STORE_VALUE_BYTES,
				      take_verdict, &whole);
	return rc || whole ? rc : fail_damaged(store);
}

/*
 * The store itself is a file, not a link out of its directory. A store never has a rollback journal once it
 * has its name, and one from elsewhere can make SQLite remove any file that it names.
 */
static int check_names(struct sb_store *store)
{
	struct stat info;
	char *journal;
	bool has_journal;

	if (lstat(store->path, &info) || !S_ISREG(info.st_mode))
		return sb_store_fail(store, -EINVAL, "%s is not a file", store->path);
	if (asprintf(&journal, "%s-journal", store->path) < 0)
		return -ENOMEM;
	has_journal = !lstat(journal, &info);
	free(journal);
	return has_journal
		       ? sb_store_fail(store, -EINVAL,
				       "%s-journal is beside the store; expected none, as it is "
				       "not ours",
				       store->path)
		       : 0;
}

int sb_store_open(struct sb_store **out, const struct sb_store_kind *kind, const char *directory,
		  bool to_read)
{
	struct sb_store *store = *out = allocate(kind, directory);
	int rc = 0;

	if (!store)
		return -ENOMEM;
	if (access(store->path, F_OK))
		return sb_store_fail(
			store, -ENOENT,
			"'%s' holds no %s (no %s); expected the result directory of one", directory,
			kind->noun, kind->name);
	rc = check_names(store);
	if (!rc && !to_read)
		rc = lock(store, directory);
	/* A reader, too, may have to finish what a killed writer has left. */
	rc = rc ? rc : connect(store, store->path, SQLITE_OPEN_READWRITE);
	rc = rc ? rc : check_file(store);
	return rc || to_read ? rc : prepare_for_rows(store);
}
