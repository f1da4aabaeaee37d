/* probe.h - what the probes of `check` share, and the probes that are in a file of
 * their own. */
#ifndef SB_HARNESS_CHECK_PROBE_H
#define SB_HARNESS_CHECK_PROBE_H

#include <string.h>

#include "harness/check/probes.h"

#define LINE_BYTES 256

void SB_PRINTF(3, 4)
	sb_finding_say(struct sb_finding *out, enum sb_probe_state state, const char *format, ...);

void SB_PRINTF(2, 3) sb_finding_mend(struct sb_finding *out, const char *format, ...);

const char *sb_plural(uint64_t n);

void sb_probe_governor(const struct sb_probe_view *view, struct sb_finding *out);

void sb_probe_turbo(const struct sb_probe_view *view, struct sb_finding *out);

void sb_probe_smt(const struct sb_probe_view *view, struct sb_finding *out);

void sb_probe_quota(const struct sb_probe_view *view, struct sb_finding *out);

void sb_probe_cpuset(const struct sb_probe_view *view, struct sb_finding *out);

void sb_probe_isolated(const struct sb_probe_view *view, struct sb_finding *out);

void sb_probe_nohz(const struct sb_probe_view *view, struct sb_finding *out);

void sb_probe_clock(const struct sb_probe_view *view, struct sb_finding *out);

void sb_probe_virtual(const struct sb_probe_view *view, struct sb_finding *out);

void sb_probe_steal(const struct sb_probe_view *view, struct sb_finding *out);

void sb_probe_mitigations(const struct sb_probe_view *view, struct sb_finding *out);

#endif
