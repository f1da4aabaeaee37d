/*
 * environment.c - threads of a program read its environment while others call the library.
 *
 * Property: sb_placement_here, which any thread may call, moves and removes no variable: each
 * lookup finds the value. Method: 50 calls beside two threads that look variables up all the time.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <schedbench.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 50

static atomic_bool ends;
static atomic_ulong lookups, wrong;

static void *look_up(void *unused)
{
	while (!ends) {
		const char *value = getenv("HWLOC_XMLFILE");

		wrong += !value || strcmp(value, "mine.xml") || getenv("NOT_THERE");
		value = getenv("MINE");
		wrong += !value || strcmp(value, "value");
		lookups++;
	}
	return unused;
}

static int place(void)
{
	struct sb_placement placement;
	const int rc = sb_placement_here(0, &placement);

	if (!rc)
		sb_placement_free(&placement);
	return rc;
}

int main(void)
{
	pthread_t reader[2];
	int failed = 0;

	setenv("HWLOC_XMLFILE", "mine.xml", 1);
	setenv("MINE", "value", 1);
	for (int i = 0; i < 2; i++)
		pthread_create(&reader[i], NULL, look_up, NULL);
	while (!lookups)
		continue;
	for (int i = 0; i < ROUNDS; i++)
		failed += place() != 0;
	ends = true;
	for (int i = 0; i < 2; i++)
		pthread_join(reader[i], NULL);
	printf("%d calls, %d failed, %lu lookups wrong\n", ROUNDS, failed, (unsigned long)wrong);
	return 0;
}
