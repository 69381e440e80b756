/* Problems of contact as files hold them: the text form of Siconos, and FCLIB's HDF5. */
#ifndef CLI_CONTACT_FILE_H
#define CLI_CONTACT_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "mm_parse.h"

/* w = M z + q; with friction dimension is 2 or 3 and there is a mu for each contact. */
typedef struct contact_file {
  int dimension; /* 1: an LCP */
  int32_t size;
  mm_entry *entries; /* of M; those at one place add up */
  int64_t count;
  double *q;        /* size numbers */
  double *mu;       /* size / dimension numbers; NULL in an LCP */
  double *solution; /* r as the file has it; NULL: none */
  double *guess;    /* the start that was asked for; NULL: none */
  int guess_number; /* 0: none */
} contact_file;

/* Frees what is inside and clears it. */
void contact_file_free(contact_file *file);

/* Text that Siconos writes of a LinearComplementarityProblem or a FrictionContactProblem; text[length] is a
 * zero byte. Returns 0, or -1 and an error that names the line. */
int siconos_parse(const char *name, const char *text, size_t length, contact_file *file, mm_error *error);

/* Whether bytes begin as an HDF5 file does. */
int fclib_is_file(const char *bytes, size_t length);
/* The local problem of an FCLIB file, which a child process reads, since the HDF5 library does not survive
 * every file; with guess 1, 2 ...; 0: without, -1: with the first if there is one. Returns 0, or -1 and an
 * error that names the dataset. Without HDF5 in this build that is the error. */
int fclib_read(const char *path, int guess, contact_file *file, mm_error *error);
/* Puts r and u into the group /solution of a file, in place of what is there; in a child process too. */
int fclib_write_solution(const char *path, int32_t size, const double *r, const double *u, mm_error *error);

/* Reads and writes in this process, for the child and for systems without such processes. `bytes`: of the file.
 */
int fclib_read_here(const char *path, size_t bytes, int guess, contact_file *file, mm_error *error);
int fclib_write_here(const char *path, int32_t size, const double *r, const double *u, mm_error *error);
/* What a child says of its work: a problem, if `file` is not NULL, or the error. Receiving trusts nothing that
 * it reads. It returns 0, -1 and the child's error, or 1 if the answer is not complete. */
void fclib_send(FILE *to, int failed, const contact_file *file, const mm_error *error);
int fclib_receive(FILE *from, contact_file *file, mm_error *error);

#endif
