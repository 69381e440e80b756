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
  w->options.look.colour = (w->options.look.colour + 1) % FLAT_COLOURS;
  w->options.look.range = 0;
  w->stale = 1;
}
static void switch_wireframe(window_state *w) {
  w->options.look.wireframe = !w->options.look.wireframe;
  w->stale = 1;
}
static void switch_squares(window_state *w) {
  w->options.look.squares = w->options.look.squares ? 0 : 40;
  w->stale = 1;
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
  else if (w->state == WORKER_BUSY)
    window_solve_or_stop(w);
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
    {GLFW_KEY_SPACE, 0, window_solve_or_stop, "Space", "solve, stop"},
    {'A', 0, window_automatic_pins, "A", "automatic pins"},
    {'F', 0, window_fit, "F", "fit mesh and image into the picture"},
    {'W', 0, switch_wireframe, "W", "wireframe"},
    {'K', 0, switch_squares, "K", "checkerboard"},
    {'C', 0, next_colour, "C", "colour: none, angles, areas"},
    {'P', 0, window_save_picture, "P", "save a picture"},
    {'E', 0, window_export, "E", "export the mesh with u and v"},
    {GLFW_KEY_TAB, 0, switch_panel, "Tab", "hide or show the controls"},
    {GLFW_KEY_F1, 0, window_switch_keys, "F1", "these keys (also H)"},
    {'H', 0, window_switch_keys, NULL, NULL},
    {GLFW_KEY_ESCAPE, 0, leave, "Esc", "stop; close this list"},
    {'Q', 1, quit, "Ctrl+Q", "quit"},
};
enum { binding_count = sizeof bindings / sizeof bindings[0] };

const char *window_key_of(void (*action)(window_state *w)) {
  for (int k = 0; k < binding_count; k++)
    if (bindings[k].action == action && bindings[k].name) return bindings[k].name;
  return "";
}

void window_keys_draw(window_state *w) {
  static const ui_row pointer[] = {{"left button", "turn the mesh; move the image; drag a pin in the image"},
                                   {"right button", "move (also the middle one)"},
                                   {"Shift, left", "pin a vertex, on the mesh or in the image; or unpin it"},
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
  if (action != GLFW_PRESS || ui_wants_text()) return;
  const char *name = key >= GLFW_KEY_A && key <= GLFW_KEY_Z ? glfwGetKeyName(key, scancode) : NULL;
  if (name && ((name[0] >= 'a' && name[0] <= 'z') || (name[0] >= 'A' && name[0] <= 'Z')) && !name[1])
    key = name[0] & ~0x20;
  const int control = (modifiers & GLFW_MOD_CONTROL) != 0;
  for (int k = 0; k < binding_count; k++)
    if (bindings[k].key == key && bindings[k].control == control) bindings[k].action(w);
}

/* ---- The pointer ---- */

static void to_scene(const window_state *w, double x, double y, double *scene_x, double *scene_y) {
  int width, height, pixels_x, pixels_y;
  glfwGetWindowSize(w->handle, &width, &height);
  glfwGetFramebufferSize(w->handle, &pixels_x, &pixels_y);
  *scene_x = (width > 0 ? x * pixels_x / width : x) - window_panel_width(w);
  *scene_y = height > 0 ? y * pixels_y / height : y;
}

static int in_image(const window_state *w) {
  int width, height;
  window_scene_size(w, &width, &height);
  const int left = width / 2;
  return w->pointer_x >= left;
}

static void pick(window_state *w) {
  const int32_t pin = window_find_pin(w, w->pointer_x, w->pointer_y);
  if (pin >= 0) {
    window_remove_pin(w, pin);
    return;
  }
  const int32_t vertex = window_find_vertex(w, w->pointer_x, w->pointer_y);
  if (vertex >= 0) window_add_pin(w, vertex);
}

static void press_left(window_state *w) {
  const int32_t pin = in_image(w) ? window_find_pin(w, w->pointer_x, w->pointer_y) : -1;
  if (pin >= 0) {
    window_grab_pin(w, pin);
    w->drag = DRAG_PIN;
  } else {
    w->drag = in_image(w) ? DRAG_IMAGE : DRAG_ORBIT;
  }
}

static void on_button(GLFWwindow *handle, int button, int action, int modifiers) {
  window_state *w = glfwGetWindowUserPointer(handle);
  if (action == GLFW_RELEASE) {
    w->drag = DRAG_NONE;
    w->dragged = -1;
    return;
  }
  /* Where the pointer was then, as on_motion has it; by now it may be elsewhere. */
  if (ui_wants_pointer() || w->pointer_x < 0) return;
  if (button != GLFW_MOUSE_BUTTON_LEFT)
    w->drag = in_image(w) ? DRAG_IMAGE : DRAG_PAN;
  else if (modifiers & GLFW_MOD_SHIFT)
    pick(w);
  else
    press_left(w);
}

static double image_scale(const window_state *w) {
  int width, height;
  window_scene_size(w, &width, &height);
  width -= width / 2;
  return w->window.size / (width < height ? width : height);
}

static void on_motion(GLFWwindow *handle, double window_x, double window_y) {
  window_state *w = glfwGetWindowUserPointer(handle);
  double x, y;
  int width, height;
  to_scene(w, window_x, window_y, &x, &y);
  window_scene_size(w, &width, &height);
  const float x0 = (float)w->pointer_x, y0 = (float)w->pointer_y;
  if (w->drag == DRAG_ORBIT) camera_orbit(&w->camera, x0, y0, (float)x, (float)y, width / 2, height);
  if (w->drag == DRAG_PAN) camera_pan(&w->camera, x0, y0, (float)x, (float)y, width / 2, height);
  if (w->drag == DRAG_IMAGE) {
    w->window.middle[0] -= (x - w->pointer_x) * image_scale(w);
    w->window.middle[1] += (y - w->pointer_y) * image_scale(w);
  }
  if (w->drag == DRAG_PIN) window_move_pin(w, x, y);
  w->pointer_x = x;
  w->pointer_y = y;
  if (w->drag != DRAG_NONE) w->stale = 1;
}

static void on_scroll(GLFWwindow *handle, double x, double y) {
  window_state *w = glfwGetWindowUserPointer(handle);
  (void)x;
  if (ui_wants_pointer()) return;
  if (in_image(w))
    w->window.size *= pow(0.9, y);
  else
    camera_zoom(&w->camera, (float)y);
  w->stale = 1;
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
