/* test_files.c - files are whole or absent, whatever happens while they are written. */
#include "tests/results/results.h"

static void files_are_whole_or_absent(void **state)
{
	char directory[] = "/tmp/sb-test-XXXXXX";
	struct sb_file file;
	char *path;

	(void)state;
	assert_non_null(mkdtemp(directory));
	path = sb_path_join(directory, "x");
	CHECK_EQ(sb_file_begin(&file, directory, "x"), 0);
	fputs("half", file.stream);
	fflush(file.stream);
	CHECK_EQ(access(path, F_OK), -1);
	CHECK_EQ(sb_file_commit(&file), 0);
	CHECK_EQ(access(path, F_OK), 0);
	remove_tree(directory);
	CHECK_EQ(sb_file_begin(&file, directory, "x"), -ENOENT);
	CHECK_EQ(sb_directory_make("/dev/null/x"), -ENOTDIR);
	free(path);
}

/* Where everybody writes, somebody may have put a link where the temporary file
 * is to be. */
static void links_are_not_followed(void **state)
{
	char directory[] = "/tmp/sb-test-XXXXXX";
	char link[80];
	struct sb_file file;
	char *theirs;

	(void)state;
	assert_non_null(mkdtemp(directory));
	theirs = sb_path_join(directory, "theirs");
	snprintf(link, sizeof(link), "%s/x.tmp.%d.0", directory, getpid());
	CHECK_EQ(symlink(theirs, link), 0);
	/* The second one replaces the first, which takes a temporary name. */
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(sb_file_begin(&file, directory, "x"), 0);
		CHECK_EQ(sb_file_commit(&file), 0);
	}
	CHECK_EQ(access(theirs, F_OK), -1);
	free(theirs);
	remove_tree(directory);
}

static void put_empty(const char *directory, const char *name)
{
	char *path = sb_path_join(directory, name);
	FILE *out = fopen(path, "we");

	assert_non_null(out);
	fclose(out);
	free(path);
}

static uint32_t count_entries(const char *path)
{
	DIR *directory = opendir(path);
	uint32_t n = 0;

	assert_non_null(directory);
	while (readdir(directory))
		n++;
	closedir(directory);
	return n - 2;
}

/* A process that is killed leaves its stage, which the next one removes; files of
 * others stay, whatever their names, and so does a stage in use. */
static void only_own_leftovers_are_removed(void **state)
{
	char directory[] = "/tmp/sb-test-XXXXXX";
	struct sb_stage stage;
	pid_t child;
	char *theirs;

	(void)state;
	assert_non_null(mkdtemp(directory));
	put_empty(directory, "notes.tmp.20240131");
	theirs = sb_path_join(directory, "stage.tmp.99999");
	CHECK_EQ(mkdir(theirs, 0777), 0);
	put_empty(theirs, "x");
	child = fork();
	if (!child)
		_exit(sb_stage_begin(&stage, directory));
	CHECK_EQ(waitpid(child, NULL, 0), child);
	CHECK_EQ(count_entries(directory), 3);
	CHECK_EQ(sb_stage_begin(&stage, directory), 0);
	CHECK_EQ(count_entries(directory), 3);
	sb_stage_clear_leftovers(directory);
	CHECK_EQ(count_entries(directory), 3);
	sb_stage_abandon(&stage);
	CHECK_EQ(count_entries(directory), 2);
	CHECK_EQ(count_entries(theirs), 1);
	free(theirs);
	remove_tree(directory);
}

static void bound_file_size(rlim_t bytes)
{
	const struct rlimit bound = { bytes, RLIM_INFINITY };

	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &bound), 0);
}

/* However much is written at a time: what the stream keeps of it and what not. */
static void a_full_disk_is_an_error(void **state)
{
	static const char text[100000];
	static const size_t at_a_time[] = { 1, 4096, 5000, sizeof(text) };
	char directory[] = "/tmp/sb-test-XXXXXX";
	struct sb_file file;
	char *path;

	(void)state;
	assert_non_null(mkdtemp(directory));
	path = sb_path_join(directory, "x");
	signal(SIGXFSZ, SIG_IGN);
	for (size_t i = 0; i < SB_ARRAY_SIZE(at_a_time); i++) {
		bound_file_size(4096);
		CHECK_EQ(sb_file_begin(&file, directory, "x"), 0);
		for (size_t n = 0; n < sizeof(text); n += at_a_time[i])
			(void)fwrite(text, 1, at_a_time[i], file.stream);
		CHECK_EQ(sb_file_commit(&file), -EFBIG);
		bound_file_size(RLIM_INFINITY);
		CHECK_EQ(access(path, F_OK), -1);
	}
	free(path);
	remove_tree(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_whole_or_absent),
		cmocka_unit_test(links_are_not_followed),
		cmocka_unit_test(only_own_leftovers_are_removed),
		cmocka_unit_test(a_full_disk_is_an_error),
	};

	return cmocka_run_group_tests_name("results", tests, NULL, NULL);
}
