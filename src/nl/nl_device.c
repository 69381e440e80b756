/* texsolve-nl: extensions and their devices. A device stays open after its last context. Programs create a
 * context per system, and a device takes longer to open than most systems to solve. */
#include <stdlib.h>
#include <string.h>

#include "nl_private.h"

static tsn_device *devices;
static char chosen[sizeof devices->backend]; /* chosen by nlInitExtension; "": none */

/* ---- Devices ---- */

static const char *from_environment(void) {
  const char *name = getenv("TEXSOLVE_BACKEND");
  return name && name[0] ? name : NULL;
}

static const char *backend_name(void) {
  const char *name = from_environment();
  return name ? name : chosen[0] ? chosen : "auto";
}

/* Returns NULL on failure. ts_last_error(NULL) then contains the cause, or is empty if memory is exhausted. */
static tsn_device *open_device(const char *backend) {
  for (tsn_device *d = devices; d; d = d->next)
    if (strcmp(d->backend, backend) == 0) return d;
  tsn_device *d = calloc(1, sizeof *d);
  if (!d) return NULL;
  const ts_context_desc desc = {.backend = backend};
  if (ts_context_create(&desc, &d->context) < 0) {
    free(d);
    return NULL;
  }
  snprintf(d->backend, sizeof d->backend, "%s", backend);
  d->next = devices;
  devices = d;
  return d;
}

tsn_device *tsn_device_of(tsn_context *c) {
  if (c->device) return c->device;
  const char *backend = backend_name();
  tsn_device *d = strlen(backend) < sizeof d->backend ? open_device(backend) : NULL;
  if (!d) {
    tsn_fail(c, NL_DEVICE_ERROR, "%s%s", from_environment() ? "TEXSOLVE_BACKEND: " : "", ts_last_error(NULL));
    return NULL;
  }
  d->users++;
  return c->device = d;
}

void tsn_device_release(tsn_device *device) {
  if (device) device->users--;
}

void NLAPIENTRY nlReleaseDevices(void) {
  tsn_device **at = &devices;
  while (*at) {
    tsn_device *d = *at;
    if (d->users) {
      at = &d->next;
      continue;
    }
    *at = d->next;
    ts_context_destroy(&d->context);
    free(d);
  }
}

/* ---- Extensions ---- */

typedef struct extension {
  const char *name;
  const char *backends[2]; /* candidates, in order */
} extension;

static const extension extensions[] = {
    {"CUDA", {"cuda"}}, {"OPENGL", {"gl"}}, {"GL", {"gl"}}, {"CPU", {"cpu"}}, {"CNC", {"cuda", "gl"}},
};

static const extension *find(const char *name) {
  for (size_t i = 0; name && i < sizeof extensions / sizeof extensions[0]; i++)
    if (strcmp(extensions[i].name, name) == 0) return &extensions[i];
  return NULL;
}

/* Whether `name` selects `backend`; for example "check:gl:1" selects "gl". */
static int is_backend(const char *name, const char *backend) {
  if (strncmp(name, "check:", 6) == 0) name += 6;
  const size_t length = strlen(backend);
  return strncmp(name, backend, length) == 0 && (name[length] == 0 || name[length] == ':');
}

static int has_backend(const extension *e, const char *name) {
  return is_backend(name, e->backends[0]) || (e->backends[1] && is_backend(name, e->backends[1]));
}

NLboolean NLAPIENTRY nlInitExtension(const char *name) {
  const extension *e = find(name);
  if (!e) {
    tsn_explain("%s: texsolve-nl does not support extension \"%s\"; it supports CUDA, OPENGL, CPU and CNC",
                __func__, name ? name : "(null)");
    return NL_FALSE;
  }
  const char *environment = from_environment();
  if (environment && !has_backend(e, environment)) {
    tsn_explain("%s: %s is not used because TEXSOLVE_BACKEND is %s", __func__, name, environment);
    return NL_FALSE;
  }
  for (int i = 0; i < 2 && e->backends[i]; i++) {
    const char *backend = environment ? environment : e->backends[i];
    if (!open_device(backend)) continue;
    snprintf(chosen, sizeof chosen, "%s", backend);
    return NL_TRUE;
  }
  tsn_explain("%s: %s: %s", __func__, name, ts_last_error(NULL));
  return NL_FALSE;
}

NLboolean NLAPIENTRY nlExtensionIsInitialized(const char *name) {
  const extension *e = find(name);
  return e && chosen[0] && has_backend(e, chosen) ? NL_TRUE : NL_FALSE;
}

static void apply_argument(const char *argument) {
  char name[32];
  const char *equals = strchr(argument, '=');
  const size_t length = equals ? (size_t)(equals - argument) : sizeof name;
  if (length >= sizeof name) return;
  memcpy(name, argument, length);
  name[length] = 0;
  if (strcmp(equals + 1, "true") == 0)
    nlInitExtension(name);
  else if (strcmp(equals + 1, "false") == 0 && nlExtensionIsInitialized(name))
    chosen[0] = 0;
}

void NLAPIENTRY nlInitialize(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (strncmp(argv[i], "nl:", 3) == 0) apply_argument(argv[i] + 3);
}
