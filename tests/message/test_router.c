/*
 * A router in front of schedulers.
 *
 * Property: every step's message goes by it, and the order of each sender is kept; a
 *   refused value stays the caller's.
 * Method: exact counts.
 * Bound: two schedulers with 4 peers each.
 */
#include "tests/script.h"

#define ROUNDS SB_SCALE(800u)

/* ---- a router in front of two schedulers ---- */

enum { SCHEDULERS = 2, PEERS = 8 };

/* A chosen PID says where its process lives. */
struct router {
	struct sb_receiver receiver; /* first: that is what it is known as */
	struct sb_receiver *to[SCHEDULERS];
	_Atomic(uint64_t) routed;
};

struct peer {
	struct router *router;
	uint32_t id;
	uint32_t sent;		   /* rounds */
	uint32_t next_from[PEERS]; /* number of the next message */
	uint64_t received;
};

static sb_pid pid_of(uint32_t peer)
{
	return SB_PID_CHOSEN + peer;
}

static int route(struct sb_receiver *receiver, const struct sb_package *package)
{
	struct router *router = sb_container_of(receiver, struct router, receiver);

	sb_add_rlx(&router->routed, 1);
	return router->to[package->to % SCHEDULERS]->send(router->to[package->to % SCHEDULERS],
							  package);
}

static int peer_init(void *state, const char *method, union sb_value input)
{
	(void)method;
	*(struct peer **)state = input.ptr;
	return 0;
}

/* One message to each, itself too, in each round; done when all have come. */
static int peer_step(void *state, struct sb_step *step, const struct sb_event *events,
		     uint32_t count)
{
	struct peer *peer = *(struct peer **)state;

	for (uint32_t i = 0; i < count; i++) {
		const uint64_t message = events[i].data.u64;

		CHECK_EQ(message & UINT32_MAX, peer->next_from[message >> 32]++);
		peer->received++;
	}
	if (peer->sent < ROUNDS) {
		for (uint32_t to = 0; to < PEERS; to++)
			CHECK_EQ(sb_step_send(step, pid_of(to),
					      sb_value_u64((uint64_t)peer->id << 32 | peer->sent)),
				 0);
		peer->sent++;
		return SB_CONTINUE;
	}
	return peer->received == (uint64_t)PEERS * ROUNDS ? SB_DONE : SB_IDLE;
}

static const struct sb_process_ops peers = {
	.name = "peer",
	.state_bytes = sizeof(struct peer *),
	.init = peer_init,
	.step = peer_step,
};

static void every_message_goes_by_the_router(void **state)
{
	static struct fixture f[SCHEDULERS];
	struct router router = { .receiver = { route } };
	struct peer peer[PEERS];
	uint64_t messages = 0;

	(void)state;
	for (int i = 0; i < SCHEDULERS; i++) {
		fixture_defaults(&f[i]);
		f[i].config.router = &router.receiver;
		fixture_create(&f[i], 2);
		router.to[i] = sb_scheduler_receiver(f[i].s);
	}
	/* All of them are there before the first one runs. */
	for (uint32_t i = 0; i < PEERS; i++) {
		peer[i] = (struct peer){ .router = &router, .id = i };
		CHECK_EQ(sb_scheduler_submit_as(f[i % SCHEDULERS].s, pid_of(i), &peers, "main",
						sb_value_ptr(&peer[i])),
			 0);
	}
	for (int i = 0; i < SCHEDULERS; i++)
		CHECK_EQ(sb_scheduler_start(f[i].s, NULL), 0);
	for (int i = 0; i < SCHEDULERS; i++)
		fixture_wait(&f[i]);
	for (int i = 0; i < SCHEDULERS; i++) {
		messages += fixture_counter(&f[i], SB_COUNTER_messages);
		CHECK_EQ(sb_load_rlx(&f[i].dropped), 0);
		CHECK_EQ(sb_load_rlx(&f[i].last_error), 0);
		fixture_end(&f[i]);
	}
	for (int i = 0; i < PEERS; i++)
		CHECK_EQ(peer[i].received, PEERS * ROUNDS);
	CHECK_EQ(messages, PEERS * PEERS * ROUNDS);
	CHECK_EQ(sb_load_rlx(&router.routed), messages);
}

/* What the router says is what the step gets. */
static int refuse_all(struct sb_receiver *receiver, const struct sb_package *package)
{
	(void)receiver;
	CHECK_EQ(package->message.u64, 7);
	return -EHOSTUNREACH;
}

static int send_into_nothing(struct script *script, struct sb_step *step,
			     const struct sb_event *events, uint32_t count)
{
	(void)script;
	(void)events;
	(void)count;
	return sb_step_send(step, step->self, sb_value_u64(7));
}

static void a_router_may_refuse(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = send_into_nothing };
	struct sb_receiver nowhere = { refuse_all };

	(void)state;
	fixture_defaults(&f);
	f.config.router = &nowhere;
	fixture_create(&f, 1);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	fixture_submit(&f, &scripted, &script);
	fixture_wait(&f);
	CHECK_EQ(sb_load_rlx(&f.last_error), -EHOSTUNREACH);
	CHECK_EQ(sb_load_rlx(&f.dropped), 0);
	fixture_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_message_goes_by_the_router),
		cmocka_unit_test(a_router_may_refuse),
	};

	return cmocka_run_group_tests_name("mailbox", tests, NULL, NULL);
}
