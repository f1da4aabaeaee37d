/*
 * ini.h - text of sections and entries, and where each of them stands.
 *
 *     ; a comment, as is a line that begins with #
 *     [section]
 *     name=value       blanks around both do not count
 *     name             without a value
 *     name=" a\tb"     in quotation marks: \\ \" \n \r \t \xHH
 *
 * A line is as long as it is, and ends where it ends. Debian's libinih cuts one
 * after 199 bytes without a word, takes an indented line for the rest of the one
 * before, says neither line nor column, does not tell of an empty section, and
 * has no quotation marks, so that not every text could be written.
 */
#ifndef SB_HARNESS_TERMINAL_INI_H
#define SB_HARNESS_TERMINAL_INI_H

#include <stdio.h>

#include "core/platform/base.h"

/* A file that is longer is something else, as is one with more sections, or with more entries in one:
 * names are compared with all that come before. */
#define SB_INI_BYTES (1 << 20)
#define SB_INI_PARTS 1000

/* Lines and columns count from 1; columns count bytes. */
struct sb_ini_entry {
	char *name;
	char *value; /* NULL: none */
	uint32_t line, name_column, value_column;
	bool is_quoted;
};

struct sb_ini_section {
	char *name;
	uint32_t line, column;
	struct sb_ini_entry *entry;
	uint32_t entries;
};

struct sb_ini {
	struct sb_ini_section *section;
	uint32_t sections;
};

struct sb_ini_error {
	uint32_t line, column;
	char why[160]; /* what is wrong, and what was expected */
};

/* Returns 0, -EINVAL with the error, or -ENOMEM. Only after 0 there is something
 * for sb_ini_free. */
SB_MUST_CHECK int sb_ini_parse(struct sb_ini *ini, const char *text, size_t bytes,
			       struct sb_ini_error *error);

/* Of a file; also -errno. repeated: names of entries that a section may have more than once, up to
 * a NULL; or NULL: there are none. */
SB_MUST_CHECK int sb_ini_read(struct sb_ini *ini, const char *path, const char *const *repeated,
			      struct sb_ini_error *error);

void sb_ini_free(struct sb_ini *ini);

/* The first section of that name; NULL: there is none. */
const struct sb_ini_section *sb_ini_find(const struct sb_ini *ini, const char *name);

/* The value so that it is read as it is, in quotation marks if it has to be, or
 * if quoted. */
void sb_ini_put_value(FILE *out, const char *value, bool quoted);

#endif
