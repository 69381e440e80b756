/* The local problems of FCLIB, the collection of contact problems (Acary et al. 2014). The HDF5 files contain
 *
 *   /fclib_local/spacedim                   2 or 3
 *   /fclib_local/W/{m, n, nz, nzmax, p, i, x}
 *                                           nz >= 0: triplets, p rows and i columns; -1: compressed columns;
 *                                           -2: compressed rows
 *   /fclib_local/vectors/{q, mu}
 *   /fclib_local/V, R, vectors/s            equality constraints, which are rejected
 *   /solution/{r, u}                        optional
 *   /guesses/number_of_guesses, 1/r, 2/r ...
 *                                           optional */
#include "contact_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int fclib_is_file(const char *bytes, size_t length) {
  static const char signature[8] = {'\211', 'H', 'D', 'F', '\r', '\n', '\032', '\n'};
  return length >= sizeof signature && !memcmp(bytes, signature, sizeof signature);
}

#ifndef TEXSOLVE_HAVE_FCLIB

int fclib_read_here(const char *path, size_t bytes, int guess, contact_file *file, mm_error *error) {
  (void)bytes, (void)guess;
  memset(file, 0, sizeof *file);
  return mm_fail(error, "%.200s: an HDF5 file, and this build has no HDF5 (TEXSOLVE_FCLIB)", path);
}

int fclib_write_here(const char *path, int32_t size, const double *r, const double *u, mm_error *error) {
  (void)size, (void)r, (void)u;
  return mm_fail(error, "%.200s: this build has no HDF5 (TEXSOLVE_FCLIB)", path);
}

#else

#include <hdf5.h>

enum { max_size = INT32_MAX / 16 };

typedef struct reader {
  const char *path;
  size_t bytes; /* of the file */
  hid_t id;
  mm_error *error;
} reader;

/* ---- Datasets ---- */

/* Keeps HDF5's message of the innermost call that failed. */
static herr_t keep_first(unsigned depth, const H5E_error2_t *found, void *text) {
  if (depth == 0) snprintf(text, 160, "%s", found->desc ? found->desc : "");
  return 0;
}

static int fail_by_hdf5(const reader *r, const char *where) {
  char text[160] = "";
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, text);
  return mm_fail(r->error, "%.200s: %s%s%s", r->path, where,
                 *where ? ": " : "not a complete HDF5 file: ", *text ? text : "not readable");
}

static int has_link(const reader *r, const char *name) {
  return H5Lexists(r->id, name, H5P_DEFAULT) > 0 && H5Oexists_by_name(r->id, name, H5P_DEFAULT) > 0;
}

/* FCLIB's files may have a dataset without stored numbers. */
static int is_stored(const reader *r, const char *name) {
  const hid_t set = has_link(r, name) ? H5Dopen2(r->id, name, H5P_DEFAULT) : -1;
  const int stored = set >= 0 && H5Dget_storage_size(set) > 0;
  if (set >= 0) H5Dclose(set);
  return stored;
}

/* Numbers per chunk, which the library reads as a whole. 0: the dataset is contiguous. */
static uint64_t chunk_of(hid_t set) {
  hsize_t sizes[H5S_MAX_RANK];
  uint64_t count = 0;
  const hid_t how = H5Dget_create_plist(set);
  const int dimensions =
      how >= 0 && H5Pget_layout(how) == H5D_CHUNKED ? H5Pget_chunk(how, H5S_MAX_RANK, sizes) : 0;
  for (int d = 0; d < dimensions; d++) {
    const uint64_t most = sizes[d] ? UINT64_MAX / sizes[d] : UINT64_MAX;
    count = d == 0 ? sizes[d] : count > most ? UINT64_MAX : count * sizes[d];
  }
  if (how >= 0) H5Pclose(how);
  return count;
}

/* A header can announce any number for a dataset or a chunk. But stored data is in the file, and deflate
 * expands a byte to at most 1032. */
static int check_stored(const reader *r, const char *name, hid_t set, int64_t count, size_t bytes) {
  enum { MOST_PER_BYTE = 1032, SMALL = 1 << 20 };
  const hsize_t stored = H5Dget_storage_size(set);
  const uint64_t chunk = chunk_of(set), most = SMALL / bytes;
  if (count > 0 && stored == 0) return mm_fail(r->error, "%.200s: %s: no numbers are stored", r->path, name);
  if (stored > r->bytes)
    return mm_fail(r->error, "%.200s: %s: %llu stored bytes, expected at most the %zu of the file", r->path,
                   name, (unsigned long long)stored, r->bytes);
  if ((uint64_t)count > most && (uint64_t)count / MOST_PER_BYTE > stored / bytes)
    return mm_fail(r->error, "%.200s: %s: %lld numbers, expected no more than can be in %llu stored bytes",
                   r->path, name, (long long)count, (unsigned long long)stored);
  if (chunk > most && chunk / MOST_PER_BYTE > r->bytes / bytes)
    return mm_fail(r->error, "%.200s: %s: chunks of %llu numbers, expected no more than can be in %zu bytes",
                   r->path, name, (unsigned long long)chunk, r->bytes);
  return 0;
}

/* Reads *count numbers, converted to `type`. If *count < 0, reads all and sets it. */
static int read_numbers(const reader *r, const char *name, hid_t type, size_t bytes, int64_t *count,
                        void **values) {
  const hid_t set = H5Dopen2(r->id, name, H5P_DEFAULT);
  if (set < 0)
    return mm_fail(r->error, "%.200s: no dataset %s, expected a local problem of FCLIB", r->path, name);
  const hid_t space = H5Dget_space(set), stored = H5Dget_type(set);
  const int64_t found = H5Sget_simple_extent_npoints(space);
  /* No machine has numbers with more bytes than this; the header is corrupt. */
  const H5T_class_t class = H5Tget_size(stored) > 16 ? H5T_NO_CLASS : H5Tget_class(stored);
  int failed = 0;
  if (class != H5T_INTEGER && (class != H5T_FLOAT || type == H5T_NATIVE_INT32))
    failed = mm_fail(r->error, "%.200s: %s: expected %s", r->path, name,
                     type == H5T_NATIVE_INT32 ? "whole numbers" : "numbers");
  else if (found < 0 || found > INT32_MAX || (*count >= 0 && found != *count))
    failed = mm_fail(r->error, "%.200s: %s: %lld numbers, expected %lld", r->path, name, (long long)found,
                     (long long)(*count >= 0 ? *count : INT32_MAX));
  else
    failed = check_stored(r, name, set, found, bytes);
  if (!failed) {
    *count = found;
    *values = calloc((size_t)found + 1, bytes);
    if (!*values)
      failed = mm_fail(r->error, "%.200s: %s: out of memory for %lld numbers", r->path, name, (long long)found);
    else if (H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, *values) < 0)
      failed = fail_by_hdf5(r, name);
  }
  H5Tclose(stored);
  H5Sclose(space);
  H5Dclose(set);
  return failed;
}

static int read_int(const reader *r, const char *name, int32_t *value) {
  int64_t count = 1;
  void *values = NULL;
  const int failed = read_numbers(r, name, H5T_NATIVE_INT32, sizeof(int32_t), &count, &values);
  if (!failed) *value = *(int32_t *)values;
  free(values);
  return failed;
}

static int read_ints(const reader *r, const char *name, int64_t *count, int32_t **values) {
  void *read = NULL;
  const int failed = read_numbers(r, name, H5T_NATIVE_INT32, sizeof(int32_t), count, &read);
  *values = read;
  return failed;
}

static int read_doubles(const reader *r, const char *name, int64_t count, double **values) {
  void *read = NULL;
  int failed = read_numbers(r, name, H5T_NATIVE_DOUBLE, sizeof(double), &count, &read);
  *values = read;
  for (int64_t k = 0; k < count && !failed; k++)
    if (!isfinite((*values)[k]))
      failed = mm_fail(r->error, "%.200s: %s: number %lld is %g, expected a finite one", r->path, name,
                       (long long)k + 1, (*values)[k]);
  return failed;
}

/* ---- W ---- */

typedef struct sparse {
  int32_t nz;
  int64_t starts, count; /* count of numbers in p; in i and x */
  int32_t *p, *i;
  double *x;
} sparse;

static int check_index(const reader *r, const char *name, int64_t k, int32_t index, int32_t least,
                       int32_t most) {
  if (index >= least && index <= most) return 0;
  return mm_fail(r->error, "%.200s: /fclib_local/W/%s: number %lld is %d, expected one from %d to %d", r->path,
                 name, (long long)k + 1, (int)index, (int)least, (int)most);
}

static int store_triplets(const reader *r, const sparse *W, contact_file *file) {
  for (int64_t k = 0; k < W->nz; k++) {
    if (check_index(r, "p", k, W->p[k], 0, file->size - 1) ||
        check_index(r, "i", k, W->i[k], 0, file->size - 1))
      return -1;
    file->entries[file->count++] = (mm_entry){W->p[k], W->i[k], W->x[k]};
  }
  return 0;
}

static int store_compressed(const reader *r, const sparse *W, contact_file *file) {
  if (check_index(r, "p", 0, W->p[0], 0, 0)) return -1;
  for (int32_t line = 0; line < file->size; line++) {
    const int32_t end = W->p[line + 1];
    if (check_index(r, "p", line + 1, end, W->p[line], (int32_t)W->count)) return -1;
    for (int32_t k = W->p[line]; k < end; k++) {
      const int32_t other = W->i[k];
      if (check_index(r, "i", k, other, 0, file->size - 1)) return -1;
      file->entries[file->count++] =
          W->nz == -1 ? (mm_entry){other, line, W->x[k]} : (mm_entry){line, other, W->x[k]};
    }
  }
  return 0;
}

static int read_entries(const reader *r, sparse *W, contact_file *file) {
  W->starts = W->nz < 0 ? (int64_t)file->size + 1 : -1;
  W->count = -1;
  if (read_ints(r, "/fclib_local/W/p", &W->starts, &W->p) ||
      read_ints(r, "/fclib_local/W/i", &W->count, &W->i) ||
      read_doubles(r, "/fclib_local/W/x", W->count, &W->x))
    return -1;
  if (W->nz > W->count || W->nz > W->starts)
    return mm_fail(r->error, "%.200s: /fclib_local/W/nz: %d, expected at most the %lld numbers of p, i and x",
                   r->path, (int)W->nz, (long long)(W->count < W->starts ? W->count : W->starts));
  file->entries = calloc((size_t)W->count + 1, sizeof *file->entries);
  if (!file->entries)
    return mm_fail(r->error, "%.200s: out of memory for %lld entries", r->path, (long long)W->count);
  return W->nz < 0 ? store_compressed(r, W, file) : store_triplets(r, W, file);
}

static int read_matrix(const reader *r, contact_file *file) {
  int32_t rows = 0, columns = 0;
  sparse W = {0};
  if (read_int(r, "/fclib_local/W/m", &rows) || read_int(r, "/fclib_local/W/n", &columns) ||
      read_int(r, "/fclib_local/W/nz", &W.nz))
    return -1;
  if (rows != columns || rows < 1 || rows > max_size || rows % file->dimension)
    return mm_fail(
        r->error,
        "%.200s: /fclib_local/W: %d rows and %d columns, expected equal numbers of both, %d per contact",
        r->path, (int)rows, (int)columns, file->dimension);
  if (W.nz < -2)
    return mm_fail(r->error,
                   "%.200s: /fclib_local/W/nz: %d, expected -2 (rows), -1 (columns) or a count of triplets",
                   r->path, (int)W.nz);
  file->size = rows;
  const int failed = read_entries(r, &W, file);
  free(W.p);
  free(W.i);
  free(W.x);
  return failed;
}

/* ---- The problem ---- */

/* Unknowns of joints and similar constraints, in addition to the contacts: u = W r + V l + q, 0 = V^T r + R l +
 * s. */
static int refuse_equalities(const reader *r) {
  static const char *const names[] = {"/fclib_local/V", "/fclib_local/R", "/fclib_local/vectors/s"};
  for (int k = 0; k < 3; k++)
    if (k < 2 ? has_link(r, names[k]) : is_stored(r, names[k]))
      return mm_fail(r->error, "%.200s: %s: equality constraints, expected contacts only", r->path, names[k]);
  return 0;
}

static int read_problem(const reader *r, contact_file *file) {
  int32_t dimension = 0;
  if (!has_link(r, "/fclib_local"))
    return mm_fail(r->error, "%.200s: no group /fclib_local, expected a local problem of FCLIB%s", r->path,
                   has_link(r, "/fclib_global") ? ", not a global one" : "");
  if (read_int(r, "/fclib_local/spacedim", &dimension)) return -1;
  if (dimension != 2 && dimension != 3)
    return mm_fail(r->error, "%.200s: /fclib_local/spacedim: %d, expected 2 or 3", r->path, (int)dimension);
  file->dimension = (int)dimension;
  if (refuse_equalities(r)) return -1;
  if (read_matrix(r, file)) return -1;
  const int32_t contacts = file->size / dimension;
  if (read_doubles(r, "/fclib_local/vectors/q", file->size, &file->q) ||
      read_doubles(r, "/fclib_local/vectors/mu", contacts, &file->mu))
    return -1;
  for (int32_t k = 0; k < contacts; k++)
    if (file->mu[k] < 0)
      return mm_fail(r->error,
                     "%.200s: /fclib_local/vectors/mu: number %d is %g, expected one that is not negative",
                     r->path, (int)k + 1, file->mu[k]);
  if (!has_link(r, "/solution") || !is_stored(r, "/solution/r")) return 0;
  return read_doubles(r, "/solution/r", file->size, &file->solution);
}

/* r of guess 1, 2 ...; 0: none, -1: the first, if any. */
static int read_guess(const reader *r, int guess, contact_file *file) {
  int32_t count = 0;
  char name[40];
  if (guess == 0 || (guess < 0 && !is_stored(r, "/guesses/1/r"))) return 0;
  if (has_link(r, "/guesses") && read_int(r, "/guesses/number_of_guesses", &count)) return -1;
  if (guess > count)
    return mm_fail(r->error, "%.200s: guess %d, expected one of %d", r->path, guess, (int)count);
  file->guess_number = guess < 0 ? 1 : guess;
  snprintf(name, sizeof name, "/guesses/%d/r", file->guess_number);
  return read_doubles(r, name, file->size, &file->guess);
}

int fclib_read_here(const char *path, size_t bytes, int guess, contact_file *file, mm_error *error) {
  memset(file, 0, sizeof *file);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* otherwise HDF5 prints errors */
  reader r = {path, bytes, H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), error};
  if (r.id < 0) return fail_by_hdf5(&r, "");
  const int failed = read_problem(&r, file) || read_guess(&r, guess, file);
  H5Fclose(r.id);
  if (failed) contact_file_free(file);
  return failed;
}

/* ---- The solution ---- */

static int write_doubles(hid_t group, const char *name, int32_t count, const double *values) {
  if (H5Lexists(group, name, H5P_DEFAULT) > 0 && H5Ldelete(group, name, H5P_DEFAULT) < 0) return -1;
  const hid_t space = H5Screate_simple(1, &(hsize_t){(hsize_t)count}, NULL);
  const hid_t set = H5Dcreate2(group, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  int failed = set < 0 || H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0;
  if (set >= 0) failed |= H5Dclose(set) < 0;
  H5Sclose(space);
  return failed;
}

int fclib_write_here(const char *path, int32_t size, const double *r, const double *u, mm_error *error) {
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  const reader file = {path, 0, H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), error};
  if (file.id < 0) return fail_by_hdf5(&file, "");
  const hid_t group = has_link(&file, "/solution")
                          ? H5Gopen2(file.id, "/solution", H5P_DEFAULT)
                          : H5Gcreate2(file.id, "/solution", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  int failed = group < 0 || write_doubles(group, "r", size, r) || write_doubles(group, "u", size, u);
  if (failed) failed = fail_by_hdf5(&file, "/solution");
  if (group >= 0) H5Gclose(group);
  if (H5Fclose(file.id) < 0 && !failed) failed = fail_by_hdf5(&file, "/solution");
  return failed;
}

#endif
