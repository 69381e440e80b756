/* Operating system functions that C11 lacks. Except for argp, only the files platform_*.c of the
 * programs call POSIX or Windows. Functions that return int return 0 or an errno unless documented otherwise.
 */
#ifndef CLI_PLATFORM_H
#define CLI_PLATFORM_H

#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* For functions with a printf format. */
#if defined(__MINGW_PRINTF_FORMAT)
#define PRINTF_LIKE(text, first) __attribute__((format(__MINGW_PRINTF_FORMAT, text, first)))
#elif defined(__GNUC__)
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))
#else
#define PRINTF_LIKE(text, first)
#endif

/* ---- Time and text ---- */

/* From a monotonic clock. */
double seconds_now(void);

/* Calls `tick` every `seconds` seconds from another thread until the program ends. Does nothing without
 * threads. The lock protects shared data. */
void platform_every(double seconds, void (*tick)(void));
void platform_lock(void);
void platform_unlock(void);

/* malloc for large arrays that will be filled. It uses large pages if available, which are faster to obtain. */
void *platform_allocate(size_t bytes);
/* Returns a copy that the caller frees; NULL if memory is exhausted. */
char *copy_text(const char *text);
/* Whether two texts of this length are equal, ignoring the case of ASCII letters. */
int same_letters(const char *a, const char *b, size_t length);

/* ---- Streams ---- */

int platform_is_terminal(FILE *stream);
/* The width of the terminal, at least 40; 80 if unknown. */
int platform_columns(FILE *stream);
/* Opens a stream to standard output's target; later prints to standard output go to standard error. */
int platform_reserve_output(FILE **stream);
/* Reserves the closed descriptors among 0 to 2; using one stays an error. Nonzero: failure. */
int platform_reserve_descriptors(void);

typedef enum platform_kind {
  PLATFORM_NOTHING,
  PLATFORM_FILE,
  PLATFORM_DIRECTORY,
  PLATFORM_OTHER
} platform_kind;

/* The kind of a stream, and the length of a regular file (`bytes` may be NULL). PLATFORM_OTHER if unknown. */
platform_kind platform_kind_of_stream(FILE *stream, size_t *bytes);

/* Maps a regular file that is not empty, with a zero byte appended; the caller unmaps it. Other files, and
 * systems without mapping, are an error. If the file is truncated meanwhile, reading it ends the program. */
int platform_map(FILE *stream, const char **bytes, size_t *length);
void platform_unmap(const char *bytes, size_t length);

/* Opens a stream that passes its data to write(argument, ...) and calls close(argument). Both return 0 or an
 * errno. Returns NULL and sets errno on failure. */
FILE *platform_open_writer(void *argument, int (*write)(void *argument, const char *bytes, size_t length),
                           int (*close)(void *argument));
/* Opens a stream that reads these bytes in place; at least one. Returns NULL and sets errno on failure. */
FILE *platform_open_bytes(const char *bytes, size_t length);

/* ---- Files by name ---- */

/* PLATFORM_NOTHING is not an error. */
int platform_kind_of(const char *path, platform_kind *kind);
/* Whether both names refer to the same regular file. */
int platform_is_same_file(const char *path, const char *other);
/* Whether a file may be written, or files may be created in a directory. */
int platform_may_write(const char *path);
/* Resolves the links in a path's last part, even if the target does not exist. The caller frees the result.
 * Returns NULL and sets errno on failure. */
char *platform_follow_links(const char *path);
/* The maximum length of a file name in bytes. */
size_t platform_longest_name(void);
/* Creates a file; the XXXXXX at the end of the name is replaced. The permissions are those of the file `like`,
 * or those of fopen if it is NULL. Returns NULL and sets errno on failure. */
FILE *platform_create(char *name, const char *like);
int platform_remove(const char *path);
/* Replaces an existing file `to`. */
int platform_rename(const char *from, const char *to);
int platform_make_directory(const char *path);
int platform_remove_directory(const char *path);

/* Calls `handler` when a signal is about to end the program; ignored signals stay ignored. After the handler
 * returns, the signal is raised again and ends the program. */
void platform_before_signals(void (*handler)(int));
/* Calls `handler` on every Ctrl+C (SIGINT) and SIGTERM instead, unless they are ignored. */
void platform_on_stop(void (*handler)(int));
/* Ends the program as this signal does by default. In a handler, it takes effect when the handler returns. */
void platform_end_by(int signal_number);
/* Writes to standard error; safe in a signal handler. */
void platform_write_error(const char *text, size_t length);
/* 1 blocks these signals, 0 unblocks them. */
void platform_hold_signals(int hold);

/* ---- Other programs ---- */

/* Whether PATH contains the program, and whether this file is a program. */
int platform_is_in_path(const char *program);
int platform_is_program(const char *path);
/* Discards everything that the program prints from now on. */
void platform_be_silent(void);
/* The host's name; "" if unknown. */
void platform_host_name(char *name, size_t size);
/* A symbol of a module, which stays loaded. Returns NULL and the reason on failure. */
const void *platform_load(const char *path, const char *symbol, char *error, size_t size);
/* The directory of the running program, without a trailing slash. Nonzero: unknown. */
int platform_own_directory(char *directory, size_t size);

typedef struct platform_child platform_child;

/* Starts a program by path or from PATH; arguments[0] is its name. Its standard input is `in`; if that is NULL,
 * a pipe is created and returned in *pipe. Its output goes to `out`, its messages to `messages` or, if NULL, to
 * ours.
 *
 * With a pipe SIGPIPE is ignored from then on, so that a child's death is a write error. The terminal's Ctrl+C
 * does not reach the child, so that it receives all data before the pipe closes. Returns ENOSYS if the system
 * cannot start programs. */
int platform_start(const char *const arguments[], FILE *in, FILE *out, FILE *messages, FILE **pipe,
                   platform_child **child);
/* Waits for the child's end; close the pipe first. Returns 0, its exit status, or 256 plus the signal that
 * ended it. */
int platform_wait(platform_child **child);
/* Whether the child is still running. Does not wait. */
int platform_is_running(const platform_child *child);
/* Asks the child to end. */
void platform_stop(const platform_child *child);
/* Runs work(argument, to) in a forked copy of this program, for libraries that input can crash. Data written to
 * the stream `to` can be read from *from, which ends with the child. The child prints nothing, and gets at most
 * `memory` additional bytes and `seconds` of CPU time.
 *
 * Close *from, then wait; the exit status is 0 if everything was written. Returns ENOSYS on systems without
 * fork. */
int platform_run_apart(void (*work)(void *argument, FILE *to), void *argument, size_t memory, int seconds,
                       FILE **from, platform_child **child);
/* Whether platform_wait's 256 plus signal means that the CPU time was used up. */
int platform_is_out_of_time(int status);

/* A file name that a child can open to access our stream. */
void platform_name_for_child(FILE *stream, char *name, size_t size);

#ifdef __cplusplus
}
#endif
#endif
