/* Reads the entry lines of a Matrix Market file with several threads. */
#ifndef CLI_MM_ENTRIES_H
#define CLI_MM_ENTRIES_H

#include "scan.h"

/* `s` is at the first line after the sizes. Returns 0 and the entries, or -1 and the error. */
int mm_scan_entries(scanner *s, const mm_header *h, size_t chunk_bytes, mm_entries *entries);

#endif
