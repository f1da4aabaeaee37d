/*
 * probes.h - what on a machine would spoil a measurement: a table of probes,
 * each with the command that mends what it finds. A probe looks at files below
 * a root alone, so that tests can show it good machines, bad ones, and such as
 * have not what it looks for.
 */
#ifndef SB_HARNESS_CHECK_PROBES_H
#define SB_HARNESS_CHECK_PROBES_H

#include "affinity/mask.h"

enum sb_probe_state { SB_PROBE_OK, SB_PROBE_WARN, SB_PROBE_UNKNOWN };

#define SB_PROBE_BYTES 320

struct sb_finding {
	enum sb_probe_state state;
	char found[SB_PROBE_BYTES]; /* how it is */
	char mend[SB_PROBE_BYTES];  /* a command, "" if none would help */
};

/* The machine, as far as a probe may know it. */
struct sb_probe_view {
	const char *root;		/* "" for the machine's own */
	const struct sb_cpu_mask *cpus; /* that may be used */
	bool privileged;		/* permissions do not bind this user */
	int own_pid;
	/* Lets time pass between two looks; for tests, what they want. */
	void (*pause)(void *arg);
	void *arg;
};

struct sb_probe {
	const char *name;
	const char *spoils; /* what it would do to a measurement */
	void (*look)(const struct sb_probe_view *view, struct sb_finding *out);
};

/* Ends with a NULL name. */
extern const struct sb_probe sb_probes[];

/* Whatever is missing or makes no sense is unknown, and says so. */
void sb_probe_run(const struct sb_probe *probe, const struct sb_probe_view *view,
		  struct sb_finding *out);

/* "ok", "warn" or "unknown". */
const char *sb_probe_state_name(enum sb_probe_state state);

#endif
