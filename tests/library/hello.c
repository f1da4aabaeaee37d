/* hello.c - the least that a program needs: one process, which counts down and gives a result. */
#include <schedbench.h>
#include <stdio.h>

static int init(void *state, const char *method, union sb_value input)
{
	(void)method;
	*(uint64_t *)state = input.u64;
	return 0;
}

static int step(void *state, struct sb_step *out, const struct sb_event *events, uint32_t count)
{
	uint64_t *left = (uint64_t *)state;

	(void)events;
	(void)count;
	if ((*left)--)
		return SB_CONTINUE;
	sb_step_result(out, sb_value_u64(42));
	return SB_DONE;
}

int main(void)
{
	static const struct sb_process_ops counter = { "counter", sizeof(uint64_t), init, step,
						       NULL };
	struct sb_placement placement;
	struct sb_scheduler *s;
	struct sb_config config;
	struct sb_exit exit;

	sb_config_init(&config);
	if (sb_placement_here(0, &placement) || sb_scheduler_create(&s, &config, &placement) ||
	    sb_scheduler_start(s, NULL) ||
	    sb_scheduler_execute(s, &counter, "count", sb_value_u64(1000), &exit))
		return 1;
	printf("hello: %d, on %u workers\n", (int)exit.result.u64, sb_scheduler_workers(s));
	sb_scheduler_stop(s, UINT64_MAX);
	sb_scheduler_destroy(s);
	sb_placement_free(&placement);
	return 0;
}
