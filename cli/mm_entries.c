/* The text is cut into chunks at ends of lines. Threads count the lines of all chunks, which gives the place of
 * each chunk's entries, and then read them. If some lines are blank or comments, the lines with entries are
 * counted one by one instead. */
#include "mm_entries.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "mm_line.h"
#include "platform.h"
#include "progress.h"
#include "threads.h"

enum { usual_chunk = 1 << 20 };

/* The text from here to the next chunk. */
typedef struct chunk {
  const char *text;
  int64_t lines;   /* lines of this chunk, later of all chunks before it */
  int64_t entries; /* its entries, later those before it */
} chunk;

typedef struct reader {
  const scanner *s;
  const mm_header *h;
  const mm_entries *entries;
  int64_t chunks; /* a sentinel follows at the end */
  chunk *chunk;
  atomic_int_least64_t entries_read, chunks_read;
  atomic_int_least64_t first_bad; /* first chunk with an error, which is in *error; `chunks`: none */
  mm_error *error;
} reader;

/* ---- Chunks ---- */

static int make_chunks(reader *r, size_t bytes) {
  const char *const begin = r->s->next, *const end = r->s->end;
  const size_t length = (size_t)(end - begin), size = bytes ? bytes : usual_chunk;
  r->chunks = (int64_t)(length / size) + 1;
  r->chunk = calloc((size_t)r->chunks + 1, sizeof *r->chunk);
  if (!r->chunk) return -1;
  const char *p = begin;
  for (int64_t c = 0; c < r->chunks; c++) {
    const char *const least = begin + (size_t)c * size;
    if (p < least) { /* at the beginning of a line */
      const char *newline = memchr(least - 1, '\n', (size_t)(end - least) + 1);
      p = newline ? newline + 1 : end;
    }
    r->chunk[c].text = p;
  }
  r->chunk[r->chunks].text = end;
  return 0;
}

/* Counts in groups that fit a byte, so that the compiler can compare many bytes at once. */
static int64_t count_newlines(const char *p, const char *end) {
  enum { lanes = 64, rounds = 255 };
  int64_t count = 0;
  while (end - p >= lanes) {
    unsigned char counts[lanes] = {0};
    for (int round = 0; round < rounds && end - p >= lanes; round++, p += lanes)
      for (int k = 0; k < lanes; k++) counts[k] = (unsigned char)(counts[k] + (p[k] == '\n'));
    for (int k = 0; k < lanes; k++) count += counts[k];
  }
  for (; p < end; p++) count += *p == '\n';
  return count;
}

/* The last line may lack a newline. */
static void count_all_lines(void *argument, int64_t c) {
  chunk *const own = &((reader *)argument)->chunk[c];
  const char *const end = own[1].text;
  own->lines = count_newlines(own->text, end) + (end > own->text && end[-1] != '\n');
  own->entries = own->lines;
}

static void count_entry_lines(void *argument, int64_t c) {
  chunk *const own = &((reader *)argument)->chunk[c];
  own->entries = mm_count_lines(own->text, own[1].text);
}

/* Replaces each chunk's number by the sum of those before it; returns the total. */
static int64_t sum_up(reader *r, size_t member) {
  int64_t sum = 0;
  for (int64_t c = 0; c <= r->chunks; c++) {
    int64_t *number = (int64_t *)(void *)((char *)&r->chunk[c] + member);
    const int64_t own = *number;
    *number = sum;
    if (c < r->chunks) sum += own;
  }
  return sum;
}

/* ---- Entries ---- */

static void put(const mm_entries *entries, int64_t k, const mm_entry *e) {
  if (entries->rows) {
    entries->rows[k] = e->row;
    entries->columns[k] = e->column;
  }
  entries->values[k] = e->value;
}

/* Detects a file that another program changes meanwhile, which could have more entries than memory was
 * allocated for. */
static int fail_by_change(scanner *s) {
  return scan_fail(s, "the file changed while it was read, expected one that does not");
}

/* Reads a line that the fast function rejected, after blank lines and comments. Returns 1, 0 at the end, or -1
 * on an error. */
static int read_slowly(scanner *s, const mm_header *h, int64_t k, int64_t end, mm_entry *e) {
  const int found = mm_next_line(s);
  if (found < 1) return found;
  if (k >= h->entries)
    return scan_fail(s, "a further %s, expected no more than the %lld of line %lld",
                     h->coordinate ? "entry" : "value", (long long)h->entries, (long long)h->size_line);
  if (k >= end) return fail_by_change(s);
  return mm_scan_entry(s, h, e) ? -1 : 1;
}

/* Returns 0, or -1 and the error. */
static int read_chunk(const reader *r, int64_t c, mm_error *error) {
  const mm_header *const h = r->h;
  const chunk *const own = &r->chunk[c];
  const int64_t end = own[1].entries;
  int64_t k = own->entries;
  mm_entry e = {0};
  scanner s = *r->s;
  s.error = error;
  s.next = own->text;
  s.end = own[1].text;
  s.line += own->lines;
  while (s.next < s.end) {
    const char *const behind = k < end && k < h->entries ? mm_quick_entry(s.next, s.end, h, &e) : NULL;
    if (behind) {
      s.next = behind;
      s.line++;
    } else {
      const int found = read_slowly(&s, h, k, end, &e);
      if (found < 0) return -1;
      if (!found) break;
    }
    put(r->entries, k++, &e);
  }
  return k == end ? 0 : fail_by_change(&s);
}

static void note_error(reader *r, int64_t c, const mm_error *error) {
  platform_lock();
  if (c < atomic_load(&r->first_bad)) {
    atomic_store(&r->first_bad, c);
    *r->error = *error;
  }
  platform_unlock();
}

static void read_entries(void *argument, int64_t c) {
  reader *const r = argument;
  mm_error error = {""};
  if (c > atomic_load(&r->first_bad)) return;
  if (read_chunk(r, c, &error)) {
    note_error(r, c, &error);
    return;
  }
  const int64_t own = r->chunk[c + 1].entries - r->chunk[c].entries;
  const int64_t entries = atomic_fetch_add(&r->entries_read, own) + own;
  const int64_t chunks = atomic_fetch_add(&r->chunks_read, 1) + 1;
  const double part = (double)chunks / (double)r->chunks;
  progress_step(part, "%.0f %%, %s %lld of %lld", 100 * part, r->h->coordinate ? "entry" : "value",
                (long long)entries, (long long)r->h->entries);
}

/* ---- All chunks ---- */

static int allocate(const mm_header *h, int64_t count, mm_entries *entries) {
  const size_t most = (size_t)(count < h->entries ? count : h->entries) + 1;
  entries->values = platform_allocate(most * sizeof *entries->values);
  if (h->coordinate) {
    entries->rows = platform_allocate(most * sizeof *entries->rows);
    entries->columns = platform_allocate(most * sizeof *entries->columns);
  }
  return !entries->values || (h->coordinate && (!entries->rows || !entries->columns));
}

/* Returns 1 if `exactly` is required because of lines without entries. */
static int read_all(reader *r, int exactly, mm_entries *entries) {
  const mm_header *const h = r->h;
  scanner s = *r->s;
  if (exactly) threads_each(r->chunks, count_entry_lines, r);
  const int64_t found = sum_up(r, offsetof(chunk, entries));
  if (!exactly && found != h->entries) return 1;
  if (allocate(h, found, entries))
    return scan_fail(&s, "out of memory for %lld entries", (long long)h->entries);
  atomic_store(&r->first_bad, r->chunks);
  atomic_store(&r->entries_read, 0);
  atomic_store(&r->chunks_read, 0);
  threads_each(r->chunks, read_entries, r);
  const int failed = atomic_load(&r->first_bad) < r->chunks;
  if (!failed && found == h->entries) return 0;
  if (!exactly) return 1;
  if (failed) return -1;
  s.line += r->chunk[r->chunks].lines;
  return scan_fail(&s, "the file ends after %lld %s, expected the %lld of line %lld", (long long)found,
                   h->coordinate ? "entries" : "values", (long long)h->entries, (long long)h->size_line);
}

int mm_scan_entries(scanner *s, const mm_header *h, size_t chunk_bytes, mm_entries *entries) {
  reader r = {.s = s, .h = h, .entries = entries, .error = s->error};
  if (make_chunks(&r, chunk_bytes))
    return scan_fail(s, "out of memory for %lld entries", (long long)h->entries);
  threads_each(r.chunks, count_all_lines, &r);
  sum_up(&r, offsetof(chunk, lines));
  int failed = read_all(&r, 0, entries);
  if (failed > 0) {
    mm_free_entries(entries);
    failed = read_all(&r, 1, entries);
  }
  free(r.chunk);
  if (failed) mm_free_entries(entries);
  return failed;
}
