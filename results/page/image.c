/*
 * image.c - a picture from a file, as an image inside the page. Results come from
 * anywhere, and their pictures are not trusted: a browser runs no script in an
 * image, and loads nothing for it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "results/files/file.h"
#include "results/page/page.h"

/* A page of more is of no use. */
#define PICTURE_BYTES_MAX (UINT64_C(16) << 20)

void sb_put_percent_encoded(FILE *out, const char *text, size_t bytes, const char *plain)
{
	for (size_t i = 0; i < bytes; i++) {
		if (text[i] && strchr(plain, text[i]))
			fputc(text[i], out);
		else
			fprintf(out, "%%%02X", (unsigned char)text[i]);
	}
}

/* The whole file, and a zero behind it, for the caller to free, or NULL and errno. */
static char *read_all(const char *path, size_t *bytes)
{
	struct stat info;
	char *text = NULL;
	int error = 0;
	/* A link could show another file of the reader's. */
	FILE *in = lstat(path, &info) || S_ISLNK(info.st_mode)
			   ? NULL
			   : sb_file_open(path, PICTURE_BYTES_MAX, &error);

	errno = error ? -error : errno ? errno : ELOOP;
	if (!in)
		return NULL;
	text = malloc((size_t)info.st_size + 1);
	if (text)
		*bytes = fread(text, 1, (size_t)info.st_size, in);
	fclose(in);
	if (text)
		text[*bytes] = '\0';
	return text;
}

/* ---- its title ---- */

/* Characters of XML that mean something, as gnuplot writes them. */
static size_t take_character(const char *text, char *out)
{
	static const struct {
		const char *name;
		char is;
	} entities[] = { { "&amp;", '&' }, { "&lt;", '<' }, { "&gt;", '>' }, { "&quot;", '"' } };

	for (size_t i = 0; i < SB_ARRAY_SIZE(entities); i++) {
		const size_t length = strlen(entities[i].name);

		if (!strncmp(text, entities[i].name, length)) {
			*out = entities[i].is;
			return length;
		}
	}
	*out = *text;
	return 1;
}

/* The next text in a font of that size (NULL: any); adds it to out and returns what
 * comes behind it. NULL: there is none, or it is in another font. */
static const char *take_text(const char *svg, const char **font, FILE *out)
{
	static const char attribute[] = "font-size=\"";
	const char *size = strstr(svg, attribute);
	const char *text = size ? strstr(size, "<text>") : NULL;
	const char *end = text ? strstr(text, "</text>") : NULL;
	char c;

	if (!end || (*font && strncmp(*font, size, strcspn(size, " ")) != 0))
		return NULL;
	if (*font)
		fputc(' ', out);
	*font = size;
	for (text += strlen("<text>"); text < end; fputc(c, out))
		text += take_character(text, &c);
	return end;
}

char *sb_svg_title(const char *path)
{
	size_t bytes = 0;
	char *text = read_all(path, &bytes);
	const char *at = text && strstr(text, "Produced by GNUPLOT") ? text : NULL;
	const char *font = NULL;
	char *title = NULL;
	size_t length;
	FILE *out = at ? open_memstream(&title, &length) : NULL;

	while (out && at)
		at = take_text(at, &font, out);
	if (out)
		fclose(out);
	free(text);
	if (title && *title)
		return title;
	free(title);
	return NULL;
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
