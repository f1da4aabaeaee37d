/* description_parts.h - a description while it is read. Private to description*.c. */
#ifndef SB_HARNESS_PLUGIN_DESCRIPTION_PARTS_H
#define SB_HARNESS_PLUGIN_DESCRIPTION_PARTS_H

#include "harness/terminal/ini.h"
#include "workloads/described/description.h"

struct sb_describing {
	const char *file;
	struct sb_ini ini;
	struct sb_description *made;
	const struct sb_ini_section *section[SB_KINDS_MAX]; /* of each kind */
	uint32_t kind;					    /* whose entries are read */
	bool is_called[SB_KINDS_MAX];
	uint32_t least[SB_KINDS_MAX]; /* processes that are called at once */
};

/* Prints "FILE:LINE:COLUMN: ...". Returns the exit status. */
int sb_description_fail(const struct sb_describing *d, uint32_t line, uint32_t column,
			const char *format, ...) SB_PRINTF(4, 5);

/* One more action of the kind. Return 0, or an exit status after an error has been printed. */
int sb_description_take_work(struct sb_describing *d, const struct sb_ini_entry *entry);
int sb_description_take_call(struct sb_describing *d, const struct sb_ini_entry *entry);
int sb_description_take_send(struct sb_describing *d, const struct sb_ini_entry *entry);

#endif
