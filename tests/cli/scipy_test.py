#!/usr/bin/env python3
"""Solves small random systems by `texsolve solve` without options on the method, and compares with SciPy.

  scipy_test.py TEXSOLVE [--backend NAME] [--plan PRECISION:COUNT,...] [--only NUMBER] [--seed SEED] [--keep DIR] [-v]

System NUMBER of a seed is the same in every run. Its kind is one of KINDS, in turn. COUNT systems are solved, and after
them those of HARD. The test checks that

  - x, the exit status and the report agree with the residual that is computed here in extended precision;
  - a system that SciPy solves to the tolerance (with spsolve, or lstsq if the matrix is singular) is solved to 1e-10 in
    precision auto and double. `mixed` (1e-8) and `single` (1e-4) must solve it if the matrix is not too ill-conditioned
    for floats, see has_to_solve();
  - for a singular matrix and a right-hand side with a part outside its range, auto and double return the least-squares x
    (exit status 3, reason "incompatible"), with the residual of lstsq.

A system that fails is kept with its files. The exit status is 77 without SciPy or the backend.
"""
import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the matrices are too small for threads
try:
    import warnings

    import numpy as np
    import scipy.linalg
    import scipy.sparse
    import scipy.sparse.linalg
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

TOLERANCE = {"auto": 1e-10, "double": 1e-10, "mixed": 1e-8, "single": 1e-4}
EXACT = ("auto", "double")
FLOAT, DOUBLE, EXTENDED = 2.0**-24, 2.0**-53, 2.0**-64  # half a unit in the last place of 1

# ---- Systems ----


class System:
    """A x = b. `entries` are those of the file: (row, column, value), the lower triangle's if `is_symmetric`."""

    def __init__(self, dense, b=None, reachable=None, entries=None):
        self.A = np.asarray(dense, dtype=float)
        self.n = len(self.A)
        self.b = b
        self.reachable = reachable  # for a singular matrix: True if A x = b has a solution; None: the matrix is regular
        self.is_symmetric = bool((self.A == self.A.T).all())
        rows, columns = np.nonzero(np.tril(self.A) if self.is_symmetric else self.A)
        self.entries = entries or [(i, j, self.A[i, j]) for i, j in zip(rows, columns)]
        if entries:
            self.is_symmetric = False


def size(rng):
    return int(rng.choice([5, 6, 7, 8, 11, 17, 24, 33, 50, 64, 77, 96, 120]))


def sparse(rng, n, per_row=4):
    """A random pattern with random signs, about `per_row` entries in a row, none on the diagonal."""
    A = rng.standard_normal((n, n)) * (rng.random((n, n)) < per_row / n)
    np.fill_diagonal(A, 0)
    return A


def symmetric_of(A):
    return np.tril(A, -1) + np.tril(A, -1).T + np.diag(np.diag(A))


def rotated(rng, eigenvalues, rounds=3):
    """Q diag(eigenvalues) Q^T with Q from random plane rotations. It is sparse if there are few rotations."""
    n = len(eigenvalues)
    A = np.diag(rng.permutation(eigenvalues))
    for _ in range(rounds * n // 2):
        i, j = rng.choice(n, 2, replace=False)
        t = rng.uniform(0, 2 * np.pi)
        G = np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])
        A[[i, j]] = G @ A[[i, j]]
        A[:, [i, j]] = A[:, [i, j]] @ G.T
    return symmetric_of(A)


def until_regular(make, most=1e7):
    """The first result of make() with a condition number of at most `most` after scaling of rows and columns."""
    while True:
        A = make()
        if condition(A) <= most:
            return A


def laplacian(rng, n, is_weighted=True):
    """The Laplacian of a random connected graph: singular, with constants in its null space."""
    L = np.zeros((n, n))
    for i in range(1, n):
        for j in {int(rng.integers(i)), i - 1}:
            L[i, j] = L[j, i] = -(rng.integers(1, 9) if is_weighted else 1)
    np.fill_diagonal(L, -L.sum(axis=1))
    return L


def dominant(rng, n):
    A = sparse(rng, n)
    np.fill_diagonal(A, 1.05 * np.abs(A).sum(axis=1) + 0.1)
    return A * rng.choice([-1, 1], n)[:, None]


def spd(rng, n):
    A = symmetric_of(sparse(rng, n))
    np.fill_diagonal(A, 1.1 * np.abs(A).sum(axis=1) + 0.1)
    return A


def well_conditioned_spd(rng):
    return System(spd(rng, size(rng)))


def ill_conditioned_spd(rng):
    n = size(rng)
    return System(rotated(rng, np.logspace(-rng.uniform(4, 8), 0, n)))


def negative_definite(rng):
    n = size(rng)
    return System(-spd(rng, n) if rng.random() < 0.5 else rotated(rng, -np.logspace(-rng.uniform(1, 6), 0, n)))


def indefinite_positive_diagonal(rng):
    def make():
        n = size(rng)
        A = symmetric_of(3 * sparse(rng, n))
        A[0, 1] = A[1, 0] = 5
        np.fill_diagonal(A, rng.uniform(1, 2, n))
        return A

    return System(until_regular(make))


def indefinite(rng):
    n = size(rng)
    return System(rotated(rng, np.logspace(-rng.uniform(1, 4), 0, n) * rng.choice([-1, 1], n)))


def kkt(rng):
    def make():
        n = size(rng)
        m = max(n // 3, 1)
        A = np.zeros((n, n))
        A[:n - m, :n - m] = spd(rng, n - m)
        A[n - m:, :n - m] = sparse(rng, n)[:m, :n - m] + np.eye(m, n - m)
        return symmetric_of(A)

    return System(until_regular(make))


def helmholtz(rng):
    def make():
        k = int(rng.integers(3, 11))
        T = 2 * np.eye(k) - np.eye(k, k=1) - np.eye(k, k=-1)
        return np.kron(np.eye(k), T) + np.kron(T, np.eye(k)) - rng.uniform(0.1, 6) * np.eye(k * k)

    return System(until_regular(make, 1e5))


def nonsymmetric_dominant(rng):
    return System(dominant(rng, size(rng)))


def nonsymmetric_random(rng):
    def make():
        n = size(rng)
        A = sparse(rng, n, rng.uniform(3, 8))
        np.fill_diagonal(A, rng.standard_normal(n) * (rng.random(n) < 0.7))
        return A

    return System(until_regular(make))


def without_diagonal(rng):
    A = dominant(rng, size(rng))
    while np.diag(A).any():
        A = dominant(rng, len(A))[rng.permutation(len(A))]
    return System(A)


def scales(rng, n):
    return 10.0**rng.uniform(-6, 6, n)


def badly_scaled(rng):
    n = size(rng)
    A = until_regular(lambda: nonsymmetric_random(rng).A) if rng.random() < 0.5 else dominant(rng, n)
    return System(scales(rng, len(A))[:, None] * A * scales(rng, len(A)))


def badly_scaled_symmetric(rng):
    n = size(rng)
    A = spd(rng, n) if rng.random() < 0.5 else kkt(rng).A
    d = scales(rng, len(A))
    return System(symmetric_of(d[:, None] * A * d))


def singular_symmetric_matrix(rng):
    n = size(rng)
    choice = rng.integers(4)
    if choice == 0:
        return laplacian(rng, n)
    if choice == 1:  # singular up to rounding
        eigenvalues = rng.uniform(1, 3, n) * rng.choice([-1, 1], n)
        eigenvalues[:1 + n // 10] = 0
        return rotated(rng, eigenvalues)
    if choice == 2:  # an unknown in no equation
        A = spd(rng, n)
        A[n // 2] = A[:, n // 2] = 0
        return A
    B = rng.integers(-2, 3, (n, n // 2)) * (rng.random((n, n // 2)) < 0.4)
    return (B @ B.T).astype(float)


def singular_nonsymmetric_matrix(rng):
    n = size(rng)
    choice = rng.integers(4)
    A = dominant(rng, n)
    if choice == 0:  # two equal equations
        A[n - 1] = A[0]
    elif choice == 1:  # row sums are 0
        np.fill_diagonal(A, 0)
        A = np.round(8 * A)
        np.fill_diagonal(A, -A.sum(axis=1))
    elif choice == 2:  # an unknown in no equation, an empty equation elsewhere
        A[:, 0] = 0
        A[n // 2] = 0
    else:
        A = (rng.integers(-2, 3, (n, n - 2)) @ rng.integers(-2, 3, (n - 2, n))).astype(float)
    return A


def with_entries(rng, make):
    """The command refuses files with fewer entries than rows, so this repeats make() until there are enough."""
    while True:
        A = make(rng)
        if np.count_nonzero(np.tril(A)) >= len(A):
            return A


def consistent(rng, make):
    A = with_entries(rng, make)
    return System(A, A @ rng.standard_normal(len(A)), reachable=True)


def inconsistent(rng, make):
    """The part of b outside the range of A is a tenth to ten times as large as the part in the range."""
    A = with_entries(rng, make)
    U, s, _ = np.linalg.svd(A)
    null = U[:, s < 1e-9 * s[0]]
    reached, other = A @ rng.standard_normal(len(A)), null @ rng.standard_normal(null.shape[1])
    b = reached / np.linalg.norm(reached) + 10**rng.uniform(-1, 1) * other / np.linalg.norm(other)
    return System(A, b, reachable=False)


def singular_consistent_symmetric(rng):
    return consistent(rng, singular_symmetric_matrix)


def singular_consistent(rng):
    return consistent(rng, singular_nonsymmetric_matrix)


def singular_inconsistent_symmetric(rng):
    return inconsistent(rng, singular_symmetric_matrix)


def singular_inconsistent(rng):
    return inconsistent(rng, singular_nonsymmetric_matrix)


def permutation(rng):
    n = size(rng)
    return System(np.eye(n)[rng.permutation(n)] * (rng.choice([-1, 1], n) if rng.random() < 0.5 else 1))


def triangular(rng):
    def make():
        A = sparse(rng, size(rng))
        A = np.tril(A) if rng.random() < 0.5 else np.triu(A)
        np.fill_diagonal(A, rng.uniform(0.5, 2, len(A)) * rng.choice([-1, 1], len(A)))
        return A

    return System(until_regular(make))


def one_by_one(rng):
    return System([[rng.choice([-1, 1]) * 10.0**rng.uniform(-8, 8)]])


def duplicates(rng):
    """Entries of the file in random order, some of them split into two or three parts."""
    A = dominant(rng, size(rng)) if rng.random() < 0.5 else spd(rng, size(rng))
    entries = []
    for i, j in zip(*np.nonzero(A)):
        parts = int(rng.integers(1, 4))
        entries += [(i, j, value) for value in np.round(rng.standard_normal(parts) * 64) / 64]
    for i in range(len(A)):  # still dominant, and dyadic, so that sums are exact in any order
        entries.append((i, i, 64.0))
    summed = np.zeros_like(A)
    for i, j, value in entries:
        summed[i, j] += value
    return System(summed, entries=[entries[k] for k in rng.permutation(len(entries))])


KINDS = [
    well_conditioned_spd, ill_conditioned_spd, negative_definite, indefinite_positive_diagonal, indefinite, kkt, helmholtz,
    nonsymmetric_dominant, nonsymmetric_random, without_diagonal, badly_scaled, badly_scaled_symmetric,
    singular_consistent_symmetric, singular_consistent, singular_inconsistent_symmetric, singular_inconsistent, permutation,
    triangular, one_by_one, duplicates
]


# (seed, number): a large x at the limit of doubles; a least-squares x of a small matrix; the same after many
# useless iterations
HARD = [(22, 133), (28, 54), (31, 195)]


def kind_of(number):
    return KINDS[number % len(KINDS)].__name__


def system_of(seed, number):
    rng = np.random.default_rng([seed, number])
    system = KINDS[number % len(KINDS)](rng)
    if system.b is None:
        # b or x is random. If rows or columns have different scales, only one of the two is moderate.
        system.b = rng.standard_normal(system.n)
        if rng.random() < 0.5:
            system.b = system.A @ system.b
    return system


def condition(A):
    """The condition number of A after scaling of its rows and columns."""
    B = A.copy()
    for _ in range(4):
        for axis in (1, 0):
            largest = np.abs(B).max(axis=axis, keepdims=True)
            if not largest.all():
                return np.inf
            B /= np.sqrt(largest) if axis else largest
    s = np.linalg.svd(B, compute_uv=False)
    return s[0] / s[-1] if s[-1] > 0 else np.inf


# ---- SciPy, and the limits of each precision ----


def norm(v):
    return float(np.sqrt((v * v).sum()))


def residual_of(system, x):
    """b - A x with a significand of 64 bits."""
    wide = np.longdouble
    return system.b.astype(wide) - (system.A.astype(wide) * x.astype(wide)).sum(axis=1)


def relative(system, x):
    return norm(residual_of(system, x)) / norm(system.b)


def rounding_of(system, x, unit):
    """The change of the relative residual for a relative error of `unit` in each number of A or x."""
    return unit * norm(np.abs(system.A) @ np.abs(x)) / norm(system.b)


def scipy_solution(system):
    if system.reachable is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.atleast_1d(scipy.sparse.linalg.spsolve(scipy.sparse.csc_matrix(system.A), system.b))
    return scipy.linalg.lstsq(system.A, system.b, cond=1e-11)[0]


def has_to_solve(system, precision, reference):
    """True if a solve must end with status 0. SciPy computes in double precision, and so do the last steps of `auto` and
    `double`. `mixed` iterates in floats: refinement gains digits if the condition is far below 2^24. The accuracy of
    `single` is limited by the rounding of A and x to floats, and by the rounding of its products times the condition."""
    if not relative(system, reference) <= TOLERANCE[precision]:
        return False
    if precision in EXACT:
        return True
    if system.reachable is not None:
        return False
    if precision == "mixed":
        return condition(system.A) <= 1e4
    return 10 * max(rounding_of(system, reference, FLOAT), condition(system.A) * FLOAT) <= TOLERANCE["single"]


# ---- The command ----


def write_matrix(path, system):
    with open(path, "w", encoding="ascii") as file:
        print("%%MatrixMarket matrix coordinate real", "symmetric" if system.is_symmetric else "general", file=file)
        print(system.n, system.n, len(system.entries), file=file)
        for i, j, value in system.entries:
            print(i + 1, j + 1, repr(float(value)), file=file)


def write_vector(path, b):
    with open(path, "w", encoding="ascii") as file:
        print("%%MatrixMarket matrix array real general", f"{len(b)} 1", *map(repr, map(float, b)), sep="\n", file=file)


def read_vector(path):
    with open(path, encoding="ascii") as file:
        lines = [line for line in file if not line.startswith("%")]
    return np.array([float(line) for line in lines[1:]])


def run(command, directory):
    """Returns the exit status, the report (None if missing), x (None if missing) and standard error."""
    x = os.path.join(directory, "x.mtx")
    if os.path.exists(x):
        os.remove(x)
    done = subprocess.run(command, cwd=directory, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=120,
                          check=False)
    report = json.loads(done.stdout) if done.stdout.startswith("{") else None
    return done.returncode, report, read_vector(x) if os.path.exists(x) else None, done.stderr


def is_near(a, b, relative_difference, absolute=0.0):
    return abs(a - b) <= relative_difference * abs(b) + absolute


def check_report(system, status, report, x, tolerance):
    """Faults of the report and the exit status that are wrong for every system."""
    if status not in (0, 3) or report is None or x is None:
        yield f"exit status {status}"
        return
    residual = relative(system, x)
    if not is_near(report["relative_residual"], residual, 1e-6, 1e-18 + 10 * rounding_of(system, x, EXTENDED)):
        yield f"relative_residual is {report['relative_residual']}, computed here {residual}"
    if report["converged"] != (residual <= tolerance * (1 + 1e-8)):
        yield f"converged is {report['converged']} at a residual of {residual}"
    if report["at_limit_of_doubles"] and not residual <= 8.001 * rounding_of(system, x, DOUBLE):
        yield f"at_limit_of_doubles at a residual of {residual}"
    if (status == 0) != (report["converged"] or report["at_limit_of_doubles"]):
        yield f"exit status {status}, converged is {report['converged']}"


def check_least_squares(system, status, report, x, reference):
    """x must have the residual of lstsq, and A^T r must be small."""
    if status != 3 or report["reason"] != "incompatible":
        yield f"exit status {status}, reason {report['reason']}, expected 3 and incompatible"
    r, best = residual_of(system, x).astype(float), relative(system, reference)
    if not relative(system, x) <= best * (1 + 1e-6):
        yield f"residual {relative(system, x)}, lstsq has {best}"
    gradient = norm(system.A.T @ r) / (np.linalg.norm(system.A, 2) * norm(r))
    if not gradient <= 1e-3:
        yield f"||A^T r|| is {gradient} ||A|| ||r||"


def check(system, precision, outcome, reference):
    """Returns the faults."""
    status, report, x, _ = outcome
    wrong = list(check_report(system, status, report, x, TOLERANCE[precision]))
    if wrong:
        return wrong
    if system.reachable is False and precision in EXACT:
        wrong += check_least_squares(system, status, report, x, reference)
    if not report["converged"] and has_to_solve(system, precision, reference):
        wrong.append(f"not solved: residual {relative(system, x):.3g}, SciPy has {relative(system, reference):.3g}")
    return wrong


def command_of(options, precision):
    return [
        options.texsolve, "solve", "A.mtx", "-b", "b.mtx", "--rtol", f"{TOLERANCE[precision]:g}", "-o", "x.mtx", "--json",
        "--backend", options.backend, "--precision", precision
    ]


def keep(options, directory, name):
    kept = os.path.join(options.keep or os.path.join(tempfile.gettempdir(), "texsolve-scipy"), name)
    shutil.copytree(directory, kept, dirs_exist_ok=True)
    return kept


def compare(options, precision, seed, number, directory):
    """Returns True if the system passes."""
    system = system_of(seed, number)
    write_matrix(os.path.join(directory, "A.mtx"), system)
    write_vector(os.path.join(directory, "b.mtx"), system.b)
    command = command_of(options, precision)
    outcome = run(command, directory)
    wrong = check(system, precision, outcome, scipy_solution(system))
    if options.verbose:
        stages = [f"{s['method']}/{s['preconditioner']} {s['iterations']}" for s in (outcome[1] or {}).get("stages", [])]
        print(f"{number:3d} {kind_of(number):32s} {system.n:3d} {precision:6s} status {outcome[0]}", *stages)
    if not wrong:
        return True
    name = f"{kind_of(number)}-{seed}-{number}-{options.backend}-{precision}"
    print(f"FAILED: {name}: {system.n} unknowns, condition {condition(system.A):.2g}, --seed {seed} --only {number}")
    print(*(f"  {text}" for text in wrong), f"  {outcome[3].strip()}", sep="\n")
    print(f"  cd {shlex.quote(keep(options, directory, name))} && {shlex.join(command)}", flush=True)
    return False


def has_backend(options):
    return subprocess.run([options.texsolve, "info", "--backend", options.backend], stdout=subprocess.DEVNULL, check=False).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texsolve", type=os.path.abspath)
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--plan", default="auto:200,double:50,mixed:50,single:50")
    parser.add_argument("--only", type=int, help="this system alone")
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--keep", help="where files of failures are kept")
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    if not has_backend(options):
        print(f"skipped: the backend {options.backend} is not available")
        return 77
    failed = count = 0
    with tempfile.TemporaryDirectory(prefix="texsolve-scipy.") as directory:
        for precision, systems in (part.split(":") for part in options.plan.split(",")):
            numbered = [(options.seed, number) for number in range(int(systems))] + HARD
            for seed, number in numbered if options.only is None else [(options.seed, options.only)]:
                count += 1
                failed += not compare(options, precision, seed, number, directory)
    print(f"scipy: {count} solves of {len(KINDS)} kinds of systems, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
