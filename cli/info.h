/* Parts of `texsolve info`. */
#ifndef CLI_INFO_H
#define CLI_INFO_H

/* The report on a job of several processes, as text or as JSON: how many there are, what joins them, and what
 * each has. All of them call it; NULL: the backend that solve would take. Returns the program's exit status. */
int info_of_ranks(const char *backend, int json);

#endif
