/*
 * threads.h - the kernel's threads, as platform.h describes them: what its types are made
 * of, and what is inline. Included by platform.h alone.
 */
#ifndef SB_CORE_PLATFORM_THREADS_H
#define SB_CORE_PLATFORM_THREADS_H

#include <pthread.h>

#include "core/platform/atomic.h"

struct sb_thread {
	pthread_t handle;
};

struct sb_parker {
	_Atomic(uint32_t) state;
	enum sb_parking parking;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
};

struct sb_gate {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
};

static inline void sb_cpu_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ __volatile__("isb" ::: "memory");
#endif
}

#define sb_straight(kind)	((void)(kind))
#define sb_touch(object, bytes) ((void)(object), (void)sizeof(bytes))

static inline bool sb_cpu_works(uint64_t ns)
{
	(void)ns;
	return false;
}

struct sb_thread_own;
extern _Thread_local struct sb_thread_own sb_thread_own_data;

static inline struct sb_thread_own *sb_thread_own(void)
{
	return &sb_thread_own_data;
}

#endif
