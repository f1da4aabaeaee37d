#include "harness/terminal/interrupts.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#include "harness/terminal/progress.h"

_Atomic(bool) sb_interrupted;

static double seconds_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

/* A wrapper's group kill and its own kill may both arrive: one Ctrl-C. */
#define SAME_INTERRUPT_S 0.5

static void on_interrupt(int signal_number)
{
	static struct timespec first;

	if (!sb_load_rlx(&sb_interrupted)) {
		clock_gettime(CLOCK_MONOTONIC, &first);
		sb_store_rlx(&sb_interrupted, true);
		if (alarm(0))
			(void)alarm(SB_INTERRUPT_S);
	} else if (seconds_since(&first) > SAME_INTERRUPT_S) {
		sb_progress_hide_in_handler();
		signal(signal_number, SIG_DFL);
		raise(signal_number);
	}
}

/* The first Ctrl-C ends the run in order; a second one ends the program. So do
 * a signal to end and the loss of the terminal, unless nohup has had that ignored. */
void sb_interrupts_catch(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = on_interrupt };
	struct sigaction before;

	/* One at a time, so that first is written before it is read. */
	for (size_t i = 0; i < SB_ARRAY_SIZE(signals); i++)
		sigaddset(&action.sa_mask, signals[i]);
	for (size_t i = 0; i < SB_ARRAY_SIZE(signals); i++) {
		sigaction(signals[i], NULL, &before);
		if (signals[i] != SIGHUP || before.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
}
