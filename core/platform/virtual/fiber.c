#include "core/platform/virtual/fiber.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

/* The C interface of Boost.Context; its header is C++. */
struct transfer {
	void *from;
	void *data;
};
struct transfer jump_fcontext(void *to, void *data);
void *make_fcontext(void *stack_end, size_t bytes, void (*entry)(struct transfer));

/* Below each stack, so that one that overflows ends the program. */
#define GUARD_BYTES 4096

static struct sb_fiber *entered;

static void begin(struct transfer transfer)
{
	((struct sb_fiber *)transfer.data)->context = transfer.from;
	entered->entry();
	abort();
}

int sb_fiber_init(struct sb_fiber *fiber, size_t stack_bytes, void (*entry)(void))
{
	char *stack = mmap(NULL, stack_bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

	if (stack == MAP_FAILED)
		return -ENOMEM;
	if (mprotect(stack, GUARD_BYTES, PROT_NONE)) {
		munmap(stack, stack_bytes);
		return -ENOMEM;
	}
	*fiber = (struct sb_fiber){ .stack = stack, .bytes = stack_bytes, .entry = entry };
	fiber->context = make_fcontext(stack + stack_bytes, stack_bytes, begin);
	return 0;
}

void sb_fiber_fini(struct sb_fiber *fiber)
{
	munmap(fiber->stack, fiber->bytes);
}

void sb_fiber_switch(struct sb_fiber *from, struct sb_fiber *to)
{
	struct transfer transfer;

	entered = to;
	transfer = jump_fcontext(to->context, from);
	((struct sb_fiber *)transfer.data)->context = transfer.from;
}
