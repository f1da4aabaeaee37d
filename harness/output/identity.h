/*
 * identity.h - the machine and the build with which a sweep or a run was begun,
 * in its store: rows of two machines or two programs do not mix.
 */
#ifndef SB_HARNESS_OUTPUT_IDENTITY_H
#define SB_HARNESS_OUTPUT_IDENTITY_H

#include "harness/output/store.h"

/* Returns 0 or -errno, with the reason in sb_store_why(). */
SB_MUST_CHECK int sb_identity_put(struct sb_store *store);

/* This machine and this build are the store's. directory: for the error.
 * other_build: the build may differ. Returns 0, or an exit status after an error has
 * been printed. */
SB_MUST_CHECK int sb_identity_check(struct sb_store *store, const char *directory,
				    bool other_build);

#endif
