/* Decimal numbers of files, compared with strtod and printf: `test_decimal [MILLIONS]` tests that many random
 * numbers of each kind. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decimal.h"

static int64_t reads, quick_reads, writes;

static uint64_t random_bits(void) {
  static uint64_t state = UINT64_C(88172645463325252);
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state * UINT64_C(0x2545f4914f6cdd1d);
}

static int random_below(int count) {
  return (int)((random_bits() >> 33) % (uint64_t)count);
}

static uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static double double_of(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* The text must either be read like strtod, up to the same place, or be left to strtod. Returns 1 if it was
 * read. */
static int check_read(const char *text) {
  /* The text is at the end of a block, so that a sanitizer detects reads behind it. */
  const size_t length = strlen(text);
  char *block = malloc(length ? length : 1), *end;
  if (!block) exit(1);
  for (size_t k = 0; k < length; k++) block[k] = text[k];
  double value = NAN;
  const char *behind = decimal_read(block, block + length, &value);
  const double wanted = strtod(text, &end);
  reads++;
  if (behind && (behind - block != end - text || bits_of(value) != bits_of(wanted))) {
    fprintf(stderr, "'%s' is read as %.17g up to byte %d, expected %.17g and %d\n", text, value,
            (int)(behind - block), wanted, (int)(end - text));
    exit(1);
  }
  free(block);
  quick_reads += behind != NULL;
  return behind != NULL;
}

/* Common numbers are never left to strtod. */
static void expect_read(const char *text) {
  if (check_read(text)) return;
  fprintf(stderr, "'%s' is not read\n", text);
  exit(1);
}

static void check_write(double x) {
  char wanted[40], text[DECIMAL_LENGTH + 1];
  const int length = decimal_write(x, text);
  text[length] = 0;
  snprintf(wanted, sizeof wanted, "%.17g", x);
  writes++;
  if (!strcmp(text, wanted)) return;
  fprintf(stderr, "%s is written as %s\n", wanted, text);
  exit(1);
}

static void check_read_near(uint64_t w, int q) {
  char text[64];
  for (int k = -1; k <= 1; k++) {
    const unsigned long long number = w + (uint64_t)k;
    snprintf(text, sizeof text, "%llue%d", number, q);
    check_read(text);
  }
}

/* ---- Kinds ---- */

/* Random doubles, with enough digits to be unique, and with fewer. */
static void test_doubles(int64_t count) {
  char text[64];
  for (int64_t k = 0; k < count; k++) {
    const double x = double_of(random_bits());
    if (!isfinite(x)) continue;
    check_write(x);
    snprintf(text, sizeof text, "%.*g", 1 + random_below(19), x);
    check_read(text);
    snprintf(text, sizeof text, "%.16e", x);
    check_read(text);
  }
}

/* Numbers as in typical matrices: magnitudes around 1, few digits, integers. */
static void test_usual(int64_t count) {
  char text[64];
  for (int64_t k = 0; k < count; k++) {
    const double u = (double)(random_bits() >> 11) * 0x1p-53, scale = pow(10, random_below(40) - 20);
    const double rounded = round(u * pow(10, random_below(10)));
    check_write(u);
    check_write(-u * scale);
    check_write(rounded);
    check_write(rounded / pow(10, random_below(10)));
    check_write((float)u);
    snprintf(text, sizeof text, "%.*f", random_below(16), u * 1000);
    expect_read(text);
    snprintf(text, sizeof text, "%.17g", -u * scale);
    expect_read(text);
  }
}

static void test_digits(int64_t count) {
  char text[64];
  for (int64_t k = 0; k < count; k++) {
    const uint64_t w = random_bits() >> random_below(64);
    snprintf(text, sizeof text, "%s%llue%d", random_below(2) ? "-" : "", (unsigned long long)w,
             random_below(700) - 360);
    check_read(text);
    check_read_near(w, random_below(40) - 20);
  }
}

/* Numbers halfway between two doubles: 5^q w, or w / 5^q, with 54 bits and a last bit of 1. */
static void test_ties(int64_t count) {
  for (int64_t k = 0; k < count; k++) {
    const uint64_t odd = (random_bits() >> 10) | UINT64_C(1) << 53 | 1;
    uint64_t five = 1;
    int q = random_below(5);
    for (int i = 0; i < q; i++) five *= 5;
    if (odd <= UINT64_MAX / five - 1) check_read_near(odd * five, -q);
    check_read_near(odd << random_below(10), 0);
    five = 1;
    q = random_below(23);
    for (int i = 0; i < q; i++) five *= 5;
    check_read_near(odd / five | 1, q);
    check_read_near((odd / five | 1) << random_below(8), q);
  }
}

/* Ties of 18 digits that are exact because a double has no further digits. printf rounds them to even. */
static void test_written_ties(int64_t count) {
  for (int64_t k = 0; k < count; k++) {
    const double whole = (double)(random_bits() >> (11 + random_below(20)));
    for (int shift = 0; shift < 24; shift++) check_write(ldexp(whole + 0.5, -shift));
    check_write(ldexp(1 + random_below(1000), random_below(120) - 60));
  }
}

static void test_exponents(void) {
  for (int q = -400; q <= 400; q++) {
    char text[64];
    static const char *const digits[] = {"1",
                                         "9",
                                         "4.9406564584124654",
                                         "2.2250738585072014",
                                         "1.7976931348623157",
                                         "1.7976931348623159",
                                         "9007199254740993",
                                         "18446744073709551615",
                                         "9999999999999999999",
                                         "17976931348623158",
                                         "0",
                                         "0.000"};
    for (size_t k = 0; k < sizeof digits / sizeof *digits; k++) {
      snprintf(text, sizeof text, "%se%d", digits[k], q);
      check_read(text);
    }
    const double ten = strtod((snprintf(text, sizeof text, "1e%d", q), text), NULL);
    check_write(ten);
    check_write(nextafter(ten, 0));
    check_write(nextafter(ten, INFINITY));
  }
  for (int e = -1080; e <= 1023; e++) {
    check_write(ldexp(1, e));
    check_write(nextafter(ldexp(1, e), 0));
    check_write(-nextafter(ldexp(1, e), INFINITY));
  }
}

static void test_forms(void) {
  static const char *const forms[] = {"",
                                      "-",
                                      "+",
                                      ".",
                                      "-.",
                                      "e5",
                                      ".e5",
                                      "1e",
                                      "1e+",
                                      "1e-",
                                      "+1",
                                      "-0",
                                      "0",
                                      "0.",
                                      ".5",
                                      "5.",
                                      "-.5e+3",
                                      "1.5E-3",
                                      "00012",
                                      "000.00012",
                                      "0000000000000000000000000000000",
                                      "0.00000000000000000000000000",
                                      "0000000000000000000000000000012",
                                      "0.00000000000000000000000000000000012",
                                      "1e00000000005",
                                      "1e0000005",
                                      "1e999999999",
                                      "0e99999",
                                      "-0e-99999",
                                      "1..2",
                                      "1.2.3",
                                      "1-2",
                                      "1e5.5",
                                      "12345678901234567890",
                                      "1234567890123456789",
                                      "0.12345678901234567890",
                                      "123456789012345678901234567890",
                                      "1 2",
                                      "1,5",

                                      "inf",
                                      "nan",
                                      "1d5",
                                      "99999999",
                                      "999999999",
                                      "9999999999999999",
                                      "1/",
                                      "1:",
                                      "5e-324",
                                      "2.2250738585072011e-308",
                                      "1.7976931348623157e308",
                                      "1.7976931348623159e308",
                                      "9007199254740993",
                                      "9007199254740992.5"};
  for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
    check_read(forms[k]);
  }
  const double numbers[] = {0,
                            -0.0,
                            1,
                            -1,
                            INFINITY,
                            -INFINITY,
                            NAN,
                            DBL_MAX,
                            -DBL_MIN,
                            5e-324,
                            1e15,
                            1e16,
                            1e17,
                            123456789012345678.0,
                            99999999999999999.0,
                            0.1,
                            0.0001,
                            0.00001,
                            0.00012345,
                            1e22,
                            1e23,
                            2.5};
  for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) check_write(numbers[k]);
}

int main(int argc, char **argv) {
  const int64_t count = (int64_t)(1e6 * (argc > 1 ? atof(argv[1]) : 0.25));
  test_forms();
  test_exponents();
  test_doubles(count);
  test_usual(count);
  test_digits(count);
  test_ties(count);
  test_written_ties(count / 10);
  printf("%lld numbers read, %lld of them without strtod; %lld written\n", (long long)reads,
         (long long)quick_reads, (long long)writes);
  return 0;
}
