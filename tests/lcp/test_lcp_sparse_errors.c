/* Refusals of sparse complementarity problems: the status, and a message that names the fault. */
#include <texsolve/lcp.h>

#include "helpers.h"
#include "lcp_samples.h"

static ts_context *context;

static const double numbers[] = {2, 1, 1, 2};
static const int32_t offsets[] = {0, 2, 4}, columns[] = {0, 1, 0, 1};

static ts_csr good(void) {
  return ts_host_csr(2, 2, offsets, columns, numbers);
}

static void refuse(const ts_lcp_desc *desc, ts_status status, const char *a, const char *b) {
  ts_lcp *lcp = (ts_lcp *)(uintptr_t)1;
  const size_t before = context_info(context).bytes_device;
  CHECK_FAILS(context, ts_lcp_create(context, desc, &lcp), status, a, b);
  CHECK(lcp == NULL);
  CHECK_INT(context_info(context).bytes_device, before);
}

static void wrong_number(ts_lcp_storage storage, int entry, double value, const char *a, const char *b) {
  double values[4];
  ts_csr csr = good();
  memcpy(values, numbers, sizeof values);
  values[entry] = value;
  csr.values = HOST(values);
  refuse(&(ts_lcp_desc){.size = 2, .sparse_matrix = &csr, .storage = storage}, TS_ERROR_INVALID_ARGUMENT, a, b);
}

static void wrong_matrices(void) {
  for (ts_lcp_storage storage = TS_LCP_STORAGE_DENSE; storage <= TS_LCP_STORAGE_SPARSE; storage++) {
    ts_csr csr = good();
    ts_lcp_desc desc = {.size = 2, .sparse_matrix = &csr, .storage = storage};
    test_context_label("%s", ts_lcp_storage_name(storage));
    wrong_number(storage, 3, 0, "the diagonal entry in row 1 is 0", "");
    wrong_number(storage, 3, -4, "the diagonal entry in row 1 is -4", "");
    wrong_number(storage, 3, 1e-300, "single precision", "row 1");
    wrong_number(storage, 2, NAN, "nan", "row 1");
    wrong_number(storage, 1, 1e300, "1e+300", "row 0");
    desc.size = 3;
    refuse(&desc, TS_ERROR_INVALID_ARGUMENT, "sparse_matrix is 2 x 2", "3 unknowns");
    desc.size = 1, desc.batch = 2;
    refuse(&desc, TS_ERROR_INVALID_ARGUMENT, "column 1 in row 0", "another problem");
    desc.size = 2, desc.batch = 1, desc.matrix = HOST(numbers);
    refuse(&desc, TS_ERROR_INVALID_ARGUMENT, "more than one", "sparse_matrix");
    desc.matrix = (ts_array){0}, csr.column_indices.data = NULL;
    refuse(&desc, TS_ERROR_INVALID_ARGUMENT, "column_indices is NULL", "");
    csr.column_indices = HOST(columns), csr.values = (ts_array){0}; /* zeros */
    refuse(&desc, TS_ERROR_INVALID_ARGUMENT, "the diagonal entry in row 0 is 0", "");
    desc.sparse_matrix = NULL;
    refuse(&desc, TS_ERROR_INVALID_ARGUMENT, "one of them is needed", "");
  }
}

static void wrong_factors(void) {
  const ts_csr H = good();
  double mass[] = {1, 0, 0, 1};
  ts_lcp_desc desc = {.size = 2,
                      .batch = 1,
                      .jacobian = &H,
                      .inverse_mass = HOST(mass),
                      .mass_block = 2,
                      .storage = TS_LCP_STORAGE_SPARSE};
  mass[3] = NAN;
  refuse(&desc, TS_ERROR_INVALID_ARGUMENT, "nan", "row 0");
  mass[3] = 1e39;
  refuse(&desc, TS_ERROR_INVALID_ARGUMENT, "1e+39", "beyond single precision");
  mass[3] = -10;
  refuse(&desc, TS_ERROR_INVALID_ARGUMENT, "the diagonal entry in row 0 is -6", "");
  mass[0] = mass[3] = 0; /* no motion is possible */
  refuse(&desc, TS_ERROR_INVALID_ARGUMENT, "the diagonal entry in row 0 is 0", "");
  const double six[6] = {0};
  desc.mass_block = 3, desc.inverse_mass = HOST(six);
  refuse(&desc, TS_ERROR_INVALID_ARGUMENT, "mass_block is 3", "");
  desc.inverse_mass.data = NULL;
  refuse(&desc, TS_ERROR_INVALID_ARGUMENT, "inverse_mass is NULL", "");
}

/* For contacts only the row of the normal is checked. */
static void wrong_contacts(void) {
  const double mu[] = {0.5}, flat[] = {2, 0, 0, 0}, tangent[] = {2, 0, 0, -1}, normal[] = {0, 0, 0, 1};
  ts_lcp_desc desc = {.size = 2, .dimension = 2, .friction = HOST(mu), .storage = TS_LCP_STORAGE_SPARSE};
  desc.matrix = HOST(normal);
  refuse(&desc, TS_ERROR_INVALID_ARGUMENT, "the diagonal entry in row 0 is 0", "");
  desc.matrix = HOST(tangent);
  refuse(&desc, TS_ERROR_INVALID_ARGUMENT, "the diagonal entry in row 1 is -1", "");
  ts_lcp *lcp = NULL;
  desc.matrix = HOST(flat);
  CHECK_OK(context, ts_lcp_create(context, &desc, &lcp));
  ts_lcp_destroy(&lcp);
}

static void wrong_schemes(void) {
  for (ts_lcp_storage storage = TS_LCP_STORAGE_DENSE; storage <= TS_LCP_STORAGE_SPARSE; storage++) {
    const ts_csr csr = good();
    const ts_lcp_desc desc = {.size = 2, .sparse_matrix = &csr, .storage = storage};
    ts_lcp *lcp = NULL;
    if (!CHECK_OK(context, ts_lcp_create(context, &desc, &lcp))) return;
    ts_vector *q = make_vector(ts_lcp_get_space(lcp), 1, NULL),
              *z = make_vector(ts_lcp_get_space(lcp), 1, NULL);
    for (ts_lcp_scheme scheme = 0; ts_lcp_scheme_name(scheme); scheme++) {
      const int is_sparse = scheme == TS_LCP_SCHEME_COLOUR,
                is_both = scheme <= TS_LCP_SCHEME_ROW || scheme == TS_LCP_SCHEME_GRAPH;
      const ts_lcp_settings settings = {.scheme = scheme};
      if (!ts_lcp_has_scheme(context, scheme))
        CHECK_FAILS(context, ts_lcp_solve(lcp, q, z, &settings, NULL), TS_ERROR_UNSUPPORTED,
                    ts_lcp_scheme_name(scheme), context_info(context).backend);
      else if (is_both || is_sparse == (storage == TS_LCP_STORAGE_SPARSE))
        CHECK_OK(context, ts_lcp_solve(lcp, q, z, &settings, NULL));
      else
        CHECK_FAILS(context, ts_lcp_solve(lcp, q, z, &settings, NULL), TS_ERROR_UNSUPPORTED,
                    ts_lcp_scheme_name(scheme), ts_lcp_storage_name(storage));
    }
    ts_vector_destroy(&q);
    ts_vector_destroy(&z);
    ts_lcp_destroy(&lcp);
  }
}

static void wrong_input(void) {
  refuse(&(ts_lcp_desc){.size = 2, .matrix = HOST(numbers), .storage = (ts_lcp_storage)3},
         TS_ERROR_INVALID_ARGUMENT, "storage is 3", "");
  wrong_matrices();
  wrong_factors();
  wrong_contacts();
  wrong_schemes();
}

static void names(void) {
  for (int k = 0; k < 3; k++) CHECK_INT(ts_lcp_storage_from_name(ts_lcp_storage_name((ts_lcp_storage)k)), k);
  CHECK(ts_lcp_storage_name((ts_lcp_storage)3) == NULL);
  CHECK_INT(ts_lcp_storage_from_name("blocks"), -1);
  CHECK_INT(ts_lcp_storage_from_name(NULL), -1);
  CHECK_INT(ts_lcp_scheme_from_name("colour"), TS_LCP_SCHEME_COLOUR);
}

TEST_MAIN(CASES_IN_CONTEXT(wrong_input), CASES(names))
