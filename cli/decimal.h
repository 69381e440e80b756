/* Decimal numbers to doubles and back, correctly rounded, for files that have millions of them: many times as
 * fast as strtod and printf, which get the few numbers that are beyond these functions. */
#ifndef CLI_DECIMAL_H
#define CLI_DECIMAL_H

#include <stdint.h>

/* The longest text of decimal_write. */
enum { DECIMAL_LENGTH = 24 };

/* Reads digits up to `end`: *number times 10 for each of them, plus their value. Adds how many there were to
 * *count; from the 20th on *number is not theirs. Returns what is behind them. */
const char *decimal_digits(const char *p, const char *end, uint64_t *number, int *count);

/* Reads [+-]DIGITS[.DIGITS][eDIGITS] from p on, but not beyond `end`: the double that strtod gives. Returns
 * what is behind it, or NULL where strtod has to decide: with 20 digits or more, a subnormal or infinite
 * double, or what is not a number. */
const char *decimal_read(const char *p, const char *end, double *value);

/* Writes x as printf's %.17g does, without a zero at the end, and returns its length. */
int decimal_write(double x, char text[DECIMAL_LENGTH]);

#endif
