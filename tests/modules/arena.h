/* arena.h - shared by the tests test_arena, test_arena_nodes. */
#ifndef SB_TESTS_ARENA_H
#define SB_TESTS_ARENA_H

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/memory/arena.h"
#include "core/state.h"
#include "tests/script.h"

#define NOT_THERE 1000 /* a node that no machine here has */

/* The node that memory comes from which this thread touches first. */
static inline int own_node(void)
{
	unsigned int node = 0;

	return syscall(SYS_getcpu, NULL, &node, NULL) ? 0 : (int)node;
}

/* In some containers and emulators the kernel does not answer. */
static inline bool can_locate(void)
{
	static bool is_told;
	struct sb_page_count count = { 0 };
	const int rc = sb_pages_locate(&count, 1, own_node(), &count);

	if (rc && !is_told)
		print_message("# skipped: where pages lie: %s\n", strerror(-rc));
	is_told |= rc != 0;
	return !rc;
}

#endif
