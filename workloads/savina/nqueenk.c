/*
 * savina-nqueenk - Savina benchmark 28, N-Queens, the first solutions: a master
 * that hands out work to solvers.
 *
 * A piece of work is a board of --queens columns with queens in its first rows.
 * The master gives pieces to --solvers processes in turn, beginning with the
 * empty board. Up to --threshold rows a solver puts a queen on each place of the
 * next row where none is threatened, and sends each such board to the master as
 * a new piece; from there on it searches all solutions by itself. It sends the
 * master a message for each solution, and one when it has done a piece. When all
 * pieces are done, or --limit solutions are found, the master stops the solvers;
 * what was given to them before they still do, so that there can be more than
 * the limit. One operation is one solution, of those up to the limit.
 *
 * Different from Savina: no priorities of messages, which the scheduler does not
 * have; a queen is compared with those before it, where Savina's looks at the
 * whole board again; after the limit the master hands out no more.
 *
 * A piece fits into a message: 4 bits for each queen. So up to 14 queens.
 *
 * Check: the number of solutions is that of a table, if the limit is not below
 * it; else it lies between the limit and the table's. Every piece that was given
 * was done.
 */
#include <inttypes.h>
#include <stdio.h>

#include "workloads/lib/actor.h"
#include "workloads/lib/failure.h"
#include "workloads/lib/savina.h"

enum { QUEENS, SOLVERS, THRESHOLD, LIMIT };

#define SOLVERS_MAX 1024

static const struct sb_param params[] = {
	[QUEENS] = { "queens", 12, 4, 14, NULL, "queens, rows and columns" },
	[SOLVERS] = { "solvers", 20, 1, SOLVERS_MAX, NULL, "processes that search" },
	[THRESHOLD] = { "threshold", 4, 0, 14, NULL,
			"rows from which on one process searches the rest" },
	[LIMIT] = { "solutions", 1500000, 1, UINT32_MAX, NULL,
		    "solutions after which the search ends" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

/* Solutions for so many queens, from 0 on (OEIS A000170). */
static const uint64_t solutions[] = { 1,  1,   0,   0,	  2,	 10,	4,     40,
				      92, 352, 724, 2680, 14200, 73712, 365596 };

/*
 * A message: its kind, and for a piece of work its rows and the column of each
 * row's queen.
 *
 *   bits 60..63  kind     56..59  rows     4 * r .. 4 * r + 3  column of row r
 */
enum kind { WORK, SOLUTION, PIECE_DONE, STOP, STOPPED };

#define KIND_SHIFT 60
#define ROWS_SHIFT 56
#define QUEEN_BITS 4
#define QUEEN_MASK UINT64_C(15)
#define QUEENS_MAX 14

struct board {
	uint32_t rows;
	uint32_t column[QUEENS_MAX]; /* of each row's queen */
};

static union sb_value make_message(enum kind kind)
{
	return sb_value_u64((uint64_t)kind << KIND_SHIFT);
}

static enum kind kind_of(union sb_value message)
{
	return (enum kind)(message.u64 >> KIND_SHIFT);
}

static union sb_value from_board(const struct board *board)
{
	union sb_value message = make_message(WORK);

	message.u64 |= (uint64_t)board->rows << ROWS_SHIFT;
	for (uint32_t r = 0; r < board->rows; r++)
		message.u64 |= (uint64_t)board->column[r] << r * QUEEN_BITS;
	return message;
}

static struct board to_board(union sb_value message)
{
	struct board board = { .rows = message.u64 >> ROWS_SHIFT & QUEEN_MASK };

	for (uint32_t r = 0; r < board.rows; r++)
		board.column[r] = message.u64 >> r * QUEEN_BITS & QUEEN_MASK;
	return board;
}

struct data {
	struct sb_failure failure;
	uint64_t solutions;
	uint64_t given; /* pieces of work */
	uint64_t done;
};

/* ---- a solver ---- */

struct solver {
	struct data *data;
	sb_pid master;
	uint32_t queens;
	uint32_t threshold;
};

SB_ACTOR_INIT(solver_init, struct solver)

/* Whether no queen threatens the last row's. */
static bool is_valid(const struct board *board)
{
	const uint32_t last = board->rows - 1;

	for (uint32_t r = 0; r < last; r++) {
		const uint32_t c = board->column[r];

		if (c == board->column[last] || c + last - r == board->column[last] ||
		    c == board->column[last] + last - r)
			return false;
	}
	return true;
}

/* One more row: each board that is valid is a piece of work. */
static int divide(const struct solver *solver, struct sb_step *step, struct board board)
{
	uint32_t *column = &board.column[board.rows++];
	int rc = 0;

	for (*column = 0; *column < solver->queens && !rc; ++*column) {
		if (is_valid(&board))
			rc = sb_step_send(step, solver->master, from_board(&board));
	}
	return rc;
}

/* Takes queens away until one can go a column further; false: only the `fixed`
 * ones are left. */
static bool go_back(struct board *board, uint32_t fixed, uint32_t queens)
{
	while (board->rows > fixed) {
		if (++board->column[board->rows - 1] < queens)
			return true;
		board->rows--;
	}
	return false;
}

/* All solutions that begin with this board, which is no solution. */
static int search(const struct solver *solver, struct sb_step *step, struct board board)
{
	const uint32_t fixed = board.rows;
	int rc = 0;

	board.column[board.rows++] = 0;
	do {
		if (!is_valid(&board))
			continue;
		if (board.rows < solver->queens) {
			/* Column -1: going back makes it 0. */
			board.column[board.rows++] = UINT32_MAX;
			continue;
		}
		rc = sb_step_send(step, solver->master, make_message(SOLUTION));
	} while (!rc && go_back(&board, fixed, solver->queens));
	return rc;
}

static int work(const struct solver *solver, struct sb_step *step, struct board board)
{
	int rc;

	if (board.rows == solver->queens)
		rc = sb_step_send(step, solver->master, make_message(SOLUTION));
	else if (board.rows < solver->threshold)
		rc = divide(solver, step, board);
	else
		rc = search(solver, step, board);
	return rc ? rc : sb_step_send(step, solver->master, make_message(PIECE_DONE));
}

static int solver_advance(void *state, struct sb_step *step, const struct sb_event *events,
			  uint32_t count)
{
	const struct solver *solver = state;
	int rc = 0;

	if (!sb_actor_only_messages(events, count))
		return -ECANCELED;
	for (uint32_t i = 0; i < count && !rc; i++) {
		if (kind_of(events[i].data) == STOP) {
			rc = sb_step_send(step, solver->master, make_message(STOPPED));
			return rc ? rc : SB_DONE;
		}
		rc = work(solver, step, to_board(events[i].data));
	}
	return rc ? rc : SB_IDLE;
}

SB_FAILURE_STEP(solver)

static const struct sb_process_ops solver_ops = {
	.name = "solver",
	.state_bytes = sizeof(struct solver),
	.init = solver_init,
	.step = solver_step,
};

/* ---- the master ---- */

struct master {
	struct data *data;
	uint64_t limit;
	uint32_t queens;
	uint32_t threshold;
	uint32_t solvers;
	uint32_t stopped; /* solvers */
	bool spawned;
	bool stopping;
	sb_pid solver[SOLVERS_MAX];
};

SB_ACTOR_INIT(master_init, struct master)

static int give(struct master *master, struct sb_step *step, union sb_value piece)
{
	const uint64_t turn = master->data->given % master->solvers;

	if (master->stopping)
		return 0;
	master->data->given++;
	return sb_step_send(step, master->solver[turn], piece);
}

static int spawn_all(struct master *master, struct sb_step *step)
{
	const struct board empty = { .rows = 0 };
	struct solver solver = { .data = master->data,
				 .master = sb_step_self(step),
				 .queens = master->queens,
				 .threshold = master->threshold };
	int rc = 0;

	SB_CHECK(master->solvers, >, 0);
	for (uint32_t i = 0; i < master->solvers && !rc; i++)
		rc = sb_step_spawn(step, &solver_ops, "main", sb_value_ptr(&solver),
				   &master->solver[i]);
	master->spawned = true;
	return rc ? rc : give(master, step, from_board(&empty));
}

static int stop_all(struct master *master, struct sb_step *step)
{
	int rc = 0;

	if (master->stopping)
		return 0;
	master->stopping = true;
	for (uint32_t i = 0; i < master->solvers && !rc; i++)
		rc = sb_step_send(step, master->solver[i], make_message(STOP));
	return rc;
}

static int on_message(struct master *master, struct sb_step *step, union sb_value message)
{
	struct data *data = master->data;

	switch (kind_of(message)) {
	case WORK:
		return give(master, step, message);
	case SOLUTION:
		return ++data->solutions == master->limit ? stop_all(master, step) : 0;
	case PIECE_DONE:
		return ++data->done == data->given ? stop_all(master, step) : 0;
	case STOPPED:
		master->stopped++;
		return 0;
	case STOP:
		break;
	}
	return -EPROTO;
}

static int master_advance(void *state, struct sb_step *step, const struct sb_event *events,
			  uint32_t count)
{
	struct master *master = state;
	int rc = 0;

	if (!sb_actor_only_messages(events, count))
		return -ECANCELED;
	if (!master->spawned)
		rc = spawn_all(master, step);
	for (uint32_t i = 0; i < count && !rc; i++)
		rc = on_message(master, step, events[i].data);
	if (rc)
		return rc;
	return master->stopped == master->solvers ? SB_DONE : SB_IDLE;
}

SB_FAILURE_STEP(master)

static const struct sb_process_ops master_ops = {
	.name = "master",
	.state_bytes = sizeof(struct master),
	.init = master_init,
	.step = master_step,
};

/* ---- the workload ---- */

static int start(struct sb_workload_run *run)
{
	struct master master = {
		.data = run->data,
		.limit = run->param[LIMIT],
		.queens = (uint32_t)run->param[QUEENS],
		.threshold = (uint32_t)run->param[THRESHOLD],
		.solvers = (uint32_t)run->param[SOLVERS],
	};

	*master.data = (struct data){ .solutions = 0 };
	sb_failure_clear(run);
	return sb_scheduler_submit(run->scheduler, &master_ops, "main", sb_value_ptr(&master),
				   NULL);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return sb_min_u64(run->param[LIMIT], solutions[run->param[QUEENS]]);
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct data *data = run->data;
	const uint64_t all = solutions[run->param[QUEENS]];
	const uint64_t least = operations(run);

	if (!sb_failure_check(run, why, why_bytes))
		return false;
	if (data->solutions >= least && data->solutions <= all && data->done == data->given)
		return true;
	snprintf(why, why_bytes,
		 "%" PRIu64 " solutions, expected %" PRIu64 " to %" PRIu64 "; %" PRIu64
		 " pieces of work done of %" PRIu64,
		 data->solutions, least, all, data->done, data->given);
	return false;
}

const struct sb_workload sb_workload_savina_nqueenk = {
	.name = "savina-nqueenk",
	.operation = "solution",
	.doc = "solutions of the N queens, searched by solvers of one master",
	.source = SB_SAVINA("28: N-Queens first K Solutions"),
	.params = params,
	.data_bytes = sizeof(struct data),
	.start = start,
	.operations = operations,
	.check = check,
};
