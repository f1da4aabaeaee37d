/*
 * table.h - what functions.def and callers.def say of each cell.
 */
#ifndef SB_TESTS_CONTRACT_TABLE_H
#define SB_TESTS_CONTRACT_TABLE_H

#include <stdint.h>

#include "tests/contract/scene.h"

/* Results, as a set. */
enum {
	OK = 1,
	ALREADY = 2,
	DEADLK = 4,
	ROFS = 8,
	SHUTDOWN = 16,
	SRCH = 32,
	TIMEDOUT = 64,
	FORBIDDEN = 128, /* an assertion fails */
	UNCHECKED = 256, /* forbidden, but no assertion of this build sees it */
	NONE = 512,	 /* there is no such call */
};

struct cell {
	size_t function;
	enum caller caller;
	enum state state;
	int expected;	       /* a set of results */
	const char *assertion; /* a part of the message; of FORBIDDEN */
};

/* The cells of a function are numbered from 0 to CELLS - 1. */
#define CELLS ((uint32_t)CALLERS * STATES)

size_t table_functions(void);
struct cell table_cell(size_t function, uint32_t i);

/* The set that has the result alone; 0: the table has no such result. */
int table_result(int rc);

/* The results of a set, for a message. The next call overwrites the text. */
const char *table_names(int set);

const char *table_caller(enum caller caller);
const char *table_state(enum state state);

/* The table of the man page; of each function, with tabs between them, its name, its sentence of
 * the headers and its errors; every cell. */
void table_print_man(void);
void table_print_callers(void);
void table_print_cells(void);

#endif
