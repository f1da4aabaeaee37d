/* config.h - the scheduler that the options ask for. */
#ifndef SB_HARNESS_RUN_CONFIG_H
#define SB_HARNESS_RUN_CONFIG_H

#include "core/scheduler.h"
#include "harness/cli/options.h"

struct sb_config sb_config_of(const struct sb_options *options);

#endif
