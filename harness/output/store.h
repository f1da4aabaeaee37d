/*
 * store.h - the plan and the rows of a sweep, a run, a comparison or a gate, in one
 * SQLite file of its result directory, sweep.db, run.db, ab.db or gate.db, with a
 * write-ahead log. A row is stored whole or not at all, whenever the program or the
 * machine dies.
 *
 * Tables, to be read with sqlite3:
 *	plan(key, value)		versions, machine, seed
 *	argument(position, text)	of the command line
 *	configuration(id, label)
 *	planned(position, configuration, repetition)
 *	row(configuration, repetition, reason, started, elapsed_s,
 *	    exit_status, signal, result, stderr)
 *					result: result.json of that run, or NULL
 */
#ifndef SB_HARNESS_OUTPUT_STORE_H
#define SB_HARNESS_OUTPUT_STORE_H

#include "harness/cli/options.h"

#define SB_STORE_SCHEMA 1

/* A store that has more comes from elsewhere, and is refused before it is loaded. */
#define SB_STORE_VALUE_BYTES (32 << 20) /* the result of a row */
#define SB_STORE_PLAN_BYTES  (1 << 20)	/* any other value */
#define SB_STORE_RECORDS     1000000	/* of a table */

struct sb_store_kind {
	const char *name; /* of the file */
	const char *lock; /* of the file that its writer locks */
	const char *noun; /* "sweep": what it is the store of */
	enum sb_verb verb;
	const char *verb_name;
	const char *result; /* a file that only a complete result has, if there is no store */
};

extern const struct sb_store_kind sb_store_of_sweep;
extern const struct sb_store_kind sb_store_of_run;
extern const struct sb_store_kind sb_store_of_ab;
extern const struct sb_store_kind sb_store_of_gate;

struct sb_store;

/* A row that has been run. Texts belong to who filled it in. */
struct sb_stored_row {
	uint32_t configuration;
	uint32_t repetition;
	const char *reason;  /* why there is no result; NULL: there is one */
	const char *started; /* ISO 8601 */
	double elapsed_s;
	int exit_status; /* -1: a signal ended it */
	int signal;	 /* 0: none */
	const char *result;
	const char *stderr_text;
};

/*
 * All return 0 or -errno, with one line in what sb_store_why says: -EINVAL when
 * the file is not such a store, is damaged, or is of a later version; -EBUSY
 * when another process has it.
 */

/* A new store is made under another name; sb_store_publish puts it there whole,
 * and opens it for rows. -EEXIST when there is one. */
SB_MUST_CHECK int sb_store_create(struct sb_store **store, const struct sb_store_kind *kind,
				  const char *directory);
SB_MUST_CHECK int sb_store_put_plan(struct sb_store *store, const char *key, const char *value);
SB_MUST_CHECK int sb_store_put_argument(struct sb_store *store, const char *text);
SB_MUST_CHECK int sb_store_put_configuration(struct sb_store *store, uint32_t id,
					     const char *label);
SB_MUST_CHECK int sb_store_put_slot(struct sb_store *store, uint32_t position,
				    uint32_t configuration, uint32_t repetition);
SB_MUST_CHECK int sb_store_publish(struct sb_store *store);

/* One that is there. to_read: it is not locked, and takes no rows. */
SB_MUST_CHECK int sb_store_open(struct sb_store **store, const struct sb_store_kind *kind,
				const char *directory, bool to_read);

/* In both cases of create and open, also after they failed; NULL is none. */
void sb_store_close(struct sb_store *store);
const char *sb_store_why(const struct sb_store *store);

/* Prints that line. Returns the exit status for rc, what a call returned. */
int sb_store_failed(const struct sb_store *store, int rc);

/* A copy of the value, NULL if there is none; for the caller to free. */
char *sb_store_plan(struct sb_store *store, const char *key);

/* Each calls take for one after the other; what it is given is gone then. Ends
 * with what take returns, if that is not 0. */
SB_MUST_CHECK int sb_store_arguments(struct sb_store *store,
				     int (*take)(void *arg, const char *text), void *arg);
SB_MUST_CHECK int sb_store_configurations(struct sb_store *store,
					  int (*take)(void *arg, uint32_t id, const char *label),
					  void *arg);
SB_MUST_CHECK int
sb_store_slots(struct sb_store *store,
	       int (*take)(void *arg, uint32_t configuration, uint32_t repetition), void *arg);
SB_MUST_CHECK int sb_store_rows(struct sb_store *store,
				int (*take)(void *arg, const struct sb_stored_row *row), void *arg);

/* The same of one repetition, of which there is a row or none. */
SB_MUST_CHECK int sb_store_row(struct sb_store *store, uint32_t configuration, uint32_t repetition,
			       int (*take)(void *arg, const struct sb_stored_row *row), void *arg);

/* On the disk when it returns. Replaces an earlier row of that repetition. */
SB_MUST_CHECK int sb_store_put_row(struct sb_store *store, const struct sb_stored_row *row);

/* The rows between the two are on the disk when the second returns, all of them or none. */
SB_MUST_CHECK int sb_store_begin_rows(struct sb_store *store);
SB_MUST_CHECK int sb_store_end_rows(struct sb_store *store);

/* From now on, until the next change, all is in the one file. */
SB_MUST_CHECK int sb_store_settle(struct sb_store *store);

/* Removes the store's files, and closes it. */
void sb_store_remove(struct sb_store *store);

#endif
