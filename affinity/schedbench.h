/*
 * schedbench.h - the whole interface of libschedbench. A program includes this header alone and
 * gets the flags from pkg-config ("schedbench"). core/scheduler.h begins with a complete program;
 * the manual page schedbench(3) lists callers and states.
 */
#ifndef SB_AFFINITY_SCHEDBENCH_H
#define SB_AFFINITY_SCHEDBENCH_H

#include "affinity/machine.h"
#include "core/commands.h"
#include "core/scheduler.h"

#endif
