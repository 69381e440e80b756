/* A child process with limits reads and writes FCLIB's files. A malicious or corrupt file can crash the HDF5
 * library or keep it busy forever; the child's end is then the error. The child sends the problem through a
 * pipe: first an answer with the sizes, then the arrays. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contact_file.h"
#include "platform.h"

/* ---- The pipe ---- */

typedef struct answer {
  int32_t failed; /* the error's text follows */
  int32_t dimension, size, guess_number;
  int64_t count;
  int32_t has_solution, has_guess;
} answer;

void fclib_send(FILE *to, int failed, const contact_file *file, const mm_error *error) {
  answer a = {.failed = failed != 0};
  if (!failed && file) {
    a.dimension = file->dimension;
    a.size = file->size;
    a.guess_number = file->guess_number;
    a.count = file->count;
    a.has_solution = file->solution != NULL;
    a.has_guess = file->guess != NULL;
  }
  fwrite(&a, sizeof a, 1, to);
  if (failed) fwrite(error, sizeof *error, 1, to);
  if (failed || !file) return;
  const size_t n = (size_t)file->size;
  fwrite(file->entries, sizeof *file->entries, (size_t)file->count, to);
  fwrite(file->q, sizeof *file->q, n, to);
  fwrite(file->mu, sizeof *file->mu, n / (size_t)file->dimension, to);
  if (file->solution) fwrite(file->solution, sizeof *file->solution, n, to);
  if (file->guess) fwrite(file->guess, sizeof *file->guess, n, to);
}

/* Memory grows with the data received, not with the announced size. Returns NULL if data is missing. */
static void *receive_array(FILE *from, size_t count, size_t item) {
  const size_t wanted = count * item;
  size_t room = wanted < 1 << 20 ? wanted + 1 : 1 << 20, got = 0;
  char *bytes = calloc(room, 1);
  while (bytes && got < wanted) {
    if (got == room) {
      room = room > wanted / 2 ? wanted : 2 * room;
      char *larger = realloc(bytes, room);
      if (!larger) break;
      bytes = larger;
    }
    const size_t part = fread(bytes + got, 1, (room < wanted ? room : wanted) - got, from);
    if (part == 0) break;
    got += part;
  }
  if (got == wanted) return bytes;
  free(bytes);
  return NULL;
}

static double *receive_numbers(FILE *from, int32_t count, double least) {
  double *values = receive_array(from, (size_t)count, sizeof *values);
  for (int32_t k = 0; values && k < count; k++) {
    if (isfinite(values[k]) && values[k] >= least) continue;
    free(values);
    return NULL;
  }
  return values;
}

static mm_entry *receive_entries(FILE *from, int64_t count, int32_t size) {
  mm_entry *entries = receive_array(from, (size_t)count, sizeof *entries);
  for (int64_t k = 0; entries && k < count; k++) {
    const mm_entry *e = &entries[k];
    if (e->row >= 0 && e->row < size && e->column >= 0 && e->column < size && isfinite(e->value)) continue;
    free(entries);
    return NULL;
  }
  return entries;
}

static int receive_problem(FILE *from, const answer *a, contact_file *file) {
  if ((a->dimension != 2 && a->dimension != 3) || a->size < 1 || a->size % a->dimension) return 1;
  if (a->count < 0 || a->count > INT32_MAX) return 1;
  file->dimension = a->dimension;
  file->size = a->size;
  file->count = a->count;
  file->guess_number = a->guess_number;
  file->entries = receive_entries(from, a->count, a->size);
  if (file->entries) file->q = receive_numbers(from, a->size, -HUGE_VAL);
  if (file->q) file->mu = receive_numbers(from, a->size / a->dimension, 0);
  if (file->mu && a->has_solution) file->solution = receive_numbers(from, a->size, -HUGE_VAL);
  if (file->mu && a->has_guess) file->guess = receive_numbers(from, a->size, -HUGE_VAL);
  return !file->mu || (a->has_solution && !file->solution) || (a->has_guess && !file->guess);
}

int fclib_receive(FILE *from, contact_file *file, mm_error *error) {
  answer a;
  if (file) memset(file, 0, sizeof *file);
  if (fread(&a, sizeof a, 1, from) != 1) return 1;
  if (a.failed) {
    if (fread(error, sizeof *error, 1, from) != 1) return 1;
    error->text[sizeof error->text - 1] = 0;
    return -1;
  }
  if (!file || !receive_problem(from, &a, file)) return 0;
  contact_file_free(file);
  return 1;
}

/* ---- The child ---- */

typedef struct task {
  const char *path;
  size_t bytes;
  int guess;           /* for a task that reads */
  const double *r, *u; /* for a task that writes; otherwise NULL */
  int32_t size;
} task;

static void work(void *argument, FILE *to) {
  const task *t = argument;
  contact_file file = {0};
  mm_error error;
  const int failed = t->r ? fclib_write_here(t->path, t->size, t->r, t->u, &error)
                          : fclib_read_here(t->path, t->bytes, t->guess, &file, &error);
  fclib_send(to, failed, t->r ? NULL : &file, &error);
}

static int fclib_child_run(task *t, contact_file *file, mm_error *error) {
  enum { BASE = 1 << 30, PER_BYTE = 256, BASE_SECONDS = 20, BYTES_PER_SECOND = 1000000 };
  FILE *stream = fopen(t->path, "rb"), *from;
  platform_child *child;
  if (!stream) return mm_fail(error, "%.200s: %s, expected an HDF5 file", t->path, strerror(errno));
  if (platform_kind_of_stream(stream, &t->bytes) != PLATFORM_FILE) t->bytes = 0;
  fclose(stream);
  const size_t memory = BASE + (t->bytes < SIZE_MAX / 4 / PER_BYTE ? PER_BYTE * t->bytes : SIZE_MAX / 4);
  const int seconds = BASE_SECONDS + (int)(t->bytes / BYTES_PER_SECOND % 1000000);
  const int unable = platform_run_apart(work, t, memory, seconds, &from, &child);
  if (unable == ENOSYS)
    return t->r ? fclib_write_here(t->path, t->size, t->r, t->u, error)
                : fclib_read_here(t->path, t->bytes, t->guess, file, error);
  if (unable) return mm_fail(error, "%.200s: no process for the HDF5 library: %s", t->path, strerror(unable));
  const int result = fclib_receive(from, file, error);
  fclose(from);
  const int status = platform_wait(&child);
  if (result <= 0) return result;
  if (platform_is_out_of_time(status))
    return mm_fail(error,
                   "%.200s: the HDF5 library was stopped after %d s, expected a file that it reads in less",
                   t->path, seconds);
  if (status > 256)
    return mm_fail(error, "%.200s: the HDF5 library crashed while reading it (signal %d)", t->path,
                   status - 256);
  return mm_fail(error, "%.200s: the HDF5 library exited while reading it (exit status %d)", t->path, status);
}

int fclib_read(const char *path, int guess, contact_file *file, mm_error *error) {
  memset(file, 0, sizeof *file);
  return fclib_child_run(&(task){.path = path, .guess = guess}, file, error);
}

int fclib_write_solution(const char *path, int32_t size, const double *r, const double *u, mm_error *error) {
  return fclib_child_run(&(task){.path = path, .size = size, .r = r, .u = u}, NULL, error);
}
