/* Contacts with friction: invalid input, new coefficients, names. */
#include <texsolve/lcp.h>

#include "helpers.h"
#include "lcp_contacts.h"

static ts_context *context;

/* ---- Invalid input ---- */

static void check_wrong(const ts_lcp_desc *desc, const char *first, const char *second) {
  ts_lcp *lcp = NULL;
  CHECK_FAILS(context, ts_lcp_create(context, desc, &lcp), TS_ERROR_INVALID_ARGUMENT, first, second);
  CHECK(lcp == NULL);
}

static void wrong_problems(void) {
  const double zeros[6] = {0}, one[] = {0.5, 0.5, -1, NAN, INFINITY, 0};
  double unit[36] = {0};
  for (int i = 0; i < 6; i++) unit[7 * i] = 1;
  ts_lcp_desc desc = {.size = 6, .dimension = 3, .matrix = HOST(unit), .friction = ts_host(one, 2)};
  desc.friction = ts_host(one + 1, 2);
  check_wrong(&desc, "friction of contact 1", "-1");
  desc.friction = ts_host(one + 3, 2);
  check_wrong(&desc, "friction of contact 0", "nan");
  desc.friction = ts_host(one + 4, 2);
  check_wrong(&desc, "friction of contact 0", "inf");
  desc.friction = (ts_array){0};
  check_wrong(&desc, "friction", "NULL");
  desc.friction = ts_host(one, 3);
  check_wrong(&desc, "friction has 3 numbers", "2");
  desc.friction = ts_host(one, 2);
  desc.size = 5;
  check_wrong(&desc, "size is 5", "3 unknowns");
  desc.size = 6;
  desc.dimension = 4;
  check_wrong(&desc, "dimension is 4", "2 or 3");
  desc.dimension = 3;
  desc.lower = HOST(zeros);
  check_wrong(&desc, "bounds", "friction");
  desc.lower = (ts_array){0};
  desc.upper = HOST(zeros);
  check_wrong(&desc, "bounds", "friction");
  desc.upper = (ts_array){0};
  unit[21] = 0;
  check_wrong(&desc, "diagonal", "row 3 is 0");
  unit[21] = 1, unit[28] = -1;
  check_wrong(&desc, "diagonal", "row 4 is -1");
  unit[28] = 1;
}

static void wrong_input(void) {
  wrong_problems();
  lcp_contacts s = lcp_contacts_random(3, 4, 0.5, 1);
  ts_lcp *lcp = lcp_contacts_make(context, &s, TS_PRECISION_SINGLE);
  ts_vector *q = make_parts(ts_lcp_get_space(lcp), 1, 1, s.q),
            *z = make_parts(ts_lcp_get_space(lcp), 1, 1, NULL);
  const double negative[] = {0, 0, -2, 0}, zeros[12] = {0};
  CHECK_FAILS(context, ts_lcp_set_friction(lcp, HOST(negative)), TS_ERROR_INVALID_ARGUMENT, "contact 2", "-2");
  CHECK_FAILS(context, ts_lcp_set_bounds(lcp, HOST(zeros), (ts_array){0}), TS_ERROR_INVALID_ARGUMENT, "bounds");
  CHECK_FAILS(context, ts_lcp_solve(lcp, q, z, &(ts_lcp_settings){.local = (ts_lcp_local)3}, NULL),
              TS_ERROR_INVALID_ARGUMENT, "local is 3");
  ts_lcp_result result;
  CHECK_INT(ts_lcp_solve(lcp, q, z, &(ts_lcp_settings){.local = TS_LCP_LOCAL_EXACT}, &result), TS_OK);
  double *before = read_doubles(z);
  CHECK_OK(context, ts_lcp_set_friction(lcp, ts_host(zeros, 4)));
  CHECK_OK(context, ts_lcp_solve(lcp, q, z, NULL, NULL));
  double *after = read_doubles(z);
  CHECK(fabs(before[1]) + fabs(before[4]) + fabs(before[7]) + fabs(before[10]) > 1e-3);
  for (int k = 0; k < 12; k++)
    if (k % 3) CHECK_CLOSE(after[k], 0, 0);
  s.q[5] = NAN;
  ts_vector *no_number = make_parts(ts_lcp_get_space(lcp), 1, 1, s.q);
  CHECK_INT(ts_lcp_solve(lcp, no_number, z, NULL, &result), TS_NOT_CONVERGED);
  CHECK_INT(result.reason, TS_REASON_NAN_INPUT);
  free(before), free(after);
  ts_vector_destroy(&no_number);
  ts_vector_destroy(&q);
  ts_vector_destroy(&z);
  ts_lcp_destroy(&lcp);
  lcp_contacts_free(&s);
}

static void names(void) {
  for (int k = 0; k < 3; k++) CHECK_INT(ts_lcp_local_from_name(ts_lcp_local_name((ts_lcp_local)k)), k);
  CHECK(ts_lcp_local_name((ts_lcp_local)3) == NULL);
  CHECK_INT(ts_lcp_local_from_name("newton"), -1);
  CHECK_INT(ts_lcp_local_from_name(NULL), -1);
}

TEST_MAIN(CASES_IN_CONTEXT(wrong_input), CASES(names))
