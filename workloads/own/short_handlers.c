/*
 * short-handlers - a server with short handlers: each step of a dispatcher sends
 * one request to the next of --handlers processes, which is Idle if it keeps up;
 * the handler works for --work and sends a completion to a collector. One
 * operation is one request.
 *
 * Nearly every send makes a process Ready that the same worker could run at once.
 * A scheduler that wakes a sleeping worker for each of them pays with CPU time:
 * when Tokio made the slot for such a task stealable and woke a worker for each
 * push into it, a server took 8.5 % more. Compare cpu_ns_per_op, wakes and parked.
 *
 * At most --in-flight requests are under way, or one for each dispatcher if that
 * is more: a dispatcher has its share of them, and the collector lets it send more
 * when half of the share has been completed. With a --mailbox-bound below
 * --in-flight a round may fail.
 *
 * Check: every request has been handled once and collected once; each handler got
 * those of each dispatcher in order, and the collector those of each handler.
 */
#include <stdlib.h>

#include "workloads/lib/actor.h"
#include "workloads/lib/check.h"
#include "workloads/lib/failure.h"
#include "workloads/lib/swarm.h"

enum { DISPATCHERS, HANDLERS, REQUESTS, IN_FLIGHT, WORK };

static const char *const work_initial[] = { "300ns", NULL };

static const struct sb_param params[] = {
	[DISPATCHERS] = { "dispatchers", 1, 1, 1 << 10, NULL, "processes that send requests" },
	[HANDLERS] = { "handlers", 64, 1, 1 << 16, NULL, "processes that handle them" },
	[REQUESTS] = { "requests", 100000, 1, UINT32_MAX, NULL, "requests of each dispatcher" },
	[IN_FLIGHT] = { "in-flight", 128, 1, 1 << 20, NULL, "most requests under way" },
	[WORK] = { "work", 0, 0, SB_PARAM_TEXT, work_initial,
		   "least time that a handler works on a request" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

/* A dispatcher as the collector knows it. */
struct client {
	sb_pid pid;	  /* by the dispatcher, before its first request */
	uint64_t granted; /* requests that it may send */
	uint64_t collected;
};

struct data {
	struct sb_failure failure;
	uint64_t dispatchers;
	uint64_t handlers;
	uint64_t requests;
	uint64_t work_ns;
	uint64_t share; /* of in-flight, of each dispatcher */
	uint64_t batch; /* requests that the collector grants at a time */
	sb_pid collector;
	sb_pid *handler;       /* [handlers] */
	struct client *client; /* [dispatchers] */
	/* [handlers][row]: the number of the next request of each dispatcher that
	 * a handler expects, and that the collector expects from a handler. */
	uint64_t *handled;
	uint64_t *collected;
	uint64_t row; /* [dispatchers], in whole cache lines */
};

static uint64_t *next_of(const struct data *data, uint64_t *table, uint64_t handler)
{
	return table + handler * data->row;
}

/* A message: which handler's it is, whose, and which one of that dispatcher. */
struct request {
	uint16_t handler;
	uint16_t dispatcher;
	uint32_t number;
};

static uint64_t pack(struct request request)
{
	return (uint64_t)request.handler << 48 | (uint64_t)request.dispatcher << 32 |
	       request.number;
}

static struct request unpack(uint64_t word)
{
	return (struct request){ .handler = (uint16_t)(word >> 48),
				 .dispatcher = (uint16_t)(word >> 32),
				 .number = (uint32_t)word };
}

/* The requests of a dispatcher go to all handlers in turn. Whether this one is
 * the next of its handler; then the one after it is. */
static bool is_next(const struct data *data, uint64_t *next, struct request request)
{
	if (request.dispatcher >= data->dispatchers || next[request.dispatcher] != request.number)
		return false;
	next[request.dispatcher] += data->handlers;
	return true;
}

/* ---- dispatchers ---- */

struct dispatcher {
	const struct data *data;
	struct client *client;
	uint64_t granted;
	struct request next;
};

SB_ACTOR_INIT(dispatcher_init, struct dispatcher)

static int send_next(struct dispatcher *self, struct sb_step *step)
{
	const struct data *data = self->data;
	const struct request request = self->next;

	self->next.number++;
	self->next.handler =
		request.handler + 1U < data->handlers ? (uint16_t)(request.handler + 1) : 0;
	return sb_step_send(step, data->handler[request.handler], sb_value_u64(pack(request)));
}

static int dispatcher_advance(void *state, struct sb_step *step, const struct sb_event *events,
			      uint32_t count)
{
	struct dispatcher *self = state;
	int rc;

	if (!sb_actor_only_messages(events, count))
		return -EPROTO;
	if (!self->next.number)
		self->client->pid = sb_step_self(step);
	for (uint32_t i = 0; i < count; i++)
		self->granted += events[i].data.u64;
	rc = send_next(self, step);
	if (rc)
		return rc;
	if (self->next.number == self->data->requests)
		return SB_DONE;
	return self->next.number < self->granted ? SB_CONTINUE : SB_IDLE;
}

SB_FAILURE_STEP(dispatcher)

static const struct sb_process_ops dispatcher_ops = {
	.name = "dispatcher",
	.state_bytes = sizeof(struct dispatcher),
	.init = dispatcher_init,
	.step = dispatcher_step,
};

/* ---- handlers ---- */

struct handler {
	const struct data *data;
	uint64_t index;
	uint64_t *next; /* [dispatchers] */
	uint64_t left;	/* dispatchers that have requests for it */
};

SB_ACTOR_INIT(handler_init, struct handler)

static int handle(struct handler *self, struct sb_step *step, union sb_value message)
{
	const struct data *data = self->data;
	const struct request request = unpack(message.u64);

	if (request.handler != self->index || !is_next(data, self->next, request))
		return -EPROTO;
	self->left -= self->next[request.dispatcher] >= data->requests;
	if (data->work_ns)
		sb_work_ns(data->work_ns);
	return sb_step_send(step, data->collector, message);
}

static int handler_advance(void *state, struct sb_step *step, const struct sb_event *events,
			   uint32_t count)
{
	struct handler *self = state;
	int rc = 0;

	if (!sb_actor_only_messages(events, count))
		return -EPROTO;
	for (uint32_t i = 0; i < count && !rc; i++)
		rc = handle(self, step, events[i].data);
	if (rc)
		return rc;
	return self->left ? SB_IDLE : SB_DONE;
}

SB_FAILURE_STEP(handler)

static const struct sb_process_ops handler_ops = {
	.name = "handler",
	.state_bytes = sizeof(struct handler),
	.init = handler_init,
	.step = handler_step,
};

/* ---- the collector ---- */

struct collector {
	struct data *data;
	uint64_t left; /* requests */
};

SB_ACTOR_INIT(collector_init, struct collector)

/* A dispatcher that may send all of its requests may have ended. */
static int grant(const struct data *data, struct client *client, struct sb_step *step)
{
	if (client->collected % data->batch || client->granted >= data->requests)
		return 0;
	client->granted += data->batch;
	return sb_step_send(step, client->pid, sb_value_u64(data->batch));
}

static int collect(struct collector *self, struct sb_step *step, uint64_t word)
{
	struct data *data = self->data;
	const struct request request = unpack(word);
	struct client *client;

	if (request.handler >= data->handlers ||
	    !is_next(data, next_of(data, data->collected, request.handler), request))
		return -EPROTO;
	client = &data->client[request.dispatcher];
	client->collected++;
	self->left--;
	return grant(data, client, step);
}

static int collector_advance(void *state, struct sb_step *step, const struct sb_event *events,
			     uint32_t count)
{
	struct collector *self = state;
	int rc = 0;

	if (!sb_actor_only_messages(events, count))
		return -EPROTO;
	for (uint32_t i = 0; i < count && !rc; i++)
		rc = collect(self, step, events[i].data.u64);
	if (rc)
		return rc;
	return self->left ? SB_IDLE : SB_DONE;
}

SB_FAILURE_STEP(collector)

static const struct sb_process_ops collector_ops = {
	.name = "collector",
	.state_bytes = sizeof(struct collector),
	.init = collector_init,
	.step = collector_step,
};

/* ---- the workload ---- */

static uint64_t *make_table(const struct data *data)
{
	return aligned_alloc(SB_LINE, data->handlers * data->row * sizeof(uint64_t));
}

static void teardown(struct sb_workload_run *run)
{
	struct data *data = run->data;

	free(data->collected);
	free(data->handled);
	free(data->client);
	free(data->handler);
}

static int setup(struct sb_workload_run *run)
{
	const uint64_t words = SB_LINE / sizeof(uint64_t);
	struct data *data = run->data;

	data->dispatchers = run->param[DISPATCHERS];
	data->handlers = run->param[HANDLERS];
	data->requests = run->param[REQUESTS];
	data->work_ns = sb_workload_time_ns(run->text[WORK]);
	data->share = sb_max_u64(run->param[IN_FLIGHT] / data->dispatchers, 1);
	data->batch = (data->share + 1) / 2;
	data->row = (data->dispatchers + words - 1) / words * words;
	data->handler = calloc(data->handlers, sizeof(*data->handler));
	data->client = calloc(data->dispatchers, sizeof(*data->client));
	data->handled = make_table(data);
	data->collected = make_table(data);
	if (data->handler && data->client && data->handled && data->collected)
		return 0;
	teardown(run);
	return -ENOMEM;
}

/* Dispatchers begin with handlers as far apart as can be. */
static uint64_t first_handler(const struct data *data, uint64_t dispatcher)
{
	return dispatcher * data->handlers / data->dispatchers;
}

/* The number of a dispatcher's first request to a handler. */
static uint64_t first_number(const struct data *data, uint64_t handler, uint64_t dispatcher)
{
	return (handler + data->handlers - first_handler(data, dispatcher)) % data->handlers;
}

static int start_handler(struct sb_workload_run *run, uint64_t index)
{
	struct data *data = run->data;
	uint64_t *collected = next_of(data, data->collected, index);
	struct handler handler = { .data = data,
				   .index = index,
				   .next = next_of(data, data->handled, index) };

	for (uint64_t d = 0; d < data->dispatchers; d++) {
		handler.next[d] = first_number(data, index, d);
		handler.left += handler.next[d] < data->requests;
		collected[d] = handler.next[d];
	}
	return sb_scheduler_submit(run->scheduler, &handler_ops, "main", sb_value_ptr(&handler),
				   &data->handler[index]);
}

static int start_dispatcher(struct sb_workload_run *run, uint64_t index)
{
	struct data *data = run->data;
	struct client *client = &data->client[index];
	struct dispatcher dispatcher = {
		.data = data,
		.client = client,
		.granted = data->share,
		.next = { .handler = (uint16_t)first_handler(data, index),
			  .dispatcher = (uint16_t)index },
	};

	*client = (struct client){ .granted = data->share };
	return sb_scheduler_submit(run->scheduler, &dispatcher_ops, "main",
				   sb_value_ptr(&dispatcher), NULL);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[DISPATCHERS] * run->param[REQUESTS];
}

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;
	struct collector collector = { .data = data, .left = operations(run) };
	int rc;

	sb_failure_clear(run);
	rc = sb_scheduler_submit(run->scheduler, &collector_ops, "main", sb_value_ptr(&collector),
				 &data->collector);
	for (uint64_t i = 0; i < data->handlers && !rc; i++)
		rc = start_handler(run, i);
	for (uint64_t i = 0; i < data->dispatchers && !rc; i++)
		rc = start_dispatcher(run, i);
	return sb_failure_started(run, rc);
}

static bool check_stream(const struct data *data, uint64_t handler, uint64_t dispatcher, char *why,
			 size_t why_bytes)
{
	const uint64_t first = first_number(data, handler, dispatcher);
	const uint64_t cell = handler * data->row + dispatcher;
	const uint64_t expected =
		first < data->requests ? (data->requests - first - 1) / data->handlers + 1 : 0;

	return sb_expect_of(why, why_bytes, SB_OF("handler", handler),
			    "requests of a dispatcher handled",
			    (data->handled[cell] - first) / data->handlers, expected) &&
	       sb_expect_of(why, why_bytes, SB_OF("handler", handler),
			    "requests of a dispatcher collected",
			    (data->collected[cell] - first) / data->handlers, expected);
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct data *data = run->data;
	bool ok = sb_failure_check(run, why, why_bytes);

	for (uint64_t h = 0; h < data->handlers && ok; h++) {
		for (uint64_t d = 0; d < data->dispatchers && ok; d++)
			ok = check_stream(data, h, d, why, why_bytes);
	}
	return ok;
}

const struct sb_workload sb_workload_short_handlers = {
	.name = "short-handlers",
	.operation = "request",
	.doc = "a server with short handlers: each request wakes a process",
	.source = "tokio-rs/tokio, issue 8065: short handlers at a high rate",
	.params = params,
	.objective = "cpu_ns_per_op",
	.data_bytes = sizeof(struct data),
	.accept = sb_workload_accept_time,
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
