/*
 * savina-apsp - Savina benchmark 25, All-pairs shortest path: Floyd-Warshall on
 * a grid of blocks, in lockstep with neighbours.
 *
 * The matrix of distances of --blocks * --block nodes is cut into --blocks x
 * --blocks blocks of --block x --block; each is a process. Before each iteration
 * a block sends what it has to all others of its row and column; when it has
 * heard from all of them it does the iteration. Iteration k takes the shorter of
 * i to j and i to k to j, where row k and column k lie in neighbours. After one
 * iteration for each node a block is done. One operation is one message, of
 * which each block sends 2 * (blocks - 1) for each node; if there is but one
 * block, one iteration.
 *
 * As in Savina a neighbour gets the block also when it does not need it. The
 * graph has an edge of 1 to --weight between any two nodes, the same both ways.
 * Different from Savina: nothing is sent after the last iteration, when others
 * may have ended; and blocks are not copied but lent:
 *
 * A block writes its version v (what it has before iteration v) to the one of its
 * two buffers that v's lowest bit names. The message lends version v to a
 * neighbour until that sends its own version v + 1. The next writing to the
 * buffer is version v + 2, made when the block has all neighbours' version v + 1:
 * nobody reads version v then. All buffers belong to the workload, from set-up to
 * tear-down.
 *
 * Check: every distance is that of a sequential Floyd-Warshall on the whole
 * matrix, and every block has come to its last version.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "workloads/lib/actor.h"
#include "workloads/lib/failure.h"
#include "workloads/lib/savina.h"

enum { BLOCKS, BLOCK, WEIGHT };

static const struct sb_param params[] = {
	[BLOCKS] = { "blocks", 6, 1, 32, NULL, "blocks in a row of the grid" },
	[BLOCK] = { "block", 50, 1, 128, NULL, "rows and columns of a block" },
	[WEIGHT] = { "weight", 100, 1, 1 << 30, NULL, "greatest weight of an edge" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

#define SEED 300

/* A message is the version that is lent, or: all blocks are there. */
#define START UINT64_MAX

/* One block of the matrix, all of it shared by the grid. */
struct block {
	sb_pid pid;
	int64_t *version[2]; /* [side * side] each; the lowest bit of v */
};

struct data {
	struct sb_failure failure;
	uint32_t blocks;
	uint32_t side; /* of a block */
	uint32_t nodes;
	struct block *block; /* [blocks * blocks] */
	int64_t *buffer;     /* what all versions lie in */
	int64_t *graph;	     /* [nodes * nodes] */
	int64_t *expected;   /* [nodes * nodes] */
	_Atomic(uint64_t) done;
};

/* ---- a block ---- */

struct worker {
	struct data *data;
	uint32_t row; /* in the grid */
	uint32_t column;
	uint32_t version;  /* iterations done */
	bool started;	   /* every block is there */
	bool sent;	   /* this version, to the neighbours */
	uint32_t heard[2]; /* neighbours, of this version and the next one */
};

SB_ACTOR_INIT(init, struct worker)

static struct block *at(const struct data *data, uint32_t row, uint32_t column)
{
	return &data->block[row * data->blocks + column];
}

/* All of a row and column are alike to it: it only counts from whom it has. */
static int send_version(const struct worker *worker, struct sb_step *step)
{
	const struct data *data = worker->data;
	int rc = 0;

	for (uint32_t i = 0; i < data->blocks && !rc; i++) {
		if (i != worker->row)
			rc = sb_step_send(step, at(data, i, worker->column)->pid,
					  sb_value_u64(worker->version));
		if (i != worker->column && !rc)
			rc = sb_step_send(step, at(data, worker->row, i)->pid,
					  sb_value_u64(worker->version));
	}
	return rc;
}

/* A neighbour is at most one version ahead: it needs this one's to go on. */
static int on_version(struct worker *worker, uint64_t version)
{
	if (version == START) {
		worker->started = true;
		return 0;
	}
	if (version != worker->version && version != worker->version + 1)
		return -EPROTO;
	worker->heard[version & 1]++;
	return 0;
}

static bool has_heard_all(const struct worker *worker)
{
	return worker->heard[worker->version & 1] == 2 * (worker->data->blocks - 1);
}

/* Iteration k, from version k to version k + 1. */
static void iterate(struct worker *worker)
{
	const struct data *data = worker->data;
	const uint32_t side = data->side;
	const uint32_t k = worker->version;
	const uint32_t old = k & 1;
	const struct block *mine = at(data, worker->row, worker->column);
	const int64_t *from = mine->version[old];
	/* Row k of the blocks above and below, column k of those beside. */
	const int64_t *row =
		at(data, k / side, worker->column)->version[old] + (size_t)(k % side) * side;
	const int64_t *column = at(data, worker->row, k / side)->version[old] + k % side;
	int64_t *to = mine->version[!old];

	for (uint32_t i = 0; i < side; i++) {
		const int64_t to_k = column[(size_t)i * side];

		for (uint32_t j = 0; j < side; j++) {
			const size_t ij = (size_t)i * side + j;
			const int64_t by_k = to_k + row[j];

			to[ij] = by_k < from[ij] ? by_k : from[ij];
		}
	}
	worker->heard[old] = 0;
	worker->version++;
	worker->sent = false;
}

static int go_on(struct worker *worker, struct sb_step *step)
{
	int rc = 0;

	while (!rc && worker->version < worker->data->nodes) {
		if (!worker->sent)
			rc = send_version(worker, step);
		worker->sent = true;
		if (rc || !has_heard_all(worker))
			return rc ? rc : SB_IDLE;
		iterate(worker);
	}
	sb_add_rlx(&worker->data->done, 1);
	return SB_DONE;
}

static int worker_advance(void *state, struct sb_step *step, const struct sb_event *events,
			  uint32_t count)
{
	struct worker *worker = state;
	int rc = 0;

	if (!sb_actor_only_messages(events, count))
		return -ECANCELED;
	for (uint32_t i = 0; i < count && !rc; i++)
		rc = on_version(worker, events[i].data.u64);
	if (rc || !worker->started)
		return rc ? rc : SB_IDLE;
	return go_on(worker, step);
}

SB_FAILURE_STEP(worker)

static const struct sb_process_ops worker_ops = {
	.name = "block",
	.state_bytes = sizeof(struct worker),
	.init = init,
	.step = worker_step,
};

/* ---- who makes them ---- */

struct master {
	struct data *data;
};

SB_ACTOR_INIT(master_init, struct master)

static int spawn_all(struct data *data, struct sb_step *step)
{
	const uint32_t all = data->blocks * data->blocks;
	int rc = 0;

	for (uint32_t i = 0; i < all && !rc; i++) {
		struct worker worker = { .data = data,
					 .row = i / data->blocks,
					 .column = i % data->blocks };

		rc = sb_step_spawn(step, &worker_ops, "main", sb_value_ptr(&worker),
				   &data->block[i].pid);
	}
	return rc;
}

static int master_advance(void *state, struct sb_step *step, const struct sb_event *events,
			  uint32_t count)
{
	struct data *data = ((struct master *)state)->data;
	const uint32_t all = data->blocks * data->blocks;
	int rc;

	(void)events;
	if (count)
		return -ECANCELED;
	rc = spawn_all(data, step);
	for (uint32_t i = 0; i < all && !rc; i++)
		rc = sb_step_send(step, data->block[i].pid, sb_value_u64(START));
	return rc ? rc : SB_DONE;
}

SB_FAILURE_STEP(master)

static const struct sb_process_ops master_ops = {
	.name = "master",
	.state_bytes = sizeof(struct master),
	.init = master_init,
	.step = master_step,
};

/* ---- the workload ---- */

static void make_graph(struct data *data, uint32_t weight)
{
	const size_t nodes = data->nodes;
	struct sb_rng rng;

	sb_rng_seed(&rng, SEED);
	for (size_t i = 0; i < nodes; i++) {
		for (size_t j = i + 1; j < nodes; j++) {
			const int64_t edge = 1 + sb_rng_below(&rng, weight);

			data->graph[i * nodes + j] = edge;
			data->graph[j * nodes + i] = edge;
		}
	}
}

/* Of all that begin at the row's node: by way of k, if that is shorter. */
static void relax_row(int64_t *row, const int64_t *row_k, size_t k, size_t nodes)
{
	for (size_t j = 0; j < nodes; j++) {
		const int64_t by_k = row[k] + row_k[j];

		if (by_k < row[j])
			row[j] = by_k;
	}
}

/* The whole matrix at once, in place. */
static void compute_expected(struct data *data)
{
	const size_t nodes = data->nodes;
	int64_t *d = data->expected;

	memcpy(d, data->graph, nodes * nodes * sizeof(*d));
	for (size_t k = 0; k < nodes; k++) {
		for (size_t i = 0; i < nodes; i++)
			relax_row(d + i * nodes, d + k * nodes, k, nodes);
	}
}

static void teardown(struct sb_workload_run *run)
{
	struct data *data = run->data;

	free(data->block);
	free(data->buffer);
	free(data->graph);
	free(data->expected);
}

static int allocate(struct data *data)
{
	const size_t blocks = (size_t)data->blocks * data->blocks;
	const size_t cells = (size_t)data->nodes * data->nodes;
	const size_t block_cells = (size_t)data->side * data->side;

	data->block = calloc(blocks, sizeof(*data->block));
	data->buffer = calloc(2 * cells, sizeof(*data->buffer));
	data->graph = calloc(cells, sizeof(*data->graph));
	data->expected = calloc(cells, sizeof(*data->expected));
	if (!data->block || !data->buffer || !data->graph || !data->expected)
		return -ENOMEM;
	for (size_t i = 0; i < 2 * blocks; i++)
		data->block[i / 2].version[i % 2] = data->buffer + i * block_cells;
	return 0;
}

static int setup(struct sb_workload_run *run)
{
	struct data *data = run->data;

	data->blocks = (uint32_t)run->param[BLOCKS];
	data->side = (uint32_t)run->param[BLOCK];
	data->nodes = data->blocks * data->side;
	if (allocate(data)) {
		teardown(run);
		return -ENOMEM;
	}
	make_graph(data, (uint32_t)run->param[WEIGHT]);
	compute_expected(data);
	return 0;
}

/* Where the distance from i to j is before iteration v. */
static int64_t *cell(const struct data *data, uint32_t v, uint32_t i, uint32_t j)
{
	const uint32_t side = data->side;

	return at(data, i / side, j / side)->version[v & 1] + (size_t)(i % side) * side + j % side;
}

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;
	struct master master = { .data = data };

	sb_failure_clear(run);
	sb_store_rlx(&data->done, 0);
	for (uint32_t i = 0; i < data->nodes; i++) {
		for (uint32_t j = 0; j < data->nodes; j++)
			*cell(data, 0, i, j) = data->graph[(size_t)i * data->nodes + j];
	}
	return sb_scheduler_submit(run->scheduler, &master_ops, "main", sb_value_ptr(&master),
				   NULL);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	const uint64_t blocks = run->param[BLOCKS];
	const uint64_t neighbours = 2 * (blocks - 1);

	return blocks * blocks * (neighbours ? neighbours : 1) * blocks * run->param[BLOCK];
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	struct data *data = run->data;
	const size_t nodes = data->nodes;
	const uint64_t done = sb_load_rlx(&data->done);

	if (!sb_failure_check(run, why, why_bytes))
		return false;
	if (done != (uint64_t)data->blocks * data->blocks) {
		snprintf(why, why_bytes, "%" PRIu64 " blocks came to the end, expected %" PRIu32,
			 done, data->blocks * data->blocks);
		return false;
	}
	for (size_t ij = 0; ij < nodes * nodes; ij++) {
		const uint32_t i = (uint32_t)(ij / nodes);
		const uint32_t j = (uint32_t)(ij % nodes);
		const int64_t is = *cell(data, data->nodes, i, j);

		if (is == data->expected[ij])
			continue;
		snprintf(why, why_bytes,
			 "from %" PRIu32 " to %" PRIu32 ": %" PRId64 ", expected %" PRId64, i, j,
			 is, data->expected[ij]);
		return false;
	}
	return true;
}

const struct sb_workload sb_workload_savina_apsp = {
	.name = "savina-apsp",
	.operation = "message",
	.doc = "shortest paths by blocks that exchange rows and columns",
	.source = SB_SAVINA("25: All-Pairs Shortest Path"),
	.params = params,
	.data_bytes = sizeof(struct data),
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
