/*
 * config_load.c - 1000 processes, and what has to hold when they have ended.
 */
#include "tests/contract/config_load.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The messages of the router go there. */
static struct sb_scheduler *loaded;

static struct {
	_Atomic(uint64_t) started;
	_Atomic(uint64_t) closed;
	_Atomic(uint64_t) completed;
	_Atomic(uint64_t) sent;
	_Atomic(uint64_t) received;
	_Atomic(uint64_t) dropped;
	_Atomic(uint64_t) counted_starts; /* by on_start */
} book;

int load_on_start(void *hook, sb_pid pid)
{
	(void)hook;
	(void)pid;
	atomic_fetch_add(&book.counted_starts, 1);
	return 0;
}

void load_on_complete(void *hook, const struct sb_exit *exit)
{
	(void)hook;
	(void)exit;
	atomic_fetch_add(&book.completed, 1);
}

void load_on_drop(void *hook, const struct sb_event *event)
{
	(void)hook;
	atomic_fetch_add(&book.dropped, event->type == SB_EVENT_MESSAGE);
}

static int route(struct sb_receiver *receiver, const struct sb_package *package)
{
	(void)receiver;
	return sb_scheduler_send(loaded, package->to, package->message);
}

struct sb_receiver load_router = { route };

struct member {
	sb_pid neighbour; /* that has been submitted before */
	bool is_parent;
	bool has_yielded;
};

static int member_init(void *state, const char *method, union sb_value input)
{
	struct member *member = state;

	*member = (struct member){ .neighbour = input.u64, .is_parent = strcmp(method, "child") };
	atomic_fetch_add(&book.started, 1);
	return 0;
}

/* Limits may refuse a message, and a neighbour may have ended. */
static void send(struct sb_step *step, sb_pid to)
{
	atomic_fetch_add(&book.sent, 1);
	if (sb_step_send(step, to, sb_value_u64(1)))
		atomic_fetch_sub(&book.sent, 1);
}

static int member_step(void *state, struct sb_step *step, const struct sb_event *events,
		       uint32_t count)
{
	struct member *member = state;
	bool is_over = false;

	for (uint32_t i = 0; i < count; i++) {
		atomic_fetch_add(&book.received, events[i].type == SB_EVENT_MESSAGE);
		is_over |=
			events[i].type == SB_EVENT_COMPLETION || events[i].type == SB_EVENT_CANCEL;
	}
	if (is_over)
		return SB_DONE;
	if (member->has_yielded)
		return SB_YIELD;
	member->has_yielded = true;
	send(step, member->neighbour);
	send(step, sb_step_self(step));
	if (member->is_parent && step->self % 8 == 0)
		(void)!sb_step_spawn(step, &load_ops, "child", sb_value_u64(sb_step_self(step)),
				     NULL);
	return sb_step_yield(step, SB_COMMAND_SLEEP, sb_value_u64(1000), 1) ? -ENOMEM : SB_YIELD;
}

static void member_close(void *state)
{
	(void)state;
	atomic_fetch_add(&book.closed, 1);
}

const struct sb_process_ops load_ops = {
	.name = "member",
	.state_bytes = sizeof(struct member),
	.init = member_init,
	.step = member_step,
	.close = member_close,
};

void load_require(bool condition, const char *text)
{
	if (condition)
		return;
	fprintf(stderr, "not as expected: %s\n", text);
	_Exit(3);
}

/* A small limit refuses submissions as long as others are alive, or have just ended. */
void load_submit(struct sb_scheduler *s)
{
	sb_pid before = 0;
	int rc = 0;

	loaded = s;
	for (uint32_t i = 0; i < LOAD_PROCESSES; i += !rc) {
		rc = sb_scheduler_submit(s, &load_ops, "main", sb_value_u64(before), &before);
		load_require(!rc || rc == -EAGAIN || rc == -ENOMEM,
			     "a submission is accepted or refused");
		if (rc)
			sched_yield();
	}
}

void load_check(const struct sb_config *config)
{
	load_require(atomic_load(&book.started) >= LOAD_PROCESSES, "all were started");
	load_require(atomic_load(&book.closed) == atomic_load(&book.started), "each closed once");
	if (config->on_complete)
		load_require(atomic_load(&book.completed) == atomic_load(&book.started),
			     "each completed once");
	if (config->on_start)
		load_require(atomic_load(&book.counted_starts) == atomic_load(&book.started),
			     "each was started once");
	if (config->on_drop)
		load_require(atomic_load(&book.sent) ==
				     atomic_load(&book.received) + atomic_load(&book.dropped),
			     "each message was received or dropped");
}
