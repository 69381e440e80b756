/* The menu of backends. */
#ifndef BACKEND_CHOICE_H
#define BACKEND_CHOICE_H

/* `now` is the backend in use. Returns another one that the user has just chosen, or NULL. Those that cannot be
 * used here are shown with the reason. */
const char *backend_choice(const char *now);

#endif
