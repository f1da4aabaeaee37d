/*
 * savina-concdict - Savina benchmark 8, Concurrent Dictionary.
 *
 * Workers read and write random keys of one process that keeps a hash map; each
 * waits for the answer before it asks again, so many times. The map begins with
 * all keys. One operation is one message: a request or its answer, and the end
 * of each worker.
 *
 * Check: a value says which key it was written to, by whom and as which of its
 * requests. Every read gave a value of its key, every write its own value. The
 * requests of all workers are drawn again: the map has counted as many of each
 * kind, a key that nobody wrote has its first value, and any other has the last
 * value of one of those who wrote it.
 *
 * Differences to Savina: workers tell the dictionary, and not a master, that
 * they are done. A request is 64 bits that point to the worker's state. Keys are
 * drawn from xorshift64*, because Savina's sequence does not reach 524287, and
 * its dictionary takes Java's. As there, the map is copied from a first one in
 * each round, which is part of its time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/savina/savina.h"

enum { WORKERS, REQUESTS, WRITE_PERCENT, KEYS };
enum { DICTIONARY, WORKER };
/* Other messages to the dictionary are pointers, aligned to 16: of kind 0. */
enum { END = SB_SAVINA_START + 1 };

static const struct sb_param params[] = {
	[WORKERS] = { "entities", 20, 1, 4096, NULL,
		      "processes that read and write" },
	[REQUESTS] = { "requests", 10000, 1, UINT32_MAX - 1, NULL,
		       "requests of each" },
	[WRITE_PERCENT] = { "write-percent", 10, 0, 100, NULL,
			    "how many of them are writes" },
	[KEYS] = { "keys", 524287, 1, 1 << 20, NULL, "keys in the dictionary" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

/* ---- values: the key, the writer, and the number of its request from 1; with
 * the number 0, what the dictionary begins with ---- */

static uint64_t make_value(uint64_t key, uint64_t writer, uint64_t number)
{
	return number << 32 | writer << 20 | key;
}

static uint64_t value_key(uint64_t value)
{
	return value & ((1 << 20) - 1);
}

static uint64_t value_writer(uint64_t value)
{
	return value >> 20 & 4095;
}

static uint64_t value_number(uint64_t value)
{
	return value >> 32;
}

/* ---- the map: open addressing, at most half full ---- */

struct entry {
	uint64_t value;
	uint32_t key; /* + 1; 0: none */
};

struct map {
	uint32_t shift; /* 32 - log2 of the entries */
	struct entry *entry;
};

static uint64_t map_entries(const struct map *map)
{
	return UINT64_C(1) << (32 - map->shift);
}

static int map_init(struct map *map, uint64_t keys)
{
	map->shift = 31;
	while (map_entries(map) < 2 * keys)
		map->shift--;
	map->entry = calloc(map_entries(map), sizeof(*map->entry));
	return map->entry ? 0 : -ENOMEM;
}

/* Where the key is or belongs. Multiplicative hashing, linear probing (Knuth,
 * The Art of Computer Programming 3, 6.4). */
static struct entry *map_find(const struct map *map, uint32_t key)
{
	const uint64_t mask = map_entries(map) - 1;
	uint64_t i = (uint32_t)(key * UINT32_C(2654435769)) >> map->shift;

	while (map->entry[i].key && map->entry[i].key != key + 1)
		i = (i + 1) & mask;
	return &map->entry[i];
}

static void map_put(struct map *map, uint32_t key, uint64_t value)
{
	*map_find(map, key) = (struct entry){ value, key + 1 };
}

/* ---- requests ---- */

struct request {
	alignas(16) uint64_t worker;
	uint64_t value; /* to be written */
	uint32_t key;
	bool is_write;
};

static void seed_requests(struct sb_rng *rng, const uint64_t *param,
			  uint64_t worker)
{
	sb_rng_seed(rng, worker + param[REQUESTS] + param[WRITE_PERCENT]);
}

/* The worker's request of that number, from 1. */
static struct request draw_request(struct sb_rng *rng, const uint64_t *param,
				   uint64_t worker, uint64_t number)
{
	struct request r = { .worker = worker };

	r.is_write = sb_rng_below(rng, 100) < param[WRITE_PERCENT];
	r.key = sb_rng_below(rng, (uint32_t)param[KEYS]);
	r.value = make_value(r.key, worker, number);
	return r;
}

struct counts {
	uint64_t reads;
	uint64_t writes;
};

struct data {
	struct sb_savina_round round;
	struct map first; /* what each round begins with */
	struct map map;	  /* the dictionary's */
	struct counts counts;
	uint8_t *seen; /* [KEYS], for the check */
};

/* ---- the dictionary ---- */

struct dictionary {
	struct sb_savina_process self;
	struct counts counts;
	uint64_t ended;
};

static int begin(struct dictionary *d, struct sb_step *step)
{
	struct data *data = (struct data *)d->self.round;

	memcpy(data->map.entry, data->first.entry,
	       map_entries(&data->map) * sizeof(*data->map.entry));
	return sb_savina_idle(sb_savina_send_all(
		&d->self, step, WORKER, sb_savina_message(SB_SAVINA_START, 0)));
}

static int serve(struct dictionary *d, struct sb_step *step,
		 const struct request *request)
{
	struct data *data = (struct data *)d->self.round;
	uint64_t value;

	if (request->is_write) {
		d->counts.writes++;
		map_put(&data->map, request->key, request->value);
		value = request->value;
	} else {
		d->counts.reads++;
		value = map_find(&data->map, request->key)->value;
	}
	return sb_savina_idle(sb_savina_send(
		&d->self, step, WORKER, request->worker, sb_value_u64(value)));
}

static int dictionary_receive(void *state, struct sb_step *step,
			      union sb_value message)
{
	struct dictionary *d = state;

	if (!message.ptr)
		return begin(d, step);
	if (sb_savina_kind(message) != END)
		return serve(d, step, message.ptr);
	if (++d->ended < d->self.round->param[WORKERS])
		return SB_IDLE;
	((struct data *)d->self.round)->counts = d->counts;
	return SB_DONE;
}

/* ---- a worker ---- */

struct worker {
	struct sb_savina_process self;
	struct sb_rng rng;
	uint64_t requests;
	struct request request; /* the one that has not been answered */
};

static int ask_next(struct worker *w, struct sb_step *step)
{
	const uint64_t *param = w->self.round->param;

	if (w->requests == param[REQUESTS])
		return sb_savina_done(
			sb_savina_send(&w->self, step, DICTIONARY, 0,
				       sb_savina_message(END, 0)));
	w->requests++;
	w->request = draw_request(&w->rng, param, w->self.id, w->requests);
	return sb_savina_idle(sb_savina_send(&w->self, step, DICTIONARY, 0,
					     sb_value_ptr(&w->request)));
}

static bool is_right(const struct worker *w, uint64_t value)
{
	const uint64_t *param = w->self.round->param;

	if (w->request.is_write)
		return value == w->request.value;
	return value_key(value) == w->request.key &&
	       value_writer(value) < param[WORKERS] &&
	       value_number(value) <= param[REQUESTS];
}

static int worker_receive(void *state, struct sb_step *step,
			  union sb_value message)
{
	struct worker *w = state;

	if (w->requests)
		sb_savina_expect(&w->self, is_right(w, message.u64));
	else
		seed_requests(&w->rng, w->self.round->param, w->self.id);
	return ask_next(w, step);
}

SB_SAVINA_PROCESS(dictionary, NULL);
SB_SAVINA_PROCESS(worker, NULL);

/* ---- the workload ---- */

static void teardown(struct sb_workload_run *run)
{
	struct data *data = run->data;

	free(data->first.entry);
	free(data->map.entry);
	free(data->seen);
	sb_savina_tear_down(run);
}

static int setup(struct sb_workload_run *run)
{
	struct data *data = run->data;
	const uint64_t keys = run->param[KEYS];
	const struct sb_savina_group group[] = {
		[DICTIONARY] = { .ops = &dictionary_ops, .processes = 1 },
		[WORKER] = { .ops = &worker_ops,
			     .processes = run->param[WORKERS] },
	};
	const int rc = sb_savina_set_up(run, group, SB_ARRAY_SIZE(group));

	if (rc)
		return rc;
	data->seen = malloc(keys);
	if (map_init(&data->first, keys) || map_init(&data->map, keys) ||
	    !data->seen) {
		teardown(run);
		return -ENOMEM;
	}
	for (uint64_t key = 0; key < keys; key++)
		map_put(&data->first, (uint32_t)key, make_value(key, 0, 0));
	return 0;
}

static int start(struct sb_workload_run *run)
{
	((struct data *)run->data)->counts = (struct counts){ 0 };
	return sb_savina_start(run);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[WORKERS] * (2 * run->param[REQUESTS] + 1);
}

/* Of a key, in data->seen. */
enum { WRITTEN = 1, CURRENT = 2 };

/* A write that was drawn again. Its value is the current one if it is there; if
 * an older one of the same writer is, this one was lost. */
static void see_write(struct data *data, const struct request *request)
{
	const uint64_t value = map_find(&data->map, request->key)->value;
	uint8_t *seen = &data->seen[request->key];

	*seen |= WRITTEN;
	if (value == request->value)
		*seen |= CURRENT;
	else if (value_writer(value) == request->worker)
		*seen &= (uint8_t)~CURRENT;
}

static struct counts draw_all(const struct sb_workload_run *run)
{
	struct data *data = run->data;
	struct counts counts = { 0 };

	memset(data->seen, 0, run->param[KEYS]);
	for (uint64_t w = 0; w < run->param[WORKERS]; w++) {
		struct sb_rng rng;

		seed_requests(&rng, run->param, w);
		for (uint64_t n = 1; n <= run->param[REQUESTS]; n++) {
			const struct request request =
				draw_request(&rng, run->param, w, n);

			counts.writes += request.is_write;
			counts.reads += !request.is_write;
			if (request.is_write)
				see_write(data, &request);
		}
	}
	return counts;
}

static bool key_is_right(const struct data *data, uint32_t key)
{
	const struct entry *entry = map_find(&data->map, key);

	if (data->seen[key] & WRITTEN)
		return data->seen[key] & CURRENT;
	return entry->key == key + 1 && entry->value == make_value(key, 0, 0);
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct data *data = run->data;
	struct counts expected;

	if (!sb_savina_check(run, why, why_bytes))
		return false;
	expected = draw_all(run);
	if (data->counts.reads != expected.reads ||
	    data->counts.writes != expected.writes) {
		snprintf(why, why_bytes,
			 "%" PRIu64 " reads and %" PRIu64
			 " writes, expected %" PRIu64 " and %" PRIu64,
			 data->counts.reads, data->counts.writes,
			 expected.reads, expected.writes);
		return false;
	}
	for (uint32_t key = 0; key < run->param[KEYS]; key++) {
		if (key_is_right(data, key))
			continue;
		snprintf(why, why_bytes,
			 "key %" PRIu32 " has a value that nobody wrote last",
			 key);
		return false;
	}
	return true;
}

const struct sb_workload sb_workload_savina_concdict = {
	.name = "savina-concdict",
	.operation = "message",
	.doc = "reads and writes of one process's hash map (Savina 8, "
	       "Concurrent Dictionary)",
	.source = SB_SAVINA("8: Concurrent Dictionary"),
	.params = params,
	.data_bytes = sizeof(struct data),
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
