#include "affinity/profile/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "affinity/internal.h"
#include "affinity/profile/cpuid.h"
#include "affinity/profile/precheck.h"
#include "affinity/profile/wide.h"

enum source { THIS, NAMED, XML_FILE, DIRECTORY, CPUID, SYNTHETIC };

struct description {
	enum source source;
	const char *text;
	const struct sb_profile *named;
	bool with_disallowed;
	struct sb_shape shape; /* of a synthetic description */
	uint32_t units;	       /* of a dump of CPUID */
};

/* ---- loading, whatever it is ---- */

/* hwloc writes what it misses in a description to stderr. */
static int load_quietly(hwloc_topology_t t)
{
	const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	const int before = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	int rc;

	if (null >= 0 && before >= 0)
		dup2(null, STDERR_FILENO);
	rc = hwloc_topology_load(t);
	if (null >= 0 && before >= 0)
		dup2(before, STDERR_FILENO);
	if (null >= 0)
		close(null);
	if (before >= 0)
		close(before);
	return rc;
}

/* A part of hwloc on a copy of what it reads; nothing may be asked of the CPU. */
static int load_copy(hwloc_topology_t t, const char *variable, const char *directory,
		     const char *components)
{
	int rc;

	setenv(variable, directory, 1);
	setenv("HWLOC_COMPONENTS", components, 1);
	setenv("HWLOC_THISSYSTEM", "0", 1);
	rc = load_quietly(t);
	unsetenv(variable);
	unsetenv("HWLOC_COMPONENTS");
	unsetenv("HWLOC_THISSYSTEM");
	return rc;
}

/* Of another number of units it would be the CPU that this runs on. */
static int load_cpuid(hwloc_topology_t t, const struct description *d)
{
	if (load_copy(t, "HWLOC_CPUID_PATH", d->text, "x86,stop"))
		return -1;
	errno = EINVAL;
	return hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU) == (int)d->units ? 0 : -1;
}

/* With these hwloc would show another machine, as if it were this one. */
static void forget_other_machines(void)
{
	static const char *const names[] = { "HWLOC_XMLFILE", "HWLOC_SYNTHETIC", "HWLOC_FSROOT",
					     "HWLOC_CPUID_PATH", "HWLOC_COMPONENTS" };

	for (size_t i = 0; i < SB_ARRAY_SIZE(names); i++)
		unsetenv(names[i]);
}

/* From so many units on, hwloc's own way takes long enough to be noticed. */
#define WIDE_UNITS 512

static bool is_wide(const struct description *d)
{
	return d->shape.units > WIDE_UNITS && !d->shape.has_indexes;
}

static int load_synthetic(hwloc_topology_t t, const struct description *d)
{
	if (is_wide(d)) {
		errno = sb_wide_load(t, d->text, &d->shape);
		return errno;
	}
	return hwloc_topology_set_synthetic(t, d->text) || hwloc_topology_load(t);
}

#define LOAD_SECONDS 10 /* of the CPU */

/* 0: no more. */
static void limit_time(time_t seconds)
{
	const struct itimerval time = { .it_value = { .tv_sec = seconds } };

	(void)setitimer(ITIMER_PROF, &time, NULL);
}

/* Without memory hwloc asks for ever how many CPUs the kernel knows: SIGPROF ends
 * that. */
static int load_this_machine(hwloc_topology_t t)
{
	int rc;

	forget_other_machines();
	limit_time(LOAD_SECONDS);
	/* The cgroup's limits are hwloc's default; the mask is asked for. */
	rc = hwloc_topology_set_flags(t, HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM |
						 HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING) ||
	     hwloc_topology_load(t);
	limit_time(0);
	return rc;
}

static int load_source(hwloc_topology_t t, const struct description *d)
{
	if (d->with_disallowed)
		hwloc_topology_set_flags(t, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
	switch (d->source) {
	case THIS:
		return load_this_machine(t);
	case NAMED:
		return hwloc_topology_set_synthetic(t, d->named->synthetic) ||
		       hwloc_topology_load(t) || sb_profile_finish(t, d->named);
	case XML_FILE:
		return hwloc_topology_set_xml(t, d->text) || hwloc_topology_load(t);
	case DIRECTORY:
		return load_copy(t, "HWLOC_FSROOT", d->text, "linux,stop");
	case CPUID:
		return load_cpuid(t, d);
	case SYNTHETIC:
	default:
		return load_synthetic(t, d);
	}
}

/* 0, or an errno: ENODEV, nothing usable; E2BIG, too many processing units. */
static int load(hwloc_topology_t *out, const struct description *d)
{
	hwloc_topology_t t;
	int n;
	int rc = 0;

	if (hwloc_topology_init(&t))
		return ENOMEM;
	errno = 0;
	if (load_source(t, d)) {
		rc = errno ? errno : EINVAL;
	} else {
		n = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU);
		rc = n <= 0 ? ENODEV : n > SB_PROFILE_PUS_MAX ? E2BIG : 0;
	}
	if (rc)
		hwloc_topology_destroy(t);
	else
		*out = t;
	return rc;
}

/* ---- a trial in a child, before a description from outside is trusted ---- */

#define TRIAL_BYTES	   (UINT64_C(4) << 30)
#define TRIAL_SECONDS	   10 /* of the CPU */
#define TRIAL_WALL_SECONDS 30 /* for what blocks */

/* Whatever handles them in this program is not for the child. */
static void die_of_crashes(void)
{
	static const int crashes[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL };

	for (size_t i = 0; i < SB_ARRAY_SIZE(crashes); i++)
		(void)signal(crashes[i], SIG_DFL);
}

static void limit(int what, uint64_t value)
{
	struct rlimit bound = { value, value };
	struct rlimit now;

	/* The user's own may be lower. */
	if (!getrlimit((__rlimit_resource_t)what, &now))
		bound.rlim_cur = bound.rlim_max = sb_min_u64(value, now.rlim_cur);
	(void)setrlimit((__rlimit_resource_t)what, &bound);
}

/*
 * The calls that hwloc will get later, so that it crashes here if it does.
 * hwloc_topology_check() would refuse more: files with small contradictions,
 * with which hwloc gets along.
 */
static void exercise(hwloc_topology_t t)
{
	enum { SETS = 16 };
	hwloc_obj_t root = hwloc_get_root_obj(t);
	hwloc_bitmap_t set[SETS] = { NULL };
	hwloc_topology_t copy;
	char *xml = NULL;
	int length;

	hwloc_distrib(t, &root, 1, set, SETS, INT_MAX, 0);
	hwloc_topology_export_xmlbuffer(t, &xml, &length, 0);
	if (!hwloc_topology_dup(&copy, t)) {
		hwloc_topology_restrict(copy, hwloc_get_obj_by_type(t, HWLOC_OBJ_PU, 0)->cpuset, 0);
		hwloc_topology_destroy(copy);
	}
	hwloc_topology_destroy(t);
}

/* ENODEV, if there are processing units, but none that is allowed. */
static int why_not(const struct description *d, int error)
{
	struct description all = *d;
	hwloc_topology_t t;

	all.with_disallowed = true;
	return error == EINVAL && !load(&t, &all) ? ENODEV : error;
}

/* True if hwloc 3 wrote the file: its root element says so. */
static bool is_version_3(const char *path)
{
	char head[2048];
	FILE *in = fopen(path, "re");
	size_t n;

	if (!in)
		return false;
	n = fread(head, 1, sizeof(head) - 1, in);
	head[n] = '\0';
	fclose(in);
	return strstr(head, "<topology version=\"3") != NULL;
}

/* The description that hwloc is given of a wide one is made of this small one. */
static int load_trial(hwloc_topology_t *out, const struct description *d)
{
	struct description trial = *d;

	if (is_wide(d)) {
		trial.text = d->shape.small;
		trial.shape = (struct sb_shape){ .units = 0 };
	}
	return load(out, &trial);
}

static _Noreturn void try_in_child(const struct description *d)
{
	const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	hwloc_topology_t t;
	int error;

	die_of_crashes();
	if (null >= 0)
		dup2(null, STDERR_FILENO);
#ifndef SB_ALLOC_LIBC /* a sanitizer's shadow is larger than that */
	limit(RLIMIT_AS, TRIAL_BYTES);
#endif
	limit(RLIMIT_CPU, TRIAL_SECONDS);
	limit(RLIMIT_CORE, 0);
	(void)signal(SIGALRM, SIG_DFL);
	(void)alarm(TRIAL_WALL_SECONDS);
	error = d->source == XML_FILE && is_version_3(d->text) ? EPROTO : load_trial(&t, d);
	if (!error && d->source != SYNTHETIC)
		exercise(t);
	_exit(error ? why_not(d, error) : 0);
}

/* As load, but nothing is kept; EFAULT: hwloc did not survive it, ETIME: it took
 * too long. */
static int try_loading(const struct description *d)
{
	const pid_t child = fork();
	int status = 0;

	if (!child)
		try_in_child(d);
	if (child < 0)
		return errno;
	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return errno;
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	switch (WTERMSIG(status)) {
	case SIGXCPU: /* at the limit, */
	case SIGKILL: /* or this, if both limits are the same */
	case SIGALRM:
		return ETIME;
	default:
		return EFAULT;
	}
}

/* ---- which of them it is ---- */

static const struct sb_profile *find_named(const char *name)
{
	for (const struct sb_profile *p = sb_profiles; p->name; p++) {
		if (!strcmp(p->name, name))
			return p;
	}
	return NULL;
}

static bool looks_synthetic(const char *text)
{
	return strpbrk(text, ":[(") || strspn(text, "0123456789 ") == strlen(text);
}

static bool looks_like_file(const char *text)
{
	const size_t n = strlen(text);

	return strchr(text, '/') || (n > 4 && !strcmp(text + n - 4, ".xml"));
}

static int classify_path(struct description *d, const struct stat *status, char *why, size_t bytes)
{
	if (S_ISDIR(status->st_mode) && sb_cpuid_is_dump(d->text)) {
		d->source = CPUID;
		return sb_cpuid_check(d->text, &d->units, why, bytes);
	}
	if (S_ISDIR(status->st_mode)) {
		d->source = DIRECTORY;
		return sb_precheck_directory(d->text, why, bytes);
	}
	d->source = XML_FILE;
	if (!S_ISREG(status->st_mode))
		return sb_precheck_refuse(why, bytes, -EINVAL, "", d->text,
					  " is neither a file nor a directory; expected hwloc's "
					  "XML, or a copy of /sys and /proc");
	return sb_precheck_file(d->text, status->st_size, why, bytes);
}

static int classify(struct description *d, char *why, size_t bytes)
{
	struct stat status;

	d->source = THIS;
	if (!*d->text || !strcmp(d->text, SB_PROFILE_THIS))
		return 0;
	d->source = NAMED;
	d->named = find_named(d->text);
	if (d->named)
		return 0;
	if (!stat(d->text, &status))
		return classify_path(d, &status, why, bytes);
	if (looks_like_file(d->text))
		return sb_precheck_refuse(why, bytes, -ENOENT, "there is no file ", d->text,
					  "; expected hwloc's XML, as lstopo writes it");
	d->source = SYNTHETIC;
	if (looks_synthetic(d->text))
		return sb_precheck_synthetic(d->text, &d->shape, why, bytes);
	return sb_precheck_refuse(why, bytes, -ESRCH, "there is no profile ", d->text, "");
}

static int explain(const struct description *d, int error, char *why, size_t bytes)
{
	static const char synthetic[] =
		" is no synthetic description; expected one such as 'pack:2 numa:2 core:4 pu:2'";
	static const char *const bad[] = {
		[NAMED] = " cannot be made by this hwloc",
		[XML_FILE] =
			" is not XML of a machine that hwloc can read; expected what lstopo writes",
		[DIRECTORY] = " is no machine that hwloc can read; expected what "
			      "hwloc-gather-topology packs",
		[CPUID] = " is no x86 machine that hwloc can read; expected what "
			  "hwloc-gather-cpuid writes",
		[SYNTHETIC] = synthetic,
	};
	const char *after = bad[d->source];

	if (d->source == THIS) {
		snprintf(why, bytes, "this machine's topology cannot be read by hwloc");
		return -EIO;
	}
	if (error == ENODEV)
		after = " has no processing unit that may be used; expected at least one";
	else if (error == E2BIG)
		after = SB_PRECHECK_TOO_MANY;
	else if (error == ETIME)
		after = " takes hwloc too long to load; expected a smaller machine, or more levels "
			"with fewer objects side by side, such as 'group:128 core:128'";
	else if (error == EPROTO)
		after = " was written by hwloc 3; expected version 2 (lstopo --export-xml-flags "
			"v2)";
	else if (error == EFAULT)
		after = " crashes hwloc; expected a description that it can load";
	/* Whatever takes too long is too large. */
	return sb_precheck_refuse(why, bytes, error == ETIME ? -E2BIG : -error, "", d->text, after);
}

/* hwloc loads the machine. Returns 0 or -errno with the reason in why. */
static int load_profile(hwloc_topology_t *out, const char *profile, bool *emulated, char *why,
			size_t bytes)
{
	struct description d = { .text = profile };
	int rc = classify(&d, why, bytes);

	if (rc)
		return rc;
	/* The error is reported here, in one line. */
	setenv("HWLOC_HIDE_ERRORS", "2", 0);
	*emulated = d.source != THIS;
	if (d.source != THIS && d.source != NAMED)
		rc = try_loading(&d);
	if (!rc)
		rc = load(out, &d);
	if (rc)
		return explain(&d, rc, why, bytes);
	rc = d.source == THIS ? 0 : sb_precheck_loaded(*out, d.text, why, bytes);
	if (rc) {
		hwloc_topology_destroy(*out);
		*out = NULL;
	}
	return rc;
}

int sb_topology_open(struct sb_topology **topology, const char *profile, char *why, size_t bytes)
{
	hwloc_topology_t hwloc;
	bool emulated;
	int rc = load_profile(&hwloc, profile, &emulated, why, bytes);

	if (rc)
		return rc;
	rc = sb_topology_adopt(topology, hwloc, *profile ? profile : SB_PROFILE_THIS, emulated);
	if (rc)
		snprintf(why, bytes, "no memory");
	return rc;
}

int sb_topology_load(struct sb_topology **topology)
{
	char why[128];

	return sb_topology_open(topology, "", why, sizeof(why));
}
