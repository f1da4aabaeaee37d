#include "harness/run/config.h"

/* half|one|N; the cap is half's. */
static void set_steal(struct sb_config *config, const struct sb_option_value *steal, uint32_t cap)
{
	enum { HALF, ONE, NUMBER };

	config->steal = steal->alternative == HALF ? SB_STEAL_HALF : SB_STEAL_COUNT;
	switch (steal->alternative) {
	case HALF:
		config->steal_cap = cap;
		break;
	case ONE:
		config->steal_cap = 1;
		break;
	case NUMBER:
	default:
		config->steal_cap = (uint32_t)steal->number;
		break;
	}
}

/* off|counters|sampled:N|full */
static void set_recording(struct sb_config *config, const struct sb_option_value *record)
{
	enum { OFF, COUNTERS, SAMPLED, FULL };

	config->record = record->alternative != OFF;
	config->sample_every = 0;
	if (record->alternative == SAMPLED)
		config->sample_every = (uint32_t)record->number;
	else if (record->alternative == FULL)
		config->sample_every = 1;
}

struct sb_config sb_config_of(const struct sb_options *o)
{
	struct sb_config config = SB_CONFIG_DEFAULT;

	config.deque = (enum sb_deque_kind)o->value[SB_OPT_deque].alternative;
	config.victim = (enum sb_victim)o->value[SB_OPT_victim].alternative;
	set_steal(&config, &o->value[SB_OPT_steal], (uint32_t)sb_opt(o, SB_OPT_steal_cap));
	config.tick_ns = sb_opt(o, SB_OPT_tick_time);
	config.event_ns = sb_opt(o, SB_OPT_event_time);
	config.mailbox_bound = (uint32_t)sb_opt(o, SB_OPT_mailbox_bound);
	config.batch = (uint32_t)sb_opt(o, SB_OPT_batch);
	config.tick = (uint32_t)sb_opt(o, SB_OPT_tick);
	config.spin_tight = (uint32_t)sb_opt(o, SB_OPT_spin_tight);
	config.spin_yield = (uint32_t)sb_opt(o, SB_OPT_spin_yield);
	config.spin_ns = sb_opt(o, SB_OPT_spin_time);
	config.gather = !o->value[SB_OPT_gather].alternative;
	config.event_budget = (uint32_t)sb_opt(o, SB_OPT_event_budget);
	config.processes_max = sb_opt(o, SB_OPT_max_processes);
	config.dead_max_bytes = sb_opt(o, SB_OPT_dead_max);
	config.seed = sb_opt(o, SB_OPT_seed);
	config.arenas = (enum sb_arenas)o->value[SB_OPT_arena].alternative;
	config.membind = (enum sb_membind)o->value[SB_OPT_membind].alternative;
	config.huge_pages = (enum sb_huge_pages)o->value[SB_OPT_huge_pages].alternative;
	config.handover = !o->value[SB_OPT_handover].alternative;
	config.hold_ns = sb_opt(o, SB_OPT_hold_time);
	config.wake = (enum sb_wake)o->value[SB_OPT_wake].alternative;
	config.continues = (enum sb_continue)o->value[SB_OPT_continue].alternative;
	config.park = (enum sb_park_policy)o->value[SB_OPT_park].alternative;
	/* auto is 0, "half of the awake"; all is a bound that never binds. */
	config.searchers_max = o->value[SB_OPT_searchers].alternative == 1
				       ? UINT32_MAX
				       : (uint32_t)sb_opt(o, SB_OPT_searchers);
	set_recording(&config, &o->value[SB_OPT_record]);
	config.exemplars = (uint32_t)sb_opt(o, SB_OPT_exemplars);
	return config;
}
