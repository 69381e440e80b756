#include "open_dialog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform.h"

struct open_dialog {
  platform_child *child;
  FILE *in, *out; /* pipes of the child: `in` stays empty, `out` has one line with the path */
};

static int is_kde(void) {
  const char *desktop = getenv("XDG_CURRENT_DESKTOP");
  return desktop && strstr(desktop, "KDE");
}

/* Returns NULL if none is installed. */
static const char *find_program(void) {
  static const char *const programs[] = {"zenity", "kdialog"};
  const int first = is_kde();
  for (int k = 0; k < 2; k++)
    if (platform_is_in_path(programs[(first + k) % 2])) return programs[(first + k) % 2];
  return NULL;
}

static void close_files(open_dialog *d) {
  if (d->in) fclose(d->in);
  if (d->out) fclose(d->out);
}

static int start(open_dialog *d, const char *program, const char *title, const char *kind,
                 const char *patterns) {
  char caption[200], filter[200];
  const char *zenity[] = {"zenity", "--file-selection", caption, filter, "--file-filter=all files | *", NULL};
  const char *kdialog[] = {"kdialog", "--title", title, "--getopenfilename", ".", filter, NULL};
  const int is_zenity = strcmp(program, "zenity") == 0;
  snprintf(caption, sizeof caption, "--title=%s", title);
  snprintf(filter, sizeof filter, is_zenity ? "--file-filter=%s | %s" : "%s (%s)", kind, patterns);
  d->in = tmpfile();
  d->out = tmpfile();
  return !d->in || !d->out ||
         platform_start(is_zenity ? zenity : kdialog, d->in, d->out, NULL, NULL, &d->child);
}

int open_dialog_start(open_dialog **made, const char *title, const char *kind, const char *patterns, char *why,
                      size_t size) {
  const char *program = find_program();
  *made = NULL;
  if (!program) {
    snprintf(why, size,
             "the Open dialog needs zenity or kdialog, and neither is installed; drop a file on the "
             "window instead");
    return 1;
  }
  open_dialog *d = calloc(1, sizeof *d);
  if (d && !start(d, program, title, kind, patterns)) {
    *made = d;
    return 0;
  }
  if (d) close_files(d);
  free(d);
  snprintf(why, size, "%s cannot be started; drop a file on the window instead", program);
  return 1;
}

int open_dialog_is_open(const open_dialog *dialog) {
  return dialog && platform_is_running(dialog->child);
}

void open_dialog_end(open_dialog **dialog, char *path, size_t size) {
  open_dialog *d = *dialog;
  const int status = platform_wait(&d->child);
  rewind(d->out);
  const size_t count = status ? 0 : fread(path, 1, size, d->out);
  /* Treat a path that is too long as no choice. */
  const size_t length = count < size ? count : 0;
  path[length - (length > 0 && path[length - 1] == '\n')] = 0;
  close_files(d);
  free(d);
  *dialog = NULL;
}

void open_dialog_close(open_dialog **dialog) {
  char path[2];
  if (!*dialog) return;
  platform_stop((*dialog)->child);
  open_dialog_end(dialog, path, sizeof path);
}
