/* The pointer, the keys, and files that are dropped on the window. */
#include "window_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "ui.h"

/* ---- Keys: one list for what they do and for what is shown ---- */

static void next_colour(window_state *w) {
  w->scene.look.colour = (w->scene.look.colour + 1) % MESH_COLOURS;
  w->scene.stale = w->scene.range_stale = 1;
  w->scene.range_chosen = 0;
}
static void next_shading(window_state *w) {
  w->scene.look.shading = (w->scene.look.shading + 1) % MESH_SHADINGS;
  w->scene.stale = 1;
}
static void switch_wireframe(window_state *w) {
  w->scene.look.wireframe = !w->scene.look.wireframe;
  w->scene.stale = 1;
}
static void switch_before_after(window_state *w) {
  w->scene.look.before_after = !w->scene.look.before_after;
  w->scene.stale = 1;
}
static void switch_panel(window_state *w) {
  w->panel_hidden = !w->panel_hidden;
}
void window_switch_keys(window_state *w) {
  w->keys_shown = !w->keys_shown;
}
static void leave(window_state *w) {
  if (w->keys_shown)
    w->keys_shown = 0;
  else
    w->steps_to_make = 0;
}
static void quit(window_state *w) {
  glfwSetWindowShouldClose(w->handle, GLFW_TRUE);
}

typedef struct binding {
  int key; /* GLFW's, or a letter as the keyboard's layout has it */
  int control;
  void (*action)(window_state *w);
  const char *name, *what; /* name NULL: another key of the one before */
} binding;

static const binding bindings[] = {
    {GLFW_KEY_SPACE, 0, window_run_or_pause, "Space", "run, pause"},
    {'S', 0, window_step, "S", "one step"},
    {'Z', 0, window_undo, "Z", "undo (also Ctrl+Z)"},
    {'Z', 1, window_undo, NULL, NULL},
    {'Y', 0, window_redo, "Y", "redo (also Ctrl+Y)"},
    {'Y', 1, window_redo, NULL, NULL},
    {'R', 0, window_reset, "R", "back to the start"},
    {'N', 0, window_add_noise, "N", "add noise"},
    {'X', 0, window_remove_control, "X", "remove the control point (also Delete)"},
    {GLFW_KEY_DELETE, 0, window_remove_control, NULL, NULL},
    {'F', 0, window_fit, "F", "fit the mesh into the picture"},
    {'D', 0, next_shading, "D", "smooth or flat shading"},
    {'W', 0, switch_wireframe, "W", "wireframe"},
    {'C', 0, next_colour, "C", "colour: none, curvature, distance moved"},
    {'B', 0, switch_before_after, "B", "before and after"},
    {'P', 0, window_save_picture, "P", "save a picture"},
    {'E', 0, window_export, "E", "export the mesh"},
    {GLFW_KEY_TAB, 0, switch_panel, "Tab", "hide or show the controls"},
    {GLFW_KEY_F1, 0, window_switch_keys, "F1", "these keys (also H)"},
    {'H', 0, window_switch_keys, NULL, NULL},
    {GLFW_KEY_ESCAPE, 0, leave, "Esc", "pause; close this list"},
    {'Q', 1, quit, "Ctrl+Q", "quit"},
};
enum { binding_count = sizeof bindings / sizeof bindings[0] };

const char *window_key_of(void (*action)(window_state *w)) {
  for (int k = 0; k < binding_count; k++)
    if (bindings[k].action == action && bindings[k].name) return bindings[k].name;
  return "";
}

void window_keys_draw(window_state *w) {
  static const ui_row pointer[] = {
      {"left button", "turn; drag the line between before and after"},
      {"on a control point", "drag it; Ctrl and left on the mesh puts one (interpolation)"},
      {"right button", "move (also the middle one, or Shift and the left one)"},
      {"wheel", "nearer, farther"},
      {"drop a file", "open it: OBJ, PLY, OFF or STL"}};
  enum { pointer_count = sizeof pointer / sizeof pointer[0] };
  ui_row rows[pointer_count + 1 + binding_count];
  int width, height, count = 0;
  if (!w->keys_shown) return;
  for (int k = 0; k < pointer_count; k++) rows[count++] = pointer[k];
  rows[count++] = (ui_row){"", ""};
  for (int k = 0; k < binding_count; k++)
    if (bindings[k].name) rows[count++] = (ui_row){bindings[k].name, bindings[k].what};
  window_scene_size(w, &width, &height);
  ui_list("keys", rows, count, (float)window_panel_width(w), 0, (float)width, (float)height);
}

static void on_key(GLFWwindow *handle, int key, int scancode, int action, int modifiers) {
  window_state *w = glfwGetWindowUserPointer(handle);
  if (action == GLFW_RELEASE || ui_wants_text()) return;
  /* Held down, a key repeats; that is for stepping and going back. */
  const char *name = key >= GLFW_KEY_A && key <= GLFW_KEY_Z ? glfwGetKeyName(key, scancode) : NULL;
  if (name && ((name[0] >= 'a' && name[0] <= 'z') || (name[0] >= 'A' && name[0] <= 'Z')) && !name[1])
    key = name[0] & ~0x20;
  const int control = (modifiers & GLFW_MOD_CONTROL) != 0;
  if (control && (modifiers & GLFW_MOD_SHIFT) && key == 'Z') key = 'Y';
  for (int k = 0; k < binding_count; k++) {
    const binding *b = &bindings[k];
    const int repeats = b->action == window_step || b->action == window_undo || b->action == window_redo;
    if (b->key == key && b->control == control && (action == GLFW_PRESS || repeats)) b->action(w);
  }
}

/* ---- The pointer ---- */

static void to_scene(const window_state *w, double x, double y, double *scene_x, double *scene_y) {
  int width, height, pixels_x, pixels_y;
  glfwGetWindowSize(w->handle, &width, &height);
  glfwGetFramebufferSize(w->handle, &pixels_x, &pixels_y);
  *scene_x = (width > 0 ? x * pixels_x / width : x) - window_panel_width(w);
  *scene_y = height > 0 ? y * pixels_y / height : y;
}

static int is_on_split(const window_state *w) {
  int width, height;
  window_scene_size(w, &width, &height);
  return w->scene.look.before_after &&
         fabs(w->pointer_x - (double)w->scene.look.split * width) < 8 * (double)window_scale(w);
}

static void on_button(GLFWwindow *handle, int button, int action, int modifiers) {
  window_state *w = glfwGetWindowUserPointer(handle);
  if (action == GLFW_RELEASE) {
    w->drag = DRAG_NONE;
    return;
  }
  /* Where the pointer was then, as on_motion has it; by now it may be elsewhere. */
  if (ui_wants_pointer() || w->pointer_x < 0) return;
  if (button != GLFW_MOUSE_BUTTON_LEFT || (modifiers & GLFW_MOD_SHIFT))
    w->drag = DRAG_PAN;
  else if (window_grab_control(w, (modifiers & GLFW_MOD_CONTROL) != 0))
    w->drag = DRAG_CONTROL;
  else
    w->drag = is_on_split(w) ? DRAG_SPLIT : DRAG_ORBIT;
}

static void on_motion(GLFWwindow *handle, double window_x, double window_y) {
  window_state *w = glfwGetWindowUserPointer(handle);
  double x, y;
  int width, height;
  to_scene(w, window_x, window_y, &x, &y);
  window_scene_size(w, &width, &height);
  camera *c = &w->scene.camera;
  const float x0 = (float)w->pointer_x, y0 = (float)w->pointer_y;
  if (w->drag == DRAG_ORBIT) camera_orbit(c, x0, y0, (float)x, (float)y, width, height);
  if (w->drag == DRAG_PAN) camera_pan(c, x0, y0, (float)x, (float)y, width, height);
  if (w->drag == DRAG_CONTROL) window_drag_control(w, x0, y0, (float)x, (float)y, width, height);
  if (w->drag == DRAG_SPLIT) w->scene.look.split = fminf(fmaxf((float)x / (float)width, 0), 1);
  w->pointer_x = x;
  w->pointer_y = y;
  if (w->drag != DRAG_NONE) w->scene.stale = 1;
}

static void on_scroll(GLFWwindow *handle, double x, double y) {
  window_state *w = glfwGetWindowUserPointer(handle);
  (void)x;
  if (ui_wants_pointer()) return;
  camera_zoom(&w->scene.camera, (float)y);
  w->scene.stale = 1;
}

/* ---- Files ---- */

static void on_drop(GLFWwindow *handle, int count, const char **paths) {
  window_state *w = glfwGetWindowUserPointer(handle);
  if (count != 1) {
    window_tell_error(w, "several files were dropped, expected one");
    return;
  }
  if (strlen(paths[0]) >= sizeof w->to_open) {
    window_tell_error(w, "the path of the file that was dropped is too long");
    return;
  }
  snprintf(w->to_open, sizeof w->to_open, "%s", paths[0]);
  w->to_open_shown = 0;
}

void window_input_connect(window_state *w) {
  glfwSetWindowUserPointer(w->handle, w);
  glfwSetKeyCallback(w->handle, on_key);
  glfwSetMouseButtonCallback(w->handle, on_button);
  glfwSetCursorPosCallback(w->handle, on_motion);
  glfwSetScrollCallback(w->handle, on_scroll);
  glfwSetDropCallback(w->handle, on_drop);
}
