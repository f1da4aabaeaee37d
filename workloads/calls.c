#include "workloads/calls.h"

#include "core/memory/arena.h"

const struct sb_plugin_calls sb_plugin_calls = {
#define CALL(type, name, parameters, arguments) .name = name,
#include "workloads/calls.def"
#undef CALL
};
