/* Correctly rounded conversion between decimal numbers and doubles, for files with millions of numbers. It is
 * many times as fast as strtod and printf. These handle the few numbers that the functions here cannot. */
#ifndef CLI_DECIMAL_H
#define CLI_DECIMAL_H

#include <stdint.h>

/* The maximum length of decimal_write's text. */
enum { DECIMAL_LENGTH = 24 };

/* Reads digits up to `end`: for each, *number = 10 *number + digit. Adds the count of digits to *count; *number
 * is invalid from the 20th digit. Returns the position after the digits. */
const char *decimal_digits(const char *p, const char *end, uint64_t *number, int *count);

/* Reads [+-]DIGITS[.DIGITS][eDIGITS] from p, but not beyond `end`, with the result of strtod. Returns the
 * position after it. Returns NULL if strtod must decide: 20 digits or more, a subnormal or infinite double, or
 * text that is not a number. */
const char *decimal_read(const char *p, const char *end, double *value);

/* Writes x like printf's %.17g, without a zero byte, and returns the length. */
int decimal_write(double x, char text[DECIMAL_LENGTH]);

#endif
