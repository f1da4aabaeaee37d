/*
 * echo.c - a TCP server on the loopback address that sends back what it gets: a process for each
 * connection, and an epoll loop that serves the command "tell me when this socket is ready".
 *
 * Prints the port, and ends when its standard input does.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <schedbench.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define SOCKETS_MAX 65536
#define POLL	    1 /* arg.u64: the socket, and above it the events to wait for */

/* ---- the loop ---- */

static struct loop {
	struct sb_scheduler *scheduler;
	int epoll, listening, wakeup;
	struct sb_completer waiting[SOCKETS_MAX]; /* by socket */
	bool is_owned[SOCKETS_MAX];		  /* by a connection, which closes it */
} loop;

static int watch(int fd, uint32_t events)
{
	struct epoll_event event = { .events = events | EPOLLONESHOT, .data.fd = fd };

	if (!epoll_ctl(loop.epoll, EPOLL_CTL_MOD, fd, &event) ||
	    (errno == ENOENT && !epoll_ctl(loop.epoll, EPOLL_CTL_ADD, fd, &event)))
		return 0;
	return -errno;
}

/* A socket is waited for by its own process alone, and that waits for one thing at a time. */
static int handle_poll(void *context, const struct sb_command *command,
		       const struct sb_completer *completer)
{
	const int fd = (int)(uint32_t)command->arg.u64;

	(void)context;
	if (fd < 0 || fd >= SOCKETS_MAX)
		return -EMFILE;
	loop.waiting[fd] = *completer;
	return watch(fd, (uint32_t)(command->arg.u64 >> 32));
}

/* ---- a connection ---- */

struct connection {
	int fd;
	uint32_t filled, sent;
	char buffer[4096];
};

static int init(void *state, const char *method, union sb_value input)
{
	struct connection *c = state;

	(void)method;
	c->fd = (int)input.u64;
	loop.is_owned[c->fd] = true;
	return 0;
}

static int wait_for(const struct connection *c, struct sb_step *step, uint32_t events)
{
	const int rc = sb_step_yield(step, POLL,
				     sb_value_u64((uint64_t)events << 32 | (uint32_t)c->fd), 0);

	return rc ? rc : SB_YIELD;
}

/* Sends what is left. 0: all of it is sent. */
static int send_rest(struct connection *c, struct sb_step *step)
{
	while (c->sent < c->filled) {
		const ssize_t n =
			send(c->fd, c->buffer + c->sent, c->filled - c->sent, MSG_NOSIGNAL);

		if (n < 0)
			return errno == EAGAIN ? wait_for(c, step, EPOLLOUT) : -errno;
		c->sent += (uint32_t)n;
	}
	return 0;
}

static bool is_cancelled(const struct sb_event *events, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (events[i].type == SB_EVENT_CANCEL)
			return true;
	}
	return false;
}

/* Until the socket has nothing more, or no more room. */
static int step_connection(void *state, struct sb_step *step, const struct sb_event *events,
			   uint32_t count)
{
	struct connection *c = state;
	ssize_t n;
	int rc;

	if (is_cancelled(events, count))
		return SB_DONE;
	do {
		rc = send_rest(c, step);
		if (rc)
			return rc;
		n = recv(c->fd, c->buffer, sizeof(c->buffer), 0);
		c->filled = n > 0 ? (uint32_t)n : 0;
		c->sent = 0;
	} while (n > 0);
	if (n < 0 && errno == EAGAIN)
		return wait_for(c, step, EPOLLIN);
	return SB_DONE;
}

static void close_connection(void *state)
{
	close(((struct connection *)state)->fd);
}

static const struct sb_process_ops connection_ops = {
	"connection", sizeof(struct connection), init, step_connection, close_connection,
};

/* ---- the loop's thread ---- */

/* A submission may be refused before init is called, and after. */
static void begin_connection(int fd)
{
	int rc = -EMFILE;

	if (fd < SOCKETS_MAX) {
		loop.is_owned[fd] = false;
		rc = sb_scheduler_submit(loop.scheduler, &connection_ops, "echo",
					 sb_value_u64((uint64_t)fd), NULL);
	}
	if (rc && (fd >= SOCKETS_MAX || !loop.is_owned[fd]))
		close(fd);
}

static void accept_all(void)
{
	int fd;

	while ((fd = accept4(loop.listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
		begin_connection(fd);
	(void)watch(loop.listening, EPOLLIN);
}

static void *run_loop(void *unused)
{
	struct epoll_event event[64];

	for (;;) {
		const int n = epoll_wait(loop.epoll, event, 64, -1);

		for (int i = 0; i < n; i++) {
			const int fd = event[i].data.fd;

			if (fd == loop.wakeup)
				return unused;
			if (fd == loop.listening) {
				accept_all();
			} else {
				const struct sb_completer completer = loop.waiting[fd];

				sb_complete(&completer, sb_value_u64(event[i].events), 0);
			}
		}
	}
}

static int open_port(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t bytes = sizeof(address);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	loop.listening = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	loop.epoll = epoll_create1(EPOLL_CLOEXEC);
	loop.wakeup = eventfd(0, EFD_CLOEXEC);
	if (loop.listening < 0 || loop.epoll < 0 || loop.wakeup < 0 ||
	    bind(loop.listening, (struct sockaddr *)&address, bytes) ||
	    listen(loop.listening, 4096) || watch(loop.listening, EPOLLIN) ||
	    watch(loop.wakeup, EPOLLIN) ||
	    getsockname(loop.listening, (struct sockaddr *)&address, &bytes))
		return -errno;
	printf("%d\n", ntohs(address.sin_port));
	fflush(stdout);
	return 0;
}

static int serve(struct sb_scheduler *s)
{
	pthread_t thread;
	char byte;
	int rc = sb_scheduler_register(s, POLL, handle_poll, NULL);

	rc = rc ? rc : sb_scheduler_start(s, NULL);
	rc = rc ? rc : open_port();
	rc = rc ? rc : -pthread_create(&thread, NULL, run_loop, NULL);
	if (rc)
		return rc;
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	eventfd_write(loop.wakeup, 1);
	pthread_join(thread, NULL);
	/* Those that are open are cancelled. */
	return sb_scheduler_stop(s, UINT64_C(5000000000));
}

int main(void)
{
	struct sb_placement placement;
	struct sb_config config;
	int rc;

	sb_config_init(&config);
	if (sb_placement_here(0, &placement) ||
	    sb_scheduler_create(&loop.scheduler, &config, &placement))
		return 1;
	rc = serve(loop.scheduler);
	sb_scheduler_destroy(loop.scheduler);
	sb_placement_free(&placement);
	return rc != 0;
}
