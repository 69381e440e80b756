#include "family_peers.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "peer_program.h"

enum { PEER_ARGUMENTS = 8 };

static const struct {
  const char *name, *program, *first; /* first: an argument before the others; NULL: none */
} PEERS[] = {{"hypre", "peer-hypre", "--amg"}, {"AMGCL", "peer-amgcl", NULL}};

int family_peer_count(void) {
  return (int)(sizeof PEERS / sizeof *PEERS);
}

const char *family_peer_name(int index) {
  return PEERS[index].name;
}

int family_peer_is_built(int index) {
  char path[PEER_PATH_SIZE];
  return peer_find(PEERS[index].program, path);
}

static double number(const json_t *entry, const char *key) {
  const json_t *value = json_object_get(entry, key);
  return json_is_number(value) ? json_number_value(value) : NAN;
}

static int is_better(const family_peer *a, const family_peer *b, double rtol) {
  const int done = a->residual <= rtol, other = b->residual <= rtol;
  if (done != other) return done;
  return done ? a->setup + a->solve < b->setup + b->solve : a->residual < b->residual;
}

/* The answer omits a residual that is not finite. */
static int read_answer(const json_t *answer, double rtol, family_peer *result) {
  size_t index;
  json_t *entry;
  *result = (family_peer){.residual = INFINITY};
  json_array_foreach(json_object_get(answer, "results"), index, entry) {
    const char *setting = json_string_value(json_object_get(entry, "setting"));
    family_peer found = {.levels = (int)json_integer_value(json_object_get(entry, "levels")),
                         .iterations = (int)json_integer_value(json_object_get(entry, "iterations")),
                         .cost = number(entry, "cost"),
                         .setup = number(entry, "setup"),
                         .solve = number(entry, "solve"),
                         .residual = number(entry, "residual")};
    if (!setting) continue;
    if (isnan(found.residual)) found.residual = INFINITY;
    snprintf(found.setting, sizeof found.setting, "%s", setting);
    if (!*result->setting || is_better(&found, result, rtol)) *result = found;
  }
  return !*result->setting;
}

/* The peers read no input. */
static int write_nothing(FILE *file, const void *problem) {
  (void)file, (void)problem;
  return 0;
}

int family_peer_run(const bench_options *options, int index, const char *family, int32_t rows,
                    family_peer *result) {
  char path[PEER_PATH_SIZE], size[32], rtol[48], repeats[32], threads[32];
  const char *arguments[PEER_ARGUMENTS + 1] = {NULL};
  int count = 0;
  if (!peer_find(PEERS[index].program, path)) return 1;
  snprintf(size, sizeof size, "--size=%d", rows);
  snprintf(rtol, sizeof rtol, "--rtol=%.17g", options->rtol);
  snprintf(repeats, sizeof repeats, "--repeats=%d", options->repeat);
  snprintf(threads, sizeof threads, "--threads=%d", options->threads);
  arguments[count++] = path;
  if (PEERS[index].first) arguments[count++] = PEERS[index].first;
  arguments[count++] = family;
  arguments[count++] = size;
  arguments[count++] = rtol;
  arguments[count++] = repeats;
  if (options->threads && !PEERS[index].first) arguments[count++] = threads; /* hypre has no threads */
  arguments[count++] = "--json";
  bench_error_subject(family);
  json_t *answer = peer_ask(arguments, write_nothing, NULL);
  const int failed = !answer || read_answer(answer, options->rtol, result);
  json_decref(answer);
  bench_error_subject(NULL);
  return failed;
}
