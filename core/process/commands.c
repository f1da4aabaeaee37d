/*
 * commands.c - the handlers of the built-in commands. Each runs on the worker of
 * the yielding process, which still is the one that the worker runs.
 */
#include <errno.h>

#include "core/commands.h"
#include "core/message/caller.h"
#include "core/message/mailbox.h"
#include "core/message/send.h"
#include "core/process/builtin.h"
#include "core/process/registry.h"
#include "core/process/relations.h"
#include "core/process/submit.h"
#include "core/state.h"
#include "core/timers/timers.h"

const char *sb_command_name(uint32_t id)
{
	static const char *const names[SB_COMMAND_ARRAY] = {
#define COMMAND(id, NAME, name, doc) [id] = #name,
#include "core/commands.def"
#undef COMMAND
	};

	return id < SB_COMMAND_ARRAY ? names[id] : NULL;
}

/* The tick of the wheel: a shorter period would fire more than once a tick. */
#define PERIOD_MIN_NS (UINT64_C(1) << SB_WHEEL_TICK_BITS)

static int complete(const struct sb_completer *completer, uint64_t result)
{
	struct sb_worker *w = sb_worker_current();

	return sb_route_complete_own(w, sb_kind(SB_EVENT_BUILTIN, 0), completer,
				     sb_value_u64(result));
}

/* The common case: an error, or a completion without a result. */
static int complete_or(const struct sb_completer *completer, int rc)
{
	return rc ? rc : complete(completer, 0);
}

/* ---- processes ---- */

static int handle_send(struct sb_worker *w, union sb_value arg,
		       const struct sb_completer *completer)
{
	const struct sb_send_args *send = arg.ptr;

	return complete_or(completer, sb_send_routed(w->scheduler, w, send->to, send->message));
}

static int handle_spawn(struct sb_worker *w, union sb_value arg,
			const struct sb_completer *completer)
{
	const struct sb_spawn_args *spawn = arg.ptr;
	sb_pid pid = 0;
	const int rc = sb_submit_here(w, spawn->ops, spawn->method, spawn->input, &pid);

	return rc ? rc : complete(completer, pid);
}

static int handle_terminate(struct sb_worker *w, union sb_value arg,
			    const struct sb_completer *completer)
{
	return complete_or(completer, sb_terminate_pid(w->scheduler, w, arg.u64));
}

static int handle_cancel(struct sb_worker *w, union sb_value arg,
			 const struct sb_completer *completer)
{
	return complete_or(completer, sb_cancel_pid(w->scheduler, w, arg.u64));
}

static int handle_monitor(struct sb_worker *w, union sb_value arg,
			  const struct sb_completer *completer)
{
	return complete_or(completer, sb_relation_add(w, SB_RELATION_MONITOR, arg.u64));
}

static int handle_unmonitor(struct sb_worker *w, union sb_value arg,
			    const struct sb_completer *completer)
{
	return complete_or(completer, sb_relation_remove(w, SB_RELATION_MONITOR, arg.u64));
}

static int handle_link(struct sb_worker *w, union sb_value arg,
		       const struct sb_completer *completer)
{
	return complete_or(completer, sb_relation_add(w, SB_RELATION_LINK, arg.u64));
}

static int handle_unlink(struct sb_worker *w, union sb_value arg,
			 const struct sb_completer *completer)
{
	return complete_or(completer, sb_relation_remove(w, SB_RELATION_LINK, arg.u64));
}

/* ---- the clock ---- */

static int handle_sleep(struct sb_worker *w, union sb_value arg,
			const struct sb_completer *completer)
{
	const struct sb_timer_spec spec = { .delay_ns = arg.u64,
					    .pid = completer->pid,
					    .tag = completer->tag,
					    .type = SB_EVENT_BUILTIN };
	uint64_t id;

	return sb_timers_start(w, &spec, &id); /* it is what completes */
}

static int start_timer(struct sb_worker *w, uint64_t delay_ns, uint64_t period_ns,
		       const struct sb_completer *completer)
{
	const struct sb_timer_spec spec = { .delay_ns = delay_ns,
					    .period_ns = period_ns,
					    .pid = completer->pid,
					    .tag = completer->tag,
					    .type = period_ns ? SB_EVENT_TICK : SB_EVENT_TIMER };
	uint64_t id;
	int rc = sb_timers_start(w, &spec, &id);

	if (rc)
		return rc;
	rc = complete(completer, id);
	if (rc) /* nobody knows its id */
		(void)sb_timers_stop(w->scheduler, id, completer->pid);
	return rc;
}

static int handle_timer_start(struct sb_worker *w, union sb_value arg,
			      const struct sb_completer *completer)
{
	return start_timer(w, arg.u64, 0, completer);
}

static int handle_ticker(struct sb_worker *w, union sb_value arg,
			 const struct sb_completer *completer)
{
	if (arg.u64 < PERIOD_MIN_NS)
		return -EINVAL;
	return start_timer(w, arg.u64, arg.u64, completer);
}

static int handle_timer_stop(struct sb_worker *w, union sb_value arg,
			     const struct sb_completer *completer)
{
	return complete_or(completer, sb_timers_stop(w->scheduler, arg.u64, completer->pid));
}

/* ---- the table ---- */

struct builtin {
	uint32_t id;
	int (*handle)(struct sb_worker *worker, union sb_value arg,
		      const struct sb_completer *completer);
};

static const struct builtin builtins[] = {
	{ SB_COMMAND_SEND, handle_send },	    { SB_COMMAND_SPAWN, handle_spawn },
	{ SB_COMMAND_TERMINATE, handle_terminate }, { SB_COMMAND_CANCEL, handle_cancel },
	{ SB_COMMAND_MONITOR, handle_monitor },	    { SB_COMMAND_UNMONITOR, handle_unmonitor },
	{ SB_COMMAND_LINK, handle_link },	    { SB_COMMAND_UNLINK, handle_unlink },
	{ SB_COMMAND_SLEEP, handle_sleep },	    { SB_COMMAND_TIMER_START, handle_timer_start },
	{ SB_COMMAND_TICKER, handle_ticker },	    { SB_COMMAND_TIMER_STOP, handle_timer_stop },
};

/* The handler of all of them; its context is the entry of the table. */
static int handle(void *context, const struct sb_command *command,
		  const struct sb_completer *completer)
{
	const struct builtin *builtin = context;

	return builtin->handle(sb_worker_current(), command->arg, completer);
}

void sb_commands_register(struct sb_scheduler *s)
{
	for (size_t i = 0; i < SB_ARRAY_SIZE(builtins); i++)
		SB_CHECK(sb_dispatch_register(&s->dispatch, builtins[i].id, handle,
					      (void *)(uintptr_t)&builtins[i]),
			 ==, 0);
}
