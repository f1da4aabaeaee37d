/*
 * savina-banking - Savina benchmark 15, Bank transaction: "ask".
 *
 * A teller, --accounts accounts, --transfers transfers, all sent at once. The
 * teller tells the source to credit; the source takes the amount off, tells the
 * destination to debit, and stashes everything until the destination has
 * replied; then it replies to the teller. The source is one of the first 80 % of
 * the accounts, the destination has a higher number, so no circle waits for
 * itself. When all transfers are replied the teller stops the accounts. One
 * operation is one transfer, of four messages.
 *
 * Different from Savina: money is whole units, so that nothing is rounded, and
 * every account begins with the same 10^12; an account handles what it has
 * stashed at once, where Savina's sends itself one stashed message after the
 * other; the teller sends in steps of 256 messages. Source, destination and
 * amount are drawn as in Savina, from the same sequence.
 *
 * Check: every transfer has been replied exactly once; each account's balance is
 * that of a sequential replay, in which the order of transfers does not matter;
 * the sum of all balances is what it was.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "workloads/lib/actor.h"
#include "workloads/lib/failure.h"
#include "workloads/lib/savina.h"
#include "workloads/lib/stash.h"

enum { ACCOUNTS, TRANSFERS };

static const struct sb_param params[] = {
	[ACCOUNTS] = { "accounts", 1000, 10, 1 << 16, NULL, "accounts" },
	[TRANSFERS] = { "transfers", 50000, 1, 1 << 24, NULL, "transfers" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

#define SEED		123456
#define INITIAL_BALANCE INT64_C(1000000000000)
#define AMOUNT_MAX	1000000

/* A message is one of these, and the number of the transfer. */
enum kind { CREDIT, DEBIT, DEBITED, REPLY, STOP };

#define KIND_SHIFT 56

struct transfer {
	uint32_t source;
	uint32_t destination;
	int64_t amount;
	uint32_t replies; /* that the teller got */
};

struct account {
	sb_pid pid;
	int64_t balance; /* when it stopped */
	int64_t expected;
};

struct data {
	struct sb_failure failure;
	uint64_t accounts;
	uint64_t transfers;
	struct account *account;
	struct transfer *transfer; /* the teller writes one before it sends it */
	sb_pid teller;
};

static union sb_value make_message(enum kind kind, uint64_t transfer)
{
	return sb_value_u64((uint64_t)kind << KIND_SHIFT | transfer);
}

static enum kind kind_of(union sb_value message)
{
	return (enum kind)(message.u64 >> KIND_SHIFT);
}

static uint64_t transfer_of(union sb_value message)
{
	return message.u64 & ((UINT64_C(1) << KIND_SHIFT) - 1);
}

static struct transfer draw(struct sb_savina_random *random, uint32_t accounts)
{
	const uint32_t sources = accounts / 10 * 8;
	uint32_t source;
	uint32_t further;

	SB_CHECK(sources, >, 0);
	source = sb_savina_random_below(random, sources);
	further = sb_savina_random_below(random, accounts - source);
	if (!further)
		further = 1;
	return (struct transfer){
		.source = source,
		.destination = source + further,
		.amount = AMOUNT_MAX / (sb_savina_random_next(random) + 1),
	};
}

/* ---- an account ---- */

struct keeper {
	struct data *data;
	uint64_t number;
	int64_t balance;
	struct sb_stash stash;
	bool awaiting;	  /* the destination of a transfer */
	uint64_t awaited; /* which transfer */
	bool stopped;
};

SB_ACTOR_INIT(keeper_init, struct keeper)

static void keeper_close(void *state)
{
	sb_stash_fini(&((struct keeper *)state)->stash);
}

static int credit(struct keeper *keeper, struct sb_step *step, uint64_t number)
{
	const struct data *data = keeper->data;
	const struct transfer *transfer = &data->transfer[number];

	if (transfer->source != keeper->number)
		return -EPROTO;
	keeper->balance -= transfer->amount;
	keeper->awaiting = true;
	keeper->awaited = number;
	return sb_step_send(step, data->account[transfer->destination].pid,
			    make_message(DEBIT, number));
}

static int debit(struct keeper *keeper, struct sb_step *step, uint64_t number)
{
	const struct data *data = keeper->data;
	const struct transfer *transfer = &data->transfer[number];

	if (transfer->destination != keeper->number)
		return -EPROTO;
	keeper->balance += transfer->amount;
	return sb_step_send(step, data->account[transfer->source].pid,
			    make_message(DEBITED, number));
}

static int stop(struct keeper *keeper)
{
	keeper->data->account[keeper->number].balance = keeper->balance;
	keeper->stopped = true;
	return 0;
}

/* A message while no reply is awaited. */
static int handle(struct keeper *keeper, struct sb_step *step, union sb_value message)
{
	switch (kind_of(message)) {
	case CREDIT:
		return credit(keeper, step, transfer_of(message));
	case DEBIT:
		return debit(keeper, step, transfer_of(message));
	case STOP:
		return stop(keeper);
	case DEBITED:
	case REPLY:
		break;
	}
	return -EPROTO;
}

static int on_debited(struct keeper *keeper, struct sb_step *step, uint64_t number)
{
	if (!keeper->awaiting || number != keeper->awaited)
		return -EPROTO;
	keeper->awaiting = false;
	return sb_step_send(step, keeper->data->teller, make_message(REPLY, number));
}

static int handle_stashed(struct keeper *keeper, struct sb_step *step)
{
	int rc = 0;

	while (!rc && !keeper->awaiting && !keeper->stopped && !sb_stash_is_empty(&keeper->stash))
		rc = handle(keeper, step, sb_stash_take(&keeper->stash));
	return rc;
}

static int keeper_advance(void *state, struct sb_step *step, const struct sb_event *events,
			  uint32_t count)
{
	struct keeper *keeper = state;
	int rc = 0;

	if (!sb_actor_only_messages(events, count))
		return -ECANCELED;
	for (uint32_t i = 0; i < count && !rc; i++) {
		const union sb_value message = events[i].data;

		if (kind_of(message) == DEBITED)
			rc = on_debited(keeper, step, transfer_of(message));
		else
			rc = sb_stash_put(&keeper->stash, message);
	}
	if (!rc)
		rc = handle_stashed(keeper, step);
	if (rc)
		return rc;
	return keeper->stopped ? SB_DONE : SB_IDLE;
}

SB_FAILURE_STEP(keeper)

static const struct sb_process_ops keeper_ops = {
	.name = "account",
	.state_bytes = sizeof(struct keeper),
	.init = keeper_init,
	.step = keeper_step,
	.close = keeper_close,
};

/* ---- the teller ---- */

struct teller {
	struct data *data;
	struct sb_savina_random random;
	bool opened;
	uint64_t sent;
	uint64_t replied;
};

/* Transfers of one step. */
#define CHUNK 256

SB_ACTOR_INIT(teller_init, struct teller)

static int open_accounts(struct teller *teller, struct sb_step *step)
{
	struct data *data = teller->data;
	int rc = 0;

	data->teller = sb_step_self(step);
	for (uint64_t i = 0; i < data->accounts && !rc; i++) {
		struct keeper keeper = { .data = data, .number = i, .balance = INITIAL_BALANCE };

		rc = sb_step_spawn(step, &keeper_ops, "main", sb_value_ptr(&keeper),
				   &data->account[i].pid);
	}
	teller->opened = true;
	return rc;
}

static int send_some(struct teller *teller, struct sb_step *step)
{
	struct data *data = teller->data;
	const uint64_t end = sb_min_u64(data->transfers, teller->sent + CHUNK);
	int rc = 0;

	for (; teller->sent < end && !rc; teller->sent++) {
		struct transfer *transfer = &data->transfer[teller->sent];

		*transfer = draw(&teller->random, (uint32_t)data->accounts);
		rc = sb_step_send(step, data->account[transfer->source].pid,
				  make_message(CREDIT, teller->sent));
	}
	if (rc)
		return rc;
	return end < data->transfers ? SB_CONTINUE : SB_IDLE;
}

static int on_reply(struct teller *teller, union sb_value message)
{
	if (kind_of(message) != REPLY || transfer_of(message) >= teller->sent)
		return -EPROTO;
	teller->data->transfer[transfer_of(message)].replies++;
	teller->replied++;
	return 0;
}

static int close_accounts(const struct data *data, struct sb_step *step)
{
	int rc = 0;

	for (uint64_t i = 0; i < data->accounts && !rc; i++)
		rc = sb_step_send(step, data->account[i].pid, make_message(STOP, 0));
	return rc ? rc : SB_DONE;
}

static int teller_advance(void *state, struct sb_step *step, const struct sb_event *events,
			  uint32_t count)
{
	struct teller *teller = state;
	int rc = 0;

	if (!sb_actor_only_messages(events, count))
		return -ECANCELED;
	for (uint32_t i = 0; i < count && !rc; i++)
		rc = on_reply(teller, events[i].data);
	if (!rc && !teller->opened)
		rc = open_accounts(teller, step);
	if (rc)
		return rc;
	if (teller->replied == teller->data->transfers)
		return close_accounts(teller->data, step);
	return send_some(teller, step);
}

SB_FAILURE_STEP(teller)

static const struct sb_process_ops teller_ops = {
	.name = "teller",
	.state_bytes = sizeof(struct teller),
	.init = teller_init,
	.step = teller_step,
};

/* ---- the workload ---- */

static void replay(struct data *data)
{
	struct sb_savina_random random;

	sb_savina_random_seed(&random, SEED);
	for (uint64_t i = 0; i < data->accounts; i++)
		data->account[i].expected = INITIAL_BALANCE;
	for (uint64_t i = 0; i < data->transfers; i++) {
		const struct transfer transfer = draw(&random, (uint32_t)data->accounts);

		data->account[transfer.source].expected -= transfer.amount;
		data->account[transfer.destination].expected += transfer.amount;
	}
}

static void teardown(struct sb_workload_run *run)
{
	struct data *data = run->data;

	free(data->account);
	free(data->transfer);
}

static int setup(struct sb_workload_run *run)
{
	struct data *data = run->data;

	data->accounts = run->param[ACCOUNTS];
	data->transfers = run->param[TRANSFERS];
	data->account = calloc(data->accounts, sizeof(*data->account));
	data->transfer = calloc(data->transfers, sizeof(*data->transfer));
	if (!data->account || !data->transfer) {
		teardown(run);
		return -ENOMEM;
	}
	replay(data);
	return 0;
}

static int start(struct sb_workload_run *run)
{
	struct teller teller = { .data = run->data };

	for (uint64_t i = 0; i < teller.data->accounts; i++)
		teller.data->account[i].balance = 0;
	sb_savina_random_seed(&teller.random, SEED);
	sb_failure_clear(run);
	return sb_scheduler_submit(run->scheduler, &teller_ops, "main", sb_value_ptr(&teller),
				   NULL);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[TRANSFERS];
}

static bool check_balances(const struct data *data, char *why, size_t why_bytes)
{
	int64_t sum = 0;

	for (uint64_t i = 0; i < data->accounts; i++) {
		const struct account *account = &data->account[i];

		sum += account->balance;
		if (account->balance == account->expected)
			continue;
		snprintf(why, why_bytes,
			 "account %" PRIu64 ": balance %" PRId64 ", expected %" PRId64, i,
			 account->balance, account->expected);
		return false;
	}
	if (sum == (int64_t)data->accounts * INITIAL_BALANCE)
		return true;
	snprintf(why, why_bytes, "%" PRId64 " in all, began with %" PRId64 " an account", sum,
		 INITIAL_BALANCE);
	return false;
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct data *data = run->data;

	if (!sb_failure_check(run, why, why_bytes))
		return false;
	for (uint64_t i = 0; i < data->transfers; i++) {
		if (data->transfer[i].replies == 1)
			continue;
		snprintf(why, why_bytes, "transfer %" PRIu64 ": %" PRIu32 " replies, expected one",
			 i, data->transfer[i].replies);
		return false;
	}
	return check_balances(data, why, why_bytes);
}

const struct sb_workload sb_workload_savina_banking = {
	.name = "savina-banking",
	.operation = "transfer",
	.doc = "accounts that wait for each other's replies in transfers",
	.source = SB_SAVINA("15: Bank Transaction"),
	.params = params,
	.data_bytes = sizeof(struct data),
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
