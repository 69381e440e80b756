/* Refusals of complementarity problems: the status, and a message that names the fault. */
#include <texsolve/lcp.h>

#include "helpers.h"
#include "lcp_samples.h"

static ts_context *context;

static const double good[] = {2, 1, 1, 2};

static void refuse(const ts_lcp_desc *desc, ts_status status, const char *a, const char *b) {
  ts_lcp *lcp = (ts_lcp *)(uintptr_t)1;
  const size_t before = context_info(context).bytes_device;
  CHECK_FAILS(context, ts_lcp_create(context, desc, &lcp), status, a, b);
  CHECK(lcp == NULL);
  CHECK_INT(context_info(context).bytes_device, before);
}

static void bad_sizes(void) {
  refuse(&(ts_lcp_desc){.size = 0, .matrix = HOST(good)}, TS_ERROR_INVALID_ARGUMENT, "size is 0", "");
  refuse(&(ts_lcp_desc){.size = 2, .batch = -1, .matrix = HOST(good)}, TS_ERROR_INVALID_ARGUMENT, "batch is -1",
         "");
  refuse(&(ts_lcp_desc){.size = 2, .dimension = 4, .matrix = HOST(good)}, TS_ERROR_INVALID_ARGUMENT,
         "dimension is 4", "2 or 3");
  refuse(&(ts_lcp_desc){.size = 2, .dimension = 3, .matrix = HOST(good)}, TS_ERROR_INVALID_ARGUMENT,
         "size is 2", "3 unknowns each");
  refuse(&(ts_lcp_desc){.size = INT32_MAX, .batch = 2, .matrix = HOST(good)}, TS_ERROR_LIMIT, "too many", "");
  refuse(&(ts_lcp_desc){.size = 2, .matrix = HOST(good), .precision = (ts_precision)9},
         TS_ERROR_INVALID_ARGUMENT, "precision is 9", "");
  ts_lcp_desc reserved = {.size = 2, .matrix = HOST(good)};
  reserved.reserved[3] = 1;
  refuse(&reserved, TS_ERROR_INVALID_ARGUMENT, "reserved", "");
  ts_lcp *lcp = NULL;
  CHECK_FAILS(context, ts_lcp_create(context, NULL, &lcp), TS_ERROR_INVALID_ARGUMENT, "desc is NULL", "");
  CHECK_FAILS(context, ts_lcp_create(context, &reserved, NULL), TS_ERROR_INVALID_ARGUMENT, "NULL", "");
}

static void bad_matrices(void) {
  const double zero[] = {2, 1, 1, 0}, negative[] = {1, 0, 0, 1, -3, 0, 0, 1}, no_number[] = {1, 0, NAN, 1},
               large[] = {1, 1e300, 0, 1}, tiny[] = {1, 0, 0, 1e-300};
  const int32_t integers[] = {1, 0, 0, 1};
  refuse(&(ts_lcp_desc){.size = 2}, TS_ERROR_INVALID_ARGUMENT, "one of them is needed", "");
  refuse(&(ts_lcp_desc){.size = 2, .matrix = HOST(integers)}, TS_ERROR_INVALID_ARGUMENT,
         "matrix holds integers", "floats or doubles");
  refuse(&(ts_lcp_desc){.size = 2, .matrix = ts_host(good, 3)}, TS_ERROR_INVALID_ARGUMENT,
         "matrix has 3 numbers", "4");
  refuse(&(ts_lcp_desc){.size = 2, .matrix = HOST(zero)}, TS_ERROR_INVALID_ARGUMENT,
         "the diagonal entry in row 1 is 0", "");
  refuse(&(ts_lcp_desc){.size = 2, .batch = 2, .matrix = HOST(negative)}, TS_ERROR_INVALID_ARGUMENT,
         "row 0 of problem 1 is -3", "");
  refuse(&(ts_lcp_desc){.size = 2, .matrix = HOST(no_number)}, TS_ERROR_INVALID_ARGUMENT, "nan",
         "row 1, column 0");
  refuse(&(ts_lcp_desc){.size = 2, .matrix = HOST(large)}, TS_ERROR_INVALID_ARGUMENT, "1e+300",
         "beyond single precision");
  refuse(&(ts_lcp_desc){.size = 2, .matrix = HOST(tiny)}, TS_ERROR_INVALID_ARGUMENT, "single precision",
         "row 1");
}

static void bad_factors(void) {
  const int32_t offsets[] = {0, 1, 2}, columns[] = {0, 1}, outside[] = {0, 2};
  const double values[] = {1, 1}, mass[] = {1, 1, 1, 1, 1, 1};
  ts_csr H = ts_host_csr(2, 2, offsets, columns, values);
  refuse(&(ts_lcp_desc){.size = 2, .jacobian = &H}, TS_ERROR_INVALID_ARGUMENT, "inverse_mass is NULL", "");
  refuse(&(ts_lcp_desc){.size = 3, .jacobian = &H, .inverse_mass = ts_host(mass, 2)}, TS_ERROR_INVALID_ARGUMENT,
         "jacobian has 2 rows", "3 unknowns");
  refuse(&(ts_lcp_desc){.size = 2, .jacobian = &H, .inverse_mass = HOST(mass), .mass_block = 3},
         TS_ERROR_INVALID_ARGUMENT, "mass_block is 3", "");
  H.column_indices = HOST(outside);
  refuse(&(ts_lcp_desc){.size = 2, .jacobian = &H, .inverse_mass = ts_host(mass, 2)}, TS_ERROR_INVALID_ARGUMENT,
         "", "2");
}

static void bad_limits(void) {
  const double low[] = {0, 2}, high[] = {1, 1}, no_number[] = {0, NAN}, mu[] = {0.5, 0.5};
  refuse(&(ts_lcp_desc){.size = 2, .matrix = HOST(good), .lower = HOST(low), .upper = HOST(high)},
         TS_ERROR_INVALID_ARGUMENT, "the bounds of unknown 1 are 2 and 1", "");
  refuse(&(ts_lcp_desc){.size = 2, .matrix = HOST(good), .upper = HOST(no_number)}, TS_ERROR_INVALID_ARGUMENT,
         "unknown 1", "");
  refuse(&(ts_lcp_desc){.size = 2, .matrix = HOST(good), .friction = HOST(mu)}, TS_ERROR_INVALID_ARGUMENT,
         "friction is set", "");
  ts_lcp *lcp = NULL;
  const ts_lcp_desc desc = {.size = 2, .matrix = HOST(good), .lower = HOST(high)};
  CHECK_OK(context, ts_lcp_create(context, &desc, &lcp));
  CHECK_FAILS(context, ts_lcp_set_bounds(lcp, HOST(low), HOST(high)), TS_ERROR_INVALID_ARGUMENT, "unknown 1",
              "");
  CHECK_FAILS(context, ts_lcp_set_friction(lcp, HOST(mu)), TS_ERROR_INVALID_ARGUMENT, "friction", "");
  CHECK_FAILS(context, ts_lcp_set_matrix(lcp, &(ts_lcp_desc){.size = 2}), TS_ERROR_INVALID_ARGUMENT,
              "one of them is needed", "");
  ts_lcp_destroy(&lcp);
}

static void bad_solves(void) {
  ts_lcp *lcp = NULL;
  const ts_lcp_desc desc = {.size = 2, .matrix = HOST(good)};
  if (!CHECK_OK(context, ts_lcp_create(context, &desc, &lcp))) return;
  ts_space *other = make_space(context, 2);
  ts_vector *q = make_vector(ts_lcp_get_space(lcp), 1, NULL), *z = make_vector(ts_lcp_get_space(lcp), 1, NULL),
            *wide = make_vector(ts_lcp_get_space(lcp), 2, NULL), *foreign = make_vector(other, 1, NULL);
  CHECK_FAILS(context, ts_lcp_solve(lcp, q, q, NULL, NULL), TS_ERROR_INVALID_ARGUMENT, "", "q");
  CHECK_FAILS(context, ts_lcp_solve(lcp, NULL, z, NULL, NULL), TS_ERROR_INVALID_ARGUMENT, "q is NULL", "");
  CHECK_FAILS(context, ts_lcp_solve(lcp, q, foreign, NULL, NULL), TS_ERROR_INCOMPATIBLE, "z",
              "ts_lcp_get_space");
  CHECK_FAILS(context, ts_lcp_solve(lcp, q, wide, NULL, NULL), TS_ERROR_INCOMPATIBLE, "z has 2 components", "");
  const struct {
    ts_lcp_settings settings;
    const char *message;
  } cases[] = {{{.scheme = (ts_lcp_scheme)77}, "scheme is 77"},
               {{.rtol = 1}, "rtol is 1"},
               {{.rtol = NAN}, "rtol is"},
               {{.atol = -1}, "atol -1"},
               {{.max_sweeps = -1}, "max_sweeps is -1"},
               {{.fixed_sweeps = 3, .rtol = 1e-3}, "fixed_sweeps is 3"}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
    CHECK_FAILS(context, ts_lcp_solve(lcp, q, z, &cases[k].settings, NULL), TS_ERROR_INVALID_ARGUMENT,
                cases[k].message, "");
  for (int scheme = 0; ts_lcp_scheme_name((ts_lcp_scheme)scheme); scheme++)
    if (!ts_lcp_has_scheme(context, (ts_lcp_scheme)scheme))
      CHECK_FAILS(context, ts_lcp_solve(lcp, q, z, &(ts_lcp_settings){.scheme = (ts_lcp_scheme)scheme}, NULL),
                  TS_ERROR_UNSUPPORTED, "does not have the scheme", ts_lcp_scheme_name((ts_lcp_scheme)scheme));
  double residual;
  CHECK_FAILS(context, ts_lcp_residual(lcp, q, z, NULL), TS_ERROR_INVALID_ARGUMENT, "residual is NULL", "");
  CHECK_OK(context, ts_lcp_residual(lcp, q, z, &residual));
  ts_vector_destroy(&q);
  ts_vector_destroy(&z);
  ts_vector_destroy(&wide);
  ts_vector_destroy(&foreign);
  ts_space_destroy(&other);
  ts_lcp_destroy(&lcp);
}

static void names(void) {
  CHECK_INT(ts_lcp_scheme_from_name("graph-2"), TS_LCP_SCHEME_GRAPH_2);
  CHECK_INT(ts_lcp_scheme_from_name("rows"), -1);
  CHECK_INT(ts_lcp_scheme_from_name(NULL), -1);
  CHECK(ts_lcp_scheme_name((ts_lcp_scheme)99) == NULL);
  CHECK(ts_lcp_get_space(NULL) == NULL);
  ts_lcp_destroy(NULL);
  CHECK_FAILS(NULL, ts_lcp_set_bounds(NULL, (ts_array){0}, (ts_array){0}), TS_ERROR_INVALID_ARGUMENT,
              "lcp is NULL", "");
}

static void several_devices(void) {
  ts_lcp *lcp = NULL;
  const ts_context_desc parts = {.backend = "multi:cpu+cpu"};
  if (!CHECK_OK(NULL, ts_context_create(&parts, &context))) return;
  CHECK_FAILS(context, ts_lcp_create(context, &(ts_lcp_desc){.size = 2, .matrix = HOST(good)}, &lcp),
              TS_ERROR_UNSUPPORTED, "multi:cpu+cpu", "complementarity");
  CHECK(!ts_lcp_has_scheme(context, TS_LCP_SCHEME_ROW));
  ts_context_destroy(&context);
}

TEST_MAIN(CASES_IN_CONTEXT(bad_sizes, bad_matrices, bad_factors, bad_limits, bad_solves),
          CASES(names, several_devices))
