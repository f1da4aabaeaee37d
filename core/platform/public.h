/*
 * public.h - the part of the compiler and the C library that the public headers use.
 */
#ifndef SB_CORE_PLATFORM_PUBLIC_H
#define SB_CORE_PLATFORM_PUBLIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Warns a caller that ignores the result. */
#define SB_MUST_CHECK __attribute__((warn_unused_result))

/* The condition x, which is expected to be false. */
#define SB_UNLIKELY(x) __builtin_expect(!!(x), 0)

#endif
