#include "harness/system/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "affinity/topology.h"
#include "results/files/file.h"
#include "results/json/read.h"

#define SUFFIX ".json"

/* Where the name of the machine begins, or the end of the text; NULL: it is no pack. */
static const char *end_of_path(const char *profile)
{
	const char *at = profile;

	while ((at = strstr(at, SUFFIX))) {
		at += strlen(SUFFIX);
		if (!*at || *at == ':')
			return at;
	}
	return NULL;
}

bool sb_pack_is_named(const char *profile)
{
	return end_of_path(profile);
}

/* ---- the texts of a machine ---- */

static const struct field {
	const char *key;
	size_t offset;
} fields[] = {
	{ "name", offsetof(struct sb_pack_machine, name) },
	{ "date", offsetof(struct sb_pack_machine, date) },
	{ "cpu_model", offsetof(struct sb_pack_machine, cpu_model) },
	{ "fingerprint", offsetof(struct sb_pack_machine, fingerprint) },
	{ "topology", offsetof(struct sb_pack_machine, topology) },
};

static char **field_of(struct sb_pack_machine *machine, const struct field *field)
{
	return (char **)((char *)machine + field->offset);
}

static const char *text_of(const struct sb_pack_machine *machine, const struct field *field)
{
	const char *text;

	memcpy(&text, (const char *)machine + field->offset, sizeof(text));
	return text ? text : "";
}

void sb_pack_free(struct sb_pack_machine *machine)
{
	for (size_t i = 0; i < SB_ARRAY_SIZE(fields); i++)
		free(*field_of(machine, &fields[i]));
	free(machine->model);
	*machine = (struct sb_pack_machine){ .name = NULL };
}

/* ---- reading ---- */

static const char *name_of(const json_t *machine)
{
	const char *name = json_string_value(json_object_get(machine, "name"));

	return name ? name : "";
}

/* "n1, n2, n3": for an error. */
static void list_names(const json_t *machines, char *out, size_t bytes)
{
	size_t used = 0;
	size_t i;
	const json_t *machine;

	*out = '\0';
	json_array_foreach (machines, i, machine) {
		if (used < bytes)
			used += (size_t)snprintf(out + used, bytes - used, "%s%s", i ? ", " : "",
						 name_of(machine));
	}
}

static const json_t *find(const json_t *machines, const char *name)
{
	const json_t *machine;
	size_t i;

	if (!*name)
		return json_array_size(machines) == 1 ? json_array_get(machines, 0) : NULL;
	json_array_foreach (machines, i, machine) {
		if (!strcmp(name_of(machine), name))
			return machine;
	}
	return NULL;
}

/* NULL: it cannot be read, or is none. */
static json_t *load(const char *path, char *why, size_t bytes)
{
	json_error_t error;
	json_t *root = sb_json_read_file(path, JSON_REJECT_DUPLICATES, &error);

	if (!root && error.line < 0)
		snprintf(why, bytes, "'%s' cannot be read: %s", path, error.text);
	else if (!root)
		snprintf(why, bytes, "'%s', line %d: %s", path, error.line, error.text);
	if (root &&
	    (json_integer_value(json_object_get(root, "sched_bench_pack")) != SB_PACK_VERSION ||
	     !json_is_array(json_object_get(root, "machines")))) {
		snprintf(why, bytes, "'%s' holds no machines; expected what topo pack writes",
			 path);
		json_decref(root);
		root = NULL;
	}
	return root;
}

static int take(struct sb_pack_machine *machine, const json_t *from)
{
	const json_t *model = json_object_get(from, "model");

	for (size_t i = 0; i < SB_ARRAY_SIZE(fields); i++) {
		const char *text = json_string_value(json_object_get(from, fields[i].key));
		char **field = field_of(machine, &fields[i]);

		*field = strdup(text ? text : "");
		if (!*field)
			return -ENOMEM;
	}
	if (!json_is_object(model))
		return 0;
	machine->model = json_dumps(model, JSON_INDENT(1));
	return machine->model ? 0 : -ENOMEM;
}

static int take_named(struct sb_pack_machine *machine, const json_t *root, const char *profile,
		      char *why, size_t bytes)
{
	const json_t *machines = json_object_get(root, "machines");
	const char *end = end_of_path(profile);
	const int path = (int)(end - profile);
	const char *name = *end ? end + 1 : "";
	const json_t *found = find(machines, name);
	char names[300];
	int rc;

	if (!found) {
		list_names(machines, names, sizeof(names));
		snprintf(why, bytes, "'%.*s' has no machine '%s'; expected %.*s:NAME, one of %s",
			 path, profile, name, path, profile, names);
		return -ENOENT;
	}
	rc = take(machine, found);
	if (rc)
		snprintf(why, bytes, "no memory");
	return rc;
}

/* The file of the profile; NULL: it cannot be read, or is none. */
static json_t *load_of(const char *profile, char *why, size_t bytes)
{
	const char *end = end_of_path(profile);
	char *path = end ? strndup(profile, (size_t)(end - profile)) : NULL;
	json_t *root = path ? load(path, why, bytes) : NULL;

	if (!path)
		snprintf(why, bytes, end ? "no memory" : "no pack");
	free(path);
	return root;
}

uint32_t sb_pack_machines(const char *profile)
{
	char why[400];
	json_t *root = load_of(profile, why, sizeof(why));
	/* One is named. */
	const bool is_one = root && *end_of_path(profile);
	const size_t n = json_array_size(json_object_get(root, "machines"));

	json_decref(root);
	return is_one ? 1 : (uint32_t)n;
}

int sb_pack_names(const char *profile, char ***names, uint32_t *n, char *why, size_t bytes)
{
	json_t *root = load_of(profile, why, bytes);
	const json_t *machines = json_object_get(root, "machines");
	const json_t *machine;
	size_t i;
	int rc = root ? 0 : -EINVAL;

	*n = 0;
	*names = calloc(json_array_size(machines) + 1, sizeof(**names));
	if (!*names)
		rc = -ENOMEM;
	json_array_foreach (machines, i, machine) {
		char *name = rc ? NULL : strdup(name_of(machine));

		if (name)
			(*names)[(*n)++] = name;
		else
			rc = rc ? rc : -ENOMEM;
	}
	if (rc == -ENOMEM)
		snprintf(why, bytes, "no memory");
	json_decref(root);
	return rc;
}

int sb_pack_read(struct sb_pack_machine *machine, const char *profile, char *why, size_t bytes)
{
	json_t *root = load_of(profile, why, bytes);
	int rc;

	*machine = (struct sb_pack_machine){ .name = NULL };
	if (!root)
		return -EINVAL;
	rc = take_named(machine, root, profile, why, bytes);
	json_decref(root);
	return rc;
}

/* ---- as a machine ---- */

/* Closes it. */
static int write_xml(int fd, const char *xml)
{
	FILE *out = fdopen(fd, "w");
	bool is_written;

	if (!out) {
		close(fd);
		return -ENOMEM;
	}
	is_written = fputs(xml, out) != EOF;
	return fclose(out) || !is_written ? -errno : 0;
}

/* hwloc reads it from a file. */
static int open_xml(struct sb_topology **topology, const char *xml, char *why, size_t bytes)
{
	char *path = sb_path_temporary(".xml");
	const int fd = path ? mkostemps(path, strlen(".xml"), O_CLOEXEC) : -1;
	int rc = fd < 0 ? -errno : write_xml(fd, xml);

	if (rc) {
		snprintf(why, bytes, "%s cannot be written: %s", path ? path : "a file",
			 strerror(-rc));
		rc = -EIO;
	} else {
		rc = sb_topology_open(topology, path, why, bytes);
	}
	if (fd >= 0)
		(void)unlink(path);
	free(path);
	return rc;
}

int sb_pack_open(struct sb_topology **topology, const char *profile, char *why, size_t bytes)
{
	struct sb_pack_machine machine;
	int rc = sb_pack_read(&machine, profile, why, bytes);

	rc = rc ? rc : open_xml(topology, machine.topology, why, bytes);
	sb_pack_free(&machine);
	return rc ? rc : sb_topology_rename(*topology, profile);
}

/* ---- writing ---- */

static json_t *to_json(const struct sb_pack_machine *machine)
{
	json_t *object = json_object();
	json_t *model = machine->model ? json_loads(machine->model, 0, NULL) : json_null();
	int rc = 0;

	for (size_t i = 0; i < SB_ARRAY_SIZE(fields); i++)
		rc |= json_object_set_new(object, fields[i].key,
					  json_string(text_of(machine, &fields[i])));
	rc |= json_object_set_new(object, "model", model);
	if (!rc)
		return object;
	json_decref(object);
	return NULL;
}

/* Takes the new one. */
static int put(json_t *machines, const char *name, json_t *machine)
{
	const json_t *old;
	size_t i;

	json_array_foreach (machines, i, old) {
		if (!strcmp(name_of(old), name))
			return json_array_set_new(machines, i, machine);
	}
	return json_array_append_new(machines, machine);
}

static int write_pack(const json_t *root, const char *path)
{
	struct sb_file file;
	int rc = sb_file_begin_path(&file, path);

	if (rc)
		return rc;
	if (!json_dumpf(root, file.stream, JSON_INDENT(1)) && fputc('\n', file.stream) != EOF)
		return sb_file_commit(&file);
	sb_file_abandon(&file);
	return -EIO;
}

static int add_locked(const char *path, const struct sb_pack_machine *machine, char *why,
		      size_t bytes)
{
	json_t *root = access(path, F_OK) ? json_pack("{sis[]}", "sched_bench_pack",
						      SB_PACK_VERSION, "machines")
					  : load(path, why, bytes);
	int rc;

	if (!root)
		return -EINVAL;
	rc = put(json_object_get(root, "machines"), machine->name, to_json(machine)) ? -ENOMEM : 0;
	rc = rc ? rc : write_pack(root, path);
	if (rc)
		snprintf(why, bytes, "'%s' cannot be written: %s", path, strerror(-rc));
	json_decref(root);
	return rc;
}

int sb_pack_add(const char *path, const struct sb_pack_machine *machine, char *why, size_t bytes)
{
	char *lock_path = NULL;
	int lock = -1;
	int rc;

	if (asprintf(&lock_path, "%s.lock", path) >= 0)
		lock = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	else
		lock_path = NULL;
	if (lock < 0 || flock(lock, LOCK_EX)) {
		rc = lock_path ? -errno : -ENOMEM;
		snprintf(why, bytes, "'%s' cannot be written: %s", path, strerror(-rc));
	} else {
		/* The lock's file stays: another process may be waiting for it. */
		rc = add_locked(path, machine, why, bytes);
	}
	if (lock >= 0)
		close(lock);
	free(lock_path);
	return rc;
}
