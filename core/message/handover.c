#include "core/message/handover.h"

#include "core/platform/platform.h"

/* The watcher may be descheduled. */
#define SPINS 64

static uint32_t wait_for_claim(struct sb_handover *h)
{
	uint32_t claimed = sb_load_acq(&h->claimed);

	for (uint32_t i = 0; claimed == SB_CLAIM_CLAIMING; i++) {
		if (i < SPINS)
			sb_cpu_pause();
		else
			sb_thread_yield();
		claimed = sb_load_acq(&h->claimed);
	}
	return claimed;
}

SB_COLD struct sb_event_node *sb_handover_enter_slowly(struct sb_handover *h,
						       struct sb_event_node *held)
{
	uint32_t claimed;

	do {
		claimed = wait_for_claim(h);
		if (claimed == SB_CLAIM_FREE)
			return held; /* the watcher has given up */
	} while (!sb_cas_acq_rel(&h->claimed, &claimed, SB_CLAIM_FREE));
	return NULL;
}

/* The one who is away has not come back, and waits now if it does. */
static bool claim_again(struct sb_handover *h)
{
	uint32_t claimed = SB_CLAIM_AWAY;

	return sb_cas_acq_rel(&h->claimed, &claimed, SB_CLAIM_CLAIMING);
}

bool sb_handover_claim(struct sb_handover *h, struct sb_event_node **held)
{
	*held = NULL;
	if (sb_load_rlx(&h->claimed) == SB_CLAIM_AWAY)
		return claim_again(h);
	sb_store_rlx(&h->claimed, SB_CLAIM_CLAIMING);
	SB_WINDOW();
	sb_fence_heavy();
	*held = sb_load_acq(&h->slot);
	if (*held != SB_SLOT_INSIDE)
		return true;
	sb_store_rel(&h->claimed, SB_CLAIM_FREE);
	return false;
}
