/* The backends that a window lets one choose from. */
#ifndef BACKEND_LIST_H
#define BACKEND_LIST_H

enum { BACKEND_LIST_MOST = 3 };

/* Returns how many names there are, without numbers of devices. */
int backend_list(const char *names[BACKEND_LIST_MOST]);
/* The place in that list of "cuda" or "cuda:1"; 0 for one that is not in it. */
int backend_list_find(const char *backend);

#endif
