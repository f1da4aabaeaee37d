/* model.c - the ledger of processes, messages and exits, and its checks. */
#include "tests/torture/model.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/torture/host.h"

struct world *world;

/* Records the first failure only: later ones may be its consequence. */
_Noreturn void model_fail(const char *format, ...)
{
	va_list arguments;

	if (!swap(&world->has_failed, 1)) {
		va_start(arguments, format);
		vsnprintf(world->failure, sizeof(world->failure), format, arguments);
		va_end(arguments);
		fprintf(stderr, "torture: %s: %s\n", world->phase, world->failure);
	}
	_exit(1);
}

struct own *own(void)
{
	struct own *mine = &world->own[host_self() % OWNS_MAX];

	if (SB_UNLIKELY(!mine->rng.state))
		rng_seed(&mine->rng, world->script.seed + 1000 * host_self());
	return mine;
}

/* ---- lives ---- */

/* An unused entry of the ledger, maybe one that was given back; NULL: there is none. */
static struct life *take_life(void)
{
	struct own *mine = own();
	struct life *life = mine->spare;
	uint32_t number;

	mine->spare = NULL;
	if (life)
		return life;
	number = add(&world->lives, 1);
	if (number < LIVES_MAX)
		return &world->life[number];
	put(&world->lives, LIVES_MAX);
	return NULL;
}

struct life *life_new(uint32_t scheduler, uint32_t type, uint32_t depth)
{
	struct rng *rng = &own()->rng;
	const bool may_fail = world->script.feature[FEATURE_FAILURES] && type != PLAIN_TYPE;
	struct life *life = take_life();

	if (!life)
		return NULL;
	put(&life->pid, 0);
	put(&life->scheduler, (uint8_t)scheduler);
	put(&life->type, (uint8_t)type);
	/* Processes of probes and endgames make no calls. */
	put(&life->depth, (uint8_t)(type == PLAIN_TYPE ? DEPTH_QUIET : depth));
	put(&life->init_error, may_fail && rng_below(rng, 6) == 0 ? -ERANGE : 0);
	put(&life->start_error, may_fail && rng_below(rng, 6) == 0 ? -EPERM : 0);
	return life;
}

void life_give_back(struct life *life)
{
	if (!get(&life->inits))
		own()->spare = life;
}

/* A config.pid_reuse_ns that is longer than a round, and a bound of the time in which that is
 * checked. */
#define REUSED_NEVER_NS UINT64_C(60000000000)
#define ROUND_NS	UINT64_C(50000000000)

/* The previous process of a chosen PID must have ended, at least config.pid_reuse_ns ago. */
static void name_chosen(struct life *life, sb_pid pid)
{
	struct scheduler_model *s = scheduler_of(life);
	const struct life *before = life_of(s, pid);

	expect(get(&life->pid) == pid, "on_start got PID %" PRIx64 ", chosen was %" PRIx64, pid,
	       get(&life->pid));
	if (before && get(&before->starts)) {
		expect(get(&before->completes), "PID %" PRIx64 " has two processes", pid);
		/* A process that was refused because of a stop never had the PID. */
		expect(s->config.pid_reuse_ns < REUSED_NEVER_NS ||
			       get(&before->exit_error) == -ESHUTDOWN ||
			       host_now_ns() - world->start_ns > ROUND_NS,
		       "PID %" PRIx64 " was used again too early", pid);
	}
	put(&s->chosen[pid - SB_PID_CHOSEN], life->number + 1);
}

static uint32_t place_of(sb_pid pid)
{
	return (uint32_t)(pid * UINT64_C(0x9E3779B97F4A7C15) >> 40) % PID_TABLE;
}

void life_name(struct life *life, sb_pid pid)
{
	struct scheduler_model *s = scheduler_of(life);
	uint32_t place = place_of(pid);

	expect(pid, "on_start got the PID 0");
	if (pid >= SB_PID_CHOSEN) {
		name_chosen(life, pid);
		return;
	}
	for (uint32_t i = 0; i < PID_TABLE; i++, place = (place + 1) % PID_TABLE) {
		uint64_t free = 0;

		if (cas(&s->entry[place].pid, &free, pid)) {
			put(&s->entry[place].life, life->number + 1);
			put(&life->pid, pid);
			return;
		}
		expect(free != pid, "PID %" PRIx64 " was given out twice", pid);
	}
	model_fail("more PIDs than processes");
}

struct life *life_of(const struct scheduler_model *s, sb_pid pid)
{
	uint32_t place = place_of(pid);
	uint32_t number = 0;

	if (pid >= SB_PID_CHOSEN)
		number = pid < SB_PID_CHOSEN + CHOSEN ? get(&s->chosen[pid - SB_PID_CHOSEN]) : 0;
	else
		for (uint64_t there; (there = get(&s->entry[place].pid));
		     place = (place + 1) % PID_TABLE) {
			if (there == pid) {
				number = get(&s->entry[place].life);
				break;
			}
		}
	return number ? &world->life[number - 1] : NULL;
}

void life_may_end(struct life *life)
{
	const uint64_t pid = get(&life->pid);

	put(&life->may_be_ended, true);
	if (pid >= SB_PID_CHOSEN)
		put(&scheduler_of(life)->chosen_may_end[pid - SB_PID_CHOSEN], true);
}

bool life_may_be_ended(const struct life *life)
{
	const struct scheduler_model *s = scheduler_of(life);
	const uint64_t pid = get(&life->pid);

	return get(&life->may_be_ended) || get(&s->is_forced) ||
	       (pid >= SB_PID_CHOSEN && get(&s->chosen_may_end[pid - SB_PID_CHOSEN]));
}

struct life *life_in(uint32_t slot)
{
	const uint32_t number = get(&world->slot[slot]);

	return number ? &world->life[number - 1] : NULL;
}

/* True if a submission may return -ENOMEM. */
static bool may_lack_memory(const struct life *life)
{
	return get(&world->refuses_memory) ||
	       scheduler_of(life)->config.dead_max_bytes < UINT64_C(1) << 28 ||
	       (!type_of(life)->is_plain && type_of(life)->state == STATE_HUGE);
}

static bool is_allowed(const struct life *life, int rc)
{
	switch (rc) {
	case 0:
		return !get(&life->init_error) && !get(&life->start_error);
	case -ESHUTDOWN:
		return true;
	case -EAGAIN:
		return scheduler_of(life)->config.processes_max < LIVES_MAX;
	case -ENOMEM:
		return may_lack_memory(life);
	case -EEXIST:
		return get(&life->pid) >= SB_PID_CHOSEN;
	default:
		return rc == get(&life->init_error) || rc == get(&life->start_error);
	}
}

/* "Errors, with nothing left behind." */
void life_submitted(struct life *life, int rc)
{
	const uint32_t inits = get(&life->inits);
	const uint32_t starts = get(&life->starts);

	expect(is_allowed(life, rc), "a submission returned %d", rc);
	if (!rc) {
		expect(inits == 1 && starts == 1,
		       "a submission returned 0 after %u calls of init and %u of on_start", inits,
		       starts);
		return;
	}
	/* After an on_start that returned 0, on_complete is called. */
	expect(!starts || rc == -ESHUTDOWN, "a process that was refused (%d) had started", rc);
	expect(get(&life->completes) == starts,
	       "of a refused process on_start was called %u times, on_complete %u times", starts,
	       get(&life->completes));
	expect(!has_state(life) || get(&life->closes) == inits,
	       "of a refused process init was called %u times, close %u times", inits,
	       get(&life->closes));
}

static bool is_right_end(const struct life *life, int error)
{
	if (get(&life->has_ended_itself) && error == get(&life->own_error))
		return true;
	if (error == -ECANCELED)
		return life_may_be_ended(life);
	if (error == -ESHUTDOWN)
		return !get(&life->steps);
	return error == -ENOMEM && get(&world->refuses_memory);
}

void life_completed(struct life *life, const struct sb_exit *exit)
{
	expect(get(&life->starts) == 1, "on_complete of a process that had not started");
	expect(!add(&life->completes, 1), "on_complete twice of PID %" PRIx64, exit->pid);
	expect(!has_state(life) || get(&life->closes) == 1, "on_complete after %u closes",
	       get(&life->closes));
	expect(!get(&life->running), "on_complete during a step");
	expect(is_right_end(life, exit->error),
	       "process %u, which %s (%d) and may%s be terminated, ended with %d", life->number,
	       get(&life->has_ended_itself) ? "ended itself" : "went on", get(&life->own_error),
	       life_may_be_ended(life) ? "" : " not", exit->error);
	expect(exit->error || exit->result.u64 == get(&life->result),
	       "process %u ended with the result %" PRIx64 ", its own is %" PRIx64, life->number,
	       exit->result.u64, get(&life->result));
	put(&life->exit_error, exit->error);
}

/* ---- parcels ---- */

#define CHECK UINT32_C(0x5ea1ed)

struct parcel *parcel_new(struct life *to, uint32_t stream, uint64_t *sequence)
{
	const uint32_t number = add(&world->parcels, 1);
	struct parcel *parcel;

	if (number >= PARCELS_MAX) {
		put(&world->parcels, PARCELS_MAX);
		return NULL;
	}
	parcel = malloc(sizeof(*parcel));
	*parcel = (struct parcel){ .number = number,
				   .check = CHECK,
				   .stream = stream,
				   .scheduler = get(&to->scheduler),
				   .sequence = sequence ? ++*sequence : 0,
				   .pid = get(&to->pid),
				   .life = to->number };
	put(&world->parcel[number].life, to->number);
	put(&world->parcel[number].parcel, parcel);
	put(&world->parcel[number].state, PARCEL_FLYING);
	return parcel;
}

void parcel_asked(struct parcel *parcel)
{
	put(&world->parcel[parcel->number].state, PARCEL_ASKED);
}

void parcel_sent(uint32_t number, int rc)
{
	struct parcel_record *record = &world->parcel[number];
	uint8_t before = get(&record->state);
	const uint8_t after = rc ? PARCEL_RETURNED : PARCEL_ACCEPTED;

	/* An accepted parcel may have been received already, a refused one may not. */
	while ((before == PARCEL_FLYING || before == PARCEL_ASKED) &&
	       !cas(&record->state, &before, after))
		;
	if (!rc)
		return;
	expect(before == PARCEL_FLYING || before == PARCEL_ASKED,
	       "a %s that was refused (%d) was %s",
	       record->is_completion ? "completion" : "message", rc,
	       before == PARCEL_RECEIVED ? "received" : "dropped");
	free(record->parcel);
}

void parcel_end(struct parcel *parcel, enum parcel_state how)
{
	struct parcel_record *record;
	uint8_t before;

	expect(parcel->check == CHECK && parcel->number < PARCELS_MAX,
	       "what was %s is no message of the driver",
	       how == PARCEL_RECEIVED ? "received" : "dropped");
	record = &world->parcel[parcel->number];
	before = swap(&record->state, (uint8_t)how);
	expect(before == PARCEL_FLYING || before == PARCEL_ASKED || before == PARCEL_ACCEPTED,
	       "a %s was %s after it had been %s", parcel->is_completion ? "completion" : "message",
	       how == PARCEL_RECEIVED ? "received" : "dropped",
	       before == PARCEL_RECEIVED  ? "received"
	       : before == PARCEL_DROPPED ? "dropped"
					  : "returned");
	parcel->check = 0;
	free(parcel);
}

/* ---- judgement ---- */

static uint32_t lives(void)
{
	return get(&world->lives) < LIVES_MAX ? get(&world->lives) : LIVES_MAX;
}

static uint32_t parcels(void)
{
	return get(&world->parcels) < PARCELS_MAX ? get(&world->parcels) : PARCELS_MAX;
}

/* True if the process ends without a cancel event or a message. */
static bool ends_by_itself(const struct life *life)
{
	const struct type *type = type_of(life);

	if (get(&life->is_probe))
		return false;
	if (type->is_plain)
		return true;
	for (uint32_t i = 0; i < type->acts; i++) {
		if (type->act[i].kind == ACT_WAIT && !type->act[i].off)
			return false;
	}
	return type->ending != SERVES;
}

static bool is_alive(const struct life *life)
{
	return get(&life->starts) && !get(&life->completes);
}

static bool is_open(const struct parcel_record *record)
{
	const uint8_t state = get(&record->state);

	return state == PARCEL_FLYING || state == PARCEL_ACCEPTED;
}

bool model_is_quiet(void)
{
	for (uint32_t i = 0; i < PENDING_MAX; i++) {
		if (get(&world->pending[i]))
			return false;
	}
	for (uint32_t i = 0; i < lives(); i++) {
		if (is_alive(&world->life[i]) && ends_by_itself(&world->life[i]))
			return false;
	}
	for (uint32_t i = 0; i < parcels(); i++) {
		if (is_open(&world->parcel[i]))
			return false;
	}
	return true;
}

void model_check_ended(uint32_t scheduler)
{
	for (uint32_t i = 0; i < lives(); i++) {
		const struct life *life = &world->life[i];

		if (get(&life->scheduler) != scheduler)
			continue;
		expect(!has_state(life) || get(&life->closes) == get(&life->inits),
		       "of process %u init was called %u times, close %u times", i,
		       get(&life->inits), get(&life->closes));
		expect(get(&life->completes) == get(&life->starts),
		       "of process %u on_start was called %u times, on_complete %u times", i,
		       get(&life->starts), get(&life->completes));
	}
	expect(!get(&world->scheduler[scheduler].alive), "%" PRIu64 " are alive after the end",
	       get(&world->scheduler[scheduler].alive));
}

/* Some process with that PID must have ended as the exit event says. */
static void check_report(const struct exit_report *report)
{
	for (uint32_t i = 0; i < lives(); i++) {
		const struct life *life = &world->life[i];

		if (get(&life->pid) == report->pid && get(&life->scheduler) == report->scheduler &&
		    get(&life->completes) && get(&life->exit_error) == report->error &&
		    (report->error || get(&life->result) == report->result))
			return;
	}
	model_fail("a monitor was told that PID %" PRIx64 " ended with %d, result %" PRIx64,
		   report->pid, report->error, report->result);
}

void model_check_end(void)
{
	expect(get(&world->zero_inits) == get(&world->zero_closes),
	       "processes without state: %u calls of init, %u of close", get(&world->zero_inits),
	       get(&world->zero_closes));
	for (uint32_t i = 0; i < parcels(); i++) {
		struct parcel_record *record = &world->parcel[i];

		expect(!is_open(record), "a %s to process %u, which ended, was lost",
		       record->is_completion ? "completion" : "message", record->life);
		/* The sender ended before it got the completion of its yield. */
		if (get(&record->state) == PARCEL_ASKED)
			free(record->parcel);
	}
	for (uint32_t i = 0; i < get(&world->reports) && i < REPORTS_MAX; i++)
		check_report(&world->report[i]);
}

/* ---- for people ---- */

void model_put(FILE *to)
{
	uint32_t open = 0;

	fprintf(to, "phase: %s; %u processes, %u messages and completions\n",
		world->phase ? world->phase : "none", lives(), parcels());
	for (uint32_t i = 0; i < world->script.threads; i++) {
		const uint32_t at = get(&world->at[i]);

		if (at)
			fprintf(to, "thread %u is in: %s\n", i,
				action_info[world->script.op[at - 1].kind].text);
	}
	for (uint32_t i = 0; i < lives() && open < 20; i++) {
		const struct life *life = &world->life[i];

		if (!is_alive(life))
			continue;
		open++;
		fprintf(to,
			"process %u (PID %" PRIx64
			", scheduler %u, type %u): %u steps%s, owed %u%s%s%s\n",
			i, get(&life->pid), get(&life->scheduler), get(&life->type),
			get(&life->steps), get(&life->running) ? ", running" : "", get(&life->owed),
			get(&life->is_terminated) ? ", terminated" : "",
			get(&life->is_cancelled) ? ", cancelled" : "",
			ends_by_itself(life) ? ", should end" : "");
	}
	open = 0;
	for (uint32_t i = 0; i < parcels() && open < 20; i++) {
		if (!is_open(&world->parcel[i]))
			continue;
		open++;
		fprintf(to, "%s %u to process %u is %s\n",
			world->parcel[i].is_completion ? "completion" : "message", i,
			world->parcel[i].life,
			get(&world->parcel[i].state) == PARCEL_FLYING ? "on its way" : "accepted");
	}
}
