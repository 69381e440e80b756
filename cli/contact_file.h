/* File formats of contact problems: the text format of Siconos, and the HDF5 files of FCLIB. */
#ifndef CLI_CONTACT_FILE_H
#define CLI_CONTACT_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "mm_parse.h"

/* w = M z + q. With friction the dimension is 2 or 3, and each contact has a mu. */
typedef struct contact_file {
  int dimension; /* 1: an LCP */
  int32_t size;
  mm_entry *entries; /* of M; entries at the same place are added */
  int64_t count;
  double *q;        /* size numbers */
  double *mu;       /* size / dimension numbers; NULL for an LCP */
  double *solution; /* r from the file; NULL: none */
  double *guess;    /* the requested start; NULL: none */
  int guess_number; /* 0: none */
} contact_file;

/* Frees the contents and zeroes the struct. */
void contact_file_free(contact_file *file);

/* Parses the text that Siconos writes for a LinearComplementarityProblem or a FrictionContactProblem.
 * text[length] is a zero byte. Returns 0, or -1 and an error that names the line. */
int siconos_parse(const char *name, const char *text, size_t length, contact_file *file, mm_error *error);

/* Whether bytes are the beginning of an HDF5 file. */
int fclib_is_file(const char *bytes, size_t length);
/* Reads the local problem of an FCLIB file in a child process, because invalid files can crash the HDF5
 * library. guess: 1, 2, ... selects a guess; 0: none; -1: the first, if any. Returns 0, or -1 and an error that
 * names the dataset. A build without HDF5 always returns an error. */
int fclib_read(const char *path, int guess, contact_file *file, mm_error *error);
/* Writes r and u to the group /solution of a file, replacing old contents, also in a child process. */
int fclib_write_solution(const char *path, int32_t size, const double *r, const double *u, mm_error *error);

/* Reads and writes in this process, for the child and for systems without fork. `bytes`: size of the file. */
int fclib_read_here(const char *path, size_t bytes, int guess, contact_file *file, mm_error *error);
int fclib_write_here(const char *path, int32_t size, const double *r, const double *u, mm_error *error);
/* Sends the child's answer: a problem if `file` is not NULL, otherwise the error. The receiver validates all
 * data. It returns 0, -1 and the child's error, or 1 if the answer is incomplete. */
void fclib_send(FILE *to, int failed, const contact_file *file, const mm_error *error);
int fclib_receive(FILE *from, contact_file *file, mm_error *error);

#endif
