/* One line of a Matrix Market file: in general, with messages, and the usual ones quickly. */
#ifndef CLI_MM_LINE_H
#define CLI_MM_LINE_H

#include "scan.h"

/* The next line that is neither blank nor a comment, its leading blanks skipped: 1, 0 at the end, -1 an error.
 */
int mm_next_line(scanner *s);
/* How many such lines a text has, those with errors too. */
int64_t mm_count_lines(const char *text, const char *end);

/* The entry of that line; of an array its value alone. 0, or -1 and the error. */
int mm_scan_entry(scanner *s, const mm_header *h, mm_entry *e);
/* The same for the line at p, with 32-bit numbers, blanks and digits alone: returns what is behind the line, or
 * NULL where the functions above have to look at it. */
const char *mm_quick_entry(const char *p, const char *end, const mm_header *h, mm_entry *e);

#endif
