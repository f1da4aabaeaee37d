/*
 * identity.h - the machine and the programs with which a measurement was begun, in
 * its store: rows of two machines or two programs do not mix.
 */
#ifndef SB_HARNESS_OUTPUT_IDENTITY_H
#define SB_HARNESS_OUTPUT_IDENTITY_H

#include "harness/output/store.h"

enum sb_identity { SB_IDENTITY_MACHINE, SB_IDENTITY_BUILD };

/* Returns 0 or -errno, with the reason in sb_store_why(). */
SB_MUST_CHECK int sb_identity_put(struct sb_store *store);

/* Those of another store. Returns as above. */
SB_MUST_CHECK int sb_identity_copy(struct sb_store *from, struct sb_store *store);

/* This machine, or this build, is the store's. directory: for the error. Returns 0, or an exit
 * status after an error has been printed. */
SB_MUST_CHECK int sb_identity_check(struct sb_store *store, enum sb_identity which,
				    const char *directory);

/* The contents of a file that is compared with this program: another program, or a stored result.
 * number: it has one of its own in the store. Return as sb_identity_put and sb_identity_check. */
SB_MUST_CHECK int sb_identity_put_file(struct sb_store *store, uint32_t number, const char *path);
SB_MUST_CHECK int sb_identity_check_file(struct sb_store *store, uint32_t number, const char *path,
					 const char *directory);

/* Another store was begun with the same; its directory is for the error. Returns as above. */
SB_MUST_CHECK int sb_identity_compare(enum sb_identity which, struct sb_store *store,
				      struct sb_store *other, const char *directory);

#endif
