/*
 * Locations such as numa:0.core:0-3, as --cpus takes them.
 *
 * Property: a location either is refused or names exactly the CPUs that
 *   hwloc-calc makes of it.
 * Method: random locations of one to four steps on every file of
 *   tests/topologies, every profile of the project and more shapes. The
 *   accepted ones are given to hwloc-calc, all those of a machine at once. Enough
 *   of them must be accepted for the comparison to mean something.
 * Bound: 600 locations; SB_LOCATIONS sets another number.
 */
#include <errno.h>
#include <glob.h>
#include <string.h>
#include <unistd.h>

#include "affinity/internal.h"
#include "affinity/profile/profile.h"
#include "tests/test.h"

#define MACHINES_MAX 64
#define TEXT_BYTES   160

/* Shapes that the files do not have. */
static const char *const synthetics[] = {
	"pack:2 numa:2 l3:2 core:4 pu:2",
	"group:2 group:3 numa:1 core:2 pu:2",
	"pack:2 [numa] [numa(memory=1GiB)] l3:2 core:2 pu:4",
	"[numa] pack:2 [numa] l3:2 core:3 pu:1",
	"pack:3 core:1 pu:1",
	"numa:3 pu:5",
};

struct question {
	char text[TEXT_BYTES];
	char *answer; /* CPUs, as a list */
};

static struct sb_rng rng;
static char scratch[] = "/tmp/sb-locations-XXXXXX";
static char path_xml[64];
static char path_asked[64];
static uint32_t asked;
static uint32_t accepted;
static uint32_t differ;

static uint32_t below(uint32_t n)
{
	return sb_rng_below(&rng, n);
}

/* ---- random locations ---- */

/* The types of a machine, from the root down. */
struct levels {
	char name[24][24];
	uint32_t n;
};

static struct levels levels_of(const struct sb_topology *t)
{
	const int depth = hwloc_topology_get_depth(t->hwloc);
	struct levels l = { .n = 0 };

	for (int d = 0; d < depth; d++) {
		hwloc_obj_t obj = hwloc_get_obj_by_depth(t->hwloc, d, 0);

		hwloc_obj_type_snprintf(l.name[l.n++], sizeof(l.name[0]), obj, 0);
		/* Memory belongs somewhere in the middle. */
		if (d == (depth - 1) / 2)
			strcpy(l.name[l.n++], "numa");
	}
	return l;
}

static const char *random_type(const struct levels *l, uint32_t *level)
{
	static const char *const others[] = { "machine",  "pack",    "socket", "die",	 "group",
					      "group0",	  "group1",  "node",   "group2", "l3",
					      "l2",	  "l1",	     "l1d",    "core",	 "PU",
					      "l1i",	  "cache",   "hbm",    "pci",	 "misc",
					      "memcache", "coreproc" };

	if (!below(6))
		return others[below(SB_ARRAY_SIZE(others))];
	/* Mostly downwards. */
	*level = below(6) ? *level + below(l->n - *level) : below(l->n);
	return l->name[*level];
}

static void make_range(char *out, size_t bytes)
{
	const uint32_t first = below(3) ? below(3) : below(24);

	switch (below(5)) {
	case 0:
		snprintf(out, bytes, "all");
		break;
	case 1:
		snprintf(out, bytes, "%u-%u", first, first + below(3));
		break;
	case 2:
		snprintf(out, bytes, "%u-", first);
		break;
	default:
		snprintf(out, bytes, "%u", first);
		break;
	}
}

static void make_location(const struct levels *l, char *out, size_t bytes)
{
	const uint32_t steps = 1 + below(4);
	uint32_t level = 0;
	size_t used = 0;

	for (uint32_t i = 0; i < steps; i++) {
		char range[32];

		make_range(range, sizeof(range));
		used += (size_t)snprintf(out + used, bytes - used, "%s%s:%s", i ? "." : "",
					 random_type(l, &level), range);
	}
}

/* ---- both answers ---- */

/* False: it is refused. */
static bool answer(const struct sb_topology *t, struct question *q)
{
	hwloc_bitmap_t set = hwloc_bitmap_alloc();
	char why[512];
	int rc;

	assert_non_null(set);
	rc = sb_cpus_parse(t, q->text, set, why, sizeof(why));
	if (rc) {
		CHECK_EQ(rc, -EINVAL);
		assert_null(strchr(why, '\n'));
	} else if (hwloc_bitmap_list_asprintf(&q->answer, set) < 0) {
		fail_msg("no memory");
	}
	hwloc_bitmap_free(set);
	return !rc;
}

static void compare(const char *machine, const struct question *q, uint32_t n)
{
	char command[256];
	char line[1 << 14];
	FILE *in;

	/* Releases before hwloc 2.12 say first that they wait for locations. */
	snprintf(command, sizeof(command),
		 "timeout 60 hwloc-calc -i %s --if xml -q --po -I pu <%s | sed '1{/^Waiting/d}'",
		 path_xml, path_asked);
	in = popen(command, "re");
	assert_non_null(in);
	for (uint32_t i = 0; i < n; i++) {
		hwloc_bitmap_t set = hwloc_bitmap_alloc();
		char *theirs = NULL;

		if (!fgets(line, sizeof(line), in))
			fail_msg("%s: hwloc-calc has no answer for '%s'; here it is %s", machine,
				 q[i].text, q[i].answer);
		line[strcspn(line, "\n")] = '\0';
		CHECK_EQ(*line ? hwloc_bitmap_list_sscanf(set, line) : 0, 0);
		CHECK_EQ(hwloc_bitmap_list_asprintf(&theirs, set) < 0, 0);
		if (strcmp(theirs, q[i].answer)) {
			print_message("# %s: '%s' is %s, hwloc-calc says %s\n", machine, q[i].text,
				      q[i].answer, theirs);
			differ++;
		}
		free(theirs);
		hwloc_bitmap_free(set);
	}
	pclose(in);
}

/* hwloc-calc reads the file itself; of a profile, what we export of it. */
static void write_xml(const struct sb_topology *t, const char *machine)
{
	FILE *out;

	if (strstr(machine, ".xml")) {
		snprintf(path_xml, sizeof(path_xml), "%s", machine);
		return;
	}
	snprintf(path_xml, sizeof(path_xml), "%s/machine.xml", scratch);
	out = fopen(path_xml, "we");
	assert_non_null(out);
	CHECK_EQ(sb_topology_export(t, out), 0);
	CHECK_EQ(fclose(out), 0);
}

static void try_machine(const char *machine, uint32_t n)
{
	struct question *q = calloc(n + 1, sizeof(*q));
	struct sb_topology *t;
	struct levels levels;
	uint32_t kept = 0;
	char why[256];
	FILE *out;

	assert_non_null(q);
	if (sb_topology_open(&t, machine, why, sizeof(why)))
		fail_msg("%s: %s", machine, why);
	write_xml(t, machine);
	levels = levels_of(t);
	out = fopen(path_asked, "we");
	assert_non_null(out);
	for (uint32_t i = 0; i < n; i++) {
		make_location(&levels, q[kept].text, sizeof(q[kept].text));
		if (answer(t, &q[kept]))
			fprintf(out, "%s\n", q[kept++].text);
	}
	CHECK_EQ(fclose(out), 0);
	if (kept)
		compare(machine, q, kept);
	asked += n;
	accepted += kept;
	for (uint32_t i = 0; i < kept; i++)
		free(q[i].answer);
	free(q);
	sb_topology_free(t);
}

static uint32_t list_machines(const glob_t *files, const char **machine)
{
	uint32_t n = 0;

	for (size_t i = 0; i < files->gl_pathc; i++)
		machine[n++] = files->gl_pathv[i];
	for (size_t i = 0; i < SB_ARRAY_SIZE(synthetics); i++)
		machine[n++] = synthetics[i];
	for (const struct sb_profile *p = sb_profiles; p->name; p++)
		machine[n++] = p->name;
	CHECK_EQ(n < MACHINES_MAX, true);
	return n;
}

static void locations_are_those_of_hwloc_calc(void **state)
{
	const char *given = getenv("SB_LOCATIONS");
	const uint32_t wanted = given ? (uint32_t)strtoul(given, NULL, 10) : SB_SCALE(600);
	const char *machine[MACHINES_MAX];
	glob_t files;
	uint32_t n;

	(void)state;
	if (system("hwloc-calc --version >/dev/null 2>&1")) {
		print_message("# skipped: hwloc-calc is not installed\n");
		skip();
	}
	sb_rng_seed(&rng, sb_test_seed());
	CHECK_EQ(glob("tests/topologies/*.xml", 0, NULL, &files), 0);
	n = list_machines(&files, machine);
	for (uint32_t i = 0; i < n; i++)
		try_machine(machine[i], wanted / n + 1);
	globfree(&files);
	print_message("# %u locations, %u accepted\n", asked, accepted);
	CHECK_EQ(differ, 0);
	/* A quarter of them is, of large numbers. */
	CHECK_EQ(accepted > asked / 20, true);
}

static int make_scratch(void **state)
{
	(void)state;
	if (!mkdtemp(scratch))
		return -1;
	snprintf(path_asked, sizeof(path_asked), "%s/asked", scratch);
	return 0;
}

static int remove_scratch(void **state)
{
	char command[80];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", scratch);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(locations_are_those_of_hwloc_calc),
	};

	return cmocka_run_group_tests_name("locations", tests, make_scratch, remove_scratch);
}
