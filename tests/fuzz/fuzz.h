/*
 * fuzz.h - what the targets of the fuzzer share.
 *
 * A target is a function that gives its input to one of the program's readers,
 * and uses all that comes of it. It must return: a crash, a report of a
 * sanitizer, a hang and a failed FUZZ_CHECK are what the fuzzer looks for.
 */
#ifndef SB_TESTS_FUZZ_H
#define SB_TESTS_FUZZ_H

#include <stdio.h>
#include <stdlib.h>

#include "core/platform/base.h"

/* text has bytes bytes and then a 0, which is the end of what is allocated.
 * path: a file with the same bytes. */
struct fuzz_input {
	const char *text;
	size_t bytes;
	const char *path;
};

#define TARGET(name, doc) void fuzz_##name(const struct fuzz_input *input);
#include "tests/fuzz/targets.def"
#undef TARGET

/* Ends the program, which the fuzzer takes for a crash. */
#define FUZZ_CHECK(holds) ((holds) ? (void)0 : fuzz_failed(__FILE__, __LINE__, #holds))
_Noreturn void fuzz_failed(const char *file, int line, const char *text);

/* A function of the command has returned this: an error is one line on standard
 * error, and an exit status that is for input. */
void fuzz_check_status(int status);

/* An error's reason: not empty. Line breaks that it quotes are made harmless
 * where it is printed. */
void fuzz_check_why(const char *why);

/* What has been accepted is within the limits of its kind (harness/inputs.def); what is not known is 0. */
enum fuzz_kind {
#define INPUT(kind, ...) INPUT_##kind,
#include "harness/inputs.def"
#undef INPUT
};
void fuzz_check_limits(enum fuzz_kind kind, uint64_t bytes, uint64_t depth, uint64_t count);

/* The most times its size that a file of that kind becomes. */
uint64_t fuzz_expansion(enum fuzz_kind kind);

/* How deep JSON is nested. */
uint64_t fuzz_json_depth(const char *text);

/* A directory of its own, which is removed in the end; files in it stay from one
 * input to the next. */
const char *fuzz_directory(void);

/* A stream that forgets what is written; for the target's outputs. */
FILE *fuzz_sink(void);

#endif
