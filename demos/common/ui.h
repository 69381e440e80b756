/* A C interface to the few controls of Dear ImGui that the demos need. Lengths are in pixels of the
 * framebuffer. A control returns 1 in the frame in which the user changes or presses it. */
#ifndef UI_H
#define UI_H

#ifdef __cplusplus
extern "C" {
#endif

struct GLFWwindow;

/* Needs a window with a current OpenGL 3.3 context. Callbacks that were set before are still called. `scale`
 * enlarges everything on a display with small pixels. Returns 0, or 1 on failure. */
int ui_create(struct GLFWwindow *window, float scale);
void ui_destroy(void);
void ui_begin_frame(void);
void ui_end_frame(void); /* draws */

/* Return 1 while the controls use the pointer or the keyboard. */
int ui_wants_pointer(void);
int ui_wants_text(void);

/* A panel in a fixed position, which scrolls if its contents are too long. */
void ui_panel_begin(const char *name, float x, float y, float width, float height);
void ui_panel_end(void);

/* A list of two columns in the middle of a rectangle. It scrolls if it is too long. */
typedef struct ui_row {
  const char *left, *right;
} ui_row;
void ui_list(const char *name, const ui_row *rows, int count, float x, float y, float width, float height);

/* Text at the lower left of a rectangle. It wraps. */
void ui_note(const char *text, int is_error, float x, float y, float width, float height);

int ui_section(const char *title);        /* returns 1 while open */
int ui_section_closed(const char *title); /* initially closed */
/* Controls between these calls are grey and cannot be changed. */
void ui_disabled_begin(int disabled);
void ui_disabled_end(void);
void ui_same_line(void);
void ui_space(void);
void ui_text(const char *format, ...) /* wraps */
#if defined(__GNUC__)
    __attribute__((format(printf, 1, 2)))
#endif
    ;
void ui_dim_text(const char *text); /* in grey; wraps */
void ui_tip(const char *text);      /* tooltip of the previous control */
void ui_point_at(void);             /* a frame around the previous control, to draw attention to it */

/* One of `count` buttons that share a line. */
int ui_button(const char *label, int count);
int ui_check_box(const char *label, int *on);
int ui_combo(const char *label, int *choice, const char *const *names, int count);
/* Converts an enumeration for the functions below. It must be as large as an int. */
#define UI_ENUM(value) ((int *)&(value))
/* A menu that shows `now`. If ui_menu_begin returns 1 the menu is open: add its items, then call ui_menu_end.
 * An item returns 1 when it is chosen. `why_not` is the reason why it is disabled; NULL: it is enabled. */
int ui_menu_begin(const char *label, const char *now);
int ui_menu_item(const char *name, int selected, const char *why_not);
void ui_menu_end(void);
int ui_slider(const char *label, float *value, float low, float high, const char *format);
int ui_slider_log(const char *label, double *value, double low, double high);
/* A linear slider. The unit follows the number; "": none. */
int ui_slider_unit(const char *label, double *value, double low, double high, const char *unit);
/* A logarithmic slider. With `from_zero` its left end is 0 instead of `low`. */
int ui_slider_log_unit(const char *label, double *value, double low, double high, int from_zero,
                       const char *unit);
/* `at_low` is shown instead of the lowest number. */
int ui_slider_int(const char *label, int *value, int low, int high, const char *at_low);
/* Logarithmic. */
int ui_slider_int_log(const char *label, int *value, int low, int high);
int ui_colour(const char *label, float rgb[3]);
/* A text field with a button at its right. Returns 1 when the button is pressed. */
int ui_text_field(const char *name, char *text, int size, const char *button);

/* A curve with a line of text above it. */
void ui_plot(const char *text, const float *values, int count, float low, float high, int bars);

/* Several named curves in one frame, with the newest values at the right. The frame has room for `room` values.
 * NaNs leave gaps. */
typedef struct ui_curve {
  const char *name;
  const float *values;
  int count;
  float rgb[3];
} ui_curve;
void ui_curves(const char *text, const ui_curve *curves, int count, int room, float low, float high);

#ifdef __cplusplus
}
#endif
#endif
