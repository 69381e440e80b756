#!/usr/bin/env python3
"""Makes a C and a C++ function of the example in the opening comment of each header: examples.py DIRECTORY HEADER...

The example is the first indented block of the comment. It uses `context`, a matrix `A`, and vectors `b` and `x` over it.
Examples that are only compiled may also use the objects of GIVEN. A call that does not return TS_OK ends the program.
"// 1 2 3" after a call gives the contents of the call's array afterwards, and "// x[1] is 2" gives the value of a number.
"""
import pathlib
import re
import sys

GIVEN = {
    "cuda": "static struct CUstream_st *stream;\nstatic float *numbers;\nstatic size_t count;",
    "gl": "enum { GL_TEXTURE_2D = 0x0DE1 };\nvoid glBindTexture(unsigned target, unsigned texture);\n"
    "static ts_solver *solver;",
    "mpi": "static int argc;\nstatic char **argv;",
    "ranks": "static int rows, *offsets;\nstatic int64_t *columns;\nstatic double *values, *numbers;\n"
    "static ts_solver *solver;",
}


def example(text):
    """Returns the lines of the example, without the comment's margin, and the number of its first line."""
    opening = text[: text.index("*/")].split("\n")
    first = next((k for k, line in enumerate(opening) if line.startswith(" *   ")), None)
    if first is None:
        sys.exit("no example in the opening comment")
    last = first
    while opening[last] == " *" or opening[last].startswith(" *   "):
        last += 1
    return [line[5:] for line in opening[first:last]], first + 1


def with_checks(line):
    found = re.search(r"(?:ts_host\((\w+),|\b(\w+)\[0\]).*// ([-0-9.][-0-9. ]*)$", line)
    if found:
        array = found[1] or found[2]
        numbers = found[3].split()
        line = line[: line.index("//")] + "".join(
            f" example_number({array}[{k}], {number});" for k, number in enumerate(numbers))
    found = re.search(r"// (\w+\[.*\]) is ([-0-9.]+)$", line)
    if found:
        line = line[: line.index("//")] + f" example_number({found[1]}, {found[2]});"
    return line


def source(header, functions):
    name = header.stem
    lines, number = example(header.read_text())
    lines = [with_checks(line) for line in lines]
    call = ""
    out = ['#include "example.h"', "#include <texsolve/solver.h>", f"#include <texsolve/{name}.h>"]
    out += [f'#define {f}(...) example_must({f}(__VA_ARGS__), "{f}")' for f in functions]
    out.append(GIVEN.get(name, ""))
    place = f'#line {number} "{header}"'
    begin = [f"void EXAMPLE({name})(ts_context *context, ts_matrix *A, ts_vector *b, ts_vector *x) {{",
             "  (void)context, (void)A, (void)b, (void)x;", "  {", place]
    text = "\n".join(lines)
    if "int main(void)" in text:
        text = text.replace("int main(void)", "static int example_main(void)")
        out += [place, text] + begin + ["  if (example_main()) example_must(TS_ERROR_DEVICE, \"main\");"]
    else:
        # A function of the example is placed before the calls that use it.
        scope = re.match(r"(?:static .*?\n}\n)*", text, re.S)[0]
        out += [place, scope] + begin + ["\n" * (scope.count("\n") - 1) + text[len(scope):]]
    if "ts_" not in text:
        sys.exit(f"{header}: the example calls nothing of the library")
    return "\n".join(out) + "\n}\n}\n"


def main():
    directory, headers = pathlib.Path(sys.argv[1]), [pathlib.Path(h) for h in sys.argv[2:]]
    functions = sorted({f for h in headers for f in re.findall(r"^TS_API ts_status (\w+)\(", h.read_text(), re.M)})
    run = " ".join(f"X({h.stem})" for h in headers if h.stem not in GIVEN)
    (directory / "examples.h").write_text(f"#define EXAMPLES(X) {run}\n")
    for header in headers:
        text = source(header, functions)
        for suffix in ("c", "cpp"):
            (directory / f"example_{header.stem}.{suffix}").write_text(text)


main()
