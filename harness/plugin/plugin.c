#include "harness/plugin/plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/plugin/compile.h"
#include "harness/plugin/description.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "results/record/metric.h"

struct loaded {
	char *path;   /* without links */
	char *object; /* as the dynamic linker calls it: the path, or what was compiled */
	char *file;   /* as it was named first */
	const struct sb_workload *workload;
	const struct sb_plugin *plugin; /* NULL: it is described */
};

/* The last place is for one that is still being checked. */
static struct loaded loaded[SB_WORKLOADS_ADDED + 1];
static uint32_t all_loaded;

static const char *distrusted; /* the plan that is being parsed; NULL: none */

bool sb_plugin_is_file(const char *name)
{
	return strchr(name, '/') || sb_ends_in(name, ".so") || sb_ends_in(name, ".c") ||
	       sb_ends_in(name, ".ini");
}

static bool is_description(const char *name)
{
	return sb_ends_in(name, ".ini");
}

/* ---- whether it can be used ---- */

/* NULL: nothing is wrong. */
static const char *wrong_interface(const struct sb_plugin *plugin)
{
	if (plugin->version != SB_PLUGIN_VERSION)
		return "it was built for another version of workloads/plugin.h; expected it built "
		       "again";
	if (plugin->workload_bytes != sizeof(struct sb_workload) ||
	    plugin->run_bytes != sizeof(struct sb_workload_run) ||
	    plugin->calls_bytes != sizeof(struct sb_plugin_calls))
		return "it was built with other headers; expected it built again";
	return NULL;
}

static const char *wrong_params(const struct sb_workload *workload)
{
	uint32_t n = 0;

	for (const struct sb_param *p = workload->params; p->name; p++, n++) {
		if (!p->doc || (sb_param_is_text(p) && !workload->accept))
			return "a parameter lacks its doc, or a text its accept";
	}
	return n > SB_PARAMS_MAX ? "it has too many parameters; expected at most 16" : NULL;
}

/* Adds them. */
static const char *wrong_metrics(const struct sb_workload *workload)
{
	uint32_t n = 0;

	for (const struct sb_workload_metric *m = workload->metrics; m && m->name; m++, n++) {
		struct sb_metric metric = { m->name, m->unit, SB_NEITHER, m->doc };

		if (!m->unit || !m->doc)
			return "a metric lacks its unit or its doc";
		/* Any other text is as good as none. */
		if (m->better)
			(void)sb_better_find(m->better, &metric.better);
		if (n == SB_WORKLOAD_METRICS_MAX)
			return "it has too many metrics; expected at most 32";
		if (sb_metric_add(&metric) == SB_METRICS)
			return "a metric's name is taken, or has other characters than a to z, 0 "
			       "to 9 and '_', or its unit others than letters, digits, blanks and "
			       "%/_.*^()";
	}
	return NULL;
}

static const char *wrong_workload(const struct sb_workload *w)
{
	const char *wrong;

	static_assert(SB_PARAMS_MAX == 16, "the text above says so");
	if (!w->name || !*w->name || strpbrk(w->name, ",/= \t\n"))
		return "its name is empty, or has a comma, a slash, '=' or a blank";
	if (sb_workload_find(w->name))
		return "there is another workload of its name";
	if (!w->operation || !w->doc || !w->source || !w->params)
		return "expected operation, doc, source and params";
	if (!w->start || !w->operations || !w->check)
		return "expected start, operations and check: without a check of its answer it is "
		       "no workload";
	wrong = wrong_params(w);
	return wrong ? wrong : wrong_metrics(w);
}

/* ---- loading ---- */

static int refuse(const char *where, const char *file, const char *why)
{
	return sb_fail(SB_EXIT_USAGE, "%s%s%s: %s", where ? where : "", where ? ": " : "", file,
		       why);
}

static int open_object(struct loaded *it, const char *where)
{
	void *handle = dlopen(it->object, RTLD_NOW | RTLD_LOCAL);

	if (!handle && !sb_ends_in(it->path, ".so"))
		return refuse(where, it->file, "expected a workload's file, .so, .c or .ini");
	if (!handle)
		return sb_fail(SB_EXIT_USAGE,
			       "%s%s%s; expected a shared object that has what it calls",
			       where ? where : "", where ? ": " : "", dlerror());
	it->plugin = dlsym(handle, "sb_plugin");
	if (it->plugin)
		return 0;
	return refuse(where, it->file,
		      "it is no plug-in; expected SB_PLUGIN(...) in it, as in what sched-bench new "
		      "workload NAME writes");
}

static int make_object(struct loaded *it)
{
	char object[SB_PLUGIN_PATH_BYTES];
	const bool is_source = sb_ends_in(it->path, ".c");
	const int rc = is_source ? sb_plugin_compile(it->file, object) : 0;

	if (rc)
		return rc;
	it->object = strdup(is_source ? object : it->path);
	return it->object ? 0 : sb_fail_memory();
}

static int load_object(struct loaded *it, const char *where)
{
	const char *wrong;
	int rc = make_object(it);

	if (rc)
		return rc;
	rc = open_object(it, where);
	if (sb_ends_in(it->path, ".c"))
		(void)unlink(it->object);
	if (rc)
		return rc;
	wrong = wrong_interface(it->plugin);
	it->workload = it->plugin->workload;
	return wrong ? refuse(where, it->file, wrong) : 0;
}

static int load_description(struct loaded *it, const char *where)
{
	struct sb_description *description;
	struct sb_workload *workload;
	const int rc = sb_description_read(it->file, where, &description);

	if (rc)
		return rc;
	workload = malloc(sizeof(*workload));
	if (!workload) {
		sb_description_free(description);
		return sb_fail_memory();
	}
	*workload = sb_described_workload(description);
	it->workload = workload;
	return 0;
}

static int load_any(struct loaded *it, const char *where)
{
	if (is_description(it->path))
		return load_description(it, where);
	if (!distrusted)
		return load_object(it, where);
	return sb_fail(SB_EXIT_USAGE,
		       "%s: its plan has --workload '%s', which runs code; expected --trust, or "
		       "the same option on the command line",
		       distrusted, it->file);
}

static int load(struct loaded *it, const char *where)
{
	const int rc = load_any(it, where);
	const char *wrong = rc ? NULL : wrong_workload(it->workload);

	if (rc)
		return rc;
	if (wrong)
		return refuse(where, it->file, wrong);
	if (!sb_workload_add(it->workload))
		return refuse(where, it->file, "there are too many of them; expected at most 8");
	all_loaded++;
	(void)sb_plugin_use(it->workload, NULL);
	return 0;
}

static const struct loaded *find(const char *path)
{
	for (uint32_t i = 0; i < all_loaded; i++) {
		if (!strcmp(loaded[i].path, path))
			return &loaded[i];
	}
	return NULL;
}

static void forget(struct loaded *it)
{
	if (it->workload && it->workload->description) {
		sb_description_free((struct sb_description *)(uintptr_t)it->workload->description);
		free((struct sb_workload *)(uintptr_t)it->workload);
	}
	free(it->path);
	free(it->object);
	free(it->file);
	*it = (struct loaded){ .path = NULL };
}

int sb_plugin_load(const char *file, const char *where, const struct sb_workload **out)
{
	struct loaded *next = &loaded[all_loaded];
	char *path = realpath(file, NULL);
	const struct loaded *it = path ? find(path) : NULL;
	int rc = 0;

	static_assert(SB_WORKLOADS_ADDED == 8, "the text above says so");
	if (!path)
		return refuse(
			where, file,
			errno == ENOENT
				? "there is no such file; expected a workload, .so, .c or .ini"
				: strerror(errno));
	if (it) {
		free(path);
	} else {
		*next = (struct loaded){ .path = path, .file = strdup(file) };
		rc = next->file ? load(next, where) : sb_fail_memory();
		if (rc) {
			forget(next);
			return rc;
		}
		it = next;
	}
	if (out)
		*out = it->workload;
	return 0;
}

bool sb_plugin_is_in(const char *workloads)
{
	char name[PATH_MAX];

	while (*workloads) {
		const size_t length = strcspn(workloads, ",");

		snprintf(name, sizeof(name), "%.*s", (int)length, workloads);
		if (sb_plugin_is_file(name) && !is_description(name))
			return true;
		workloads += length + (workloads[length] == ',');
	}
	return false;
}

void sb_plugin_distrust(const char *plan)
{
	distrusted = plan;
}

int sb_plugin_load_list(const char *workloads, const char *where)
{
	char *names = strdup(workloads);
	char *rest = names;
	char *name;
	int rc = 0;

	if (!names)
		return sb_fail_memory();
	while (!rc && (name = strsep(&rest, ","))) {
		if (sb_plugin_is_file(name))
			rc = sb_plugin_load(name, where, NULL);
	}
	free(names);
	return rc;
}

/* The value of -w in that word, or in the next one; NULL: it is another option. */
static const char *workloads_of(const char *word, const char *next)
{
	static const char name[] = "--workload";

	if (!strncmp(word, "-w", 2))
		return word[2] ? word + 2 : next;
	if (strncmp(word, name, strlen(name)) != 0)
		return NULL;
	word += strlen(name);
	return *word == '=' ? word + 1 : *word ? NULL : next;
}

int sb_plugin_load_named(int argc, char **argv)
{
	int rc = 0;

	for (int i = 0; i < argc && argv[i] && !rc; i++) {
		const char *workloads = workloads_of(argv[i], i + 1 < argc ? argv[i + 1] : NULL);

		if (workloads)
			rc = sb_plugin_load_list(workloads, NULL);
	}
	return rc;
}

bool sb_plugin_use(const struct sb_workload *workload, const struct sb_plugin_calls *calls)
{
	for (uint32_t i = 0; i < all_loaded; i++) {
		if (loaded[i].workload != workload || !loaded[i].plugin)
			continue;
		*loaded[i].plugin->calls = calls ? calls : &sb_plugin_calls;
		return true;
	}
	return false;
}

const char *sb_plugin_word(const struct sb_workload *workload)
{
	for (uint32_t i = 0; i < all_loaded; i++) {
		if (loaded[i].workload == workload)
			return loaded[i].file;
	}
	return workload->name;
}

const char *sb_plugin_of_object(const char *object)
{
	for (uint32_t i = 0; i <= all_loaded; i++) {
		if (loaded[i].object && !strcmp(loaded[i].object, object))
			return loaded[i].file;
	}
	return NULL;
}
