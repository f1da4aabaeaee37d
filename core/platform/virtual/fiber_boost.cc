/* C++, because the supported interface of Boost.Context is: its C functions are private, and change. */
#include "core/platform/virtual/fiber.h"

#include <boost/context/fiber.hpp>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <sys/mman.h>
#include <utility>

namespace
{

using boost::context::fiber;

/* Below each stack, so that one that overflows ends the program. */
constexpr size_t GUARD_BYTES = 4096;

/* The stack's owner is the struct sb_fiber. */
struct kept_stack {
	void deallocate(boost::context::stack_context &) noexcept
	{
	}
};

/* Of the switch in progress. */
struct sb_fiber *leaving;
struct sb_fiber *entered;

fiber *context_of(struct sb_fiber *of)
{
	static_assert(sizeof(fiber) <= sizeof(of->context) && alignof(fiber) <= alignof(void *),
		      "a fiber of Boost.Context is a handle");
	return reinterpret_cast<fiber *>(of->context);
}

fiber begin(fiber &&previous)
{
	new (context_of(leaving)) fiber(std::move(previous));
	entered->entry();
	std::abort();
}

} // namespace

int sb_fiber_init(struct sb_fiber *made, size_t stack_bytes, void (*entry)(void))
{
	void *memory = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	boost::context::stack_context stack;

	if (memory == MAP_FAILED)
		return -ENOMEM;
	if (mprotect(memory, GUARD_BYTES, PROT_NONE)) {
		munmap(memory, stack_bytes);
		return -ENOMEM;
	}
	stack.sp = static_cast<char *>(memory) + stack_bytes;
	stack.size = stack_bytes;
	made->stack = memory;
	made->bytes = stack_bytes;
	made->entry = entry;
	new (context_of(made)) fiber(std::allocator_arg,
				     boost::context::preallocated(stack.sp, stack_bytes, stack),
				     kept_stack(), begin);
	return 0;
}

/* The context is not destroyed: that would unwind the stack, and its frames of C hold nothing. */
void sb_fiber_fini(struct sb_fiber *fiber)
{
	munmap(fiber->stack, fiber->bytes);
}

void sb_fiber_switch(struct sb_fiber *from, struct sb_fiber *to)
{
	leaving = from;
	entered = to;
	fiber previous = std::move(*context_of(to)).resume();
	new (context_of(leaving)) fiber(std::move(previous));
}
