#include "harness/output/identity.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/topology.h"
#include "harness/output/facts.h"
#include "harness/output/store_file.h"
#include "harness/terminal/status.h"

#define IDENTITY_BYTES 400

/* Each returns 0, or -EIO: out is then the reason. */

/* This machine, whatever profile is emulated on it. */
static int describe_machine(char *out)
{
	struct sb_topology *topology;
	struct sb_machine machine;

	if (sb_topology_load(&topology)) {
		snprintf(out, IDENTITY_BYTES, "this machine's topology cannot be read");
		return -EIO;
	}
	sb_topology_machine(topology, &machine);
	snprintf(out, IDENTITY_BYTES, "%016" PRIx64 ", %s, %" PRIu32 " processing units",
		 sb_topology_fingerprint(topology), machine.cpu_model, machine.pus);
	sb_topology_free(topology);
	return 0;
}

/* Fowler, Noll and Vo's hash of a file, behind `what`: the revision of a program alone does not say
 * what was changed since. */
static int describe_file(char *out, const char *path, const char *what)
{
	FILE *file = fopen(path, "re");
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	unsigned char block[4096];
	size_t bytes;

	if (!file) {
		snprintf(out, IDENTITY_BYTES, "%.300s cannot be read: %s", path, strerror(errno));
		return -EIO;
	}
	while ((bytes = fread(block, 1, sizeof(block), file)) > 0) {
		for (size_t i = 0; i < bytes; i++)
			hash = (hash ^ block[i]) * UINT64_C(0x100000001b3);
	}
	fclose(file);
	snprintf(out, IDENTITY_BYTES, "%s%016" PRIx64, what, hash);
	return 0;
}

static int describe_build(char *out)
{
	char what[IDENTITY_BYTES / 2];

	snprintf(what, sizeof(what), "%s, program ", sb_facts_build());
	return describe_file(out, "/proc/self/exe", what);
}

static const struct identity {
	const char *key;
	int (*describe)(char *out);
	const char *what;
	const char *advice;
} identities[] = {
	[SB_IDENTITY_MACHINE] = { "machine", describe_machine, "another machine", "" },
	[SB_IDENTITY_BUILD] = { "build", describe_build, "another build of the program",
				"; to go on all the same: --other-build" },
};

int sb_identity_put(struct sb_store *store)
{
	char text[IDENTITY_BYTES];
	int rc = 0;

	for (size_t i = 0; i < SB_ARRAY_SIZE(identities) && !rc; i++) {
		rc = identities[i].describe(text);
		rc = rc ? sb_store_fail(store, rc, "%s", text)
			: sb_store_put_plan(store, identities[i].key, text);
	}
	return rc;
}

int sb_identity_copy(struct sb_store *from, struct sb_store *store)
{
	int rc = 0;

	for (size_t i = 0; i < SB_ARRAY_SIZE(identities) && !rc; i++) {
		char *text = sb_store_plan(from, identities[i].key);

		rc = sb_store_put_plan(store, identities[i].key, text ? text : "");
		free(text);
	}
	return rc;
}

static void key_of(char *out, size_t bytes, uint32_t number)
{
	snprintf(out, bytes, "file_%" PRIu32, number);
}

int sb_identity_put_file(struct sb_store *store, uint32_t number, const char *path)
{
	char text[IDENTITY_BYTES];
	char key[24];
	const int rc = describe_file(text, path, "");

	key_of(key, sizeof(key), number);
	return rc ? sb_store_fail(store, rc, "%s", text) : sb_store_put_plan(store, key, text);
}

int sb_identity_check_file(struct sb_store *store, uint32_t number, const char *path,
			   const char *directory)
{
	char now[IDENTITY_BYTES];
	char key[24];
	char *then;
	int rc;

	if (describe_file(now, path, ""))
		return sb_fail(SB_EXIT_USAGE, "%s", now);
	key_of(key, sizeof(key), number);
	then = sb_store_plan(store, key);
	rc = then && !strcmp(then, now)
		     ? 0
		     : sb_fail(SB_EXIT_USAGE,
			       "%s was begun with another %s; expected the same contents; to go on "
			       "all the same: --other-build",
			       directory, path);
	free(then);
	return rc;
}

static int says_nothing(const char *directory, const struct identity *id)
{
	return sb_fail(SB_EXIT_USAGE, "%s: the store does not say its %s", directory, id->key);
}

int sb_identity_check(struct sb_store *store, enum sb_identity which, const char *directory)
{
	const struct identity *id = &identities[which];
	char now[IDENTITY_BYTES];
	char *then = sb_store_plan(store, id->key);
	int rc = id->describe(now);

	if (rc)
		rc = sb_fail(SB_EXIT_ENVIRONMENT, "%s", now);
	else if (!then)
		rc = says_nothing(directory, id);
	else if (strcmp(then, now) != 0)
		rc = sb_fail(SB_EXIT_USAGE, "%s was begun with %s: expected %s; this is %s%s",
			     directory, id->what, then, now, id->advice);
	free(then);
	return rc;
}

int sb_identity_compare(enum sb_identity which, struct sb_store *store, struct sb_store *other,
			const char *directory)
{
	const struct identity *id = &identities[which];
	char *expected = sb_store_plan(store, id->key);
	char *is = sb_store_plan(other, id->key);
	int rc = 0;

	if (!expected || !is)
		rc = says_nothing(directory, id);
	else if (strcmp(expected, is) != 0)
		rc = sb_fail(SB_EXIT_USAGE, "%s was begun with %s: %s; expected %s%s", directory,
			     id->what, is, expected, id->advice);
	free(expected);
	free(is);
	return rc;
}
