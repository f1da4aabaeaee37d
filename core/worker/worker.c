/*
 * worker.c - the loop of a worker: which process it runs next.
 *
 * The order is own deque, own inject queue, global queue, those that continue,
 * other workers. On a tick each kind of queue gets its turns first, so that
 * nothing starves behind a LIFO.
 */
#include "core/worker/worker.h"

#include "core/process/step.h"
#include "core/state.h"
#include "core/wake/publish.h"
#include "core/worker/spin.h"
#include "core/worker/take.h"
#include "core/worker/tick.h"

static struct sb_process *take_batch(struct sb_worker *w)
{
	struct sb_process *p = sb_take_inject(w, w->taken_max);

	if (!p)
		p = sb_take_global(w, w->taken_max);
	if (p)
		sb_announce_rest(w);
	return p;
}

static struct sb_process *next_process(struct sb_worker *w)
{
	struct sb_process *p = w->next;

	w->next = NULL;
	if (SB_UNLIKELY(sb_worker_steps(w) >= sb_load_rlx(&w->tick.due)))
		p = sb_take_on_tick(w, p);
	else if (p)
		sb_counter_add(&w->counters.direct_steps, 1);
	if (!p)
		p = sb_take_newest(w);
	if (!p)
		p = take_batch(w);
	if (!p)
		p = sb_take_cold(w);
	if (SB_UNLIKELY(w->untold.what))
		sb_tell_untold(w, p);
	return p;
}

void sb_worker_loop(struct sb_worker *w)
{
	sb_come_online(w, w->tick.now_ns);
	while (!sb_is_halted(w->scheduler)) {
		struct sb_process *p = next_process(w);

		if (!p)
			p = sb_search(w);
		if (p)
			sb_worker_run(w, p);
	}
	if (w->next)
		sb_route_requeue(w, w->next, false);
	w->next = NULL;
}
