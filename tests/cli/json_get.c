/* json_get TYPE KEY[.KEY...] < FILE: checks that standard input is exactly one JSON object, and that the key
 * exists with this type (string, integer, number, boolean, object, array, null). Prints its value. In an array
 * a key is an index from 0. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

static const char *type_name(const json_t *value) {
  switch (json_typeof(value)) {
  case JSON_OBJECT:
    return "object";
  case JSON_ARRAY:
    return "array";
  case JSON_STRING:
    return "string";
  case JSON_INTEGER:
    return "integer";
  case JSON_REAL:
    return "real";
  case JSON_TRUE:
  case JSON_FALSE:
    return "boolean";
  case JSON_NULL:
    return "null";
  }
  return "unknown";
}

static int fail(json_t *root, const char *what, const char *detail) {
  fprintf(stderr, "json_get: %s %s\n", what, detail);
  json_decref(root);
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 3) return fail(NULL, "usage:", "json_get TYPE KEY[.KEY...]");
  json_error_t error;
  json_t *root = json_loadf(stdin, JSON_REJECT_DUPLICATES, &error);
  if (!root) return fail(root, "not JSON:", error.text);
  if (!json_is_object(root)) return fail(root, "not an object but", type_name(root));
  json_t *value = root;
  for (char *key = strtok(argv[2], "."); key; key = strtok(NULL, ".")) {
    value = json_is_array(value) ? json_array_get(value, strtoul(key, NULL, 10)) : json_object_get(value, key);
    if (!value) return fail(root, "no key", key);
  }
  const char *type = type_name(value);
  const int is_number = !strcmp(argv[1], "number") && json_is_number(value);
  if (!is_number && strcmp(argv[1], type)) return fail(root, "the value is of type", type);
  if (json_is_string(value))
    puts(json_string_value(value));
  else
    json_dumpf(value, stdout, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9) | JSON_COMPACT), putchar('\n');
  json_decref(root);
  return 0;
}
