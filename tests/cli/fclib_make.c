/* fclib_make FILE FORM [FAULT]: writes a local FCLIB problem in 3-D with two contacts, one sticking and one
 * slipping, and its solution. FORM is triplets, columns, rows, or deflate (compressed rows). FAULT is a word of
 * main that selects an error. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <hdf5.h>

enum { size = 6, contacts = 2, nonzeros = 8 };

/* Row by row: 2 and 1 on the diagonal, and two entries that differ between rows and columns. */
static const int rows[nonzeros] = {0, 0, 1, 2, 3, 3, 4, 5};
static const int columns[nonzeros] = {0, 3, 1, 2, 0, 3, 4, 5};
static const double values[nonzeros] = {2, 0.25, 2, 2, 0.5, 1, 1, 1};
static const int by_column[nonzeros] = {0, 4, 2, 3, 1, 5, 6, 7};

static int failed, deflate;

static void put(hid_t file, const char *name, hid_t type, int count, const void *numbers) {
  const hid_t space = H5Screate_simple(1, (const hsize_t[]){(hsize_t)count}, NULL);
  const hid_t how = H5Pcreate(H5P_DATASET_CREATE);
  if (deflate)
    failed |= H5Pset_chunk(how, 1, (const hsize_t[]){(hsize_t)count}) < 0 || H5Pset_deflate(how, 9) < 0;
  const hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, how, H5P_DEFAULT);
  H5Pclose(how);
  failed |= set < 0 || H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) < 0;
  H5Dclose(set);
  H5Sclose(space);
}

/* Announces a hundred million numbers, but stores only 8 of them. */
static void put_announced(hid_t file, const char *name, hid_t type, const void *numbers) {
  const hid_t space = H5Screate_simple(1, (const hsize_t[]){100000000}, NULL);
  const hid_t memory = H5Screate_simple(1, (const hsize_t[]){nonzeros}, NULL);
  const hid_t how = H5Pcreate(H5P_DATASET_CREATE);
  failed |= H5Pset_chunk(how, 1, (const hsize_t[]){nonzeros}) < 0;
  const hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, how, H5P_DEFAULT);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, (const hsize_t[]){0}, NULL, (const hsize_t[]){nonzeros}, NULL);
  failed |= set < 0 || H5Dwrite(set, type, memory, space, H5P_DEFAULT, numbers) < 0;
  H5Dclose(set);
  H5Pclose(how);
  H5Sclose(memory);
  H5Sclose(space);
}

static void put_int(hid_t file, const char *name, int number) {
  put(file, name, H5T_NATIVE_INT, 1, &number);
}

static void put_group(hid_t file, const char *name) {
  const hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  failed |= group < 0;
  H5Gclose(group);
}

static void put_matrix(hid_t file, const char *form, const char *fault) {
  const int is_triplets = !strcmp(form, "triplets"), is_columns = !strcmp(form, "columns");
  int starts[size + 1] = {0}, indices[nonzeros];
  double x[nonzeros];
  for (int k = 0; k < nonzeros; k++) {
    const int from = is_columns ? by_column[k] : k;
    starts[(is_columns ? columns : rows)[from] + 1]++;
    indices[k] = is_columns ? rows[from] : columns[from];
    x[k] = values[from];
  }
  for (int i = 0; i < size; i++) starts[i + 1] += starts[i];
  if (!strcmp(fault, "index")) indices[2] = size;
  if (!strcmp(fault, "start")) starts[3] = nonzeros + 1;
  if (!strcmp(fault, "diagonal")) x[0] = 0;
  put_int(file, "/fclib_local/W/m", size);
  put_int(file, "/fclib_local/W/n", !strcmp(fault, "wide") ? size + 1 : size);
  put_int(file, "/fclib_local/W/nzmax", nonzeros);
  put_int(file, "/fclib_local/W/nz", is_triplets ? nonzeros : is_columns ? -1 : -2);
  put(file, "/fclib_local/W/p", H5T_NATIVE_INT, is_triplets ? nonzeros : size + 1, is_triplets ? rows : starts);
  if (!strcmp(fault, "announced"))
    put_announced(file, "/fclib_local/W/i", H5T_NATIVE_INT, indices);
  else
    put(file, "/fclib_local/W/i", H5T_NATIVE_INT, nonzeros, indices);
  put(file, "/fclib_local/W/x", H5T_NATIVE_DOUBLE, !strcmp(fault, "short-x") ? 3 : nonzeros, x);
}

/* Writes two guesses. The first one is wrong by 1, or too short if the fault is guess-short. */
static void put_guesses(hid_t file, const double *r, const char *fault) {
  double first[size];
  for (int i = 0; i < size; i++) first[i] = r[i] + 1;
  put_group(file, "/guesses");
  put_int(file, "/guesses/number_of_guesses", 2);
  put_group(file, "/guesses/1");
  put(file, "/guesses/1/r", H5T_NATIVE_DOUBLE, !strcmp(fault, "guess-short") ? 5 : size, first);
  put_group(file, "/guesses/2");
  put(file, "/guesses/2/r", H5T_NATIVE_DOUBLE, size, r);
}

static void put_problem(hid_t file, const char *form, const char *fault) {
  double q[size] = {-2.25, 0, 0, -1.5, 3, 0}, mu[contacts] = {0.5, 0.5};
  const double r[size] = {1, 0, 0, 1, -0.5, 0};
  if (!strcmp(fault, "nan")) q[4] = NAN;
  if (!strcmp(fault, "negative")) mu[1] = -0.5;
  if (!strcmp(fault, "global")) {
    put_group(file, "/fclib_global");
    return;
  }
  put_group(file, "/fclib_local");
  put_int(file, "/fclib_local/spacedim", !strcmp(fault, "dimension") ? 4 : 3);
  put_group(file, "/fclib_local/W");
  put_matrix(file, form, fault);
  put_group(file, "/fclib_local/vectors");
  if (strcmp(fault, "no-q") != 0)
    put(file, "/fclib_local/vectors/q", H5T_NATIVE_DOUBLE, !strcmp(fault, "short-q") ? 5 : size, q);
  put(file, "/fclib_local/vectors/mu", H5T_NATIVE_DOUBLE, contacts, mu);
  if (!strcmp(fault, "V") || !strcmp(fault, "R")) {
    char group[20];
    snprintf(group, sizeof group, "/fclib_local/%s", fault);
    put_group(file, group);
  }
  if (!strcmp(fault, "s")) put(file, "/fclib_local/vectors/s", H5T_NATIVE_DOUBLE, 1, q);
  if (!strncmp(fault, "guess", 5)) put_guesses(file, r, fault);
  if (!strcmp(fault, "unsolved")) return;
  put_group(file, "/solution");
  put(file, "/solution/r", H5T_NATIVE_DOUBLE, size, r);
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fputs("usage: fclib_make FILE FORM [FAULT]\n", stderr);
    return 2;
  }
  deflate = !strcmp(argv[2], "deflate");
  const hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  if (file < 0) return 1;
  put_problem(file, argv[2], argc > 3 ? argv[3] : "");
  return H5Fclose(file) < 0 || failed;
}
