/* The desktop's own dialog for a file to open, shown by a program of the desktop: zenity, or
 * kdialog, which KDE has. No library for this is in the distributions that we support. */
#ifndef OPEN_DIALOG_H
#define OPEN_DIALOG_H

#include <stddef.h>

typedef struct open_dialog open_dialog;

/* `kind` names the files, "meshes"; `patterns` lists their names' patterns, "*.obj *.OBJ". Returns 0, or 1 with
 * the reason in `why`. */
int open_dialog_start(open_dialog **made, const char *title, const char *kind, const char *patterns, char *why,
                      size_t size);
/* Whether the user still chooses. Does not wait. */
int open_dialog_is_open(const open_dialog *dialog);
/* After that: the path that was chosen, "" if none was. */
void open_dialog_end(open_dialog **dialog, char *path, size_t size);
/* Closes it. NULL: there is none. */
void open_dialog_close(open_dialog **dialog);

#endif
