#include <errno.h>
#include <jansson.h>
#include <math.h>

#include "results/compare/findings.h"
#include "results/json/json_out.h"

/* Counts without a point. */
static json_t *number_to_json(double number)
{
	return fabs(number) < 9e15 && number == floor(number) ? json_integer((json_int_t)number)
							      : json_real(number);
}

static json_t *finding_to_json(const struct sb_finding *finding)
{
	json_t *object = json_object();
	struct sb_finding_cell cell;
	int rc = object ? 0 : -1;

	for (uint32_t i = 0; !rc && sb_finding_cell(finding, i, &cell); i++) {
		if (cell.text)
			rc = json_object_set_new(object, cell.name, json_string(cell.text));
		else if (isfinite(cell.number))
			rc = json_object_set_new(object, cell.name, number_to_json(cell.number));
	}
	if (!rc)
		return object;
	json_decref(object);
	return NULL;
}

int sb_findings_write_json(const struct sb_findings *findings, FILE *out)
{
	json_t *root = json_object();
	json_t *notes = json_array();
	json_t *list = json_array();
	int rc = root && notes && list ? 0 : -1;

	for (uint32_t i = 0; i < findings->notes && !rc; i++)
		rc = json_array_append_new(notes, json_string(findings->note[i]));
	for (uint32_t i = 0; i < findings->n && !rc; i++)
		rc = json_array_append_new(list, finding_to_json(&findings->finding[i]));
	if (!rc)
		rc = json_object_set_new(root, "schema", json_integer(1)) |
		     json_object_set_new(root, "verb", json_string(findings->verb)) |
		     json_object_set(root, "notes", notes) |
		     json_object_set(root, "findings", list);
	if (!rc)
		rc = sb_json_put(json_incref(root), out, JSON_INDENT(2));
	fputc('\n', out);
	json_decref(root);
	json_decref(notes);
	json_decref(list);
	return rc ? -ENOMEM : 0;
}
