#include "affinity/heat.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "affinity/internal.h"

/* ---- colours ---- */

/* From white to a blue on which black can be read; darker is more, also in
 * grey. */
static void style_of(double part, char *out, size_t bytes)
{
	static const int full[] = { 0x43, 0x93, 0xc3 };
	int colour[3];

	part = part < 0 ? 0 : part > 1 ? 1 : part;
	for (int c = 0; c < 3; c++)
		colour[c] = 0xff - (int)(part * (0xff - full[c]));
	snprintf(out, bytes, "Background=#%02x%02x%02x;Text=#000000", (unsigned int)colour[0],
		 (unsigned int)colour[1], (unsigned int)colour[2]);
}

static int colour_object(hwloc_obj_t obj, double part, const char *text)
{
	char style[64];
	char *copy = NULL;

	if (!obj)
		return 0;
	style_of(part, style, sizeof(style));
	if (hwloc_obj_add_info(obj, "lstopoStyle", style))
		return -ENOMEM;
	if (!*text)
		return 0;
	/* lstopo writes an object's subtype in place of its type. */
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	free(obj->subtype);
	obj->subtype = copy;
	return 0;
}

/* lstopo draws it below the machine. */
static int add_step(hwloc_topology_t t, const struct sb_heat *heat)
{
	char style[64];
	hwloc_obj_t step = hwloc_topology_insert_misc_object(t, hwloc_get_root_obj(t), heat->text);

	style_of(heat->part, style, sizeof(style));
	return step && !hwloc_obj_add_info(step, "lstopoStyle", style) ? 0 : -ENOMEM;
}

static hwloc_obj_t object_of(hwloc_topology_t t, const struct sb_heat *heat)
{
	const hwloc_obj_type_t type = heat->of == SB_HEAT_NODE ? HWLOC_OBJ_NUMANODE : HWLOC_OBJ_PU;

	return heat->index < 0 ? NULL : hwloc_get_obj_by_type(t, type, (unsigned int)heat->index);
}

/* Those that show nothing, for lstopo has colours of its own. */
static int whiten_rest(hwloc_topology_t t)
{
	const int pus = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU);
	int rc = 0;

	for (int i = 0; i < pus && !rc; i++) {
		hwloc_obj_t pu = hwloc_get_obj_by_type(t, HWLOC_OBJ_PU, (unsigned int)i);

		/* Of several styles the first counts. */
		if (!hwloc_obj_get_info_by_name(pu, "lstopoStyle"))
			rc = colour_object(pu, 0, "");
	}
	return rc;
}

/* A unit may have several workers: the first is shown. */
static int colour_all(hwloc_topology_t t, const struct sb_heat *heat, uint32_t n)
{
	int rc = 0;

	for (uint32_t i = 0; i < n && !rc; i++) {
		hwloc_obj_t obj;
		char text[64];

		if (heat[i].of == SB_HEAT_SCALE) {
			rc = add_step(t, &heat[i]);
			continue;
		}
		obj = object_of(t, &heat[i]);
		snprintf(text, sizeof(text), "%s%s", heat[i].of == SB_HEAT_NODE ? "NUMANode " : "",
			 heat[i].text);
		if (obj && !hwloc_obj_get_info_by_name(obj, "lstopoStyle"))
			rc = colour_object(obj, heat[i].part, text);
	}
	return rc ? rc : whiten_rest(t);
}

/* lstopo's own SVG escapes nothing. */
static void clean(char *text)
{
	for (; text && *text; text++) {
		if (strchr("<>&", *text) || (unsigned char)*text < ' ')
			*text = '?';
	}
}

static void clean_level(hwloc_topology_t t, int depth)
{
	for (hwloc_obj_t obj = hwloc_get_next_obj_by_depth(t, depth, NULL); obj;
	     obj = hwloc_get_next_obj_by_depth(t, depth, obj)) {
		clean(obj->subtype);
		clean(obj->name);
	}
}

static void clean_all(hwloc_topology_t t)
{
	for (int depth = 0; depth < hwloc_topology_get_depth(t); depth++)
		clean_level(t, depth);
	clean_level(t, HWLOC_TYPE_DEPTH_NUMANODE);
}

/* ---- lstopo ---- */

#define FIXED_WORDS 9

/* "--append-legend" before each line. For the caller to free. */
static char **make_arguments(const char *xml, const char *format, const char *picture,
			     char *const *legend, uint32_t lines)
{
	const char *fixed[FIXED_WORDS] = {
		"lstopo", "-i",	  xml, "--if", "xml", "--no-factorize", "--no-default-legend",
		"--of",	  format,
	};
	char **argv = calloc(FIXED_WORDS + 2 * lines + 3, sizeof(*argv));
	uint32_t n = 0;

	if (!argv)
		return NULL;
	for (; n < FIXED_WORDS; n++)
		argv[n] = (char *)(uintptr_t)fixed[n];
	for (uint32_t i = 0; i < lines; i++) {
		argv[n++] = (char *)(uintptr_t) "--append-legend";
		argv[n++] = legend[i];
	}
	argv[n++] = (char *)(uintptr_t) "-f";
	argv[n] = (char *)(uintptr_t)picture;
	return argv;
}

static int spawn_silently(char *const *argv, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	int rc = posix_spawn_file_actions_init(&actions);

	if (rc)
		return -rc;
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && !rc; fd++)
		rc = posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
	if (!rc)
		rc = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return -rc;
}

/* It refuses formats that it cannot draw: which formats it has depends on how it was
 * built. */
static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return -ENOENT;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -ENOTSUP;
}

static int run_lstopo(const char *xml, const char *format, const char *picture, char *const *legend,
		      uint32_t lines)
{
	char **argv = make_arguments(xml, format, picture, legend, lines);
	pid_t pid;
	int rc = argv ? spawn_silently(argv, &pid) : -ENOMEM;

	if (!rc)
		rc = wait_for(pid);
	free(argv);
	return rc;
}

/* ---- the files between ---- */

struct place_for_files {
	char directory[4096 - 16];
	char xml[4096];
	char picture[4096];
};

static int make_place(struct place_for_files *place)
{
	const char *given = getenv("TMPDIR");
	const int n = snprintf(place->directory, sizeof(place->directory), "%s/sched-bench-XXXXXX",
			       given && *given ? given : "/tmp");

	if (n < 0 || (size_t)n >= sizeof(place->directory))
		return -ENAMETOOLONG;
	if (!mkdtemp(place->directory))
		return -errno;
	snprintf(place->xml, sizeof(place->xml), "%s/m.xml", place->directory);
	snprintf(place->picture, sizeof(place->picture), "%s/m.out", place->directory);
	return 0;
}

static void remove_place(const struct place_for_files *place)
{
	unlink(place->xml);
	unlink(place->picture);
	rmdir(place->directory);
}

static int copy_to(FILE *out, const char *path)
{
	FILE *in = fopen(path, "re");
	char bytes[4096];
	size_t n;
	int rc = 0;

	if (!in)
		return -errno;
	while (!rc && (n = fread(bytes, 1, sizeof(bytes), in)) > 0) {
		if (fwrite(bytes, 1, n, out) != n)
			rc = errno ? -errno : -EIO;
	}
	fclose(in);
	return rc;
}

/* One that may have boxes of our own, which is decided before it is loaded. */
static int copy_machine(hwloc_topology_t *copy, hwloc_topology_t machine)
{
	char *xml;
	int bytes;
	int rc;

	if (hwloc_topology_export_xmlbuffer(machine, &xml, &bytes, 0))
		return -1;
	rc = hwloc_topology_init(copy);
	if (!rc) {
		rc = hwloc_topology_set_type_filter(*copy, HWLOC_OBJ_MISC,
						    HWLOC_TYPE_FILTER_KEEP_ALL) ||
		     hwloc_topology_set_xmlbuffer(*copy, xml, bytes) || hwloc_topology_load(*copy);
		if (rc)
			hwloc_topology_destroy(*copy);
	}
	hwloc_free_xmlbuffer(machine, xml);
	return rc;
}

int sb_heat_draw(const struct sb_topology *topology, const struct sb_heat_map *map,
		 const char *format, FILE *out)
{
	struct place_for_files place;
	hwloc_topology_t copy;
	int rc;

	if (copy_machine(&copy, topology->hwloc))
		return -ENOMEM;
	clean_all(copy);
	for (uint32_t i = 0; i < map->lines; i++)
		clean(map->legend[i]);
	rc = colour_all(copy, map->heat, map->heats);
	if (!rc)
		rc = make_place(&place);
	if (!rc) {
		if (hwloc_topology_export_xml(copy, place.xml, 0))
			rc = errno ? -errno : -EIO;
		if (!rc)
			rc = run_lstopo(place.xml, format, place.picture, map->legend, map->lines);
		if (!rc)
			rc = copy_to(out, place.picture);
		remove_place(&place);
	}
	hwloc_topology_destroy(copy);
	return rc;
}
