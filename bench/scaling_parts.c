#include "scaling_parts.h"

#include <stdio.h>
#include <string.h>

#include "arguments.h"

/* Lists the available devices "cuda:0", "cuda:1", ... */
static int find_all(const bench_options *options, scaling_parts *parts) {
  bench_options one = *options;
  while (parts->count < SCALING_MOST_PARTS) {
    char *name = parts->names[parts->count];
    snprintf(name, SCALING_NAME, "cuda:%d", parts->count);
    ts_context *context = NULL;
    const ts_context_desc desc = {.backend = name};
    if (parts->count && ts_context_create(&desc, &context) == TS_ERROR_UNAVAILABLE) break;
    ts_context_destroy(&context);
    one.backend = name;
    if (bench_open(&one, 0, 0, &context)) return 1;
    ts_context_destroy(&context);
    parts->count++;
  }
  return 0;
}

/* Whether two names refer to the same device: "cuda" is the first. */
static int is_same(const char *a, const char *b) {
  if (!strcmp(a, "cuda")) a = "cuda:0";
  if (!strcmp(b, "cuda")) b = "cuda:0";
  return !strcmp(a, b);
}

static void find_shared_devices(scaling_parts *parts) {
  for (int p = 0; p < parts->count; p++)
    for (int q = 0; q < p; q++) parts->shares_device |= is_same(parts->names[p], parts->names[q]);
}

/* The library reports an invalid name when it opens the backend. */
static int split(const char *list, const char *prefix, scaling_parts *parts) {
  for (const char *at = list; at;) {
    const int length = (int)strcspn(at, "+");
    if (parts->count == SCALING_MOST_PARTS) {
      bench_error("--backend: more than %d parts", SCALING_MOST_PARTS);
      return 1;
    }
    snprintf(parts->names[parts->count++], SCALING_NAME, "%s%.*s", prefix, length, at);
    at = at[length] ? at + length + 1 : NULL;
  }
  return 0;
}

int scaling_parts_has(const char *backend) {
  return !backend || !strcmp(backend, "cuda:all") || !strncmp(backend, "multi:", 6) || strchr(backend, '+');
}

int scaling_parts_find(const bench_options *options, scaling_parts *parts) {
  const char *backend = options->backend ? options->backend : "cuda:all";
  *parts = (scaling_parts){.is_multi = !strncmp(backend, "multi:", 6)};
  int failed = 0;
  if (!strcmp(backend, "cuda:all"))
    failed = find_all(options, parts);
  else if (parts->is_multi)
    failed = split(backend + 6, "", parts);
  else if (!strncmp(backend, "cuda:", 5) && strchr(backend, '+'))
    failed = split(backend + 5, "cuda:", parts);
  else
    arguments_usage("--backend: '%.40s' has no parts; scaling needs cuda:0+1, cuda:all or multi:cpu+cpu",
                    backend);
  find_shared_devices(parts);
  return failed;
}

void scaling_parts_backend(const scaling_parts *parts, int count, char name[SCALING_BACKEND]) {
  const char *sign = parts->is_multi ? "multi:" : "cuda:";
  if (count == 1) {
    snprintf(name, SCALING_BACKEND, "%s", parts->names[0]);
    return;
  }
  *name = '\0';
  for (int p = 0; p < count; p++) {
    const size_t length = strlen(name);
    const char *part = parts->names[p] + (parts->is_multi ? 0 : strlen("cuda:"));
    snprintf(name + length, SCALING_BACKEND - length, "%s%s", p ? "+" : sign, part);
  }
}
