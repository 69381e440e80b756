"""What fuzz_arrays.py passes to the package: arrays, matrices and options in many forms, some of them invalid on purpose."""
import numpy as np
import scipy.sparse as sp


class Wrong(Exception):
    """A call that did not do what it must."""


class Foreign:
    """An array of a library of which only the protocol is known."""

    def __init__(self, array):
        self.array = array
        self.shape, self.dtype = array.shape, array.dtype

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Fuzz:
    """The choices of one case. `faults` has the arguments that were made invalid on purpose."""

    def __init__(self, seed, case):
        self.random = np.random.default_rng([seed, case])
        self.faults = set()
        self.not_finite = set()
        self.lines = []
        self.kept = []  # (name, bytes before the call, array)

    def chance(self, probability):
        return self.random.random() < probability

    def pick(self, *choices):
        return choices[self.random.integers(len(choices))]

    def say(self, text):
        self.lines.append(text)

    def keep(self, name, *arrays):
        for array in arrays:
            if isinstance(array, np.ndarray) and array.nbytes < 1e6:
                self.kept.append((name, array.tobytes(), array))

    def check_kept(self):
        for name, before, array in self.kept:
            if array.tobytes() != before:
                raise Wrong(f'{name} was changed')

    # ---- Vectors ----

    def vector(self, name, shape, values=None):
        """An array of this shape in some form. Returns what is passed, and its numbers, or None if the array is invalid."""
        numbers = self.random.standard_normal(shape) if values is None else values
        if self.chance(0.12):
            self.faults.add(name)
            return self.bad_vector(name, shape, numbers), None
        form = self.pick('plain', 'f4', 'swapped', 'i4', 'u1', 'bool', 'f2', 'strided', 'backwards', 'fortran', 'unaligned',
                         'frozen', 'list', 'subclass', 'foreign', 'broadcast', 'transposed', 'padded', 'memoryview')
        array = self.formed(form, numbers)
        self.say(f'{name}: {form} {np.shape(array)}')
        self.keep(name, array if isinstance(array, np.ndarray) else getattr(array, 'array', None))
        if form in ('foreign', 'memoryview'):
            return array, np.asarray(getattr(array, 'array', array), dtype=float)
        return array, np.asarray(array).astype(float)

    def formed(self, form, numbers):
        if form in ('f4', 'i4', 'u1', 'f2'):
            return (np.round(4 * np.abs(numbers)) if form in ('i4', 'u1') else numbers).astype(form)
        if form == 'swapped':
            return numbers.astype(self.pick('>f8', '>f4'))
        if form == 'bool':
            return numbers > 0
        if form == 'strided':
            return np.repeat(numbers, 3, axis=0)[::3]
        if form == 'backwards':
            return numbers[::-1].copy()[::-1]
        if form == 'fortran':
            return np.asfortranarray(numbers)
        if form == 'unaligned':
            return np.frombuffer(b'x' + numbers.tobytes(), np.uint8)[1:].view(float).reshape(numbers.shape)
        if form == 'frozen':
            frozen = numbers.copy()
            frozen.flags.writeable = False
            return frozen
        if form == 'list':
            return numbers.tolist()
        if form == 'subclass':
            return numbers.view(type('Own', (np.ndarray,), {}))
        if form == 'foreign':
            return Foreign(np.array(numbers))
        if form == 'broadcast':
            return np.broadcast_to(numbers[:1], numbers.shape)
        if form == 'transposed':
            return np.array(numbers.T).T
        if form == 'padded':
            others = numbers.ndim - 1
            return np.pad(numbers, [(3, 5)] + [(1, 2)] * others)[(slice(3, -5),) + (slice(1, -2),) * others]
        if form == 'memoryview':
            return memoryview(np.array(numbers))
        return np.array(numbers)

    def bad_vector(self, name, shape, numbers):
        kind = self.pick('nan', 'inf', 'short', 'long', 'empty', 'scalar', 'cube', 'complex', 'object', 'text', 'dates', 'none',
                         'masked', 'structured', 'ragged', 'huge', 'longdouble', 'sparse', 'device', 'liar')
        if kind == 'sparse' and name == 'values':
            kind = 'complex'  # values may be a matrix with the same pattern
        self.say(f'{name}: bad, {kind}')
        if kind == 'device':
            self.faults.add('CUDA')  # which this machine may lack
        if kind in ('nan', 'inf'):
            self.not_finite.add(name)
            numbers = numbers.copy()
            numbers.flat[self.random.integers(numbers.size)] = float(kind) * self.pick(1, -1)
            return numbers
        size = shape[0]
        return {
            'short': lambda: numbers[:-1], 'long': lambda: np.ones(size + 1),
            'empty': lambda: np.empty(self.pick((0,), (size, 0), (0, size))),
            'scalar': lambda: self.pick(1.0, np.float32(2), np.array(3.0)), 'cube': lambda: np.ones((size, 1, 1)),
            'complex': lambda: numbers + 1j, 'object': lambda: numbers.astype(object), 'text': lambda: self.pick('abc', ['x'] * size),
            'dates': lambda: numbers.astype('M8[s]'), 'none': lambda: self.pick({}, object(), [None] * size),
            'masked': lambda: np.ma.masked_less(numbers, 0), 'structured': lambda: np.zeros(size, [('a', float)]),
            'ragged': lambda: [[1.0, 2.0], [3.0]], 'huge': lambda: np.broadcast_to(1.0, (2**40,)),
            'longdouble': lambda: numbers.astype(np.longdouble), 'sparse': lambda: sp.csr_matrix(np.atleast_2d(numbers)),
            'device': lambda: self.cuda_like(size), 'liar': lambda: self.liar(numbers)}[kind]()

    @staticmethod
    def cuda_like(size):
        """An array that says that it is in CUDA memory: at most an address that no one may read."""
        interface = {'shape': (size,), 'typestr': '<f8', 'data': (4096, False), 'version': 3}
        return type('Device', (), {'__cuda_array_interface__': interface})()

    @staticmethod
    def liar(numbers):
        """An object with a broken protocol."""
        broken = type('Broken', (), {'__dlpack__': lambda self, **_: 'no capsule', '__dlpack_device__': lambda self: (1, 0)})
        return broken()

    # ---- Matrices ----

    def matrix(self, rows=None, columns=None):
        """Returns what is passed, and the matrix in double precision, or None if it is invalid."""
        rows = rows or int(self.random.integers(1, 40))
        columns = columns or rows
        full = sp.random(rows, columns, min(1.0, 4 / columns), random_state=int(self.random.integers(2**31)),
                         data_rvs=self.random.standard_normal)
        if rows == columns:
            symmetric = self.chance(0.5)
            full = full + full.T if symmetric else full
            self.dominant = self.chance(0.8)
            if self.dominant:
                full = full + sp.diags(np.asarray(abs(full).sum(axis=1)).ravel() + 1)
        else:
            full = full + sp.eye(rows, columns)
        full = sp.csr_matrix(full)
        if self.chance(0.2):
            self.faults.add('A')
            return self.bad_matrix(full), None
        given = self.formed_matrix(full)
        exact = given
        if isinstance(given, tuple):
            exact = sp.csr_matrix(tuple(np.asarray(part).astype(part.dtype.newbyteorder('=')) for part in given), shape=full.shape)
        elif isinstance(given, sp.csr_matrix):
            self.keep('A', given.data, given.indices, given.indptr)
        return given, sp.csr_matrix(exact).astype(float)

    def formed_matrix(self, full):
        form = self.pick('csr', 'csc', 'coo', 'bsr', 'dia', 'lil', 'dok', 'array', 'tuple', 'long', 'shuffled', 'doubled', 'swapped',
                         'f4', 'spare', 'readonly')
        self.say(f'A: {form} {full.shape[0]} x {full.shape[1]}, {full.nnz} entries')
        if form in ('csc', 'coo', 'bsr', 'dia', 'lil', 'dok'):
            return full.asformat(form)
        if form == 'array':
            return sp.csr_array(full)
        if form == 'tuple' and full.shape[0] == full.shape[1]:
            kind = self.pick('i4', 'i8', '>i4', 'u2', 'u8')
            return full.data, full.indices.astype(kind), full.indptr.astype(kind)
        given = full.copy()
        if form == 'long':
            given.indices, given.indptr = given.indices.astype(np.int64), given.indptr.astype(np.int64)
        elif form == 'shuffled':
            for i in range(full.shape[0]):
                part = slice(full.indptr[i], full.indptr[i + 1])
                order = self.random.permutation(part.stop - part.start)
                given.indices[part], given.data[part] = full.indices[part][order], full.data[part][order]
        elif form == 'doubled':
            coo = full.tocoo()
            given = sp.coo_matrix((np.r_[coo.data, coo.data] / 2, (np.r_[coo.row, coo.row], np.r_[coo.col, coo.col])), full.shape)
        elif form == 'swapped':
            given.data = given.data.astype('>f8')
        elif form == 'f4':
            given = given.astype(np.float32)
        elif form == 'spare':  # SciPy's arrays may be longer than the matrix
            given.data, given.indices = np.r_[given.data, [np.nan] * 5], np.r_[given.indices, np.full(5, 9999, given.indices.dtype)]
        elif form == 'readonly':
            for part in (given.data, given.indices, given.indptr):
                part.flags.writeable = False
        return given

    def bad_matrix(self, full):
        kind = self.pick('column', 'column', 'offset', 'first', 'last', 'nan', 'complex', 'empty', 'object', 'dense', 'text', 'none',
                         'pair', 'floats', 'short', 'lists', 'longdouble', 'bigcolumn', 'ints', 'triplet', 'triplet')
        form = self.pick('csr', 'csr', 'csr', 'csc', 'bsr')
        self.say(f'A: bad {form}, {kind}, {full.shape[0]} x {full.shape[1]}, {full.nnz} entries')
        # SciPy's own conversions write out of bounds if indices are out of range.
        bad = full.copy() if form == 'csr' else full.tocsc() if form == 'csc' else full.tobsr((1, 1))
        at = int(self.random.integers(max(full.nnz, 1)))
        extent = full.shape[0] if form == 'csc' else full.shape[1]
        huge = self.pick(-1, -2**31, 2**31 - 1, extent, extent + 7)
        if kind in ('column', 'nan', 'bigcolumn', 'triplet') and not full.nnz:
            kind = 'first'
        if kind == 'column':
            bad.indices[at] = huge
        elif kind == 'bigcolumn':
            bad.indices = bad.indices.astype(np.int64)
            bad.indices[at] = self.pick(2**32, 2**40, -2**62, 2**63 - 1)
        elif kind == 'offset':
            row = int(self.random.integers(len(bad.indptr) - 1))  # the last one is kind 'last'
            bad.indptr[row] = self.pick(-1, full.nnz + 1, 2**31 - 1, -2**31)
        elif kind == 'first':
            bad.indptr[0] = self.pick(1, -1, 2**30)
        elif kind == 'last':
            bad.indptr[-1] = self.pick(full.nnz + 1, -1, 2**31 - 1)
        elif kind == 'nan':
            bad.data.flat[at] = self.pick(np.nan, np.inf, -np.inf)
        elif kind == 'triplet':
            bad = full.tocoo()
            part = self.pick('row', 'col')
            getattr(bad, part)[at] = self.pick(-1, -2**31, 2**31 - 1, full.shape[part == 'col'])
        elif kind == 'short':
            part = self.pick('indptr', 'indices', 'data')
            setattr(bad, part, getattr(bad, part)[:-1])
            if part != 'indptr' and not full.nnz:
                bad.indptr = bad.indptr[:-1]
        elif kind == 'complex':
            return full.astype(complex)
        elif kind == 'ints':
            return full.astype(self.pick(np.int32, np.int64, np.uint8, bool))
        elif kind == 'longdouble':
            return full.astype(np.longdouble)
        elif kind == 'object':
            bad.data = bad.data.astype(object)
        elif kind == 'floats':
            return bad.data, bad.indices.astype(float), bad.indptr
        elif kind == 'lists':
            return [1.0], [[0]], {}
        elif kind == 'pair':
            return bad.data, bad.indices
        elif kind == 'empty':
            return sp.csr_matrix(self.pick((0, 0), (0, 3), (3, 0)))
        else:
            return {'dense': full.toarray(), 'text': self.pick('A', b'A'), 'none': self.pick(None, 5, object())}[kind]
        return bad

    # ---- Options ----

    def options(self, allowed):
        """Arguments of a solve. Some of the invalid ones are found only by some methods."""
        given = {'rtol': float(self.pick(1e-3, 1e-6, 1e-10))}
        if self.chance(0.3):
            given['method'] = self.pick('cg', 'minres', 'bicgstab', 'gmres', 'idr', 'lsmr', 'cgls', 'richardson')
        if self.chance(0.3):
            given['preconditioner'] = self.pick('none', 'jacobi', 'block-jacobi', 'chebyshev', 'isai', 'amg', 'ilu', 'ic', 'direct', None)
        if self.chance(0.2):
            given['precision'] = self.pick('single', 'mixed', 'double')
        if self.chance(0.2):
            given['max_iterations'] = self.pick(1, np.int64(7), 100000)
        if self.chance(0.15):
            name, values = self.pick(
                ('rtol', (np.nan, -1.0, 1.0, 'x', None, 1j, [1e-3])), ('atol', (-1.0, np.nan, 'x', None, [0.0])),
                ('max_iterations', (-1, 2**31, 2**32 + 5, 2**70, 2.5, '7', [3])), ('restart', (-3, 2**31, 2**33, 1.5, 'x')),
                ('check_interval', (-1, 2**32 + 4, 5000, 1.5, '3')), ('method', ('foo', 3, None, b'cg', 'c\0g', '\udcff')),
                ('preconditioner', ('foo', 5, b'amg', object(), [1, 2])), ('precision', ('half', None, 3)),
                ('threads', (-1, 2**33, 1.5, 'x')), ('backend', ('foo', None, 3, 'cpu\0x', '\udcff')), ('context', (5, 'cpu')),
                ('null_space', (3.0, np.ones((2, 9)), 'x', np.ones((3, 0)), 1j)), ('progress', (5, 'x')), ('symmetric', ([], 'x', 2)))
            if name in allowed:
                given[name] = self.pick(*values) if len(values) > 1 else values[0]
                self.faults.add(name)
        self.say(f'options: {given}')
        return given
