/*
 * queues.c - the queues between threads: the global queue, from which all take
 * batches; an inject queue, into which others put; and a process's event queue.
 *
 * Check: each process, or event, is there once at the end, or has come as often
 * as it was sent; and each sender's in order.
 */
#include <errno.h>

#include "core/memory/arena.h"
#include "core/queue/runq.h"
#include "core/word.h"
#include "harness/micro/kind.h"

/* The most items that one sender has under way. */
#define SLOTS 256

/* ---- the global queue ---- */

struct global {
	struct sb_runq queue;
	struct sb_process *process;
	struct sb_process **hand; /* [threads][the batch] */
	uint32_t processes;
	struct sb_micro_tally put[SB_MICRO_THREADS_MAX];
};

static int set_up_global(struct sb_micro *m)
{
	struct global *g = m->state;

	g->processes = (uint32_t)m->arg * m->threads;
	g->process = sb_mem_zalloc(SB_HEAP, g->processes * sizeof(*g->process), SB_LINE);
	g->hand = sb_mem_zalloc(SB_HEAP, g->processes * sizeof(*g->hand), SB_LINE);
	if (!g->process || !g->hand)
		return -ENOMEM;
	sb_runq_init(&g->queue, SB_HEAP);
	for (uint32_t i = 0; i < g->processes; i++) {
		g->process[i].pid = i + 1;
		sb_runq_push(&g->queue, &g->process[i]);
	}
	return 0;
}

static void tear_down_global(struct sb_micro *m)
{
	struct global *g = m->state;

	sb_runq_clear(&g->queue);
	sb_mem_free(g->hand);
	sb_mem_free(g->process);
}

/* Puts one of the processes in its hand; takes a batch when that is empty. One
 * operation is one that was put, so also one that was taken. */
static void run_global(struct sb_micro *m, uint32_t thread, uint64_t n)
{
	struct global *g = m->state;
	struct sb_micro_tally *tally = &g->put[thread];
	struct sb_process **hand = g->hand + thread * m->arg;
	uint32_t held = 0;
	uint32_t looks = 0;

	while (n || held) {
		if (!held) {
			held = sb_runq_take(&g->queue, (uint32_t)m->arg, 1, hand);
			if (!held) {
				tally->retries++;
				sb_micro_wait(&looks);
			}
			continue;
		}
		sb_runq_push(&g->queue, hand[--held]);
		if (n) {
			tally->items++;
			n--;
		}
	}
}

static const char *check_global(struct sb_micro *m, uint64_t operations)
{
	struct global *g = m->state;
	struct sb_micro_tally in = { .items = 0 };
	struct sb_micro_tally out = { .items = 0 };
	uint64_t put = 0;
	uint64_t retries = 0;
	struct sb_process *process;

	for (uint32_t i = 0; i < m->threads; i++) {
		put += g->put[i].items;
		retries += g->put[i].retries;
	}
	for (uint32_t i = 1; i <= g->processes; i++)
		sb_micro_saw(&in, i);
	while (out.items <= in.items && sb_runq_take(&g->queue, 1, 1, &process))
		sb_micro_saw(&out, process->pid);
	m->counter[0].name = "retries";
	m->counter[0].value = (double)retries;
	if (put != operations)
		return "not every operation has put a process";
	return sb_micro_same(&in, &out) ? NULL : "the queue does not hold each process once";
}

/* ---- senders and one receiver: thread 0 takes what the others send ---- */

/* One item under way: in a run queue it is the process, in an event queue the
 * node. */
struct parcel {
	alignas(SB_LINE) _Atomic(uint32_t) used;
	uint32_t sender;
	uint64_t number; /* of the sender's, from 0 on */
	struct sb_event_node node;
	struct sb_process process;
};

struct post {
	struct sb_runq inject;
	struct parcel *parcel; /* [senders][SLOTS] */
	uint64_t sent[SB_MICRO_THREADS_MAX];
	uint64_t came[SB_MICRO_THREADS_MAX];
	struct sb_micro_tally tally[SB_MICRO_THREADS_MAX];
	struct sb_process receiver; /* of events */
};

static int set_up_post(struct sb_micro *m)
{
	struct post *p = m->state;

	p->parcel = sb_mem_zalloc(SB_HEAP, m->threads * SLOTS * sizeof(*p->parcel), SB_LINE);
	if (!p->parcel)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->threads * SLOTS; i++)
		p->parcel[i].sender = i / SLOTS;
	sb_runq_init(&p->inject, SB_HEAP);
	sb_store_rlx(&p->receiver.word, (uint64_t)SB_STATE_IDLE);
	return 0;
}

static void tear_down_post(struct sb_micro *m)
{
	struct post *p = m->state;

	sb_runq_clear(&p->inject);
	sb_mem_free(p->parcel);
}

/* The sender's next parcel, once the receiver is done with it. */
static struct parcel *pack(struct post *p, uint32_t sender)
{
	const uint64_t number = p->sent[sender]++;
	struct parcel *parcel = &p->parcel[sender * SLOTS + number % SLOTS];
	uint32_t looks = 0;

	while (sb_load_acq(&parcel->used)) {
		p->tally[sender].retries++;
		sb_micro_wait(&looks);
	}
	sb_store_rlx(&parcel->used, 1);
	parcel->number = number;
	return parcel;
}

/* The parcel is the sender's again. */
static void unpack(struct post *p, struct parcel *parcel)
{
	const uint32_t sender = parcel->sender;

	p->tally[0].items++;
	p->tally[0].disorder += parcel->number != p->came[sender]++;
	sb_store_rel(&parcel->used, 0);
}

static void send_process(struct post *p, uint32_t sender)
{
	sb_runq_push(&p->inject, &pack(p, sender)->process);
}

#define INJECT_BATCH 16

static uint64_t receive_processes(struct post *p)
{
	struct sb_process *came[INJECT_BATCH];
	const uint32_t n = sb_runq_take(&p->inject, INJECT_BATCH, 1, came);

	for (uint32_t i = 0; i < n; i++)
		unpack(p, sb_container_of(came[i], struct parcel, process));
	return n;
}

/* Whether the receiver was Idle does not matter: it looks by itself. */
static void send_event(struct post *p, uint32_t sender)
{
	(void)sb_word_post(&p->receiver, &pack(p, sender)->node);
}

static struct sb_event_node *reverse(struct sb_event_node *newest)
{
	struct sb_event_node *oldest = NULL;

	while (newest) {
		struct sb_event_node *next = newest->next;

		newest->next = oldest;
		oldest = newest;
		newest = next;
	}
	return oldest;
}

/* A step of the receiver: Ready to Running and, unless more has come, Idle. */
static uint64_t receive_events(struct post *p)
{
	struct sb_event_node *next;
	uint64_t count = 0;

	if (sb_word_state(sb_load_rlx(&p->receiver.word)) != SB_STATE_READY)
		return 0;
	for (struct sb_event_node *node = reverse(sb_word_take(&p->receiver)); node; node = next) {
		next = node->next;
		unpack(p, sb_container_of(node, struct parcel, node));
		count++;
	}
	if (!sb_word_release(&p->receiver, SB_STATE_IDLE))
		sb_word_requeue(&p->receiver);
	return count;
}

static const struct {
	void (*send)(struct post *p, uint32_t sender);
	uint64_t (*receive)(struct post *p);
} posts[] = {
	{ send_process, receive_processes },
	{ send_event, receive_events },
};
enum { INJECT, EVENTS };

/* Each sender sends n; the receiver takes all of them. */
static inline void run_post(struct sb_micro *m, uint32_t thread, uint64_t n, unsigned int way)
{
	struct post *p = m->state;
	uint64_t expected = n * (m->threads - 1);
	uint32_t looks = 0;

	if (thread) {
		while (n--)
			posts[way].send(p, thread);
		return;
	}
	while (expected) {
		const uint64_t count = posts[way].receive(p);

		expected -= count;
		if (!count)
			sb_micro_wait(&looks);
	}
}

/* One each, so that the compiler sees which way. */
static void run_inject(struct sb_micro *m, uint32_t thread, uint64_t n)
{
	run_post(m, thread, n, INJECT);
}

static void run_events(struct sb_micro *m, uint32_t thread, uint64_t n)
{
	run_post(m, thread, n, EVENTS);
}

/* The receiver's n operations are no parcels. */
static const char *check_post(struct sb_micro *m, uint64_t operations)
{
	const struct post *p = m->state;
	uint64_t sent = 0;
	uint64_t retries = 0;

	for (uint32_t i = 1; i < m->threads; i++) {
		sent += p->sent[i];
		retries += p->tally[i].retries;
	}
	m->items = p->tally[0].items;
	m->counter[0].name = "retries";
	m->counter[0].value = (double)retries;
	if (p->tally[0].disorder)
		return "a sender's were taken in another order";
	if (p->tally[0].items != sent)
		return "what was sent and what was taken differ";
	return sent * m->threads == operations * (m->threads - 1)
		       ? NULL
		       : "not every operation has sent one";
}

/* ---- by one thread alone ---- */

static uint64_t wave(struct sb_micro *m, uint64_t n)
{
	return sb_min_u64(n, (uint64_t)m->arg);
}

static void run_inject_alone(struct sb_micro *m, uint32_t thread, uint64_t n)
{
	struct post *p = m->state;

	for (uint64_t part; n; n -= part) {
		part = wave(m, n);
		for (uint64_t i = 0; i < part; i++)
			send_process(p, thread);
		for (uint64_t taken = 0; taken < part;)
			taken += receive_processes(p);
	}
}

static void run_events_alone(struct sb_micro *m, uint32_t thread, uint64_t n)
{
	struct post *p = m->state;

	for (uint64_t part; n; n -= part) {
		part = wave(m, n);
		for (uint64_t i = 0; i < part; i++)
			send_event(p, thread);
		for (uint64_t taken = 0; taken < part;)
			taken += receive_events(p);
	}
}

static const char *check_alone(struct sb_micro *m, uint64_t operations)
{
	const struct post *p = m->state;

	if (p->tally[0].disorder)
		return "they were taken in another order";
	return p->tally[0].items == operations ? NULL : "not all of them were taken";
}

#define POST(...)                                                                                  \
	.state_bytes = sizeof(struct post), .set_up = set_up_post, .tear_down = tear_down_post,    \
	__VA_ARGS__

const struct sb_micro_kind sb_micro_queues[] = {
	{ .name = "global_queue/put_take",
	  .doc = "processes put one by one, taken by so many at once",
	  .arg_name = "batch",
	  .arg = { 1, 16, 64 },
	  .threads = { 1, 2, 4 },
	  .elsewhere = true,
	  .state_bytes = sizeof(struct global),
	  .set_up = set_up_global,
	  .run = run_global,
	  .check = check_global,
	  .tear_down = tear_down_global },
	{ POST(.name = "inject_queue/put_take",
	       .doc = "so many processes put, then taken in batches of 16", .arg_name = "items",
	       .arg = { 1, 16, 64 }, .run = run_inject_alone, .check = check_alone) },
	{ POST(.name = "inject_queue/hand_over",
	       .doc = "one thread takes the processes that the others put", .threads = { 2, 4 },
	       .elsewhere = true, .run = run_inject, .check = check_post) },
	{ POST(.name = "event_queue/post_take",
	       .doc = "so many events posted, then taken by one step", .arg_name = "events",
	       .arg = { 1, 8, 64 }, .run = run_events_alone, .check = check_alone) },
	{ POST(.name = "event_queue/hand_over",
	       .doc = "one thread takes the events that the others post", .threads = { 2, 4 },
	       .elsewhere = true, .run = run_events, .check = check_post) },
	{ .name = NULL },
};
