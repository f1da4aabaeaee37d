/* config.h - the scheduler that the options ask for. */
#ifndef SB_HARNESS_CONFIG_H
#define SB_HARNESS_CONFIG_H

#include "core/scheduler.h"
#include "harness/options.h"

struct sb_config sb_config_of(const struct sb_options *options);

#endif
