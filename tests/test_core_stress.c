/*
 * The whole scheduler under load, counted.
 *
 * Property: every message sent to a live process is stepped exactly once, in
 *   the order of each sender; every process completes and closes once; and the
 *   counters obey their conservation laws.
 * Method: processes that send to random others, spawn, yield and continue, on
 *   more workers than this machine has cores; foreign threads send, too.
 * Bound: 8 workers, 64 peers; all three wake policies.
 */
#include <errno.h>
#include <string.h>

#include "tests/fixture.h"

enum { PEERS = 64, WORKERS = 8, FOREIGN = 2 };
#define SENDERS (PEERS + FOREIGN)
#define SENDS	SB_SCALE(8000u)

struct peer {
	struct mesh *mesh;
	uint32_t id;
	sb_pid pid;
	uint32_t sent;		     /* messages, to anyone */
	uint32_t next_to[PEERS];     /* number of the next message, by target */
	uint32_t next_from[SENDERS]; /* the same, by sender */
	uint64_t received;
	uint64_t yields, completions;
	struct sb_rng rng;
	bool going; /* told to start */
	bool closed;
};

struct mesh {
	struct fixture f;
	struct peer peer[SENDERS];  /* the last ones are foreign threads */
	_Atomic(uint32_t) finished; /* senders that have sent all */
	_Atomic(uint64_t) out_of_order;
	_Atomic(uint64_t) leaves; /* processes spawned on the way */
};

/* From the test, once all PIDs are known: start sending. */
#define GO UINT64_MAX

/* sender:32 | number:32 */
static uint64_t message_of(uint32_t sender, uint32_t number)
{
	return (uint64_t)sender << 32 | number;
}

static int peer_init(void *state, const char *method, union sb_value input)
{
	(void)method;
	*(struct peer **)state = input.ptr;
	return 0;
}

static void receive(struct peer *peer, const struct sb_event *event)
{
	const uint32_t sender = (uint32_t)(event->data.u64 >> 32);
	const uint32_t number = (uint32_t)event->data.u64;

	if (event->type == SB_EVENT_COMPLETION) {
		peer->completions++;
		return;
	}
	if (event->data.u64 == GO) {
		peer->going = true;
		return;
	}
	if (peer->next_from[sender]++ != number)
		sb_add_rlx(&peer->mesh->out_of_order, 1);
	peer->received++;
}

static uint64_t next_message(struct peer *peer, uint32_t *target)
{
	*target = sb_rng_below(&peer->rng, PEERS);
	peer->sent++;
	return message_of(peer->id, peer->next_to[*target]++);
}

static int leaf_step(void *state, struct sb_step *step,
		     const struct sb_event *events, uint32_t count)
{
	(void)step;
	(void)events;
	(void)count;
	sb_add_rlx(&(*(struct peer **)state)->mesh->leaves, 1);
	return SB_DONE;
}

static const struct sb_process_ops leaf = {
	.name = "leaf",
	.state_bytes = sizeof(struct peer *),
	.init = peer_init,
	.step = leaf_step,
};

#define LATER 9

static void send_some(struct peer *peer, struct sb_step *step)
{
	for (uint32_t n = sb_rng_below(&peer->rng, 4); n && peer->sent < SENDS;
	     n--) {
		uint32_t target;
		const uint64_t message = next_message(peer, &target);

		CHECK_EQ(sb_step_send(step, peer->mesh->peer[target].pid,
				      sb_value_u64(message)),
			 0);
	}
}

static int peer_step(void *state, struct sb_step *step,
		     const struct sb_event *events, uint32_t count)
{
	struct peer *peer = *(struct peer **)state;

	for (uint32_t i = 0; i < count; i++) {
		if (events[i].type == SB_EVENT_CANCEL)
			return SB_DONE;
		receive(peer, &events[i]);
	}
	if (!peer->going || peer->sent == SENDS)
		return SB_IDLE;
	send_some(peer, step);
	if (peer->sent == SENDS) {
		sb_add_acq_rel(&peer->mesh->finished, 1);
		return SB_IDLE;
	}
	if (sb_rng_below(&peer->rng, 4) == 0)
		CHECK_EQ(sb_step_spawn(step, &leaf, "main", sb_value_ptr(peer),
				       NULL),
			 0);
	if (sb_rng_below(&peer->rng, 2))
		return SB_CONTINUE;
	peer->yields++;
	CHECK_EQ(sb_step_yield(step, LATER, sb_value_u64(0), 0), 0);
	return SB_YIELD;
}

static void peer_close(void *state)
{
	struct peer *peer = *(struct peer **)state;

	assert_false(peer->closed);
	peer->closed = true;
}

static const struct sb_process_ops peers = {
	.name = "peer",
	.state_bytes = sizeof(struct peer *),
	.init = peer_init,
	.step = peer_step,
	.close = peer_close,
};

static int complete_now(void *context, const struct sb_command *command,
			const struct sb_completer *completer)
{
	(void)context;
	(void)command;
	return sb_complete(completer, sb_value_u64(0), 0);
}

static void *foreign_sender(void *arg)
{
	struct peer *peer = arg;

	while (peer->sent < SENDS) {
		uint32_t target;
		const uint64_t message = next_message(peer, &target);

		CHECK_EQ(sb_scheduler_send(peer->mesh->f.s,
					   peer->mesh->peer[target].pid,
					   sb_value_u64(message)),
			 0);
	}
	sb_add_acq_rel(&peer->mesh->finished, 1);
	return NULL;
}

static void set_up_peer(struct mesh *mesh, uint32_t id)
{
	struct peer *peer = &mesh->peer[id];

	peer->mesh = mesh;
	peer->id = id;
	sb_rng_seed(&peer->rng, sb_test_seed() + id);
}

static void start_peers(struct mesh *mesh)
{
	for (uint32_t i = 0; i < PEERS; i++) {
		set_up_peer(mesh, i);
		mesh->peer[i].pid =
			fixture_submit(&mesh->f, &peers, &mesh->peer[i]);
	}
	for (uint32_t i = 0; i < PEERS; i++)
		CHECK_EQ(sb_scheduler_send(mesh->f.s, mesh->peer[i].pid,
					   sb_value_u64(GO)),
			 0);
}

static uint64_t sum_sent_to(const struct mesh *mesh, uint32_t target)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < SENDERS; i++)
		sum += mesh->peer[i].next_to[target];
	return sum;
}

static void run_mesh(enum sb_wake wake, uint32_t searchers)
{
	static struct mesh mesh;
	struct sb_thread threads[FOREIGN];

	memset(&mesh, 0, sizeof(mesh));
	fixture_defaults(&mesh.f);
	mesh.f.config.wake = wake;
	mesh.f.config.searchers_max = searchers;
	mesh.f.config.sample_every = 1;
	fixture_create(&mesh.f, WORKERS);
	CHECK_EQ(sb_scheduler_register(mesh.f.s, LATER, complete_now, NULL), 0);
	CHECK_EQ(sb_scheduler_start(mesh.f.s, NULL), 0);
	start_peers(&mesh);
	for (uint32_t i = 0; i < FOREIGN; i++) {
		set_up_peer(&mesh, PEERS + i);
		CHECK_EQ(sb_thread_start(&threads[i], -1, foreign_sender,
					 &mesh.peer[PEERS + i]),
			 0);
	}
	for (uint32_t i = 0; i < FOREIGN; i++)
		sb_thread_join(&threads[i]);
	while (sb_load_acq(&mesh.finished) < SENDERS)
		sb_thread_yield();
	CHECK_EQ(sb_scheduler_stop(mesh.f.s, FIXTURE_TIMEOUT_NS), 0);
	for (uint32_t i = 0; i < PEERS; i++) {
		CHECK_EQ(mesh.peer[i].received, sum_sent_to(&mesh, i));
		CHECK_EQ(mesh.peer[i].completions, mesh.peer[i].yields);
		assert_true(mesh.peer[i].closed);
	}
	CHECK_EQ(sb_load_rlx(&mesh.out_of_order), 0);
	CHECK_EQ(sb_load_rlx(&mesh.f.dropped), 0);
	CHECK_EQ(sb_load_rlx(&mesh.f.completed), sb_load_rlx(&mesh.f.started));
	fixture_check_conservation(&mesh.f);
	sb_scheduler_destroy(mesh.f.s);
}

static void exactly_once_local(void **state)
{
	(void)state;
	run_mesh(SB_WAKE_LOCAL, 0);
}

static void exactly_once_affine(void **state)
{
	(void)state;
	run_mesh(SB_WAKE_AFFINE, 1);
}

static void exactly_once_global(void **state)
{
	(void)state;
	run_mesh(SB_WAKE_GLOBAL, UINT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exactly_once_local),
		cmocka_unit_test(exactly_once_affine),
		cmocka_unit_test(exactly_once_global),
	};

	return cmocka_run_group_tests_name("stress", tests, NULL, NULL);
}
