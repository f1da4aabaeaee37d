/*
 * reasons.c - why repetitions are not valid, by kind: what differs in nothing
 * but numbers is one reason, and of a rule's what stands before the colon.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "results/page/page.h"

#define ELLIPSIS "\xe2\x80\xa6"

static bool is_of_number(char c)
{
	return isdigit((unsigned char)c) || c == '.';
}

/* Numbers become dots; a digit within a name stays. */
static void put_kind(FILE *out, const char *reason, size_t bytes)
{
	for (size_t i = 0; i < bytes;) {
		if (!isdigit((unsigned char)reason[i]) ||
		    (i && (isalnum((unsigned char)reason[i - 1]) || reason[i - 1] == '_'))) {
			fputc(reason[i++], out);
			continue;
		}
		fputs(ELLIPSIS, out);
		while (i < bytes && is_of_number(reason[i]))
			i++;
	}
}

/* For the caller to free. */
static char *kind_of(const char *reason, size_t bytes)
{
	const char *colon = memmem(reason, bytes, ": ", 2);
	char *kind = NULL;
	size_t length;
	FILE *out = open_memstream(&kind, &length);

	if (!out)
		return NULL;
	put_kind(out, reason, colon ? (size_t)(colon - reason) : bytes);
	fclose(out);
	return kind;
}

static int add(struct sb_page_reasons *reasons, enum sb_verdict verdict, char *kind)
{
	struct sb_page_reason *more;

	for (uint32_t i = 0; kind && i < reasons->reasons; i++) {
		struct sb_page_reason *r = &reasons->reason[i];

		if (r->verdict == verdict && !strcmp(r->kind, kind)) {
			r->repetitions++;
			free(kind);
			return 0;
		}
	}
	more = kind ? reallocarray(reasons->reason, reasons->reasons + 1, sizeof(*more)) : NULL;
	if (!more) {
		free(kind);
		return -ENOMEM;
	}
	reasons->reason = more;
	more[reasons->reasons++] = (struct sb_page_reason){ verdict, kind, 1 };
	return 0;
}

/* A suspect row has several, joined by "; ". */
static int add_record(struct sb_page_reasons *reasons, const struct sb_record *record)
{
	const char *rest = record->reason;
	int rc = 0;

	while (record->verdict != SB_VALID && *rest && !rc) {
		const char *joint = record->verdict == SB_SUSPECT ? strstr(rest, "; ") : NULL;
		const size_t bytes = joint ? (size_t)(joint - rest) : strlen(rest);

		rc = add(reasons, record->verdict, kind_of(rest, bytes));
		rest += bytes + (joint ? 2 : 0);
	}
	return rc;
}

static int compare(const void *a, const void *b)
{
	const struct sb_page_reason *x = a;
	const struct sb_page_reason *y = b;

	if (x->verdict != y->verdict)
		return x->verdict > y->verdict ? -1 : 1;
	if (x->repetitions != y->repetitions)
		return x->repetitions > y->repetitions ? -1 : 1;
	return strcmp(x->kind, y->kind);
}

int sb_page_reasons_find(struct sb_page_reasons *reasons, const struct sb_page *page)
{
	int rc = 0;

	*reasons = (struct sb_page_reasons){ NULL, 0 };
	for (uint32_t i = 0; i < page->rows; i++) {
		const struct sb_series *series = page->row[i].series;

		for (uint32_t r = 0; r < series->records && !rc; r++)
			rc = add_record(reasons, &series->record[r]);
	}
	if (rc)
		sb_page_reasons_free(reasons);
	else if (reasons->reasons)
		qsort(reasons->reason, reasons->reasons, sizeof(*reasons->reason), compare);
	return rc;
}

void sb_page_reasons_free(struct sb_page_reasons *reasons)
{
	for (uint32_t i = 0; i < reasons->reasons; i++)
		free(reasons->reason[i].kind);
	free(reasons->reason);
	*reasons = (struct sb_page_reasons){ NULL, 0 };
}
