/*
 * straight.h - marks of operations whose straight code costs time on a modelled machine. In real
 * time they are nothing. Included by core/platform/platform.h and the virtual platform.
 */
#ifndef SB_CORE_PLATFORM_STRAIGHT_H
#define SB_CORE_PLATFORM_STRAIGHT_H

enum sb_straight {
#define SB_STRAIGHT(name, meaning) SB_STRAIGHT_##name,
#include "core/platform/straight.def"
#undef SB_STRAIGHT
	SB_STRAIGHTS
};

#endif
