/*
 * description.h - who there is and who calls whom: a workload without code. Requests come from
 * outside to a process of one kind. A process does with a request what its kind says: works, calls
 * processes of other kinds and waits for their replies, or sends to them and goes on.
 *
 * Plain data, which harness/plugin/description.c makes from a file. Kinds call only kinds that do
 * not call them in turn.
 */
#ifndef SB_WORKLOADS_DESCRIBED_DESCRIPTION_H
#define SB_WORKLOADS_DESCRIBED_DESCRIPTION_H

#include "workloads/load/distribution.h"
#include "workloads/workload.h"

#define SB_KINDS_MAX   10 /* of a description */
#define SB_ACTIONS_MAX 16 /* of a kind */
#define SB_TARGETS_MAX 8  /* of an action */

/* So many processes of a kind, each another one, chosen at random. */
struct sb_target {
	uint32_t kind;
	uint32_t processes;
	bool is_each; /* all that there are, instead */
};

enum sb_act {
	SB_ACT_WORK,
	SB_ACT_CALL, /* all targets at once; goes on when all have replied */
	SB_ACT_SEND,
};

struct sb_action {
	enum sb_act act;
	double share; /* of the requests of which it is done, chosen at random */
	struct sb_distribution work;
	struct sb_target target[SB_TARGETS_MAX]; /* [targets] */
	uint32_t targets;
};

struct sb_kind {
	char *name;
	uint64_t state_bytes; /* of a process: its work goes through them; 0: none */
	struct sb_action action[SB_ACTIONS_MAX]; /* [actions], one after the other */
	uint32_t actions;
};

/* Three metrics of each kind. */
enum { SB_KIND_PER_OP, SB_KIND_NS_P50, SB_KIND_NS_P99, SB_KIND_METRICS };

struct sb_description {
	char *name;
	char *doc;
	char *file;
	struct sb_kind kind[SB_KINDS_MAX]; /* [kinds]; requests come to the first */
	uint32_t kinds;
	char *rate;    /* unless --rate or the like says how often; NULL: a closed loop */
	char *arrival; /* unless --arrival says; NULL: its default */

	/* Of the workload: how many processes each kind has, and the metrics of each. */
	struct sb_param params[SB_KINDS_MAX + 1];
	struct sb_workload_metric metrics[SB_KINDS_MAX * SB_KIND_METRICS + 1];
};

static_assert(SB_KINDS_MAX <= SB_PARAMS_MAX, "a parameter for each");
static_assert(SB_KINDS_MAX * SB_KIND_METRICS <= SB_WORKLOAD_METRICS_MAX, "and three metrics");

/* The workload. Its functions are of the caller's world: real time or virtual. */
struct sb_workload sb_described_workload(const struct sb_description *description);

#endif
