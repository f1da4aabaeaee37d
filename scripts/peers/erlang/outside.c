/*
 * outside.c - a thread that is none of Erlang's scheduler wakes a process.
 *
 * NIFs of sb_peer.erl. The thread sleeps, sends the process the atom wake, and waits
 * for it to call outside_woken(), so many times; then it sends it the atom done.
 * Latency: from just before the message is sent to the first instruction of
 * outside_woken(), which the process calls first.
 */
#include <erl_nif.h>
#include <errno.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static struct {
	ErlNifTid thread;
	ErlNifPid process;
	unsigned int wakes;
	unsigned int pause_ns;
	int64_t *latency_ns;
	int64_t woken_ns;
	unsigned int answers;
	sem_t woken;
} outside;

static int64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void sleep_ns(unsigned int ns)
{
	struct timespec left = { .tv_nsec = ns };

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

static void *wake_times(void *unused)
{
	ErlNifEnv *env = enif_alloc_env();
	const ERL_NIF_TERM wake = enif_make_atom(env, "wake");
	const ERL_NIF_TERM done = enif_make_atom(env, "done");

	(void)unused;
	for (unsigned int i = 0; i < outside.wakes; i++) {
		int64_t begin_ns;

		sleep_ns(outside.pause_ns);
		begin_ns = clock_ns();
		enif_send(NULL, &outside.process, NULL, wake);
		while (sem_wait(&outside.woken))
			;
		outside.latency_ns[i] = outside.woken_ns - begin_ns;
	}
	enif_send(NULL, &outside.process, NULL, done);
	enif_free_env(env);
	return NULL;
}

/* outside_begin(Process, Wakes, PauseNs) -> ok */
static ERL_NIF_TERM outside_begin(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	static char name[] = "outside";

	(void)argc;
	if (!enif_get_local_pid(env, argv[0], &outside.process) ||
	    !enif_get_uint(env, argv[1], &outside.wakes) ||
	    !enif_get_uint(env, argv[2], &outside.pause_ns))
		return enif_make_badarg(env);
	outside.latency_ns = calloc(outside.wakes, sizeof(int64_t));
	outside.answers = 0;
	if (!outside.latency_ns || sem_init(&outside.woken, 0, 0) ||
	    enif_thread_create(name, &outside.thread, wake_times, NULL, NULL))
		return enif_raise_exception(env, enif_make_atom(env, "enomem"));
	return enif_make_atom(env, "ok");
}

static ERL_NIF_TERM outside_woken(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	outside.woken_ns = clock_ns();
	(void)argc;
	(void)argv;
	outside.answers++;
	sem_post(&outside.woken);
	return enif_make_atom(env, "ok");
}

/* outside_end() -> {how many answers there were, [latency in ns]}; after done. */
static ERL_NIF_TERM outside_end(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM list = enif_make_list(env, 0);

	(void)argc;
	(void)argv;
	enif_thread_join(outside.thread, NULL);
	for (unsigned int i = outside.wakes; i > 0; i--)
		list = enif_make_list_cell(env, enif_make_int64(env, outside.latency_ns[i - 1]),
					   list);
	free(outside.latency_ns);
	sem_destroy(&outside.woken);
	return enif_make_tuple2(env, enif_make_uint(env, outside.answers), list);
}

static ErlNifFunc functions[] = {
	{ "outside_begin", 3, outside_begin, 0 },
	{ "outside_woken", 0, outside_woken, 0 },
	{ "outside_end", 0, outside_end, 0 },
};

ERL_NIF_INIT(sb_peer, functions, NULL, NULL, NULL, NULL)
