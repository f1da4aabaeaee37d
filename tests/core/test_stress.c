/*
 * The whole scheduler under load, counted.
 *
 * Property: every message sent to a live process is stepped exactly once, in
 *   the order of each sender; every process completes and closes once; and the
 *   counters obey their conservation laws.
 * Method: processes that send to random others, spawn, yield and continue, on
 *   more workers than this machine has cores; foreign threads send, too.
 * Bound: 8 and 16 workers, 64 peers; the wake policies, deques, victim orders and
 *   mailbox bounds one by one.
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
	bool cancelled;
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

/* To somebody. A bounded mailbox may refuse it; then it was not sent. */
static int send_one(struct peer *peer, struct sb_step *step)
{
	const uint32_t target = sb_rng_below(&peer->rng, PEERS);
	const sb_pid to = peer->mesh->peer[target].pid;
	const union sb_value message = sb_value_u64(message_of(peer->id, peer->next_to[target]));
	const int rc = step ? sb_step_send(step, to, message)
			    : sb_scheduler_send(peer->mesh->f.s, to, message);

	if (!rc) {
		peer->next_to[target]++;
		peer->sent++;
		return 0;
	}
	CHECK_EQ(rc, -EWOULDBLOCK);
	assert_true(peer->mesh->f.config.mailbox_bound);
	return rc;
}

static int leaf_step(void *state, struct sb_step *step, const struct sb_event *events,
		     uint32_t count)
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
	uint32_t n = sb_rng_below(&peer->rng, 4);

	while (n-- && peer->sent < SENDS && !send_one(peer, step))
		;
}

static uint64_t sum_sent_to(const struct mesh *mesh, uint32_t target)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < SENDERS; i++)
		sum += mesh->peer[i].next_to[target];
	return sum;
}

static int peer_step(void *state, struct sb_step *step, const struct sb_event *events,
		     uint32_t count)
{
	struct peer *peer = *(struct peer **)state;

	for (uint32_t i = 0; i < count; i++) {
		if (events[i].type == SB_EVENT_CANCEL)
			peer->cancelled = true;
		else
			receive(peer, &events[i]);
	}
	/* The cancel event overtakes messages and completions. All has been sent by then. */
	if (peer->cancelled)
		return peer->received == sum_sent_to(peer->mesh, peer->id) &&
				       peer->completions == peer->yields
			       ? SB_DONE
			       : SB_IDLE;
	if (!peer->going || peer->sent == SENDS)
		return SB_IDLE;
	send_some(peer, step);
	if (peer->sent == SENDS) {
		/* Before anyone is told, who then cancels its receiver. */
		sb_step_flush(step);
		sb_add_acq_rel(&peer->mesh->finished, 1);
		return SB_IDLE;
	}
	if (sb_rng_below(&peer->rng, 4) == 0)
		CHECK_EQ(sb_step_spawn(step, &leaf, "main", sb_value_ptr(peer), NULL), 0);
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
		if (send_one(peer, NULL))
			sb_thread_yield();
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
		mesh->peer[i].pid = fixture_submit(&mesh->f, &peers, &mesh->peer[i]);
	}
	for (uint32_t i = 0; i < PEERS; i++)
		while (sb_scheduler_send(mesh->f.s, mesh->peer[i].pid, sb_value_u64(GO)) ==
		       -EWOULDBLOCK)
			sb_thread_yield();
}

/* Two in each core, four in each cache, and so on. */
static void create_mesh(struct fixture *f, uint32_t workers)
{
	struct sb_place place[FIXTURE_WORKERS_MAX];

	for (int i = 0; i < FIXTURE_WORKERS_MAX; i++)
		place[i] = (struct sb_place){ -1, i, i / 2, i / 4, i / 8, i / 8 };
	fixture_create_at(f, workers, place);
}

static void run_mesh(const struct sb_config *policy, uint32_t workers)
{
	static struct mesh mesh;
	struct sb_thread threads[FOREIGN];

	memset(&mesh, 0, sizeof(mesh));
	fixture_defaults(&mesh.f);
	mesh.f.config.deque = policy->deque;
	mesh.f.config.victim = policy->victim;
	mesh.f.config.wake = policy->wake;
	mesh.f.config.searchers_max = policy->searchers_max;
	mesh.f.config.mailbox_bound = policy->mailbox_bound;
	mesh.f.config.sample_every = 1;
	create_mesh(&mesh.f, workers);
	CHECK_EQ(sb_scheduler_register(mesh.f.s, LATER, complete_now, NULL), 0);
	CHECK_EQ(sb_scheduler_start(mesh.f.s, NULL), 0);
	start_peers(&mesh);
	for (uint32_t i = 0; i < FOREIGN; i++) {
		set_up_peer(&mesh, PEERS + i);
		CHECK_EQ(sb_thread_start(&threads[i], -1, foreign_sender, &mesh.peer[PEERS + i]),
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
	struct sb_config policy = SB_CONFIG_DEFAULT;

	(void)state;
	policy.wake = SB_WAKE_LOCAL;
	run_mesh(&policy, WORKERS);
}

static void exactly_once_affine(void **state)
{
	struct sb_config policy = SB_CONFIG_DEFAULT;

	(void)state;
	policy.wake = SB_WAKE_AFFINE;
	policy.searchers_max = 1;
	run_mesh(&policy, WORKERS);
}

static void exactly_once_global(void **state)
{
	struct sb_config policy = SB_CONFIG_DEFAULT;

	(void)state;
	policy.wake = SB_WAKE_GLOBAL;
	policy.searchers_max = UINT32_MAX;
	run_mesh(&policy, WORKERS);
}

static void exactly_once_with_chase_lev(void **state)
{
	struct sb_config policy = SB_CONFIG_DEFAULT;

	(void)state;
	policy.deque = SB_DEQUE_CHASE_LEV;
	run_mesh(&policy, WORKERS);
}

static void exactly_once_near(void **state)
{
	struct sb_config policy = SB_CONFIG_DEFAULT;

	(void)state;
	policy.victim = SB_VICTIM_NEAR;
	run_mesh(&policy, FIXTURE_WORKERS_MAX);
}

static void exactly_once_last(void **state)
{
	struct sb_config policy = SB_CONFIG_DEFAULT;

	(void)state;
	policy.victim = SB_VICTIM_LAST;
	run_mesh(&policy, WORKERS);
}

/* Refused sends are tried again: nothing else changes. */
static void exactly_once_with_a_mailbox_bound(void **state)
{
	struct sb_config policy = SB_CONFIG_DEFAULT;

	(void)state;
	policy.mailbox_bound = 4;
	run_mesh(&policy, WORKERS);
	policy.deque = SB_DEQUE_CHASE_LEV;
	policy.victim = SB_VICTIM_NEAR;
	policy.mailbox_bound = 1;
	run_mesh(&policy, WORKERS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exactly_once_local),
		cmocka_unit_test(exactly_once_affine),
		cmocka_unit_test(exactly_once_global),
		cmocka_unit_test(exactly_once_with_chase_lev),
		cmocka_unit_test(exactly_once_near),
		cmocka_unit_test(exactly_once_last),
		cmocka_unit_test(exactly_once_with_a_mailbox_bound),
	};

	return cmocka_run_group_tests_name("stress", tests, NULL, NULL);
}
