#include "harness/kernel/own_threads.h"

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/platform/platform.h"
#include "harness/kernel/procfs.h"

static bool is_worker(const struct sb_own_threads *own, uint64_t id)
{
	for (uint32_t i = 0; i < own->workers; i++) {
		if ((uint64_t)own->worker[i] == id)
			return true;
	}
	return false;
}

/* A file of the thread; false: it cannot be read. */
static bool read_file(const struct sb_own_threads *own, uint64_t id, const char *file, char *text,
		      size_t bytes)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%" PRIu64 "/%s", id, file);
	return !sb_procfs_read(own->root, path, text, bytes);
}

static uint64_t run_ns_of(const struct sb_own_threads *own, uint64_t id)
{
	struct sb_procfs_times times;
	char text[512];

	return read_file(own, id, "schedstat", text, sizeof(text)) &&
			       sb_procfs_schedstat(text, &times)
		       ? times.run_ns
		       : 0;
}

/* The CPU that the thread is on, or was on last. */
static bool is_on_workers_cpu(const struct sb_own_threads *own, uint64_t id)
{
	char text[512];
	const char *words =
		read_file(own, id, "stat", text, sizeof(text)) ? sb_procfs_stat_words(text) : NULL;
	uint64_t cpu;

	return words && sb_procfs_word(words, 36, &cpu) && cpu < SB_CPUS_MAX &&
	       sb_cpu_mask_has(own->cpus, (int)cpu);
}

static uint64_t run_ns_before(const struct sb_own_threads *own, uint64_t id)
{
	for (uint32_t i = 0; i < own->n; i++) {
		if (own->thread[i].id == id)
			return own->thread[i].run_ns;
	}
	return 0;
}

static DIR *open_tasks(const struct sb_own_threads *own)
{
	char path[96];

	snprintf(path, sizeof(path), "%.60s/proc/self/task", own->root);
	return opendir(path);
}

/* The next thread that is no worker; 0: there is none. */
static uint64_t next_thread(const struct sb_own_threads *own, DIR *tasks)
{
	const struct dirent *entry;

	while ((entry = readdir(tasks))) {
		const uint64_t id = strtoull(entry->d_name, NULL, 10);

		if (id && !is_worker(own, id))
			return id;
	}
	return 0;
}

void sb_own_threads_begin(struct sb_own_threads *own, uint64_t workers_ns)
{
	DIR *tasks;
	uint64_t id;

	own->process_ns = sb_clock_process_cpu_ns();
	own->workers_ns = workers_ns;
	own->n = 0;
	tasks = open_tasks(own);
	while (tasks && own->n < SB_OWN_THREADS_MAX && (id = next_thread(own, tasks)))
		own->thread[own->n++] = (struct sb_own_thread){ id, run_ns_of(own, id) };
	if (tasks)
		closedir(tasks);
}

/* Which part of the CPUs of the calling thread, and of those that it starts, is the workers'. */
static double shared_part(const struct sb_own_threads *own)
{
	struct sb_cpu_mask mask;
	uint32_t shared = 0;

	if (sb_cpu_mask_read(&mask))
		return 1;
	for (int cpu = 0; cpu < SB_CPUS_MAX; cpu++)
		shared += sb_cpu_mask_has(&mask, cpu) && sb_cpu_mask_has(own->cpus, cpu);
	return (double)shared / sb_cpu_mask_count(&mask);
}

double sb_own_threads_ms(const struct sb_own_threads *own, uint64_t workers_ns)
{
	const uint64_t process_ns = sb_clock_process_cpu_ns() - own->process_ns;
	uint64_t known_ns = workers_ns - own->workers_ns;
	DIR *tasks = open_tasks(own);
	double sum_ns = 0;
	uint64_t id;

	if (!tasks)
		return NAN;
	while ((id = next_thread(own, tasks))) {
		const uint64_t run_ns = run_ns_of(own, id) - run_ns_before(own, id);

		known_ns += run_ns;
		sum_ns += is_on_workers_cpu(own, id) ? (double)run_ns : 0;
	}
	closedir(tasks);
	if (process_ns > known_ns)
		sum_ns += shared_part(own) * (double)(process_ns - known_ns);
	return 1e-6 * sum_ns;
}
