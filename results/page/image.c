/*
 * image.c - a picture from a file, as an image inside the page. Results come from
 * anywhere, and their pictures are not trusted: a browser runs no script in an
 * image, and loads nothing for it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "results/page/page.h"

/* A page of more is of no use. */
#define PICTURE_BYTES_MAX (16 << 20)

void sb_put_percent_encoded(FILE *out, const char *text, size_t bytes, const char *plain)
{
	for (size_t i = 0; i < bytes; i++) {
		if (text[i] && strchr(plain, text[i]))
			fputc(text[i], out);
		else
			fprintf(out, "%%%02X", (unsigned char)text[i]);
	}
}

/* The whole file, for the caller to free, or NULL and errno. */
static char *read_all(const char *path, size_t *bytes)
{
	struct stat info;
	char *text = NULL;
	FILE *in = fopen(path, "re");

	if (!in)
		return NULL;
	if (fstat(fileno(in), &info))
		info.st_size = 0;
	if (info.st_size > PICTURE_BYTES_MAX)
		errno = EFBIG;
	else
		text = malloc((size_t)info.st_size + 1);
	if (text)
		*bytes = fread(text, 1, (size_t)info.st_size, in);
	fclose(in);
	return text;
}

int sb_html_image(FILE *out, const char *path, const char *label)
{
	/* Nothing that ends an attribute, a URL or its path, or begins an entity. */
	static const char plain[] = SB_URL_PLAIN " ,:;=()'+*!@$";
	size_t bytes = 0;
	char *text = read_all(path, &bytes);

	if (!text)
		return -errno;
	fputs("<img alt=\"", out);
	sb_html(out, label);
	fputs("\" src=\"data:image/svg+xml,", out);
	sb_put_percent_encoded(out, text, bytes, plain);
	fputs("\">", out);
	free(text);
	return 0;
}
