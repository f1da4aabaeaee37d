/*
 * savina-concdict - Savina benchmark 8, Concurrent Dictionary.
 *
 * Workers read and write random keys of one process that keeps a hash map; each
 * waits for the answer before it asks again, so many times. The map begins with
 * all keys. One operation is one message: a request or its answer, and the end
 * of each worker.
 *
 * Check: the dictionary notes whose request it has served when. Played again in
 * that order on an array, with the requests drawn again, every worker has got the
 * answers it should have (of which it keeps a digest), and every key has in the
 * end the value that it should have.
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

#include "workloads/lib/savina.h"

enum { WORKERS, REQUESTS, WRITE_PERCENT, KEYS };
enum { DICTIONARY, WORKER };
/* Other messages to the dictionary are pointers, aligned to 16: of kind 0. */
enum { END = SB_SAVINA_START + 1 };

static const struct sb_param params[] = {
	[WORKERS] = { "entities", 20, 1, 4096, NULL, "processes that read and write" },
	[REQUESTS] = { "requests", 10000, 1, 1 << 20, NULL, "requests of each" },
	[WRITE_PERCENT] = { "write-percent", 10, 0, 100, NULL, "how many of them are writes" },
	[KEYS] = { "keys", 524287, 1, 1 << 20, NULL, "keys in the dictionary" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

/* No two writes write the same. Number 0: what the dictionary begins with. */
static uint64_t make_value(uint64_t key, uint64_t worker, uint64_t number)
{
	return number << 32 | worker << 20 | key;
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

static void seed_requests(struct sb_rng *rng, const uint64_t *param, uint64_t worker)
{
	sb_rng_seed(rng, worker + param[REQUESTS] + param[WRITE_PERCENT]);
}

/* The worker's request of that number, from 1. */
static struct request draw_request(struct sb_rng *rng, const uint64_t *param, uint64_t worker,
				   uint64_t number)
{
	struct request r = { .worker = worker };

	r.is_write = sb_rng_below(rng, 100) < param[WRITE_PERCENT];
	r.key = sb_rng_below(rng, (uint32_t)param[KEYS]);
	r.value = make_value(r.key, worker, number);
	return r;
}

/* Of answers; FNV-1a's multiplication, eight bytes at a time. */
static uint64_t add_to_digest(uint64_t digest, uint64_t answer)
{
	return (digest ^ answer) * UINT64_C(0x100000001b3);
}

/* A worker, played again. */
struct replay {
	struct sb_rng rng;
	uint64_t requests;
	uint64_t digest;
};

struct data {
	struct sb_savina_round round;
	struct map first; /* what each round begins with */
	struct map map;	  /* the dictionary's */
	uint64_t served;
	uint16_t *order;       /* [all requests], whose was served when */
	uint64_t *digest;      /* [WORKERS], of the answers that each got */
	struct replay *replay; /* [WORKERS] */
	uint64_t *value;       /* [KEYS], of the replay */
};

static uint64_t all_requests(const uint64_t *param)
{
	return param[WORKERS] * param[REQUESTS];
}

/* ---- the dictionary ---- */

struct dictionary {
	struct sb_savina_process self;
	uint64_t served;
	uint64_t ended;
};

static int begin(struct dictionary *d, struct sb_step *step)
{
	struct data *data = (struct data *)d->self.round;

	memcpy(data->map.entry, data->first.entry,
	       map_entries(&data->map) * sizeof(*data->map.entry));
	return sb_savina_idle(
		sb_savina_send_all(&d->self, step, WORKER, sb_savina_message(SB_SAVINA_START, 0)));
}

static int serve(struct dictionary *d, struct sb_step *step, const struct request *request)
{
	struct data *data = (struct data *)d->self.round;

	data->order[d->served++] = (uint16_t)request->worker;
	if (request->is_write)
		map_put(&data->map, request->key, request->value);
	return sb_savina_idle(
		sb_savina_send(&d->self, step, WORKER, request->worker,
			       sb_value_u64(map_find(&data->map, request->key)->value)));
}

static int dictionary_receive(void *state, struct sb_step *step, union sb_value message)
{
	struct dictionary *d = state;

	if (!message.ptr)
		return begin(d, step);
	if (sb_savina_kind(message) != END)
		return serve(d, step, message.ptr);
	if (++d->ended < d->self.round->param[WORKERS])
		return SB_IDLE;
	((struct data *)d->self.round)->served = d->served;
	return SB_DONE;
}

/* ---- a worker ---- */

struct worker {
	struct sb_savina_process self;
	struct sb_rng rng;
	uint64_t requests;
	uint64_t digest;
	struct request request; /* the one that has not been answered */
};

static int end(struct worker *w, struct sb_step *step)
{
	((struct data *)w->self.round)->digest[w->self.id] = w->digest;
	return sb_savina_done(
		sb_savina_send(&w->self, step, DICTIONARY, 0, sb_savina_message(END, 0)));
}

static int worker_receive(void *state, struct sb_step *step, union sb_value message)
{
	struct worker *w = state;
	const uint64_t *param = w->self.round->param;

	/* The first is no answer: it is the start. */
	if (w->requests)
		w->digest = add_to_digest(w->digest, message.u64);
	else
		seed_requests(&w->rng, param, w->self.id);
	if (w->requests == param[REQUESTS])
		return end(w, step);
	w->requests++;
	w->request = draw_request(&w->rng, param, w->self.id, w->requests);
	return sb_savina_idle(
		sb_savina_send(&w->self, step, DICTIONARY, 0, sb_value_ptr(&w->request)));
}

SB_SAVINA_PROCESS(dictionary, NULL);
SB_SAVINA_PROCESS(worker, NULL);

/* ---- the workload ---- */

static void teardown(struct sb_workload_run *run)
{
	struct data *data = run->data;

	free(data->first.entry);
	free(data->map.entry);
	free(data->order);
	free(data->digest);
	free(data->replay);
	free(data->value);
	sb_savina_tear_down(run);
}

static int allocate(struct data *data, const uint64_t *param)
{
	const uint64_t workers = param[WORKERS];

	data->order = calloc(all_requests(param), sizeof(*data->order));
	data->digest = calloc(workers, sizeof(*data->digest));
	data->replay = calloc(workers, sizeof(*data->replay));
	data->value = calloc(param[KEYS], sizeof(*data->value));
	if (map_init(&data->first, param[KEYS]) || map_init(&data->map, param[KEYS]) ||
	    !data->order || !data->digest || !data->replay || !data->value)
		return -ENOMEM;
	return 0;
}

static int setup(struct sb_workload_run *run)
{
	struct data *data = run->data;
	const struct sb_savina_group group[] = {
		[DICTIONARY] = { .ops = &dictionary_ops, .processes = 1 },
		[WORKER] = { .ops = &worker_ops, .processes = run->param[WORKERS] },
	};
	int rc = sb_savina_set_up(run, group, SB_ARRAY_SIZE(group));

	if (rc)
		return rc;
	rc = allocate(data, run->param);
	if (rc) {
		teardown(run);
		return rc;
	}
	for (uint32_t key = 0; key < run->param[KEYS]; key++)
		map_put(&data->first, key, make_value(key, 0, 0));
	return 0;
}

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;

	data->served = 0;
	memset(data->digest, 0, run->param[WORKERS] * sizeof(*data->digest));
	return sb_savina_start(run);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return 2 * all_requests(run->param) + run->param[WORKERS];
}

static void replay_all(struct data *data, const uint64_t *param)
{
	for (uint64_t w = 0; w < param[WORKERS]; w++) {
		data->replay[w] = (struct replay){ 0 };
		seed_requests(&data->replay[w].rng, param, w);
	}
	for (uint64_t key = 0; key < param[KEYS]; key++)
		data->value[key] = make_value(key, 0, 0);
	for (uint64_t i = 0; i < data->served; i++) {
		struct replay *r = &data->replay[data->order[i]];
		const struct request request =
			draw_request(&r->rng, param, data->order[i], ++r->requests);

		if (request.is_write)
			data->value[request.key] = request.value;
		r->digest = add_to_digest(r->digest, data->value[request.key]);
	}
}

static bool answers_are_right(const struct data *data, const uint64_t *param, char *why,
			      size_t why_bytes)
{
	for (uint64_t w = 0; w < param[WORKERS]; w++) {
		const struct replay *r = &data->replay[w];

		if (r->requests == param[REQUESTS] && r->digest == data->digest[w])
			continue;
		snprintf(why, why_bytes,
			 "worker %" PRIu64 ": %" PRIu64 " requests served, expected %" PRIu64
			 ", or an answer was wrong",
			 w, r->requests, param[REQUESTS]);
		return false;
	}
	return true;
}

static bool keys_are_right(const struct data *data, const uint64_t *param, char *why,
			   size_t why_bytes)
{
	for (uint32_t key = 0; key < param[KEYS]; key++) {
		const struct entry *entry = map_find(&data->map, key);

		if (entry->key == key + 1 && entry->value == data->value[key])
			continue;
		snprintf(why, why_bytes,
			 "key %" PRIu32 " has the value %" PRIx64 ", expected %" PRIx64, key,
			 entry->value, data->value[key]);
		return false;
	}
	return true;
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	struct data *data = run->data;

	if (!sb_savina_check(run, why, why_bytes))
		return false;
	replay_all(data, run->param);
	return answers_are_right(data, run->param, why, why_bytes) &&
	       keys_are_right(data, run->param, why, why_bytes);
}

const struct sb_workload sb_workload_savina_concdict = {
	.name = "savina-concdict",
	.operation = "message",
	.doc = "reads and writes of one process's hash map (Savina 8, Concurrent Dictionary)",
	.source = SB_SAVINA("8: Concurrent Dictionary"),
	.params = params,
	.data_bytes = sizeof(struct data),
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
