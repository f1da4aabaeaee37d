/*
 * schedbench.h - the scheduler as a library: all of its interface. In the tree, core/ and affinity/
 * have its parts; installed, a program includes this header and asks pkg-config for schedbench.
 */
#ifndef SB_AFFINITY_SCHEDBENCH_H
#define SB_AFFINITY_SCHEDBENCH_H

#include "affinity/machine.h"
#include "core/commands.h"
#include "core/scheduler.h"

#endif
