/* A window asks before it writes over a file that it has not written itself. */
#ifndef OVERWRITE_H
#define OVERWRITE_H

enum { OVERWRITE_PATH = 1024, OVERWRITE_QUESTION = OVERWRITE_PATH + 80 };

typedef struct overwrite {
  char asked[OVERWRITE_PATH], written[OVERWRITE_PATH];
} overwrite;

/* Whether a file may be written now: there is none of this name, this window wrote it, or the user has been
 * asked about it the last time. If not, `question` is what to tell. */
int overwrite_may(overwrite *o, const char *path, char question[OVERWRITE_QUESTION]);
/* It was written. Returns ", replaced" where the window had written it before, else "". */
const char *overwrite_done(overwrite *o, const char *path);

#endif
