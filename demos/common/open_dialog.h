/* A dialog to open a file, shown by a program of the desktop: zenity, or KDE's kdialog. The supported
 * distributions do not package a library for this. */
#ifndef OPEN_DIALOG_H
#define OPEN_DIALOG_H

#include <stddef.h>

typedef struct open_dialog open_dialog;

/* `kind` is the plural name of the files, such as "meshes". `patterns` lists patterns of file names, such as
 * "*.obj *.OBJ". Returns 0, or 1 with the reason in `why`. */
int open_dialog_start(open_dialog **made, const char *title, const char *kind, const char *patterns, char *why,
                      size_t size);
/* Returns 1 while the user is choosing. Does not block. */
int open_dialog_is_open(const open_dialog *dialog);
/* Call when the dialog is no longer open. `path` is the chosen path, or "". */
void open_dialog_end(open_dialog **dialog, char *path, size_t size);
/* Closes the dialog. NULL is allowed. */
void open_dialog_close(open_dialog **dialog);

#endif
