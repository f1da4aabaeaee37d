/*
 * script.h - a round as data: what a seed makes of schedulers, kinds of processes, threads and
 * their operations. A script is drawn once and then only loses parts, so the same seed with the
 * same parts left out is the same script.
 */
#ifndef SB_TESTS_TORTURE_SCRIPT_H
#define SB_TESTS_TORTURE_SCRIPT_H

#include <assert.h>
#include <stdio.h>

#include "affinity/schedbench.h"

#define SCHEDULERS_MAX 3
#define WORKERS_MAX    8
#define THREADS_MAX    6
#define OPS_MAX	       240 /* of all threads */
#define TYPES_MAX      8
#define ACTS_MAX       10 /* of a type of process */
#define SLOTS	       16
#define CHOSEN	       8 /* PIDs to choose from */
#define TAGS	       3

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- random numbers: xorshift64*, of one thread ---- */

struct rng {
	uint64_t state;
};

static inline void rng_seed(struct rng *rng, uint64_t seed)
{
	rng->state = (seed + 1) * UINT64_C(0x9E3779B97F4A7C15) | 1;
}

static inline uint32_t rng_below(struct rng *rng, uint32_t bound)
{
	rng->state ^= rng->state >> 12;
	rng->state ^= rng->state << 25;
	rng->state ^= rng->state >> 27;
	return (uint32_t)((rng->state * UINT64_C(0x2545F4914F6CDD1D) >> 32) * bound >> 32);
}

/* ---- actions ---- */

enum action_kind {
#define ACTION(NAME, text, who, uses, weight) ACT_##NAME,
#include "tests/torture/actions.def"
#undef ACTION
	ACTION_KINDS
};

enum who { THREAD = 1, STEP = 2, CALLBACK = 4, VISIT = 8 };
enum uses { SCHEDULER = 1, TYPE = 2, SLOT = 4, TAG = 8, NUMBER = 16 };

struct action {
	uint8_t kind, scheduler, type, slot, tag, number;
	uint8_t thread; /* of an operation */
	bool off;	/* left out */
};

struct action_info {
	const char *name; /* as on the command line: lower case */
	const char *text;
	uint32_t who, uses, weight;
};

extern const struct action_info action_info[ACTION_KINDS];

/* ---- kinds of processes ---- */

/* AT_ONCE: done, whatever it is owed, with timers and yields under way. */
enum ending { ENDS_DONE, ENDS_WITH_ERROR, SERVES, ENDS_AT_ONCE, ENDINGS };

struct type {
	uint32_t acts;
	struct action act[ACTS_MAX];
	uint32_t state; /* an index of state_sizes */
	enum ending ending;
	bool is_plain; /* the two above do not count */
};

#define PLAIN_TYPE TYPES_MAX

/* The last two: none at all, and more than there can be. */
#define STATE_SIZES 6
#define STATE_NONE  4
#define STATE_HUGE  5

/* ---- what a script may do beyond its actions ---- */

enum feature {
#define FEATURES(X)                                                                                \
	X(INIT_CALLS, "init calls in")                                                             \
	X(CLOSE_CALLS, "close calls in")                                                           \
	X(START_CALLS, "on_start calls in")                                                        \
	X(COMPLETE_CALLS, "on_complete calls in")                                                  \
	X(DROP_CALLS, "on_drop calls in")                                                          \
	X(HANDLER_CALLS, "handlers call in")                                                       \
	X(FAILURES, "init and on_start may fail")                                                  \
	X(EARLY_CALLS, "calls before the first start")                                             \
	X(PROBE_MAILBOX, "full mailboxes are probed")                                              \
	X(PROBE_LIMIT, "the limit of processes is probed")                                         \
	X(HUGE_STATES, "types may have more state than there is memory")                           \
	X(ENDGAME, "destroy may have threads inside, or processes that never started")
#define X(NAME, text) FEATURE_##NAME,
	FEATURES(X)
#undef X
		FEATURE_KINDS
};

extern const char *const feature_name[FEATURE_KINDS];

/* ---- how a scheduler ends ---- */

enum endgame {
#define ENDGAMES(X)                                                                                \
	X(PLAIN, "destroy with nobody inside")                                                     \
	X(SUBMIT, "destroy beside a submit")                                                       \
	X(EXECUTE, "destroy beside an execute")                                                    \
	X(WAIT, "destroy beside a wait_idle")                                                      \
	X(LIST, "destroy beside a list")                                                           \
	X(UNSTARTED, "destroy with processes that were never started")
#define X(NAME, text) ENDGAME_##NAME,
	ENDGAMES(X)
#undef X
		ENDGAME_KINDS
};

/* ---- settings: fields of the configuration; settings.def ---- */

#define CHOICES_MAX 8
#define SETTINGS    32

#define SETTING(...) +1
enum {
	KNOWN_SETTINGS = 0
#include "tests/torture/settings.def"
};
#undef SETTING

struct setting {
	uint8_t choice;
	bool off; /* as in plain_config */
};

struct scheduler_script {
	struct setting setting[SETTINGS];
	enum endgame endgame;
	uint32_t workers;
	bool has_router;
	bool is_plain; /* one worker, no router */
};

struct script {
	uint64_t seed;
	uint32_t schedulers, threads, types, ops;
	uint32_t repeats; /* how often each thread goes through its operations */
	bool runs_once;	  /* only once, that is */
	bool is_hasty;	  /* processes end soon */
	bool is_lasting;  /* or not by themselves */
	struct scheduler_script scheduler[SCHEDULERS_MAX];
	struct type type[TYPES_MAX + 1]; /* the last one has no acts: PLAIN_TYPE */
	struct action op[OPS_MAX];	 /* ordered by thread */
	bool feature[FEATURE_KINDS];
	uint64_t kinds; /* of actions, a bit for each that the script may use */
};

/* Bounds of a script; a member that is 0 takes the default. */
struct script_limits {
	uint32_t workers; /* of each scheduler */
	uint64_t without; /* kinds of actions, a bit each */
	uint32_t without_features;
	uint32_t theme; /* its number from 1 */
	bool small;	/* for explore: few threads, operations and workers */
};

/* How many themes there are. */
uint32_t script_themes(void);

void script_draw(struct script *script, uint64_t seed, const struct script_limits *limits);

/* The configuration of a scheduler of the script; callbacks and hook are the caller's. */
void script_config(const struct script *script, uint32_t scheduler, struct sb_config *config);

/* How often each thread goes through its operations. */
static inline uint32_t script_repeats(const struct script *script)
{
	return script->runs_once ? 1 : script->repeats;
}

/* How it is destroyed. */
enum endgame script_endgame(const struct script *script, uint32_t scheduler);

/* Bytes of state beyond the driver's own. */
size_t script_state_bytes(const struct type *type);

/* ---- parts, numbered from 0: operations, acts, settings, features and others ---- */

uint32_t script_parts(const struct script *script);
bool script_has_part(const struct script *script, uint32_t part);
void script_leave_out(struct script *script, uint32_t part, bool out);

/* The parts that are left out, as "3-17,20", and back; false: the text has another form. */
void script_put_left_out(const struct script *script, FILE *to);
bool script_take_left_out(struct script *script, const char *text);

/* The script in a readable form. */
void script_put(const struct script *script, FILE *to);

/* Draws an action of the script's kinds that `who` may do; false: there is none. */
bool script_draw_action(const struct script *script, struct rng *rng, enum who who,
			struct action *action);

#endif
