/* none.c - builds without virtual time say so: sanitizers would have to be told of each switch of
 * a fiber, and other processors need a library of their own. */
#include "harness/terminal/status.h"
#include "harness/virtual/virtual.h"

#ifdef SB_NO_VIRTUAL
int sb_virtual_check(void)
{
	return sb_fail(SB_EXIT_ENVIRONMENT,
		       "this build has no virtual time: it is in release and debug builds for the "
		       "machine that builds");
}

int sb_virtual_measure(struct sb_series *series, const struct sb_chosen *chosen,
		       const struct sb_options *options, struct sb_virtual_ground *ground,
		       const struct sb_watch *watch)
{
	(void)series;
	(void)chosen;
	(void)options;
	(void)ground;
	(void)watch;
	return sb_virtual_check();
}
#else
int sb_virtual_check(void)
{
	return 0;
}
#endif
