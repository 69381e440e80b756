// Matrices, solvers and preconditioners on the WebAssembly backend.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { after, test } from 'node:test'
import { fails, multiply, open, packagePath, poisson, random, residual } from './support.mjs'

const ts = await open()
after(() => ts.dispose())

test('info names the device and the reason', () => {
  assert.equal(ts.info.backend, 'cpu')
  assert.equal(ts.info.device, 'WebAssembly')
  assert.match(ts.info.driver, /SIMD/)
  assert.match(ts.info.reason, /WebGL/)
  assert.match(ts.info.version, /^\d+\.\d+\.\d+$/)
})

test('the example of the README', async () => {
  const A = ts.matrix({ rowOffsets: new Int32Array([0, 2, 5, 7]), columnIndices: new Int32Array([0, 1, 0, 1, 2, 1, 2]),
    values: new Float64Array([2, -1, -1, 2, -1, -1, 2]) })
  const r = await A.solve(new Float64Array([1, 2, 3]), { preconditioner: 'amg', rtol: 1e-8 })
  for (const [k, expected] of [2.5, 4, 3.5].entries()) assert.ok(Math.abs(r.x[k] - expected) < 1e-7)
  assert.equal(r.converged, true)
  assert.equal(r.reason, 'converged')
})

test('a product is that of double precision', () => {
  const source = poisson(17)
  const A = ts.matrix(source)
  const x = random(289)
  assert.equal(A.rows, 289)
  assert.equal(A.entries, source.values.length)
  const expected = multiply(source, x)
  A.multiply(x).forEach((value, k) => assert.ok(Math.abs(value - expected[k]) < 1e-13))
  const single = A.multiply(Float32Array.from(x))
  assert.ok(single instanceof Float32Array)
  single.forEach((value, k) => assert.ok(Math.abs(value - expected[k]) < 1e-6))
})

for (const [name, options, rtol] of [['cg with jacobi', { method: 'cg', preconditioner: 'jacobi' }, 1e-10],
  ['cg with amg', { preconditioner: 'amg' }, 1e-12], ['minres', { method: 'minres' }, 1e-10], ['gmres', { method: 'gmres' }, 1e-9],
  ['bicgstab with ilu', { method: 'bicgstab', preconditioner: 'ilu' }, 1e-10], ['ic', { preconditioner: 'ic' }, 1e-10],
  ['chebyshev', { preconditioner: 'chebyshev' }, 1e-10], ['lsmr', { method: 'lsmr', maxIterations: 20000 }, 1e-8]]) {
  test(`${name} reaches ${rtol}`, async () => {
    const source = poisson(40)
    const A = ts.matrix(source)
    const b = random(1600)
    const r = await A.solve(b, { ...options, rtol })
    assert.equal(r.converged, true, r.message)
    if (options.method !== 'lsmr') {
      assert.ok(residual(source, r.x, b) <= 1.001 * rtol, `${residual(source, r.x, b)}`)
      assert.ok(Math.abs(r.residual - residual(source, r.x, b)) < 0.01 * rtol + 1e-15)
    }
    assert.ok(r.history.length > 0 && r.iterations > 0 && r.seconds > 0)
    A.dispose()
  })
}

test('the answer has the type of b, and up to 4 right-hand sides at once', async () => {
  const source = poisson(20)
  const A = ts.matrix(source)
  const single = await A.solve(Float32Array.from(random(400)), { rtol: 1e-5 })
  assert.ok(single.x instanceof Float32Array)
  const b = random(1200)
  const r = await A.solve(b, { rtol: 1e-10 })
  for (let k = 0; k < 3; k++) {
    const part = array => array.filter((_, at) => at % 3 === k)
    assert.ok(residual(source, part(r.x), part(b)) < 1e-9)
  }
})

test('triplets add up, in any order', () => {
  const A = ts.matrix({ triplets: { rows: new Int32Array([1, 0, 1, 1]), columns: new Int32Array([1, 0, 0, 1]),
    values: new Float64Array([1, 2, 3, 4]) } })
  assert.equal(A.entries, 3)
  assert.deepEqual([...A.multiply(new Float64Array([1, 10]))], [2, 53])
  A.update(new Float64Array([1, 1, 1, 1]))
  assert.deepEqual([...A.multiply(new Float64Array([1, 10]))], [1, 21])
})

test('new values keep the pattern, and solvers use them', async () => {
  const source = poisson(10)
  const A = ts.matrix(source)
  const solver = ts.solver(A, { rtol: 1e-10 })
  const b = random(100)
  const one = await solver.solve(b)
  A.update(source.values.map(value => 2 * value))
  const two = await solver.solve(b)
  two.x.forEach((value, k) => assert.ok(Math.abs(2 * value - one.x[k]) < 1e-8))
  const start = await solver.solve(b, { x0: two.x })
  assert.ok(start.iterations <= 1)
})

test('rectangular matrices are solved in the least squares', async () => {
  const A = ts.matrix({ rowOffsets: new Int32Array([0, 1, 2, 4]), columnIndices: new Int32Array([0, 1, 0, 1]),
    values: new Float64Array([1, 1, 1, 1]), columns: 2 })
  const r = await A.solve(new Float64Array([1, 2, 3]), { rtol: 1e-12 })
  assert.equal(r.method, 'lsmr')
  r.x.forEach((value, k) => assert.ok(Math.abs(value - [1, 2][k]) < 1e-9))
})

test('a hierarchy of multigrid, its levels, and a preconditioner of its own', async () => {
  const A = ts.matrix(poisson(64))
  const M = await ts.amg(A, { sweeps: 3 })
  assert.equal(M.levels[0].rows, 4096)
  assert.ok(M.levels.length >= 2 && M.levels.at(-1).rows < 1000)
  assert.ok(M.operatorComplexity > 1 && M.operatorComplexity < 3)
  const r = await M.solve(random(4096), { rtol: 1e-10 })
  assert.ok(r.converged && r.iterations < 25)
  assert.equal(r.preconditioner, 'amg')
  const cycles = await M.solve(random(4096), { method: 'richardson', rtol: 1e-6 })
  assert.ok(cycles.converged)
  const ic = await ts.preconditioner(A, { kind: 'ic', fill: 4 })
  assert.equal(ic.info.kind, 'ic')
  assert.ok((await A.solve(random(4096), { preconditioner: ic })).converged)
  A.update(poisson(64).values.map(value => 3 * value))
  await M.update()
  assert.ok((await M.solve(random(4096))).converged)
})

test('a solve that misses its tolerance says so', async () => {
  const A = ts.matrix(poisson(60))
  const r = await A.solve(random(3600), { method: 'cg', preconditioner: 'jacobi', rtol: 1e-10, maxIterations: 5 })
  assert.equal(r.converged, false)
  assert.match(r.reason, /maximum number of iterations/)
  assert.ok(r.residual > 1e-10 && r.x.length === 3600)
})

test('a singular matrix that b does not fit', async () => {
  const A = ts.matrix({ rowOffsets: new Int32Array([0, 2, 4]), columnIndices: new Int32Array([0, 1, 0, 1]),
    values: new Float64Array([1, -1, -1, 1]) })
  const r = await A.solve(new Float64Array([1, 1]), { method: 'cg', rtol: 1e-10 })
  assert.equal(r.converged, false)
})

test('a frame iterates without a promise', () => {
  const source = poisson(12)
  const frame = ts.matrix(source).frame(new Float32Array(144).fill(1), { iterations: 60 })
  assert.ok(residual(source, frame.read(), new Float32Array(144).fill(1)) < 1e-4)
  frame.update(new Float32Array(144).fill(2))
  assert.ok(residual(source, frame.read(Float64Array), new Float32Array(144).fill(2)) < 1e-4)
  assert.throws(() => frame.texture, fails('unsupported', /WebGL/))
  frame.dispose()
})

test('progress is reported and history is complete', async () => {
  const A = ts.matrix(poisson(50))
  const seen = []
  const r = await A.solve(random(2500), { method: 'cg', preconditioner: 'jacobi', rtol: 1e-8, checkInterval: 8, onProgress: state => seen.push(state) })
  assert.ok(seen.length > 3)
  assert.ok(seen.every((state, k) => !k || state.iteration > seen[k - 1].iteration))
  assert.equal(r.history.length, r.iterations)
})

test('the module comes from bytes, from a compiled module or from an address', async () => {
  const file = path.join(packagePath, 'texsolve.wasm')
  const bytes = await readFile(file)
  for (const options of [{ wasmBinary: bytes }, { wasmBinary: await WebAssembly.compile(bytes) }, { wasmURL: file }]) {
    const other = await open(options)
    assert.equal(other.info.backend, 'cpu')
    other.dispose()
  }
  const single = await import(path.join(packagePath, 'single.js'))
  assert.ok((await single.open()).info.version)
})

test('two devices are independent', async () => {
  const other = await open({ backend: 'cpu' })
  const A = other.matrix(poisson(5))
  await assert.rejects(async () => ts.solver(A), fails('invalid-argument', /same context/))
  other.dispose()
  assert.throws(() => A.multiply(new Float64Array(25)), fails('disposed'))
  assert.throws(() => other.info, fails('disposed'))
  assert.ok(ts.matrix(poisson(5)))
})

test('texsolve/core solves with a smaller module', async () => {
  const core = await import(path.join(packagePath, 'node-core.js'))
  const small = await core.open({ backend: 'cpu' })
  const source = poisson(48)
  const b = random(48 * 48)
  const A = small.matrix(source)
  for (const preconditioner of ['amg', 'jacobi', 'ic']) {
    const r = await A.solve(b, { method: 'cg', preconditioner, rtol: 1e-10 })
    assert.ok(r.converged && residual(source, r.x, b) < 1.01e-10)
  }
  await assert.rejects(A.solve(b, { preconditioner: 'multigrid' }), fails('invalid-argument'))
  assert.equal(small.fluid, undefined)
  small.dispose()
})
