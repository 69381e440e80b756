/* The few controls that the programs' windows need, in C, from Dear ImGui. Lengths are in pixels of the
 * framebuffer; a control returns 1 when the user has just changed it or pressed it. */
#ifndef UI_H
#define UI_H

#ifdef __cplusplus
extern "C" {
#endif

struct GLFWwindow;

/* For a window with a current OpenGL 3.3 context. Callbacks that the window has by now are still called.
 * `scale`: of a display with small pixels. Returns 0, or 1. */
int ui_create(struct GLFWwindow *window, float scale);
void ui_destroy(void);
void ui_begin_frame(void);
void ui_end_frame(void); /* draws */

/* Whether the pointer or the keyboard is the controls' at the moment. */
int ui_wants_pointer(void);
int ui_wants_text(void);

/* A panel that stays where it is, which scrolls when it is too long. */
void ui_panel_begin(const char *name, float x, float y, float width, float height);
void ui_panel_end(void);

/* A list of two columns in the middle of a rectangle, which scrolls where it is too long for that. */
typedef struct ui_row {
  const char *left, *right;
} ui_row;
void ui_list(const char *name, const ui_row *rows, int count, float x, float y, float width, float height);

/* Text at the lower left of a rectangle, in as many lines as it takes. */
void ui_note(const char *text, int is_error, float x, float y, float width, float height);

int ui_section(const char *title);        /* open? */
int ui_section_closed(const char *title); /* the same; closed at first */
/* What follows is grey and cannot be changed, up to the end. */
void ui_disabled_begin(int disabled);
void ui_disabled_end(void);
void ui_same_line(void);
void ui_space(void);
void ui_text(const char *format, ...) /* in several lines where it is long */
#if defined(__GNUC__)
    __attribute__((format(printf, 1, 2)))
#endif
    ;
void ui_dim_text(const char *text); /* the same in grey */
void ui_tip(const char *text);      /* appears over the control before it */
void ui_point_at(void);             /* a frame around the control before it, which the user is to look at */

/* One of `count` buttons that share the line. */
int ui_button(const char *label, int count);
int ui_check_box(const char *label, int *on);
int ui_combo(const char *label, int *choice, const char *const *names, int count);
/* Of an enumeration, which is as large as an int. */
#define UI_ENUM(value) ((int *)&(value))
/* A menu that shows `now`. Where it is open (1), its items follow, each of which returns 1 when it is chosen,
 * and the end. `why_not`: a reason for which it cannot be; NULL: none. */
int ui_menu_begin(const char *label, const char *now);
int ui_menu_item(const char *name, int selected, const char *why_not);
void ui_menu_end(void);
int ui_slider(const char *label, float *value, float low, float high, const char *format);
int ui_slider_log(const char *label, double *value, double low, double high);
/* In even steps, with a unit behind the number, "" for none. */
int ui_slider_unit(const char *label, double *value, double low, double high, const char *unit);
/* By powers of ten, with 0 at the left end instead of `low` where `from_zero` is set. */
int ui_slider_log_unit(const char *label, double *value, double low, double high, int from_zero,
                       const char *unit);
/* `at_low` is what is shown instead of the lowest number. */
int ui_slider_int(const char *label, int *value, int low, int high, const char *at_low);
/* By powers of ten. */
int ui_slider_int_log(const char *label, int *value, int low, int high);
int ui_colour(const char *label, float rgb[3]);
/* A field of text and a button beside it, which is what may be pressed. */
int ui_text_field(const char *name, char *text, int size, const char *button);

/* A curve with a line of text above it. */
void ui_plot(const char *text, const float *values, int count, float low, float high, int bars);

/* Several curves in one frame with their names, the newest values at the right: `room` values are as wide as
 * the frame. A curve leaves out what is no number. */
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
