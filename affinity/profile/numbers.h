/*
 * numbers.h - the operating system's numbers of processing units and nodes in a
 * description. hwloc keeps a bit for each number below the largest one in every
 * object, so that a single large number costs gigabytes and minutes.
 */
#ifndef SB_AFFINITY_PROFILE_NUMBERS_H
#define SB_AFFINITY_PROFILE_NUMBERS_H

#include <hwloc.h>

#include "affinity/profile/profile.h"

/* More than any Linux has; as many as processing units are accepted. */
#define SB_OS_NUMBER_LIMIT SB_PROFILE_PUS_MAX

/* A number that is not below the limit into out. False: there is none. Files
 * that cannot be read have none. */
bool sb_numbers_of_synthetic(const char *text, unsigned long *out);
bool sb_numbers_of_directory(const char *root, unsigned long *out);

/* What libxml2 or hwloc would take long or much memory for in the XML of a machine, as text after the
 * file's name; number: the one that is not below the limit, if the text is NULL, else 0. */
#define SB_XML_TAG_BYTES (64 << 10)
#define SB_XML_TAGS	 (1 << 20)
const char *sb_xml_wrong(const char *path, unsigned long *number);

/* A file of a directory; NULL also for what is no file, where a read might block for ever, and what has
 * more than 1 MiB. */
FILE *sb_profile_open(const char *directory, const char *name);

/* A number that is twice in a list of the text; hwloc would ignore the list. */
bool sb_numbers_twice_in_synthetic(const char *text, unsigned long *out);

/* A number that two processing units or two nodes have. */
bool sb_numbers_twice(hwloc_topology_t topology, unsigned long *out);

#endif
