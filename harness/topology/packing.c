#include "harness/topology/packing.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "harness/virtual/ground.h"

/* What it has of it is its own. NULL: no memory. */
static char *text_of(int (*write)(const void *what, FILE *out), const void *what)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	int rc;

	if (!out)
		return NULL;
	rc = write(what, out);
	fclose(out);
	if (!rc)
		return text;
	free(text);
	return NULL;
}

static int write_xml(const void *what, FILE *out)
{
	return sb_topology_export(what, out);
}

static int write_model(const void *what, FILE *out)
{
	return sb_model_file_write(what, out);
}

/* The model is the one that --virtual would use; a machine may have none. */
static int pack_model(const struct sb_options *options, struct sb_pack_machine *machine)
{
	struct sb_model_file file;
	int rc;

	if (!sb_virtual_has_model(options))
		return 0;
	rc = sb_virtual_open_model(&file, options);
	if (!rc) {
		machine->model = text_of(write_model, &file);
		rc = machine->model ? 0 : sb_fail_memory();
	}
	sb_model_file_free(&file);
	return rc;
}

int sb_topo_describe(const struct sb_options *options, const struct sb_topology *topology,
		     struct sb_pack_machine *machine)
{
	struct sb_machine is;
	const char *given = options->value[SB_OPT_pack_name].text;
	const char *profile = options->value[SB_OPT_profile].text;
	char host[HOST_NAME_MAX + 1] = "";
	char date[SB_DATE_BYTES];

	sb_topology_machine(topology, &is);
	(void)gethostname(host, sizeof(host) - 1);
	sb_format_now(date);
	machine->name = strdup(*given ? given : *profile ? profile : host);
	machine->date = strdup(date);
	machine->cpu_model = strdup(is.cpu_model);
	machine->topology = text_of(write_xml, topology);
	if (asprintf(&machine->fingerprint, "%016" PRIx64, sb_topology_fingerprint(topology)) < 0)
		machine->fingerprint = NULL;
	if (machine->name && machine->date && machine->cpu_model && machine->topology &&
	    machine->fingerprint)
		return pack_model(options, machine);
	return sb_fail_memory();
}
