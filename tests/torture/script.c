/* script.c - draws scripts, numbers their parts, and prints them. */
#include "tests/torture/script.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const struct action_info action_info[ACTION_KINDS] = {
#define ACTION(NAME, text, who, uses, weight) { #NAME, text, who, uses, weight },
#include "tests/torture/actions.def"
#undef ACTION
};

static_assert(ACTION_KINDS <= 64, "a bit each");
#define K(NAME) (UINT64_C(1) << ACT_##NAME)

const char *const feature_name[FEATURE_KINDS] = {
#define X(NAME, text) #NAME,
	FEATURES(X)
#undef X
};

static const char *const feature_text[] = {
#define X(NAME, text) text,
	FEATURES(X)
#undef X
};

static const char *const endgame_text[] = {
#define X(NAME, text) text,
	ENDGAMES(X)
#undef X
};

/* ---- settings ---- */

static const struct {
	const char *name;
	uint64_t choice[CHOICES_MAX];
	uint32_t choices;
	size_t offset, bytes;
} settings[] = {
#define SETTING(field, ...)                                                                        \
	{ #field,                                                                                  \
	  { __VA_ARGS__ },                                                                         \
	  sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t),                                  \
	  offsetof(struct sb_config, field),                                                       \
	  sizeof(((struct sb_config *)NULL)->field) },
#include "tests/torture/settings.def"
#undef SETTING
};

static_assert(COUNT_OF(settings) == KNOWN_SETTINGS && KNOWN_SETTINGS <= SETTINGS, "room for all");

static uint64_t setting_value(const struct scheduler_script *s, uint32_t i)
{
	return settings[i].choice[s->setting[i].off ? 0 : s->setting[i].choice];
}

static void store(void *to, size_t bytes, uint64_t value)
{
	const uint32_t word = (uint32_t)value;
	const bool flag = value;

	if (bytes == sizeof(value))
		memcpy(to, &value, bytes);
	else if (bytes == sizeof(word))
		memcpy(to, &word, bytes);
	else
		memcpy(to, &flag, bytes);
}

void script_config(const struct script *script, uint32_t scheduler, struct sb_config *config)
{
	sb_config_init(config);
	for (uint32_t i = 0; i < KNOWN_SETTINGS; i++)
		store((char *)config + settings[i].offset, settings[i].bytes,
		      setting_value(&script->scheduler[scheduler], i));
	config->seed = script->seed + scheduler;
}

enum endgame script_endgame(const struct script *script, uint32_t scheduler)
{
	const struct scheduler_script *s = &script->scheduler[scheduler];

	return s->is_plain || !script->feature[FEATURE_ENDGAME] ? ENDGAME_PLAIN : s->endgame;
}

/* Half of the settings keep their plain value. */
static void draw_scheduler(struct scheduler_script *s, struct rng *rng,
			   const struct script_limits *limits)
{
	static const uint8_t workers[] = { 1, 2, 2, 3, 4, 8 };

	for (uint32_t i = 0; i < KNOWN_SETTINGS; i++) {
		s->setting[i].choice = (uint8_t)rng_below(rng, settings[i].choices);
		s->setting[i].off = rng_below(rng, 2);
	}
	s->workers = workers[rng_below(rng, limits->small ? 2 : COUNT_OF(workers))];
	if (limits->workers)
		s->workers = limits->workers;
	s->has_router = rng_below(rng, 4) == 0;
	s->endgame = (enum endgame)rng_below(rng, ENDGAME_KINDS);
}

/* ---- actions and types ---- */

static uint32_t weight_of(const struct script *script, uint32_t kind, enum who who)
{
	return action_info[kind].who & who && script->kinds >> kind & 1 ? action_info[kind].weight
									: 0;
}

bool script_draw_action(const struct script *script, struct rng *rng, enum who who,
			struct action *action)
{
	uint32_t sum = 0;
	uint32_t chosen;
	uint32_t kind = 0;

	for (uint32_t i = 0; i < ACTION_KINDS; i++)
		sum += weight_of(script, i, who);
	if (!sum)
		return false;
	chosen = rng_below(rng, sum);
	while (chosen >= weight_of(script, kind, who))
		chosen -= weight_of(script, kind++, who);
	*action = (struct action){ .kind = (uint8_t)kind,
				   .scheduler = (uint8_t)rng_below(rng, script->schedulers),
				   .type = (uint8_t)rng_below(rng, script->types),
				   .slot = (uint8_t)rng_below(rng, SLOTS),
				   .tag = (uint8_t)rng_below(rng, TAGS),
				   .number = (uint8_t)rng_below(rng, 256) };
	return true;
}

static void draw_type(struct script *script, struct type *type, struct rng *rng, bool small)
{
	type->ending = (enum ending)rng_below(rng, ENDINGS);
	if (script->is_lasting)
		type->ending = SERVES;
	if (script->is_hasty)
		type->ending = type->ending % 2 ? ENDS_AT_ONCE : ENDS_DONE;
	type->state = rng_below(rng, rng_below(rng, 4) ? 3 : STATE_SIZES);
	type->acts = 1 + rng_below(rng, small ? 4 : ACTS_MAX);
	for (uint32_t i = 0; i < type->acts; i++) {
		if (!script_draw_action(script, rng, STEP, &type->act[i]))
			type->act[i].kind = ACT_CONTINUE;
	}
	if (type->state == STATE_HUGE && !script->feature[FEATURE_HUGE_STATES])
		type->state = 0;
}

size_t script_state_bytes(const struct type *type)
{
	/* Sizes of several classes of the library's pools. */
	static const size_t more[] = { 0, 40, 900, 70000 };

	if (type->is_plain)
		return 0;
	if (type->state == STATE_HUGE)
		return SIZE_MAX;
	return type->state == STATE_NONE ? SIZE_MAX - 1 : more[type->state];
}

/* Swarm testing: a script uses every other kind of action, or fewer, so that each has scripts in
 * which it is frequent, and scripts in which nothing else hides what it does. */
static uint64_t draw_kinds(struct rng *rng)
{
	const uint64_t always = K(SUBMIT) | K(STEP_SEND) | K(CONTINUE);
	const uint32_t one_in = 2 + 2 * rng_below(rng, 3);
	uint64_t kinds = 0;

	for (uint32_t i = 0; i < ACTION_KINDS; i++)
		kinds |= (uint64_t)(rng_below(rng, one_in) == 0) << i;
	/* Refused allocations make some checks weaker, so they are rare. */
	if (rng_below(rng, 4))
		kinds &= ~K(REFUSE_MEMORY);
	return kinds | always;
}

/*
 * Themes: the sides of one protocol meet often only where little else happens. A theme is a set of
 * actions, features and settings; two of three scripts have one.
 */
#define IS(field, value)                                                                           \
	{                                                                                          \
		offsetof(struct sb_config, field), value                                           \
	}

static const struct theme {
	uint64_t kinds;
	uint32_t features, workers, weight;
	bool is_lasting; /* every process serves until it is cancelled or terminated */
	bool is_hasty; /* no process serves, and every other one ends at once; and all is repeated */
	struct {
		size_t offset; /* of a setting */
		uint64_t value;
	} setting[5];
} themes[] = {
	{ .kinds = K(SUBMIT_AS) | K(TERMINATE) | K(SLEEP) | K(TIMER),
	  .workers = 8,
	  .weight = 3,
	  .is_hasty = true,
	  .setting = { IS(pid_reuse_ns, 0) } },
	{ .kinds = K(SUBMIT_AS) | K(TERMINATE) | K(YIELD_LATER) | K(COMPLETE) | K(TICKER),
	  .setting = { IS(pid_reuse_ns, 0) } },
	{ .kinds = K(SUBMIT) | K(SUBMIT_AS) | K(SEND_LATE) | K(WAIT),
	  .features = 1u << FEATURE_DROP_CALLS,
	  .workers = 4,
	  .weight = 8,
	  .is_lasting = true,
	  .setting = { IS(dead_max_bytes, 1), IS(pid_reuse_ns, 0), IS(handover, true),
		       IS(wake, SB_WAKE_LOCAL), IS(hold_ns, UINT64_MAX) } },
	{ .kinds = K(SUBMIT) | K(SEND) | K(STEP_SEND) | K(BURST) | K(STEP_BURST) | K(WAIT),
	  .is_lasting = true,
	  .setting = { IS(handover, true), IS(mailbox_bound, 0), IS(hold_ns, UINT64_MAX) } },
	{ .kinds = K(SUBMIT) | K(EXECUTE) | K(SPAWN) | K(YIELD_SPAWN) | K(WAIT_IDLE),
	  .setting = { IS(processes_max, 100) } },
	/* Reservations ahead end near this limit, and begin again far from it. */
	{ .kinds = K(SUBMIT) | K(EXECUTE) | K(SPAWN) | K(YIELD_SPAWN) | K(STOP),
	  .workers = 2,
	  .setting = { IS(processes_max, 400) } },
	{ .kinds = K(SUBMIT) | K(MONITOR) | K(UNMONITOR) | K(LINK) | K(UNLINK) | K(TERMINATE) |
		   K(SPAWN) },
	{ .kinds = K(SUBMIT) | K(STOP) | K(START) | K(EXECUTE) | K(WAIT_IDLE) | K(SETTLE) |
		   K(SPAWN) },
	{ .kinds = K(SUBMIT) | K(YIELD_NOW) | K(YIELD_LATER) | K(YIELD_FAIL) | K(YIELD_BOTH) |
		   K(YIELD_UNKNOWN) | K(COMPLETE) | K(SEND) },
	{ .kinds = K(SUBMIT) | K(SEND) | K(BURST) | K(STEP_BURST) | K(SEND_SELF) | K(YIELD_SEND) |
		   K(WAIT),
	  .setting = { IS(mailbox_bound, 2) } },
	{ .kinds = K(SUBMIT) | K(TIMER) | K(TICKER) | K(STOP_TIMER) | K(SLEEP) | K(BLOCK) },
};

uint32_t script_themes(void)
{
	return COUNT_OF(themes);
}

static void fix_setting(struct scheduler_script *s, size_t offset, uint64_t value)
{
	for (uint32_t i = 0; i < KNOWN_SETTINGS; i++) {
		for (uint32_t k = 0; k < settings[i].choices && settings[i].offset == offset; k++) {
			if (settings[i].choice[k] == value)
				s->setting[i] = (struct setting){ .choice = (uint8_t)k };
		}
	}
}

/* Themes of rare races have a larger weight. */
static uint32_t weight_of_theme(uint32_t i)
{
	return themes[i].weight ? themes[i].weight : 1;
}

static const struct theme *draw_one(struct rng *rng, uint32_t wanted)
{
	uint32_t sum = 0;
	uint32_t chosen;
	uint32_t i = 0;

	for (uint32_t k = 0; k < COUNT_OF(themes); k++)
		sum += weight_of_theme(k);
	chosen = rng_below(rng, sum);
	while (chosen >= weight_of_theme(i))
		chosen -= weight_of_theme(i++);
	return &themes[wanted ? wanted - 1 : i];
}

static void draw_theme(struct script *script, struct rng *rng, const struct script_limits *limits)
{
	const struct theme *theme = draw_one(rng, limits->theme);

	if (rng_below(rng, 3) == 0 && !limits->theme)
		return;
	script->kinds = theme->kinds & ~limits->without;
	script->is_hasty = theme->is_hasty;
	script->is_lasting = theme->is_lasting;
	if (theme->is_hasty && !limits->small)
		script->repeats = 64;
	for (uint32_t i = 0; i < FEATURE_KINDS; i++)
		script->feature[i] |= theme->features >> i & ~limits->without_features >> i & 1;
	for (uint32_t k = 0; k < script->schedulers; k++) {
		if (theme->workers && !limits->workers && !limits->small)
			script->scheduler[k].workers = theme->workers;
		for (uint32_t i = 0; i < COUNT_OF(theme->setting); i++) {
			if (theme->setting[i].offset)
				fix_setting(&script->scheduler[k], theme->setting[i].offset,
					    theme->setting[i].value);
		}
	}
}

void script_draw(struct script *script, uint64_t seed, const struct script_limits *limits)
{
	const bool small = limits->small;
	struct rng rng;

	memset(script, 0, sizeof(*script));
	rng_seed(&rng, seed);
	script->seed = seed;
	script->type[PLAIN_TYPE].is_plain = true;
	script->schedulers = 1 + (rng_below(&rng, 3) == 0) + (!small && rng_below(&rng, 6) == 0);
	script->threads = 1 + rng_below(&rng, small ? 3 : THREADS_MAX);
	script->types = 1 + rng_below(&rng, small ? 4 : TYPES_MAX);
	script->repeats = small ? 1 : 1u << 2 * rng_below(&rng, 4);
	script->kinds = draw_kinds(&rng) & ~limits->without;
	for (uint32_t i = 0; i < FEATURE_KINDS; i++)
		script->feature[i] = (rng_below(&rng, 3) == 0 || i >= FEATURE_PROBE_MAILBOX) &&
				     !(limits->without_features >> i & 1);
	for (uint32_t i = 0; i < script->schedulers; i++)
		draw_scheduler(&script->scheduler[i], &rng, limits);
	draw_theme(script, &rng, limits);
	for (uint32_t i = 0; i < script->types; i++)
		draw_type(script, &script->type[i], &rng, small);
	for (uint32_t thread = 0; thread < script->threads; thread++) {
		const uint32_t n = 2 + rng_below(&rng, small ? 8 : OPS_MAX / THREADS_MAX - 1);

		for (uint32_t i = 0; i < n; i++) {
			struct action *op = &script->op[script->ops++];

			if (!script_draw_action(script, &rng, THREAD, op))
				op->kind = ACT_PAUSE;
			op->thread = (uint8_t)thread;
		}
	}
}

/* ---- for people ---- */

static void put_action(const struct action *a, FILE *to)
{
	const struct action_info *info = &action_info[a->kind];

	fputs(info->text, to);
	if (info->uses & SLOT)
		fprintf(to, " slot %u", a->slot);
	if (info->uses & TYPE)
		fprintf(to, " type %u", a->type);
	if (info->uses & SCHEDULER)
		fprintf(to, " at scheduler %u", a->scheduler);
	if (info->uses & TAG)
		fprintf(to, " tag %u", a->tag);
	if (info->uses & NUMBER)
		fprintf(to, " (%u)", a->number);
	fputc('\n', to);
}

static void put_scheduler(const struct script *script, uint32_t i, FILE *to)
{
	const struct scheduler_script *s = &script->scheduler[i];

	fprintf(to, "scheduler %" PRIu32 ": %" PRIu32 " workers%s; %s", i,
		s->is_plain ? 1 : s->workers, s->has_router && !s->is_plain ? ", a router" : "",
		endgame_text[script_endgame(script, i)]);
	for (uint32_t k = 0; k < KNOWN_SETTINGS; k++) {
		if (setting_value(s, k) != settings[k].choice[0])
			fprintf(to, "; %s %" PRIu64, settings[k].name, setting_value(s, k));
	}
	fputc('\n', to);
}

static void put_type(const struct script *script, uint32_t i, FILE *to)
{
	static const char *const endings[] = { "is done", "fails", "serves until it is cancelled",
					       "is done, whatever it is owed," };
	static const char *const sizes[] = {
		"", ", some state", ", more state", ", much state", ", no state", ", too much state"
	};
	const struct type *type = &script->type[i];

	fprintf(to, "type %" PRIu32 ": %s in the end%s\n", i,
		endings[type->is_plain ? ENDS_DONE : type->ending],
		sizes[type->is_plain ? 0 : type->state]);
	for (uint32_t k = 0; k < type->acts; k++) {
		if (!type->act[k].off) {
			fputs("    ", to);
			put_action(&type->act[k], to);
		}
	}
}

void script_put(const struct script *script, FILE *to)
{
	for (uint32_t i = 0; i < script->schedulers; i++)
		put_scheduler(script, i, to);
	for (uint32_t i = 0; i < FEATURE_KINDS; i++) {
		if (script->feature[i])
			fprintf(to, "%s\n", feature_text[i]);
	}
	for (uint32_t i = 0; i < script->types; i++)
		put_type(script, i, to);
	if (script_repeats(script) > 1)
		fprintf(to, "each thread does its operations %" PRIu32 " times\n",
			script_repeats(script));
	for (uint32_t i = 0; i < script->ops; i++) {
		if (script->op[i].off)
			continue;
		fprintf(to, "thread %u: ", script->op[i].thread);
		put_action(&script->op[i], to);
	}
}
