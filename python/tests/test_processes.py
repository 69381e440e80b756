"""Threads, forks, Ctrl+C, the end of the interpreter, and libraries of other versions. Each runs in a process of its own, so that
a crash is a failure of the test."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import texsolve
from conftest import poisson, residual

HERE = pathlib.Path(__file__).resolve().parent

BEGIN = '''
import os, signal, sys, threading, time, gc
signal.signal(signal.SIGINT, signal.default_int_handler)  # a program in the background inherits that it is ignored
import numpy as np
import texsolve
from conftest import poisson, residual
A = poisson(20)
b = np.ones(A.shape[0])
'''


def run(program, timeout=60, **environment):
    """The output of a program, which must end normally."""
    paths = [str(HERE), str(HERE.parent)] if 'site-packages' not in texsolve.__file__ else [str(HERE)]
    run = subprocess.run([sys.executable, '-X', 'faulthandler', '-c', BEGIN + textwrap.dedent(program)], capture_output=True,
                         text=True, timeout=timeout, env={**os.environ, 'PYTHONPATH': os.pathsep.join(paths), **environment})
    assert run.returncode == 0, f'exit status {run.returncode}\n{run.stdout}{run.stderr}'
    assert 'Exception ignored' not in run.stderr, run.stderr
    return run.stdout


def test_exit_with_live_objects():
    assert run('''
        s = texsolve.Solver(A); ml = texsolve.amg(A); r = texsolve.solve(A, b)
        fluid = texsolve.Fluid(16, 16); context = texsolve.Context('cpu')
        cycle = [s]; cycle.append(cycle); texsolve.kept = cycle
        x = s(b)
        print('done')
    ''') == 'done\n'


def test_nothing_is_printed():
    """Messages of the library go to logging, which prints warnings to stderr if no one has configured it."""
    assert run('''
        import contextlib, io
        import scipy.sparse as sp
        with contextlib.redirect_stderr(io.StringIO()) as printed:
            place = np.arange(10) // 2
            twice = sp.coo_matrix((np.ones(10), (place, place)))
            assert abs(texsolve.solve(twice, np.ones(5)).x - 0.5).max() < 1e-5
            singular = sp.csr_matrix([[1.0, 1, 0], [1, 1, 0], [0, 0, 1]])
            texsolve.solve(singular, np.ones(3), method='gmres', preconditioner='ilu')  # logs that it replaces a pivot
        print(repr(printed.getvalue()))
        assert 'logging' in sys.modules
    ''') == "''\n"


@pytest.mark.parametrize('daemon', [True, False])
def test_exit_during_a_solve(daemon):
    out = run(f'''
        large = poisson(300)
        right = np.ones(large.shape[0])
        def work():
            for _ in range(1000 if {daemon} else 3):
                texsolve.solve(large, right, method='cg', preconditioner='jacobi', rtol=1e-6)
        threading.Thread(target=work, daemon={daemon}).start()
        time.sleep(0.5)
        print('end', flush=True)
    ''')
    assert out == 'end\n'


def test_fork():
    out = run('''
        s = texsolve.Solver(A); ml = texsolve.amg(A)
        large = texsolve.solve(poisson(300), np.ones(90000))  # the threads of the library have started
        before = s(b)
        child = os.fork()
        if child == 0:
            try:
                s(b)
            except RuntimeError as error:
                assert 'fork' in str(error), error
            else:
                os._exit(3)
            assert residual(A, texsolve.solve(A, b, rtol=1e-9).x, b) <= 1e-9
            assert texsolve.solve(poisson(300), np.ones(90000)).converged
            assert texsolve.Solver(A)(b).shape == b.shape
            del s, ml
            gc.collect()
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0, status
        assert np.array_equal(s(b), before)
        print('done')
    ''')
    assert out == 'done\n'


def test_multiprocessing():
    out = run('''
        import multiprocessing
        texsolve.solve(A, b)
        def work(k):
            return float(texsolve.solve(k * A, b, rtol=1e-10).x[0] * k)
        with multiprocessing.get_context('fork').Pool(2) as pool:
            found = pool.map(work, range(1, 9))
        assert np.allclose(found, found[0], rtol=1e-6), found
        print('done')
    ''')
    assert out == 'done\n'


INTERRUPTED = '''
large = poisson(400)
right = np.ones(large.shape[0])
def interrupt():
    time.sleep(0.4)
    os.kill(os.getpid(), signal.SIGINT)
def expect(call):
    threading.Thread(target=interrupt).start()
    begin = time.perf_counter()
    try:
        while time.perf_counter() < begin + 30:
            call()
    except KeyboardInterrupt:
        return
    raise SystemExit('no KeyboardInterrupt')
'''


def test_ctrl_c_ends_a_solve():
    out = run(INTERRUPTED + '''
s = texsolve.Solver(large, method='cg', preconditioner='none', rtol=1e-14, max_iterations=10**6)
for _ in range(3):
    expect(lambda: s(right))
expect(lambda: texsolve.solve(large, right, method='minres', preconditioner='none', rtol=1e-14))
import texsolve.linalg as spla
expect(lambda: spla.cg(large, right, rtol=1e-14, M='none', callback=lambda xk: None))
expect(lambda: spla.cg(spla.LinearOperator(large.shape, lambda x: large @ x), right, rtol=1e-14))
expect(lambda: texsolve.lcp(np.eye(400) * 2 - np.eye(400, k=1) - np.eye(400, k=-1), -np.ones(400), rtol=0, max_sweeps=10**8,
                            acceleration='none'))
fluid = texsolve.Fluid(256, 256)
expect(lambda: fluid.step())
M = texsolve.amg(large).aspreconditioner()
expect(lambda: M.matvec(right))
ml = texsolve.amg(large)  # kept: a Ctrl+C at the first instruction of any __del__ is lost
expect(lambda: ml.update(large.data))
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
assert fluid.step() is None and np.isfinite(fluid.pressure).all()
assert texsolve.Solver(A, rtol=1e-9)(b).shape == b.shape
assert s.update(large) is None
print('done')
''', timeout=200)
    assert out == 'done\n'


def test_ctrl_c_ends_a_set_up():
    out = run('''
import numpy, scipy.sparse
n = 100
line, eye = scipy.sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n)), scipy.sparse.identity(n)
plane = scipy.sparse.kron(line, eye) + scipy.sparse.kron(eye, line)
large = scipy.sparse.csr_matrix(scipy.sparse.kron(plane, eye) + scipy.sparse.kron(scipy.sparse.identity(n * n), line))
right = numpy.ones(n**3)
context = texsolve.Context('cpu')
values = 2 * large.data
ml = texsolve.amg(large, context=context)
s = texsolve.Solver(large, context=context)

clock = time.pthread_getcpuclockid(threading.get_ident())  # other programs do not count
def now():
    return time.clock_gettime(clock)

def latency(call, after):
    """Seconds of the main thread from the signal to the exception."""
    sent = []
    def interrupt():
        time.sleep(after)
        sent.append(now())
        os.kill(os.getpid(), signal.SIGINT)
    thread = threading.Thread(target=interrupt)
    try:
        thread.start()  # takes longer than `after` if other programs have the processor
        call()
        thread.join()
        time.sleep(0.01)
    except KeyboardInterrupt:
        return now() - sent[0]
    raise SystemExit('no KeyboardInterrupt')

calls = {
    'amg': lambda: texsolve.amg(large, context=context), 'solve': lambda: texsolve.solve(large, right, rtol=1e-8, context=context),
    'Solver': lambda: texsolve.Solver(large, context=context), 'update': lambda: ml.update(values),
    'ilu': lambda: texsolve.preconditioner(large, 'ilu', context=context)}
for name, call in calls.items():
    found = [latency(call, after) for after in (0.05, 0.15, 0.3, 0.1, 0.2)]
    # Usually at once. Some loops over a whole matrix end first, and other programs that use the memory slow them
    # down, so SciPy's time for such a loop is the unit: about 0.05 s on an idle machine.
    begin = now()
    large.tocsc()
    unit = max(0.05, now() - begin)
    assert sorted(found)[2] < 4 * unit and max(found) < 12 * unit, (name, found, unit)
    ml.update(large.data)
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
assert ml.solve(right, tol=1e-6, accel='cg').shape == right.shape and ml.result.converged
assert texsolve.solve(large, right, rtol=1e-6, context=context).converged
print('done')
''', timeout=300)
    assert out == 'done\n'


def test_ctrl_c_in_a_finaliser():
    """Python drops exceptions of finalisers; the Ctrl+C must still arrive, and the context stay usable from other threads."""
    out = run('''
from texsolve import _context
destroy = _context._destroy
def slow(function, reference):  # as a large matrix
    destroy(function, reference)
    if function in interrupted:
        interrupted.remove(function)
        os.kill(os.getpid(), signal.SIGINT)
_context._destroy = slow
context = texsolve.Context('cpu')
def seconds_until_interrupt(call):
    begin = time.perf_counter()
    try:
        call()
        time.sleep(10)
    except KeyboardInterrupt:
        return time.perf_counter() - begin
    raise SystemExit('no KeyboardInterrupt')
def drop():
    global solver
    del solver
for _ in range(5):
    solver, interrupted = texsolve.Solver(A, context=context), ['ts_solver_destroy']
    assert seconds_until_interrupt(drop) < 5 and not interrupted
    assert context.depth == 0
    def use():
        assert texsolve.solve(A, b, context=context).converged
        print('used')
    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
other, interrupted = texsolve.Context('cpu'), ['ts_context_destroy']
def drop_context():
    global other
    del other
assert seconds_until_interrupt(drop_context) < 5 and not interrupted
handled, interrupted, solver = [], ['ts_solver_destroy'], texsolve.Solver(A, context=context)
signal.signal(signal.SIGINT, lambda number, frame: handled.append(number))
drop()
time.sleep(0.5)
print(handled == [signal.SIGINT])
''')
    assert out == 'used\n' * 5 + 'True\n'


def test_handlers_of_the_application():
    out = run(INTERRUPTED + '''
seen = []
signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))  # does not raise: the solve goes on
threading.Thread(target=interrupt).start()
while not seen:
    assert texsolve.solve(large, right, rtol=1e-8).converged
class Own(Exception): pass
def handler(number, frame): raise Own()
signal.signal(signal.SIGINT, handler)
threading.Thread(target=interrupt).start()
try:
    while True:
        texsolve.solve(large, right, method='cg', preconditioner='none', rtol=1e-12)
except Own:
    print('own')
assert signal.getsignal(signal.SIGINT) is handler
signal.signal(signal.SIGINT, signal.SIG_IGN)
threading.Thread(target=interrupt).start()
assert texsolve.solve(large, right, rtol=1e-8).converged
''', timeout=120)
    assert out == 'own\n'


def test_threads():
    A, failures = poisson(60), []
    shared = texsolve.Solver(A, rtol=1e-8)
    own = threading.local()

    def work(seed):
        try:
            b = np.random.default_rng(seed).standard_normal(A.shape[0])
            own.context = texsolve.Context('cpu', threads=1)
            for k in range(5):
                for x in (texsolve.solve(A, b, rtol=1e-8).x, shared(b), texsolve.Solver(A, rtol=1e-8, context=own.context)(b)):
                    if not residual(A, x, b) <= 1e-8:
                        failures.append((seed, k))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_other_threads_run_during_a_solve():
    """The library is called without the interpreter's lock."""
    A = poisson(300)
    b = np.ones(A.shape[0])
    counts, end = [0], threading.Event()

    def count():
        while not end.is_set():
            counts[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    before = counts[0]
    try:
        texsolve.solve(A, b, preconditioner='amg', rtol=1e-10)
    finally:
        during = counts[0] - before
        end.set()
        thread.join()
    assert during > 1000


def test_collection_in_another_thread():
    out = run('''
        solvers = []
        def drop():
            for _ in range(100):
                try:
                    solvers.pop()
                except IndexError:
                    time.sleep(0.001)
                gc.collect(0)
        threads = [threading.Thread(target=drop) for _ in range(3)]
        for thread in threads: thread.start()
        for k in range(60):
            s = texsolve.Solver(A, preconditioner='amg')
            s(b)
            solvers.append(s)
            del s
        for thread in threads: thread.join()
        print('done')
    ''')
    assert out == 'done\n'


def test_memory_is_given_back():
    out = run('''
        context = texsolve.Context('cpu')
        def use():
            s = texsolve.Solver(A, context=context, preconditioner='amg'); s(b); s(np.c_[b, b])
            texsolve.solve(A, b, context=context); texsolve.amg(A, context=context).solve(b, accel='cg')
            texsolve.lcp(np.eye(3), -np.ones(3), context=context); texsolve.Fluid(16, 16, context=context).step()
            try:
                texsolve.solve(A, b, progress=lambda p: 1 / 0, context=context)
            except ZeroDivisionError:
                pass
        for _ in range(3):
            use()
            gc.collect()
            context.info()  # on leaving the context destroys what was collected meanwhile
            print(context.info().bytes_device)
    ''')
    assert len(set(out.split())) == 1 and out.split()[0] == '0', out


@pytest.mark.parametrize('source, text', [
    ('const char *ts_version(void) { return "9.9.0"; }', 'has version 9.9.0; this package needs 0.2'),
    ('int another;', 'is not texsolve'),
    (None, 'was not found'),
])
def test_other_libraries(source, text, tmp_path):
    library = tmp_path / 'libother.so'
    if source:
        if shutil.which('cc') is None:
            pytest.skip('needs a C compiler')
        subprocess.run(['cc', '-shared', '-fPIC', '-x', 'c', '-', '-o', library], input=source, text=True, check=True)
    out = run('''
        try:
            texsolve.solve(A, b)
        except ImportError as error:
            print(type(error).__name__, error)
    ''', TEXSOLVE_LIBRARY=str(library))
    assert out.startswith('LibraryError') and text in out


@pytest.mark.skipif(shutil.which('cc') is None, reason='needs a C compiler')
def test_driver_that_is_loaded_later(tmp_path):
    """Arrays in CUDA memory are found when another library has loaded the driver. This one says so of every pointer."""
    source = '''int cuPointerGetAttributes(unsigned count, int *attributes, void **data, unsigned long long pointer) {
      *(unsigned *)data[0] = 2, *(unsigned *)data[1] = 0;
      return count != 2 || attributes[0] != 2 || !pointer;
    }'''
    driver = tmp_path / 'libcuda.so.1'
    subprocess.run(['cc', '-shared', '-fPIC', '-Wl,-soname,libcuda.so.1', '-x', 'c', '-', '-o', driver], input=source, text=True,
                   check=True)
    assert run(f'''
        import ctypes
        assert texsolve.solve(A, b, backend='cpu').converged and texsolve.solve(A, b, backend='cpu').converged
        ctypes.CDLL({str(driver)!r})
        try:
            texsolve.solve(A, b, backend='cpu')
        except texsolve.InvalidArgumentError as error:
            print(error)
    ''').count('memory') > 0


def test_interrupted_programs_end_as_usual():
    """Ctrl+C without a handler for the exception: the program ends by the signal's exit status."""
    paths = os.pathsep.join([str(HERE), str(HERE.parent)])
    process = subprocess.Popen([sys.executable, '-c', BEGIN + textwrap.dedent('''
        print('ready', flush=True)
        large = poisson(400)
        while True:
            texsolve.solve(large, np.ones(large.shape[0]), method='cg', preconditioner='none', rtol=1e-14)
    ''')], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, 'PYTHONPATH': paths})
    assert process.stdout.readline() == 'ready\n'
    threading.Event().wait(0.5)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT and 'KeyboardInterrupt' in errors
