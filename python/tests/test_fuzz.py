"""Some random cases of the fuzz target, always the same ones."""
import pathlib
import subprocess
import sys

SCRIPT = pathlib.Path(__file__).with_name('fuzz_arrays.py')


def test_random_arrays():
    run = subprocess.run([sys.executable, SCRIPT, '--seed', '1', '--cases', '400', '--seconds', '300'], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.splitlines()[-1] == '400 cases, 0 failures'


def test_a_wrong_answer_is_found():
    """The target itself: a package that returns another x has to fail."""
    code = f'''
import sys
sys.path.insert(0, {str(SCRIPT.parent)!r})
import fuzz_arrays, texsolve
right = texsolve.solve
def wrong(*arguments, **options):
    result = right(*arguments, **options)
    result.x = result.x + 1
    return result
texsolve.solve = wrong
fuzz_arrays.targets = lambda: [fuzz_arrays.fuzz_solve]
sys.exit(sum(not fuzz_arrays.run_case(0, case) for case in range(30)) == 0)'''
    assert subprocess.run([sys.executable, '-c', code], capture_output=True).returncode == 0
