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

/* Fowler, Noll and Vo's hash of the program: a revision alone does not say what
 * was changed since. */
static int describe_build(char *out)
{
	FILE *program = fopen("/proc/self/exe", "re");
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	unsigned char block[4096];
	size_t bytes;

	if (!program) {
		snprintf(out, IDENTITY_BYTES, "/proc/self/exe cannot be read: %s", strerror(errno));
		return -EIO;
	}
	while ((bytes = fread(block, 1, sizeof(block), program)) > 0) {
		for (size_t i = 0; i < bytes; i++)
			hash = (hash ^ block[i]) * UINT64_C(0x100000001b3);
	}
	fclose(program);
	snprintf(out, IDENTITY_BYTES, "%s, program %016" PRIx64, sb_facts_build(), hash);
	return 0;
}

static const struct identity {
	const char *key;
	int (*describe)(char *out);
	const char *what;
	const char *override; /* an option; NULL: there is none */
} identities[] = {
	{ "machine", describe_machine, "another machine", NULL },
	{ "build", describe_build, "another build of the program", "other-build" },
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

static int check_one(struct sb_store *store, const char *directory, bool other_build,
		     const struct identity *id)
{
	char now[IDENTITY_BYTES];
	char *then = sb_store_plan(store, id->key);
	int rc = id->describe(now);

	if (rc)
		rc = sb_fail(SB_EXIT_ENVIRONMENT, "%s", now);
	else if (!then)
		rc = sb_fail(SB_EXIT_USAGE, "%s: the store does not say its %s", directory,
			     id->key);
	else if (strcmp(then, now) != 0 && !(id->override && other_build))
		rc = sb_fail(SB_EXIT_USAGE, "%s was begun with %s: expected %s; this is %s%s%s",
			     directory, id->what, then, now,
			     id->override ? "; to go on all the same: --" : "",
			     id->override ? id->override : "");
	free(then);
	return rc;
}

int sb_identity_check(struct sb_store *store, const char *directory, bool other_build)
{
	int rc = 0;

	for (size_t i = 0; i < SB_ARRAY_SIZE(identities) && !rc; i++)
		rc = check_one(store, directory, other_build, &identities[i]);
	return rc;
}
