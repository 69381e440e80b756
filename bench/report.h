/* The output of a benchmark: fields and tables, either as text while it runs or as one JSON object. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

typedef struct report report;

typedef struct report_column {
  const char *key;    /* in the JSON object */
  const char *header; /* in the table, with the unit */
  char type;          /* 's' const char *, 'i' long long, 'f' and 'e' double (NaN: not measured) */
  int width;          /* of the table's column; negative: left-aligned; 0: JSON only */
  int decimals;       /* of 'f' and 'e' */
} report_column;

/* Returns NULL if memory is exhausted. */
report *report_open(const char *command, int json);

/* Prints "label: text"; the object has "key": "text". */
void report_field(report *r, const char *key, const char *label, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* A line of explanation; in the object's "notes". */
void report_note(report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Starts a table. `columns` must live until the next table or the end, and the first column must have a width.
 * Without a title the rows are in sections. */
void report_table(report *r, const char *key, const char *title, const report_column *columns, int count);

/* A part of the table with its own title. The object has one array for all parts. */
void report_section(report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A row of the table: one argument per column, of the column's type. */
/* The expected number of rows, to estimate the time. */
void report_expect(report *r, int rows);
void report_row(report *r, ...);

/* Prints the object if JSON was requested, and frees the report. Nonzero: an output failed. */
int report_close(report **r);

/* Frees a report whose benchmark failed. */
void report_abandon(report **r);

#endif
