#!/usr/bin/env python3
"""Runs the commands of the documents unchanged, in a directory that looks like a checkout with build/ in it.

  commands.py BUILD_DIR WORK_DIR [--list] [--no-begun] [DOCUMENT...]      default: README.md, CONTRIBUTING.md, docs/*.md, examples/README.md

A command is a line of a code block without a language that begins with a program or follows "$ ". The lines below a line
with "$ " are its output, which the command must print. SKIPPED has the lines that cannot run here, with the reason. BEGUN
has the lines that take minutes or wait for a user: such a command is ended after a few seconds, and must not have failed by
then. An entry that matches no line is an error, and so is a block that mixes commands with other lines.
"""
import argparse
import glob
import os
import re
import shutil
import signal
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAMS = r"texsolve|contact|fluid|mesh-param|mesh-smooth|heat|minimal|spline|mpirun|sudo|cmake|ctest|cc|wine|npm|node|" \
           r"(build[\w-]*|scripts|bench|web|\.)/\S+"
COMMAND = re.compile(r"^([A-Z_]+=\S* )*(%s)( |$)" % PROGRAMS)

# (pattern of the line, reason why it does not run)
SKIPPED = [
    (r"\bcuda\b|cuda:", "needs NVIDIA GPUs"),
    (r"^scripts/demo", "installs packages and builds: minutes"),
    (r"^scripts/(test|fuzz|setup|test-\w+)\b", "the test suites themselves, and packages that they install"),
    (r"^scripts/(wheel|python)\b", "builds the library again: minutes"),
    (r"^scripts/web\b|web/tests/|web/bench/|^(npm|node) ", "needs Emscripten and Chromium; scripts/web --test does"),
    (r"^cmake --preset", "builds everything again: minutes"),
    (r"^cmake -S .*mingw", "builds for Windows, which scripts/test-windows does"),
    (r"^cmake --build build-windows", "builds for Windows, which scripts/test-windows does"),
    (r"^ctest ", "the test suite itself"),
    (r"^build-debug/", "needs a build of its own: minutes"),
    (r"^sudo ", "installs into /usr/local; the test package_default_prefix does"),
    (r"^cc ", "needs the installed library; the tests package and package_default_prefix do"),
    (r"lap3d_40_neg\.mtx", "the matrix is too large to be shipped"),
    (r"problem\.(dat|hdf5)", "the reader's own problem of contact"),
    (r"^bench/plot\.py", "draws what benchmarks of minutes measured; the test of bench/plot.py does"),
    (r"^bench/scaling_model\.py --measured", "draws what GPUs measured"),
]
WINDOW = "opens a window"
BEGUN = [
    (r"^texsolve bench (tune|limits|spmv|blas|cg|multigrid|system|paper|compare|precision|amg|auto|batch|families|lcp)\b", "measures for minutes"),
    (r"mpirun .*bench scaling", "measures for minutes"),
    (r"^(contact|fluid|mesh-param|mesh-smooth) --bench", "measures for minutes"),
    (r"^fluid .*--frames (300|500)", "takes minutes in software"),
    (r"^contact .*--video", "takes minutes in software"),
    (r"^mesh-smooth --generate scan --headless --backend gl --frames-dir video", "takes minutes in software"),
    (r"^(contact|fluid|mesh-smooth|mesh-param)( (?!.*--(headless|bench)).*)?$", WINDOW),
]
SECONDS = 1

# Files that a guide expects from the reader, and their replacements.
FILES = {
    "A.mtx": "examples/plate.mtx",
    "B.mtx": "examples/plate.mtx",
    "noisy.obj": "examples/scan.obj",
    "face.obj": ["mesh-param", "--generate", "face:300", "--headless", "-q", "-o", "face.obj"],
    "big.ply": ["mesh-smooth", "--generate", "scan:2000", "--headless", "-q", "--steps", "1", "-o", "big.ply"],
    "noisy.ply": ["mesh-smooth", "--generate", "scan:2000", "--headless", "-q", "--steps", "1", "-o", "noisy.ply"],
    "bunny.ply": ["mesh-smooth", "--generate", "sphere:500", "--headless", "-q", "--steps", "1", "-o", "bunny.ply"],
    "closed.ply": ["mesh-smooth", "--generate", "sphere:500", "--headless", "-q", "--steps", "1", "-o", "closed.ply"],
}
# Commands that are shown because they fail, with their exit status.
FAILING = {r"^TEXSOLVE_SHADER_DIR=broken ": 1, r"solve examples/neumann\.mtx ": 3}


def commands(document):
    """Yields (line number, command, the lines of its output or None) for a document."""
    language, block = None, []
    with open(os.path.join(SOURCE, document), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip("\n")
            if not line.startswith("```"):
                if language is not None:
                    block.append((number, line))
                continue
            if language is None:
                language, block = line[3:].strip(), []
                continue
            if language in ("", "sh", "console"):
                yield from of_block(document, block)
            language = None


def of_block(document, block):
    if any(line.startswith("$ ") for _, line in block):
        found = None
        for number, line in block:
            if line.startswith("$ "):
                if found:
                    yield found
                found = (number, line[2:], [])
            elif found:
                found[2].append(line)
        if found:
            yield found
        return
    are = [bool(COMMAND.match(line)) for _, line in block if line.strip()]
    if not any(are):
        return
    for number, line in block:
        if line.strip() and not COMMAND.match(line):
            sys.exit(f"{document}:{number}: neither a command nor in a block without commands: {line}")
        if line.strip():
            yield number, line, None


def table_commands(document):
    """Yields the `build/bin/...` commands in the cells of a table."""
    with open(os.path.join(SOURCE, document), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.startswith("|"):
                for cell in re.findall(r"`(build/bin/[^`]* [^`]*)`", line):
                    yield number, cell, None


def make_checkout(build, work):
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(os.path.join(work, "build"))
    for name in os.listdir(SOURCE):
        if not name.startswith((".", "build")):
            os.symlink(os.path.join(SOURCE, name), os.path.join(work, name))
    os.symlink(os.path.join(build, "bin"), os.path.join(work, "build", "bin"))


def environment(build):
    new = dict(os.environ)
    new["PATH"] = os.path.join(build, "bin") + os.pathsep + new["PATH"]
    # Containers have a single user and few cores, which Open MPI must be told to accept.
    new.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
               OMPI_MCA_hwloc_base_binding_policy="none", OMP_NUM_THREADS="1")
    return new


def provide(command, work, env):
    """Creates the reader's own files that the command names."""
    for name, source in FILES.items():
        path = os.path.join(work, name)
        if not re.search(r"(^| )%s( |$)" % re.escape(name), command) or os.path.exists(path):
            continue
        if isinstance(source, str):
            shutil.copy(os.path.join(SOURCE, source), path)
        else:
            subprocess.run(source, cwd=work, env=env, check=True, stdin=subprocess.DEVNULL)


def without_rounding(line):
    """Replaces numbers that are rounding errors of double precision, because they depend on the processor."""
    return re.sub(r"\b(0\.0e\+00|\d\.\de-1[4-9])\b", "rounding", line.rstrip())


def begin(command, work, env):
    """Starts a command and ends it after some seconds. Returns a message if it has failed by then, otherwise None."""
    provide(command, work, env)
    process = subprocess.Popen(["sh", "-c", command], cwd=work, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, encoding="utf-8", errors="replace", start_new_session=True)
    try:
        _, said = process.communicate(timeout=SECONDS)
        return f"exit status {process.returncode}: {said.strip()}" if process.returncode else None
    except subprocess.TimeoutExpired:
        for number in signal.SIGTERM, signal.SIGKILL:
            os.killpg(process.pid, number)
            try:
                process.communicate(timeout=10)
                return None
            except subprocess.TimeoutExpired:
                pass
        return "does not end"


def run(command, wanted, work, env):
    """Returns a message if a command fails, otherwise None."""
    shown = re.match(r"^cat (\S+)$", command)
    if shown and wanted:  # a file that the reader must write
        with open(os.path.join(work, shown.group(1)), "w", encoding="utf-8") as file:
            file.write("\n".join(wanted) + "\n")
        return None
    provide(command, work, env)
    try:
        result = subprocess.run(["sh", "-c", command], cwd=work, env=env, stdin=subprocess.DEVNULL, timeout=300,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace")
    except subprocess.TimeoutExpired:
        return "still runs after 300 s"
    status = next((value for pattern, value in FAILING.items() if re.search(pattern, command)), 0)
    if result.returncode != status:
        return f"exit status {result.returncode}: " + " / ".join(result.stdout.strip().splitlines()[-3:])
    printed = [without_rounding(line) for line in result.stdout.splitlines()]
    for line in wanted or []:
        if line.strip() not in ("", "...") and without_rounding(line) not in printed:
            return f"does not print '{line}', but: " + " / ".join(printed[-5:])
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("work")
    parser.add_argument("documents", nargs="*")
    parser.add_argument("--no-begun", action="store_true", help="leave out what is only begun")
    parser.add_argument("--list", action="store_true", help="say what would run, and what would not and why")
    options = parser.parse_args()
    build, work = os.path.abspath(options.build), os.path.abspath(options.work)
    documents = options.documents or ["README.md", "CONTRIBUTING.md", "examples/README.md"] + sorted(
        os.path.relpath(path, SOURCE) for path in glob.glob(os.path.join(SOURCE, "docs", "**", "*.md"), recursive=True))
    make_checkout(build, work)
    env = environment(build)
    failed = ran = skipped = 0
    tables, used = (SKIPPED, BEGUN), set()
    for document in documents:
        found = list(commands(document))
        if document == "examples/README.md":
            found += table_commands(document)
        for number, line, wanted in found:
            command = re.sub(r"\s+#.*$", "", line)
            where = f"{document}:{number}"
            entry = next((entry for table in tables for entry in table if re.search(entry[0], command)), None)
            used.add(entry)
            begins, why = entry in BEGUN, entry[1] if entry else None
            begins = begins and not options.no_begun
            if "mpirun " in command and not shutil.which("mpirun"):
                begins, why = False, "mpirun is missing"
            if begins and why == WINDOW and not env.get("DISPLAY"):
                begins, why = False, "there is no display"
            if why and not begins:
                skipped += 1
                print(f"not run  {where}: {command}  ({why})")
                continue
            ran += 1
            how = f"begun    {where}: {command}  ({why})" if begins else f"run      {where}: {command}"
            if not options.list:
                wrong = begin(command, work, env) if begins else run(command, wanted, work, env)
                failed += wrong is not None
                if wrong:
                    how = f"FAILED   {where}: {command}\n         {wrong}"
            print(how, flush=True)
    stale = [entry[0] for table in tables for entry in table if entry not in used]
    if stale and not options.documents:
        failed += 1
        print("FAILED   entries that fit no command: " + ", ".join(stale))
    print(f"{ran} commands run or begun, {failed} failed, {skipped} not run for the reasons above")
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
