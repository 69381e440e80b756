/* Controls in the windows' panels. */
#include "app.h"

#include <stdio.h>
#include <string.h>

void app_heading(const char *text, const app *a, double time) {
  char pace[80];
  ui_dim_text(text);
  snprintf(pace, sizeof pace, "%.0f frames per second, time %.4g s", 1 / a->frame_seconds, time);
  ui_dim_text(pace);
}

void app_button(app *a, const char *label, int count, int enabled, void (*action)(window_state *w)) {
  char tip[60];
  ui_disabled_begin(!enabled);
  const int pressed = ui_button(label, count);
  ui_disabled_end();
  snprintf(tip, sizeof tip, "key: %s", app_key_of(a, action));
  ui_tip(tip);
  if (pressed) action((window_state *)a);
}

void app_keys_button(app *a, int count) {
  if (ui_button("Keys: F1", count)) app_show_keys((window_state *)a);
}

void app_open_button(app *a, const char *label, int count) {
  if (ui_button(label, count)) app_choose_file((window_state *)a);
  ui_tip("key: Ctrl+O; you can also drop a file on the window");
}

void app_file_field(app *a, const char *name, app_file *file, const char *button, const char *tip,
                    void (*action)(window_state *w)) {
  char text[120];
  if (ui_text_field(name, file->path, sizeof file->path, button)) action((window_state *)a);
  snprintf(text, sizeof text, "%s; key: %s", tip, app_key_of(a, action));
  ui_tip(text);
}

int app_choice(const char *label, int *value, const char *(*names)(int index)) {
  enum { most = 16 };
  const char *list[most];
  int count = 0;
  while (count < most && (list[count] = names(count))) count++;
  return ui_combo(label, value, list, count);
}

const char *app_digits(double number) {
  static char text[32];
  snprintf(text, sizeof text, "%.*f", number < 1 ? 3 : number < 10 ? 2 : number < 100 ? 1 : 0, number);
  return text;
}

void app_times_add(app_times *t, int most, double milliseconds) {
  if (t->count == most) memmove(t->values, t->values + 1, (size_t)--t->count * sizeof t->values[0]);
  t->values[t->count++] = (float)milliseconds;
}

/* OpenGL must be available, because the window uses it, and the CPU always is. So only CUDA needs a test. */
static const char *why_absent(const char *backend) {
  static char reason[160];
  static int asked;
  if (strcmp(backend, "cuda") != 0) return NULL;
  if (!asked) {
    const ts_context_desc desc = {.backend = backend};
    ts_context *context = NULL;
    asked = 1;
    if (ts_context_create(&desc, &context) != TS_OK) snprintf(reason, sizeof reason, "%s", ts_last_error(NULL));
    ts_context_destroy(&context);
  }
  /* Keep the reason of "backend cuda is not available: this texsolve was built without CUDA". */
  const char *colon = strstr(reason, ": ");
  return colon ? colon + 2 : reason[0] ? reason : NULL;
}

const char *app_backend_choice(const char *now) {
  const size_t length = strcspn(now, ":");
  const char *chosen = NULL, *name;
  if (!ui_menu_begin("backend", now)) return NULL;
  for (int k = 0; (name = ts_backend_name(k)); k++) {
    const int used = strlen(name) == length && strncmp(name, now, length) == 0;
    if (ui_menu_item(name, used, used ? NULL : why_absent(name)) && !used) chosen = name;
  }
  ui_menu_end();
  return chosen;
}
