#include "harness/micro/kind.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "core/memory/arena.h"
#include "core/platform/platform.h"

/* A build can add tables of its own; the tests do. */
#define X(name) extern const struct sb_micro_kind sb_micro_##name[];
#include "harness/micro/list.def"
#ifdef SB_EXTRA_KINDS
#include SB_EXTRA_KINDS
#endif
#undef X

const struct sb_micro_kind *const sb_micro_tables[] = {
#define X(name) sb_micro_##name,
#include "harness/micro/list.def"
#ifdef SB_EXTRA_KINDS
#include SB_EXTRA_KINDS
#endif
#undef X
	NULL
};

uint32_t sb_micro_args(const struct sb_micro_kind *kind)
{
	uint32_t n = 1;

	while (kind->arg_name && n < SB_ARRAY_SIZE(kind->arg) && kind->arg[n])
		n++;
	return n;
}

uint32_t sb_micro_thread_counts(const struct sb_micro_kind *kind)
{
	uint32_t n = 1;

	while (n < SB_ARRAY_SIZE(kind->threads) && kind->threads[n])
		n++;
	return n;
}

void sb_micro_name(char *out, const struct sb_micro_kind *kind, int64_t arg)
{
	if (kind->arg_name)
		snprintf(out, SB_MICRO_NAME_BYTES, "%s/%s:%" PRIi64, kind->name, kind->arg_name,
			 arg);
	else
		snprintf(out, SB_MICRO_NAME_BYTES, "%s", kind->name);
}

int sb_micro_begin(struct sb_micro *m)
{
	for (int i = 0; i < SB_MICRO_COUNTERS; i++)
		m->counter[i].name = NULL;
	m->items = 0;
	m->state = sb_mem_zalloc(SB_HEAP, m->kind->state_bytes, SB_LINE);
	return m->state ? m->kind->set_up(m) : -ENOMEM;
}

void sb_micro_end(struct sb_micro *m)
{
	if (m->state && m->kind->tear_down)
		m->kind->tear_down(m);
	sb_mem_free(m->state);
	m->state = NULL;
}

#define LOOKS 64

void sb_micro_wait(uint32_t *looks)
{
	if (++*looks % LOOKS)
		sb_cpu_pause();
	else
		sb_thread_yield();
}
