#include "harness/system/memory.h"

#include <inttypes.h>
#include <string.h>

#include "harness/kernel/procfs.h"
#include "harness/terminal/status.h"

#define MIB (1024.0 * 1024.0)

/* ---- before ---- */

#define POOL "/sys/kernel/mm/hugepages/hugepages-2048kB/"

/* 0: it is not there. */
static int64_t read_number(const char *path)
{
	int64_t value = 0;

	return sb_procfs_number("", path, &value) ? value : 0;
}

/* Reserved pages are still free, but somebody else's. */
static bool has_explicit(void)
{
	return read_number(POOL "free_hugepages") > read_number(POOL "resv_hugepages");
}

static bool has_transparent(void)
{
	char text[64];

	return sb_procfs_line("", "/sys/kernel/mm/transparent_hugepage/enabled", text,
			      sizeof(text)) &&
	       !strstr(text, "[never]");
}

bool sb_memory_foretell(const struct sb_options *options)
{
	const enum sb_huge_pages asked =
		(enum sb_huge_pages)options->value[SB_OPT_huge_pages].alternative;
	const bool transparent = has_transparent();
	const bool is_missing = asked == SB_HUGE_PAGES_EXPLICIT && !has_explicit();

	if (is_missing)
		sb_note("--huge-pages explicit: this machine has no free huge pages of 2 MiB "
			"(sysctl vm.nr_hugepages=N reserves them); %s pages are used",
			transparent ? "transparent huge" : "normal");
	if (asked == SB_HUGE_PAGES_TRANSPARENT && !transparent)
		sb_note("--huge-pages transparent: this machine has them switched off "
			"(/sys/kernel/mm/transparent_hugepage/enabled); normal pages are used");
	return is_missing;
}

/* ---- after ---- */

static void report_series(const struct sb_options *options, const struct sb_series *series,
			  bool is_foretold)
{
	const struct sb_memory *m = &series->memory;

	if (m->missed_bytes && (m->explicit_bytes || !is_foretold))
		sb_note("%s: only %.0f of %.0f MiB are explicit huge pages; this machine had no "
			"more free ones",
			series->workload, (double)m->explicit_bytes / MIB,
			(double)(m->explicit_bytes + m->missed_bytes) / MIB);
	if (m->bind_error)
		sb_note("%s: --membind %s was refused: %s; the system has placed the memory",
			series->workload, options->value[SB_OPT_membind].text,
			strerror(-m->bind_error));
}

void sb_memory_report(const struct sb_options *options, const struct sb_series *series, uint32_t n,
		      bool is_foretold)
{
	for (uint32_t i = 0; i < n; i++)
		report_series(options, &series[i], is_foretold);
}
