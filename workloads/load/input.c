#include "workloads/load/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int check(int fd)
{
	struct stat info;

	if (fstat(fd, &info))
		return -errno;
	/* Without O_NONBLOCK, a pipe waits for its writer; one that has none is
	 * at its end. */
	if (S_ISFIFO(info.st_mode))
		return fcntl(fd, F_SETFL, O_RDONLY) ? -errno : 0;
	if (S_ISDIR(info.st_mode))
		return -EISDIR;
	if (!S_ISREG(info.st_mode))
		return -ENOTSUP;
	return (uint64_t)info.st_size > SB_INPUT_BYTES_MAX ? -EFBIG : 0;
}

/* UTF-8's byte order mark, by some editors. */
static void skip_mark(FILE *in)
{
	static const unsigned char mark[] = { 0xef, 0xbb, 0xbf };
	int n = 0;
	int c = 0;

	while (n < 3 && (c = getc(in)) == mark[n])
		n++;
	if (n < 3)
		ungetc(c, in);
	while (n && n < 3)
		ungetc(mark[--n], in);
}

FILE *sb_input_open(const char *path, int *error)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	FILE *in = NULL;

	*error = fd < 0 ? -errno : check(fd);
	if (!*error) {
		in = fdopen(fd, "r");
		*error = in ? 0 : -errno;
	}
	if (in)
		skip_mark(in);
	if (!in && fd >= 0)
		close(fd);
	return in;
}

const char *sb_input_error(int error)
{
	return error == -ENOTSUP ? "not a file" : strerror(-error);
}
