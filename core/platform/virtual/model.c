#include "core/platform/virtual/model.h"

struct sb_model sb_model_plain(uint32_t cpus)
{
	return (struct sb_model){
		.cpus = cpus,
		.transfer_ps = { [SB_HOP_CORE] = 10000,
				 [SB_HOP_CACHE] = 40000,
				 [SB_HOP_NODE] = 60000,
				 [SB_HOP_PACKAGE] = 120000,
				 [SB_HOP_REMOTE] = 180000 },
		.cost = {
#define SB_COST(name, ps, meaning) .name##_ps = (ps),
#include "core/platform/virtual/costs.def"
#undef SB_COST
		},
	};
}
