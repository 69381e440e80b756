/* One line of a Matrix Market file: a general reader with messages, and a fast one for common lines. */
#ifndef CLI_MM_LINE_H
#define CLI_MM_LINE_H

#include "scan.h"

/* Moves to the next line that is neither blank nor a comment, and skips its leading blanks. Returns 1, 0 at the
 * end, or -1 on an error. */
int mm_next_line(scanner *s);
/* Counts these lines in a text, including invalid ones. */
int64_t mm_count_lines(const char *text, const char *end);

/* Reads the entry of the line; for an array only its value. Returns 0, or -1 and the error. */
int mm_scan_entry(scanner *s, const mm_header *h, mm_entry *e);
/* Reads a line at p that has only 32-bit integers, blanks and digits. Returns the position after the line, or
 * NULL if the functions above must read it. */
const char *mm_quick_entry(const char *p, const char *end, const mm_header *h, mm_entry *e);

#endif
