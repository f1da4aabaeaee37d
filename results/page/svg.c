/*
 * svg.c - a picture from a file, as a part of a page. Pictures come with results
 * from anywhere, and in a page they could do what the page can. So this reads
 * the XML and writes what is known to draw, and nothing else.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "results/page/page.h"

static const char *const elements[] = {
#define ELEMENT(name) name,
#define ATTRIBUTE(name)
#include "results/page/svg.def"
#undef ELEMENT
#undef ATTRIBUTE
};

static const char *const attributes[] = {
#define ELEMENT(name)
#define ATTRIBUTE(name) name,
#include "results/page/svg.def"
#undef ELEMENT
#undef ATTRIBUTE
};

#define NAME_BYTES  64
#define DEPTH_MAX   64
#define PICTURE_MAX (16 << 20) /* bytes; a page of more is none */

/* A part of the file's text. */
struct span {
	const char *at;
	size_t bytes;
};

struct reader {
	FILE *out;
	const char *at;
	const char *end;
	uint32_t number;
	const char *label;
	uint32_t depth;
	uint32_t hidden;	     /* depth of the outermost that is left out; 0: none */
	struct span open[DEPTH_MAX]; /* names, as they stand in the file */
	bool has_ended;
};

static bool span_is(struct span span, const char *text)
{
	return span.bytes == strlen(text) && !memcmp(span.at, text, span.bytes);
}

static bool starts_with(struct span span, const char *text)
{
	return span.bytes >= strlen(text) && !memcmp(span.at, text, strlen(text));
}

static bool is_listed(struct span span, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (span_is(span, list[i]))
			return true;
	}
	return false;
}

static bool skip_past(struct reader *r, const char *mark)
{
	const char *found = memmem(r->at, (size_t)(r->end - r->at), mark, strlen(mark));

	if (found)
		r->at = found + strlen(mark);
	return found != NULL;
}

static void skip_space(struct reader *r)
{
	while (r->at < r->end && isspace((unsigned char)*r->at))
		r->at++;
}

static struct span read_name(struct reader *r)
{
	struct span name = { r->at, 0 };

	while (r->at < r->end &&
	       (isalnum((unsigned char)*r->at) || strchr("-_:.", *r->at ? *r->at : '!')))
		r->at++;
	name.bytes = (size_t)(r->at - name.at);
	return name;
}

/* Text of the file's is escaped already, in the way of XML, which HTML reads in
 * the same way; what must not stand there is escaped once more. */
static void put_raw(FILE *out, struct span text)
{
	for (size_t i = 0; i < text.bytes; i++) {
		switch (text.at[i]) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			if (text.at[i])
				fputc(text.at[i], out);
		}
	}
}

/* An identifier: the file's, behind what makes it this picture's. */
static void put_id(struct reader *r, struct span id)
{
	fprintf(r->out, "p%" PRIu32 "-", r->number);
	put_raw(r->out, id);
}

static bool has_url(struct span span)
{
	for (size_t i = 0; i + 3 <= span.bytes; i++) {
		if (!strncasecmp(span.at + i, "url", 3))
			return true;
	}
	return false;
}

/* Behind a reference or an escape "url" could hide. */
static bool has_disguise(struct span span)
{
	return memchr(span.at, '&', span.bytes) || memchr(span.at, '\\', span.bytes);
}

/* url(#id) is this picture's own; any other goes elsewhere. */
static void put_reference(struct reader *r, struct span name, struct span value)
{
	if (!starts_with(value, "url(#") || value.at[value.bytes - 1] != ')' ||
	    memchr(value.at, ')', value.bytes - 1))
		return;
	fprintf(r->out, " %.*s=\"url(#", (int)name.bytes, name.at);
	put_id(r, (struct span){ value.at + 5, value.bytes - 6 });
	fputs(")\"", r->out);
}

static void put_link(struct reader *r, struct span value)
{
	if (starts_with(value, "#")) {
		fputs(" href=\"#", r->out);
		put_id(r, (struct span){ value.at + 1, value.bytes - 1 });
		fputc('"', r->out);
	} else if (starts_with(value, "data:image/png;base64,")) {
		fputs(" href=\"", r->out);
		put_raw(r->out, value);
		fputc('"', r->out);
	}
}

static void put_attribute(struct reader *r, struct span name, struct span value)
{
	if (span_is(name, "id")) {
		fputs(" id=\"", r->out);
		put_id(r, value);
		fputc('"', r->out);
	} else if (span_is(name, "xlink:href") || span_is(name, "href")) {
		put_link(r, value);
	} else if (!is_listed(name, attributes, SB_ARRAY_SIZE(attributes))) {
		return;
	} else if (has_url(value)) {
		put_reference(r, name, value);
	} else if (span_is(name, "font-family") || !has_disguise(value)) {
		fprintf(r->out, " %.*s=\"", (int)name.bytes, name.at);
		put_raw(r->out, value);
		fputc('"', r->out);
	}
}

/* name = "value", from the name on. */
static bool read_attribute(struct reader *r, struct span *name, struct span *value)
{
	const char *end;

	*name = read_name(r);
	skip_space(r);
	if (!name->bytes || r->at >= r->end || *r->at++ != '=')
		return false;
	skip_space(r);
	if (r->at >= r->end || (*r->at != '"' && *r->at != '\''))
		return false;
	end = memchr(r->at + 1, *r->at, (size_t)(r->end - r->at - 1));
	if (!end)
		return false;
	*value = (struct span){ r->at + 1, (size_t)(end - r->at - 1) };
	r->at = end + 1;
	return true;
}

/* Where the outermost has a size and no viewBox, the page could not scale it. */
static void put_view_box(struct reader *r, struct span width, struct span height)
{
	const double w = width.bytes ? strtod(width.at, NULL) : 0;
	const double h = height.bytes ? strtod(height.at, NULL) : 0;

	if (w > 0 && h > 0)
		fprintf(r->out, " viewBox=\"0 0 %g %g\"", w, h);
}

static bool read_attributes(struct reader *r, bool is_shown)
{
	const bool is_outermost = !r->depth;
	struct span size[2] = { { NULL, 0 }, { NULL, 0 } };
	bool has_box = false;

	for (skip_space(r); r->at < r->end && *r->at != '>' && *r->at != '/'; skip_space(r)) {
		struct span name;
		struct span value;

		if (!read_attribute(r, &name, &value))
			return false;
		if (is_outermost && span_is(name, "width"))
			size[0] = value;
		if (is_outermost && span_is(name, "height"))
			size[1] = value;
		has_box |= span_is(name, "viewBox");
		if (is_shown)
			put_attribute(r, name, value);
	}
	if (is_outermost && !has_box)
		put_view_box(r, size[0], size[1]);
	return r->at < r->end;
}

/* The outermost's title and description name the program that drew it. */
static bool is_to_be_shown(const struct reader *r, struct span name)
{
	if (r->hidden)
		return false;
	if (r->depth == 1 && (span_is(name, "title") || span_is(name, "desc")))
		return false;
	return is_listed(name, elements, SB_ARRAY_SIZE(elements));
}

/* From behind the '<' to behind the '>'. */
static bool read_start(struct reader *r)
{
	const struct span name = read_name(r);
	const bool is_shown = is_to_be_shown(r, name);
	bool is_empty;

	if (r->depth == DEPTH_MAX || (!r->depth && !span_is(name, "svg")))
		return false;
	if (is_shown)
		fprintf(r->out, "<%.*s", (int)name.bytes, name.at);
	if (is_shown && !r->depth) {
		fputs(" role=\"img\" aria-label=\"", r->out);
		sb_html(r->out, r->label);
		fputc('"', r->out);
	}
	if (!read_attributes(r, is_shown))
		return false;
	is_empty = *r->at == '/';
	r->at += is_empty;
	if (r->at >= r->end || *r->at++ != '>')
		return false;
	if (is_shown)
		fputs(is_empty ? "/>" : ">", r->out);
	if (is_empty)
		return r->depth > 0;
	r->open[r->depth++] = name;
	if (!is_shown && !r->hidden)
		r->hidden = r->depth;
	return true;
}

/* From behind the "</". */
static bool read_end(struct reader *r)
{
	const struct span name = read_name(r);
	struct span open;

	skip_space(r);
	if (!r->depth || r->at >= r->end || *r->at++ != '>')
		return false;
	open = r->open[r->depth - 1];
	if (open.bytes != name.bytes || memcmp(open.at, name.at, name.bytes) != 0)
		return false;
	if (!r->hidden)
		fprintf(r->out, "</%.*s>", (int)name.bytes, name.at);
	if (r->hidden == r->depth)
		r->hidden = 0;
	r->has_ended = !--r->depth;
	return true;
}

static bool read_cdata(struct reader *r)
{
	const struct span rest = { r->at, (size_t)(r->end - r->at) };

	if (!skip_past(r, "]]>"))
		return false;
	for (const char *c = rest.at; c < r->at - 3 && r->depth && !r->hidden; c++) {
		if (*c == '&')
			fputs("&amp;", r->out);
		else
			put_raw(r->out, (struct span){ c, 1 });
	}
	return true;
}

static bool read_markup(struct reader *r)
{
	const struct span rest = { r->at, (size_t)(r->end - r->at) };

	if (starts_with(rest, "<!--"))
		return skip_past(r, "-->");
	if (starts_with(rest, "<![CDATA[")) {
		r->at += 9;
		return read_cdata(r);
	}
	if (starts_with(rest, "<?"))
		return skip_past(r, "?>");
	if (starts_with(rest, "<!"))
		return skip_past(r, ">");
	if (starts_with(rest, "</")) {
		r->at += 2;
		return read_end(r);
	}
	r->at++;
	return read_start(r);
}

static void read_text(struct reader *r)
{
	const char *end = memchr(r->at, '<', (size_t)(r->end - r->at));
	const struct span text = { r->at, (size_t)((end ? end : r->end) - r->at) };

	if (r->depth && !r->hidden)
		put_raw(r->out, text);
	r->at += text.bytes;
}

/* To the outermost's end; what is around it is left out. */
static bool read_picture(struct reader *r)
{
	while (r->at < r->end && !r->has_ended) {
		if (*r->at != '<')
			read_text(r);
		else if (!read_markup(r))
			return false;
	}
	return r->has_ended;
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
	if (info.st_size > PICTURE_MAX)
		errno = EFBIG;
	else
		text = calloc(1, (size_t)info.st_size + 1);
	if (text)
		*bytes = fread(text, 1, (size_t)info.st_size, in);
	fclose(in);
	return text;
}

static int copy_picture(FILE *out, struct reader *r)
{
	char *picture = NULL;
	size_t bytes = 0;
	bool ok;

	r->out = open_memstream(&picture, &bytes);
	if (!r->out)
		return -ENOMEM;
	ok = read_picture(r);
	fclose(r->out);
	if (ok)
		fwrite(picture, 1, bytes, out);
	free(picture);
	return ok ? 0 : -EINVAL;
}

int sb_page_svg(FILE *out, const char *path, uint32_t number, const char *label)
{
	size_t bytes = 0;
	char *text = read_all(path, &bytes);
	struct reader r = { .number = number, .label = label };
	int rc;

	if (!text)
		return -errno;
	r.at = text;
	r.end = text + bytes;
	rc = copy_picture(out, &r);
	free(text);
	return rc;
}
