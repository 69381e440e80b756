/* Writes a file of members, which the gzip format allows. Each member is compressed on its own from a fixed
 * number of bytes. So the file does not depend on the number of threads. */
#include "gzip.h"

#include <errno.h>

#ifdef TEXSOLVE_HAVE_ZLIB

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "platform.h"
#include "progress.h"
#include "threads.h"

/* zlib parameters: gzip's format instead of zlib's own; the memory level. */
enum { gzip_format = 15 + 16, usual_memory = 8 };

int gzip_is_built(void) {
  return 1;
}

/* ---- Reading ---- */

typedef struct unpacker {
  z_stream z;
  const char *end; /* of the compressed bytes */
  char *text;
  size_t length, room;
} unpacker;

/* Makes room for a part of the text and a zero byte. Nonzero: out of memory. */
static int make_room(unpacker *u) {
  if (u->room - u->length > 1) return 0;
  char *const larger = u->room > SIZE_MAX / 2 ? NULL : realloc(u->text, 2 * u->room);
  if (!larger) return -1;
  u->text = larger;
  u->room *= 2;
  return 0;
}

/* zlib counts in int, and steps should be short. */
static uInt part_of(size_t length) {
  enum { most = 1 << 22 };
  return length < most ? (uInt)length : most;
}

/* Performs one step; returns inflate's status. */
static int unpack_part(unpacker *u) {
  const size_t room = part_of(u->room - u->length - 1);
  u->z.avail_in = part_of((size_t)(u->end - (const char *)u->z.next_in));
  u->z.next_out = (Bytef *)u->text + u->length;
  u->z.avail_out = (uInt)room;
  const int result = inflate(&u->z, Z_NO_FLUSH);
  u->length += room - u->z.avail_out;
  return result;
}

/* Zero padding may follow, as on tapes. */
static int is_padding(const char *p, const char *end) {
  while (p < end && !*p) p++;
  return p == end;
}

/* Unpacks all members. Returns the error, or NULL. */
static const char *unpack_all(unpacker *u, const char *begin) {
  while (!make_room(u)) {
    const int result = unpack_part(u);
    const char *const next = (const char *)u->z.next_in;
    const double part = (double)(next - begin) / (double)(u->end - begin);
    progress_step(part, "%.0f %%", 100 * part);
    if (result == Z_STREAM_END && is_padding(next, u->end)) return NULL;
    if (result == Z_STREAM_END && (*next != GZIP_FIRST_BYTE || inflateReset(&u->z) != Z_OK))
      return "other data follow the compressed data";
    if (result == Z_STREAM_END || result == Z_OK) continue;
    if (result == Z_BUF_ERROR) return "the compressed data are not complete";
    if (result == Z_MEM_ERROR) break;
    return u->z.msg ? u->z.msg : "the compressed data are damaged";
  }
  return "";
}

char *gzip_unpack(const char *bytes, size_t length, size_t *unpacked, const char **why) {
  unpacker u = {.end = bytes + length, .room = 4 * length + 4096};
  *why = NULL;
  u.z.next_in = (z_const Bytef *)(uintptr_t)bytes;
  if (length > SIZE_MAX / 8 || inflateInit2(&u.z, gzip_format) != Z_OK) return NULL;
  u.text = malloc(u.room);
  *why = u.text ? unpack_all(&u, bytes) : "";
  inflateEnd(&u.z);
  if (!*why) {
    u.text[u.length] = 0;
    *unpacked = u.length;
    return u.text;
  }
  if (!**why) *why = NULL;
  free(u.text);
  return NULL;
}

/* ---- Writing ---- */

/* Bytes per member, and members per thread and round. */
enum { member_bytes = 1 << 20, most_members = 64 };

typedef struct packer {
  FILE *to;
  int members, failed, has_written;
  size_t length; /* of the uncompressed data */
  char *text, *packed;
  size_t member_room;                  /* per member in `packed` */
  size_t packed_lengths[most_members]; /* 0: failed */
} packer;

static size_t length_of_member(const packer *p, int64_t member) {
  const size_t begin = (size_t)member * member_bytes;
  return p->length - begin < member_bytes ? p->length - begin : member_bytes;
}

/* Digits of numbers hardly repeat. A higher level takes six times as long for a file that is a tenth
 * smaller. */
static void pack_member(void *argument, int64_t member) {
  packer *const p = argument;
  z_stream z = {0};
  p->packed_lengths[member] = 0;
  if (deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, gzip_format, usual_memory, Z_DEFAULT_STRATEGY) != Z_OK) return;
  z.next_in = (Bytef *)p->text + member * member_bytes;
  z.avail_in = (uInt)length_of_member(p, member);
  z.next_out = (Bytef *)p->packed + (size_t)member * p->member_room;
  z.avail_out = (uInt)p->member_room;
  if (deflate(&z, Z_FINISH) == Z_STREAM_END) p->packed_lengths[member] = p->member_room - z.avail_out;
  deflateEnd(&z);
}

/* Packs the buffered data. An empty file becomes an empty member. */
static void pack(packer *p) {
  const int64_t members = p->length ? (int64_t)((p->length + member_bytes - 1) / member_bytes) : 1;
  threads_each(members, pack_member, p);
  for (int64_t k = 0; k < members && !p->failed; k++) {
    const size_t length = p->packed_lengths[k];
    errno = ENOMEM;
    if (!length || fwrite(p->packed + (size_t)k * p->member_room, 1, length, p->to) != length)
      p->failed = errno ? errno : EIO;
  }
  p->length = 0;
  p->has_written = 1;
}

/* Returns an errno or 0, as platform_open_writer expects. */
static int write_packed(void *argument, const char *bytes, size_t length) {
  packer *const p = argument;
  const size_t room = (size_t)p->members * member_bytes;
  while (length && !p->failed) {
    const size_t now = length < room - p->length ? length : room - p->length;
    memcpy(p->text + p->length, bytes, now);
    p->length += now;
    bytes += now;
    length -= now;
    if (p->length == room) pack(p);
  }
  return p->failed;
}

static void free_packer(packer *p) {
  free(p->text);
  free(p->packed);
  free(p);
}

static int close_packed(void *argument) {
  packer *const p = argument;
  if (!p->failed && (p->length || !p->has_written)) pack(p);
  const int failed = p->failed;
  free_packer(p);
  return failed;
}

FILE *gzip_open_writer(FILE *to) {
  packer *const p = calloc(1, sizeof *p);
  if (!p) return NULL;
  const int threads = threads_count();
  p->to = to;
  p->members = threads < most_members ? threads : most_members;
  p->member_room = compressBound(member_bytes) + 64; /* for zlib's own format, which has a shorter frame */
  p->text = malloc((size_t)p->members * member_bytes);
  p->packed = malloc((size_t)p->members * p->member_room);
  FILE *const stream = p->text && p->packed ? platform_open_writer(p, write_packed, close_packed) : NULL;
  if (!stream) free_packer(p);
  return stream;
}

#else

int gzip_is_built(void) {
  return 0;
}

char *gzip_unpack(const char *bytes, size_t length, size_t *unpacked, const char **why) {
  (void)bytes, (void)length;
  *unpacked = 0;
  *why = "this build has no zlib";
  return NULL;
}

FILE *gzip_open_writer(FILE *to) {
  (void)to;
  errno = ENOTSUP;
  return NULL;
}

#endif
