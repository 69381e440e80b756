/* The pointer, the keys, and files that are dropped on the window. */
#include "window_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "ui.h"

/* ---- Keys: one list for what they do and for what is shown ---- */

static void show_field(window_state *w, fluid_field field) {
  w->look.field = field;
  if (!w->own_range) w->look.range = 0;
  w->look.legend = field != FLUID_FIELD_DYE;
}
static void show_dye(window_state *w) {
  show_field(w, FLUID_FIELD_DYE);
}
static void show_speed(window_state *w) {
  show_field(w, FLUID_FIELD_SPEED);
}
static void show_pressure(window_state *w) {
  show_field(w, FLUID_FIELD_PRESSURE);
}
static void show_divergence(window_state *w) {
  show_field(w, FLUID_FIELD_DIVERGENCE);
}
static void show_vorticity(window_state *w) {
  show_field(w, FLUID_FIELD_VORTICITY);
}
static void switch_arrows(window_state *w) {
  w->look.arrows = !w->look.arrows;
}
static void switch_particles(window_state *w) {
  window_set_particles(w, w->look.particles && w->particles ? 0 : 4096);
}
static void next_solver(window_state *w) {
  const int next = ((int)simulation_parameters(*w->s)->solver + 1) % WINDOW_SOLVERS;
  window_set_solver(w, (ts_fluid_solver)next);
  if (!w->note_is_error)
    window_tell(w, "pressure by %s, %d iterations", ts_fluid_solver_name((ts_fluid_solver)next),
                simulation_parameters(*w->s)->iterations);
}
static void next_scene(window_state *w) {
  window_set_scene(w, (scene_index(simulation_scene(*w->s)) + 1) % scene_count(), 0, 0);
}
static void smaller_brush(window_state *w) {
  w->pointer.brush = fmax(w->pointer.brush / 1.2, POINTER_SMALLEST);
}
static void larger_brush(window_state *w) {
  w->pointer.brush = fmin(w->pointer.brush * 1.2, POINTER_LARGEST);
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
    w->paused = 1;
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
    {'S', 0, window_step, "S", "a single step"},
    {'R', 0, window_reset, "R", "from the beginning"},
    {'C', 0, window_clear_walls, "C", "no walls"},
    {'N', 0, next_scene, "N", "next scene"},
    {'M', 0, next_solver, "M", "next solver of the pressure"},
    {'1', 0, show_dye, "1", "dye"},
    {'2', 0, show_speed, "2", "speed"},
    {'3', 0, show_pressure, "3", "pressure"},
    {'4', 0, show_divergence, "4", "divergence"},
    {'5', 0, show_vorticity, "5", "vorticity"},
    {'A', 0, switch_arrows, "A", "arrows of the velocity"},
    {'O', 0, switch_particles, "O", "particles"},
    {'[', 0, smaller_brush, "[", "smaller brush"},
    {']', 0, larger_brush, "]", "larger brush"},
    {'P', 0, window_save_picture, "P", "save a picture"},
    {'F', 0, window_film, "F", "begin or end a film"},
    {'J', 0, window_save_report, "J", "save what is set and measured, as JSON"},
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
  static const ui_row pointer[] = {{"left button", "push the fluid, with dye"},
                                   {"right button", "draw walls"},
                                   {"middle button", "erase walls (also Shift and the right one)"},
                                   {"wheel", "larger or smaller brush"},
                                   {"drop a PNG", "its dark parts become walls"}};
  enum { pointer_count = sizeof pointer / sizeof pointer[0] };
  ui_row rows[pointer_count + 1 + binding_count];
  int count = 0;
  if (!w->keys_shown) return;
  for (int k = 0; k < pointer_count; k++) rows[count++] = pointer[k];
  rows[count++] = (ui_row){"", ""};
  for (int k = 0; k < binding_count; k++)
    if (bindings[k].name) rows[count++] = (ui_row){bindings[k].name, bindings[k].what};
  const fluid_area space = window_space(w);
  ui_list("keys", rows, count, (float)space.x, 0, (float)space.width, (float)space.height);
}

static void on_key(GLFWwindow *handle, int key, int scancode, int action, int modifiers) {
  window_state *w = glfwGetWindowUserPointer(handle);
  if (action == GLFW_RELEASE || ui_wants_text()) return;
  /* Letters and digits are those that the keyboard's layout has; held down, only a step repeats. */
  const char *name = glfwGetKeyName(key, scancode);
  if (name && name[0] > ' ' && name[0] < 127 && !name[1]) {
    key = (unsigned char)name[0];
    if (key >= 'a' && key <= 'z') key &= ~0x20;
  }
  const int control = (modifiers & GLFW_MOD_CONTROL) != 0;
  for (int k = 0; k < binding_count; k++) {
    const binding *b = &bindings[k];
    const int repeats = b->action == window_step || b->action == smaller_brush || b->action == larger_brush;
    if (b->key == key && b->control == control && (action == GLFW_PRESS || repeats)) b->action(w);
  }
}

/* ---- The pointer ---- */

/* From the window's units, counted from the top, to metres in the fluid. */
static void move_pointer(window_state *w, double x, double y) {
  int width, height, pixels_x, pixels_y;
  double metres_x, metres_y;
  glfwGetWindowSize(w->handle, &width, &height);
  glfwGetFramebufferSize(w->handle, &pixels_x, &pixels_y);
  if (width <= 0 || height <= 0) return;
  fluid_view_metres(*w->s, window_area(w), x * pixels_x / width, pixels_y - y * pixels_y / height, &metres_x,
                    &metres_y);
  pointer_move(&w->pointer, metres_x, metres_y);
}

/* Dear ImGui knows of the pointer what it was in the last frame. */
static int is_over_controls(const window_state *w) {
  double x, y;
  glfwGetCursorPos(w->handle, &x, &y);
  int width, height, pixels_x, pixels_y;
  glfwGetWindowSize(w->handle, &width, &height);
  glfwGetFramebufferSize(w->handle, &pixels_x, &pixels_y);
  return ui_wants_pointer() || x * pixels_x < (double)window_panel_width(w) * width;
}

static void on_button(GLFWwindow *handle, int button, int action, int modifiers) {
  window_state *w = glfwGetWindowUserPointer(handle);
  if (action == GLFW_RELEASE) {
    pointer_release(&w->pointer, button);
    return;
  }
  /* A button that joins others goes where they are, also over the controls. */
  if (is_over_controls(w) && !w->pointer.buttons) return;
  unsigned does = POINTER_PUSH;
  if (button == GLFW_MOUSE_BUTTON_RIGHT) does = modifiers & GLFW_MOD_SHIFT ? POINTER_ERASE : POINTER_WALL;
  if (button == GLFW_MOUSE_BUTTON_MIDDLE) does = POINTER_ERASE;
  pointer_press(&w->pointer, button, does);
  w->touched |= does == POINTER_PUSH;
}

static void on_motion(GLFWwindow *handle, double x, double y) {
  move_pointer(glfwGetWindowUserPointer(handle), x, y);
}

static void on_scroll(GLFWwindow *handle, double x, double y) {
  window_state *w = glfwGetWindowUserPointer(handle);
  (void)x;
  if (is_over_controls(w)) return;
  w->pointer.brush = fmin(fmax(w->pointer.brush * pow(1.15, y), POINTER_SMALLEST), POINTER_LARGEST);
}

/* A button that is let go in another window is not heard of. */
static void on_focus(GLFWwindow *handle, int focused) {
  window_state *w = glfwGetWindowUserPointer(handle);
  for (int button = 0; !focused && button < POINTER_BUTTONS; button++) pointer_release(&w->pointer, button);
}

/* ---- Files ---- */

static void on_drop(GLFWwindow *handle, int count, const char **paths) {
  window_state *w = glfwGetWindowUserPointer(handle);
  if (count != 1)
    window_tell_error(w, "several files were dropped, expected one");
  else if (strlen(paths[0]) >= sizeof w->to_load)
    window_tell_error(w, "the path of the file that was dropped is too long");
  else
    snprintf(w->to_load, sizeof w->to_load, "%s", paths[0]);
}

void window_input_connect(window_state *w) {
  glfwSetWindowUserPointer(w->handle, w);
  glfwSetKeyCallback(w->handle, on_key);
  glfwSetMouseButtonCallback(w->handle, on_button);
  glfwSetCursorPosCallback(w->handle, on_motion);
  glfwSetScrollCallback(w->handle, on_scroll);
  glfwSetWindowFocusCallback(w->handle, on_focus);
  glfwSetDropCallback(w->handle, on_drop);
}
