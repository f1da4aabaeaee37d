/* events.c - checks of the events that a process gets. */
#include <errno.h>

#include "tests/torture/driver.h"
#include "tests/torture/host.h"

/* ---- messages ---- */

/* Messages of one sender arrive in the order in which it sent them. */
static void check_order(struct actor *actor, const struct parcel *parcel)
{
	const uint32_t place = parcel->stream % ACTOR_STREAMS;

	if (!parcel->stream)
		return;
	/* Another sender used this place: its last message is forgotten, which loses a check. */
	if (actor->last[place].stream != parcel->stream) {
		actor->last[place].stream = parcel->stream;
		actor->last[place].sequence = 0;
	}
	expect(parcel->sequence > actor->last[place].sequence,
	       "message %lu of sender %u came after message %lu", (unsigned long)parcel->sequence,
	       parcel->stream, (unsigned long)actor->last[place].sequence);
	actor->last[place].sequence = parcel->sequence;
}

static void take_message(struct actor *actor, const struct sb_event *event)
{
	struct parcel *parcel = event->data.ptr;
	const struct life *life = actor->life;

	expect(!parcel->is_completion, "a completion came as a message");
	expect(parcel->scheduler == get(&life->scheduler) && parcel->pid == get(&life->pid),
	       "process %u (PID %lx) got a message for PID %lx of scheduler %u", life->number,
	       (unsigned long)get(&life->pid), (unsigned long)parcel->pid, parcel->scheduler);
	check_order(actor, parcel);
	parcel_end(parcel, PARCEL_RECEIVED);
	actor->waits = false;
}

/* ---- completions of registered commands: tags below BUILTIN_TAGS ---- */

static void take_registered(struct actor *actor, const struct sb_event *event)
{
	struct parcel *parcel = event->data.ptr;
	const uint64_t tag = event->tag;

	expect(tag != TAG_NEVER, "a yield that nobody completes was completed");
	if (parcel) {
		expect(!event->error, "a result came with the error %d", event->error);
		expect(parcel->is_completion, "a message came as a completion");
		expect(parcel->life == actor->life->number,
		       "process %u got a completion of process %u", actor->life->number,
		       parcel->life);
		parcel_end(parcel, PARCEL_RECEIVED);
	} else {
		expect(event->error == HANDLER_ERROR || event->error == COMPLETION_ERROR ||
			       event->error == -ENOSYS ||
			       (event->error == -ENOMEM && get(&world->refuses_memory)),
		       "a yield was completed with the error %d", event->error);
	}
	if (tag == TAG_TWICE)
		return;
	expect(tag < TAGS, "a completion has the tag %lx, which no yield had", (unsigned long)tag);
	expect(actor->owed[tag], "tag %lu had more completions than yields", (unsigned long)tag);
	actor->owed[tag]--;
	actor->owed_all--;
}

/* ---- completions of built-in commands ---- */

static bool lacks_memory(const struct sb_event *event)
{
	return event->error == -ENOMEM && get(&world->refuses_memory);
}

static void take_sleep(struct actor *actor, const struct sb_event *event)
{
	for (uint32_t i = 0; i < ACTOR_TIMERS; i++) {
		if (actor->sleep_tag[i] != event->tag)
			continue;
		expect(!event->error || lacks_memory(event), "a sleep completed with %d",
		       event->error);
		expect(event->error || host_now_ns() >= actor->sleep_until_ns[i],
		       "a sleep ended too early");
		actor->sleep_tag[i] = 0;
		actor->owed_all--;
		return;
	}
	model_fail("process %u got the completion of a sleep (tag %lx) that it did not wait for",
		   actor->life->number, (unsigned long)event->tag);
}

static struct actor_timer *find_timer(struct actor *actor, uint64_t tag)
{
	for (uint32_t i = 0; i < ACTOR_TIMERS; i++) {
		if (actor->timer[i].state != TIMER_FREE && actor->timer[i].tag == tag)
			return &actor->timer[i];
	}
	model_fail("process %u got an event of a timer (tag %lx) that it has not",
		   actor->life->number, (unsigned long)tag);
}

/* A process waits for the first event of each timer, unless that is far away. */
static void timer_is_settled(struct actor *actor, struct actor_timer *timer)
{
	if (!timer->is_far)
		actor->owed_all--;
	timer->is_far = true;
}

static void take_timer_start(struct actor *actor, const struct sb_event *event)
{
	struct actor_timer *timer = find_timer(actor, event->tag);

	actor->owed_all--;
	expect(timer->state == TIMER_ASKED, "a timer was started twice");
	expect(!event->error || lacks_memory(event) ||
		       (event->error == -EINVAL && timer->is_ticker && timer->delay_ns < 1024),
	       "a timer start completed with %d", event->error);
	timer->id = event->data.u64;
	timer->state = TIMER_RUNS;
	/* The event of a timer may come before its start completes. */
	if (event->error || (timer->fired && !timer->is_ticker))
		timer->state = TIMER_FREE;
	if (event->error)
		timer_is_settled(actor, timer);
}

static void take_timer(struct actor *actor, const struct sb_event *event)
{
	struct actor_timer *timer = find_timer(actor, event->tag);
	const uint64_t passed_ns = host_now_ns() - timer->start_ns;

	timer->fired++;
	timer->periods += event->data.u64;
	expect(event->data.u64, "a timer's event says that no period has passed");
	expect(!event->error, "a timer's event has the error %d", event->error);
	expect(timer->is_ticker || timer->fired == 1, "a timer fired twice");
	expect(passed_ns >= timer->delay_ns, "a timer fired too early");
	expect(!timer->is_ticker || timer->periods <= passed_ns / timer->delay_ns,
	       "a ticker says that %lu periods have passed, it can be %lu",
	       (unsigned long)timer->periods, (unsigned long)(passed_ns / timer->delay_ns));
	if (timer->fired == 1)
		timer_is_settled(actor, timer);
	/* If a stop is under way, the timer stays until the stop has completed. */
	if (!timer->is_ticker && timer->state == TIMER_RUNS)
		timer->state = TIMER_FREE;
}

static void take_timer_stop(struct actor *actor, const struct sb_event *event)
{
	struct actor_timer *timer = find_timer(actor, event->tag - 1);

	actor->owed_all--;
	expect(timer->state == TIMER_STOPS, "a timer that was not stopped said so");
	expect(!event->error || event->error == -ENOENT || lacks_memory(event),
	       "a timer stop completed with %d", event->error);
	timer->state = TIMER_RUNS;
	if (lacks_memory(event))
		return;
	if (event->error) {
		expect(!timer->is_ticker, "a ticker that runs was not found by its stop");
		expect(timer->delay_ns < FAR_NS, "a timer that is far away was not found");
		/* The timer fired: its event has arrived or will. */
		timer->must_fire = true;
		if (timer->fired)
			timer->state = TIMER_FREE;
		return;
	}
	expect(timer->is_ticker || !timer->fired, "a timer that had fired was stopped");
	if (!timer->fired)
		timer_is_settled(actor, timer);
	/* Events of a ticker may still arrive, so it keeps its place. */
	timer->state = timer->is_ticker ? TIMER_OVER : TIMER_FREE;
}

static struct actor_monitor *find_monitor(struct actor *actor, uint64_t tag)
{
	return &actor->monitor[tag % ACTOR_MONITORS];
}

static void take_monitor(struct actor *actor, const struct sb_event *event)
{
	struct actor_monitor *monitor = find_monitor(actor, event->tag >> TAG_SHIFT);

	actor->owed_all--;
	expect(!event->error || event->error == -ESRCH ||
		       (event->error == -EINVAL && monitor->pid == get(&actor->life->pid)) ||
		       lacks_memory(event),
	       "a monitor completed with %d", event->error);
	if (monitor->state == MONITOR_OVER) {
		expect(!event->error, "an exit event came, and the monitor failed with %d",
		       event->error);
		monitor->state = MONITOR_FREE;
	} else {
		monitor->state = event->error ? MONITOR_FREE : MONITOR_ON;
	}
}

static void take_unmonitor(struct actor *actor, const struct sb_event *event)
{
	struct actor_monitor *monitor = find_monitor(actor, event->tag >> TAG_SHIFT);

	actor->owed_all--;
	expect(!event->error || event->error == -ENOENT || lacks_memory(event),
	       "an unmonitor completed with %d", event->error);
	if (monitor->state == MONITOR_OVER) {
		expect(event->error, "an exit event came although its monitor was taken away");
		monitor->state = MONITOR_FREE;
	} else if (!event->error) {
		monitor->state = MONITOR_FREE; /* no event will come */
	} else {
		monitor->state = MONITOR_ON; /* it is on its way */
	}
}

static void take_exit(struct actor *actor, const struct sb_event *event)
{
	const uint32_t number = add(&world->reports, 1);

	if (number < REPORTS_MAX)
		world->report[number] =
			(struct exit_report){ .pid = event->tag,
					      .result = event->data.u64,
					      .error = event->error,
					      .scheduler = get(&actor->life->scheduler) };
	for (uint32_t i = 0; i < ACTOR_MONITORS; i++) {
		struct actor_monitor *monitor = &actor->monitor[i];

		if (monitor->pid != event->tag || monitor->state == MONITOR_FREE ||
		    monitor->state == MONITOR_OVER)
			continue;
		monitor->state = monitor->state == MONITOR_ON ? MONITOR_FREE : MONITOR_OVER;
		return;
	}
	model_fail("process %u got an exit event of PID %lx, which it does not monitor",
		   actor->life->number, (unsigned long)event->tag);
}

static void take_send(struct actor *actor, const struct sb_event *event)
{
	actor->owed_all--;
	expect(!event->error || event->error == -ESRCH || event->error == -EWOULDBLOCK ||
		       lacks_memory(event),
	       "a send completed with %d", event->error);
	parcel_sent(actor->send_number, event->error);
	actor->send_tag = 0;
}

static void take_spawn(struct actor *actor, const struct sb_event *event)
{
	struct life *life = actor->spawned;

	actor->owed_all--;
	actor->spawn_tag = 0;
	life_submitted(life, event->error);
	if (event->error)
		return;
	expect(event->data.u64 == get(&life->pid), "a spawn has the result %lx",
	       (unsigned long)event->data.u64);
	put(&world->slot[actor->spawn_slot], life->number + 1);
}

/* ---- all ---- */

static void take_builtin(struct actor *actor, const struct sb_event *event)
{
	expect(event->tag >> TAG_LIFE_SHIFT == actor->life->number + 1,
	       "process %u got a completion of process %lu", actor->life->number,
	       (unsigned long)(event->tag >> TAG_LIFE_SHIFT) - 1);
	switch (event->tag & TAG_WHAT) {
	case WHAT_SLEEP:
		take_sleep(actor, event);
		break;
	case WHAT_TIMER:
		take_timer_start(actor, event);
		break;
	case WHAT_TIMER_STOP:
		take_timer_stop(actor, event);
		break;
	case WHAT_MONITOR:
		take_monitor(actor, event);
		break;
	case WHAT_UNMONITOR:
		take_unmonitor(actor, event);
		break;
	case WHAT_SEND:
		take_send(actor, event);
		break;
	case WHAT_SPAWN:
		take_spawn(actor, event);
		break;
	case WHAT_LINK:
		actor->owed_all--;
		expect(!event->error || event->error == -ESRCH || event->error == -EEXIST ||
			       event->error == -EINVAL || lacks_memory(event),
		       "a link completed with %d", event->error);
		actor->is_linked = !event->error || event->error == -EEXIST;
		break;
	default: /* of what may find nobody */
		actor->owed_all--;
		expect(!event->error || event->error == -ESRCH || event->error == -ENOENT ||
			       lacks_memory(event),
		       "a built-in command completed with %d", event->error);
	}
}

void actor_take(struct actor *actor, struct sb_step *step, const struct sb_event *event)
{
	(void)step;
	switch (event->type) {
	case SB_EVENT_MESSAGE:
		take_message(actor, event);
		break;
	case SB_EVENT_COMPLETION:
		if (event->tag < BUILTIN_TAGS)
			take_registered(actor, event);
		else
			take_builtin(actor, event);
		break;
	case SB_EVENT_EXIT:
		take_exit(actor, event);
		break;
	case SB_EVENT_TIMER:
		expect(event->tag >> TAG_LIFE_SHIFT == actor->life->number + 1,
		       "process %u got an event of a timer of process %lu", actor->life->number,
		       (unsigned long)(event->tag >> TAG_LIFE_SHIFT) - 1);
		take_timer(actor, event);
		break;
	case SB_EVENT_CANCEL:
		expect(!actor->cancels++, "process %u got two cancel events", actor->life->number);
		actor->waits = false;
		break;
	default:
		model_fail("a step got an event of type %u", event->type);
	}
}
