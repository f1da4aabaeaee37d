/*
 * Monitors that are added and removed while their targets end on other workers.
 *
 * Property: every monitor that was set gives one exit event, or was taken back in time.
 * Method: exact counting. The pools' balance, checked at each destroy, finds entries
 *   that were left behind.
 * Bound: 8 workers, 24 watchers.
 */
#include "tests/process/relations.h"

static int watcher_init(void *state, const char *method, union sb_value input)
{
	struct arena *arena = input.ptr;
	struct watcher *w = state;

	w->arena = arena;
	w->left = arena->operations;
	w->doomed = strcmp(method, "doomed") == 0;
	sb_rng_seed(&w->rng, sb_test_seed() ^ (uintptr_t)state);
	if (w->doomed)
		w->left = (int)sb_rng_below(&w->rng, (uint32_t)arena->operations);
	return 0;
}

static int watch_of(const struct watcher *w, sb_pid pid)
{
	for (int i = 0; i < WATCHES; i++) {
		if (w->watch[i].state != FREE && w->watch[i].pid == pid)
			return i;
	}
	return -1;
}

static void watcher_exit(struct watcher *w, const struct sb_event *e)
{
	const int i = watch_of(w, e->tag);

	assert_uint_in_range(i, 0, WATCHES - 1); /* else nobody asked for it */
	if (e->error)
		CHECK_EQ(e->error, -EIO);
	else
		CHECK_EQ(e->data.u64, e->tag);
	w->exits++;
	switch (w->watch[i].state) {
	case WATCHED:
	case OWED:
		w->watch[i].state = FREE;
		break;
	case REMOVING:
		w->watch[i].state = REMOVING_TOLD;
		break;
	case DOUBLING:
		w->watch[i].state = DOUBLING_TOLD;
		break;
	default:
		fail();
	}
}

/* What the command that the watch waits for has said. */
static void watcher_completion(struct watcher *w, const struct sb_event *e)
{
	enum watch *watch = &w->watch[e->tag].state;

	switch (*watch) {
	case ADDING:
		if (e->error)
			CHECK_EQ(e->error, -ESRCH);
		w->added += !e->error;
		*watch = e->error ? FREE : WATCHED;
		break;
	case DOUBLING:
	case DOUBLING_TOLD:
		if (e->error != -ESRCH)
			CHECK_EQ(e->error, -EEXIST);
		*watch = *watch == DOUBLING ? WATCHED : FREE;
		break;
	case REMOVING:
		if (e->error)
			CHECK_EQ(e->error, -ENOENT);
		w->removed += !e->error;
		*watch = e->error ? OWED : FREE;
		break;
	case REMOVING_TOLD:
		CHECK_EQ(e->error, -ENOENT);
		*watch = FREE;
		break;
	default:
		fail();
	}
}

static void watcher_yield(struct watcher *w, struct sb_step *step, int i, uint32_t command,
			  enum watch state)
{
	w->watch[i].state = state;
	CHECK_EQ(sb_step_yield(step, command, sb_value_u64(w->watch[i].pid), (uint64_t)i), 0);
}

/* One operation on one of its watches, if there is one for it to do. */
static void watcher_act(struct watcher *w, struct sb_step *step, int i)
{
	const sb_pid pid = arena_pick(w->arena, sb_rng_below(&w->rng, SLOTS));

	if (w->watch[i].state == FREE && watch_of(w, pid) < 0) {
		w->watch[i].pid = pid;
		watcher_yield(w, step, i, SB_COMMAND_MONITOR, ADDING);
	} else if (w->watch[i].state == WATCHED) {
		if (sb_rng_below(&w->rng, 4) == 0)
			watcher_yield(w, step, i, SB_COMMAND_MONITOR, DOUBLING);
		else
			watcher_yield(w, step, i, SB_COMMAND_UNMONITOR, REMOVING);
	}
}

static bool watcher_is_over(const struct watcher *w)
{
	for (int i = 0; i < WATCHES; i++) {
		if (w->watch[i].state != FREE)
			return false;
	}
	return true;
}

static int watcher_end(const struct watcher *w)
{
	if (w->doomed)
		return -EINTR;
	if (!watcher_is_over(w))
		return SB_IDLE;
	sb_add_rlx(&w->arena->added, w->added);
	sb_add_rlx(&w->arena->removed, w->removed);
	sb_add_rlx(&w->arena->exits, w->exits);
	return SB_DONE;
}

static int watcher_step(void *state, struct sb_step *step, const struct sb_event *events,
			uint32_t count)
{
	struct watcher *w = state;

	for (uint32_t i = 0; i < count; i++) {
		if (events[i].type == SB_EVENT_EXIT)
			watcher_exit(w, &events[i]);
		else
			watcher_completion(w, &events[i]);
	}
	if (w->left <= 0)
		return watcher_end(w);
	w->left--;
	for (uint32_t n = 1 + sb_rng_below(&w->rng, 3); n; n--)
		watcher_act(w, step, (int)sb_rng_below(&w->rng, WATCHES));
	return SB_CONTINUE;
}

static const struct sb_process_ops watcher_ops = {
	.name = "watcher",
	.state_bytes = sizeof(struct watcher),
	.init = watcher_init,
	.step = watcher_step,
};

static void submit_many(struct arena *a, const struct sb_process_ops *ops, const char *method,
			uint32_t n)
{
	while (n--)
		CHECK_EQ(sb_scheduler_submit(a->f.s, ops, method, sb_value_ptr(a), NULL), 0);
}

static void every_monitor_is_answered(void **state)
{
	static struct arena a;
	const uint32_t successors = SB_SCALE(4000);

	(void)state;
	for (uint32_t workers = 4; workers <= 8; workers += 4) {
		arena_start(&a, workers, successors);
		a.operations = SB_SCALE(4000);
		submit_many(&a, &watcher_ops, "main", 16);
		submit_many(&a, &watcher_ops, "doomed", 8);
		arena_run(&a, successors);
		CHECK_EQ(sb_load_rlx(&a.added), sb_load_rlx(&a.removed) + sb_load_rlx(&a.exits));
		assert_uint_in_range(sb_load_rlx(&a.added), 1, UINT64_MAX);
		CHECK_EQ(sb_load_rlx(&a.cancelled), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_monitor_is_answered),
	};

	return cmocka_run_group_tests_name("relations", tests, NULL, NULL);
}
