/*
 * tree.h - made-up /proc and /sys: files below a folder of the test's own.
 */
#ifndef SB_TESTS_TREE_H
#define SB_TESTS_TREE_H

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/test.h"

/* A new one, in the template; removed with tree_remove. */
static inline void tree_make(char *root)
{
	assert_non_null(mkdtemp(root));
}

static inline void tree_remove(const char *root)
{
	char command[PATH_MAX];

	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	assert_int_equal(system(command), 0);
}

/* Writes a file of these bytes, and makes the folders above it. */
static inline void tree_put_bytes(const char *root, const char *path, const char *text,
				  size_t bytes)
{
	char name[PATH_MAX];
	FILE *out;

	snprintf(name, sizeof(name), "%s%s", root, path);
	for (char *c = name + strlen(root) + 1; (c = strchr(c, '/')); c++) {
		*c = '\0';
		(void)mkdir(name, 0700);
		*c = '/';
	}
	out = fopen(name, "w");
	assert_non_null(out);
	assert_int_equal(fwrite(text, 1, bytes, out), bytes);
	fclose(out);
}

static inline void tree_put(const char *root, const char *path, const char *text)
{
	tree_put_bytes(root, path, text, strlen(text));
}

#endif
