// What callers get wrong: each ends with a code and a sentence, and the context stays usable.
import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import { fails, open, poisson, random } from './support.mjs'

const ts = await open()
after(() => ts.dispose())
afterEach(async () => {
  const r = await ts.matrix(poisson(4)).solve(new Float64Array(16).fill(1))
  assert.equal(r.converged, true)
})

const bad = (change, code, message) => ({ change, code, message })
const rows = poisson(3)
for (const [name, { change, code, message }] of Object.entries({
  'no object': bad(() => undefined, 'invalid-argument', /undefined/),
  'offsets as a plain array': bad(() => ({ ...rows, rowOffsets: [...rows.rowOffsets] }), 'invalid-argument', /rowOffsets is an array/),
  'indices as floats': bad(() => ({ ...rows, columnIndices: Float32Array.from(rows.columnIndices) }), 'invalid-argument', /columnIndices.*Int32Array/),
  'values as integers': bad(() => ({ ...rows, values: Int32Array.from(rows.values) }), 'invalid-argument', /values.*Float32Array or a Float64Array/),
  'values too short': bad(() => ({ ...rows, values: rows.values.slice(1) }), 'invalid-argument', /values has 32 elements; expected 33/),
  'a column out of range': bad(() => ({ ...rows, columnIndices: rows.columnIndices.map((c, k) => k === 7 ? 99 : c) }), 'invalid-argument', /99/),
  'a negative column': bad(() => ({ ...rows, columnIndices: rows.columnIndices.map((c, k) => k === 7 ? -1 : c) }), 'invalid-argument', /-1/),
  'offsets that descend': bad(() => ({ ...rows, rowOffsets: rows.rowOffsets.map((o, k) => k === 4 ? 1 : o) }), 'invalid-argument', /offset/),
  'offsets that do not begin at 0': bad(() => ({ ...rows, rowOffsets: rows.rowOffsets.map((o, k) => k ? o : 1) }), 'invalid-argument', /offset/),
  'a NaN': bad(() => ({ ...rows, values: rows.values.map((v, k) => k === 5 ? NaN : v) }), 'invalid-argument', /values\[5\] is NaN/),
  'an infinity': bad(() => ({ ...rows, values: rows.values.map((v, k) => k === 5 ? -Infinity : v) }), 'invalid-argument', /values\[5\]/),
  'an unknown format': bad(() => ({ ...rows, format: 'coo' }), 'invalid-argument', /"coo".*"csr"/),
  'a huge number of rows': bad(() => ({ ...rows, rows: 2 ** 40 }), 'invalid-argument', /rows/),
  'no rows': bad(() => ({ rowOffsets: new Int32Array(1), columnIndices: new Int32Array(0), values: new Float64Array(0) }), 'invalid-argument', /rowOffsets/)
})) {
  test(`a matrix with ${name}`, () => { assert.throws(() => ts.matrix(change()), fails(code, message)) })
}

test('a detached buffer', async () => {
  const values = Float64Array.from(rows.values)
  structuredClone(values.buffer, { transfer: [values.buffer] })
  assert.throws(() => ts.matrix({ ...rows, values }), fails('invalid-argument', /detached|0 elements/))
  const A = ts.matrix(rows)
  const b = new Float64Array(9)
  structuredClone(b.buffer, { transfer: [b.buffer] })
  await assert.rejects(A.solve(b), fails('invalid-argument', /detached|0 elements/))
})

test('b of a wrong type or length', async () => {
  const A = ts.matrix(rows)
  await assert.rejects(A.solve(new Float64Array(8)), fails('invalid-argument', /b has 8 elements; expected 9/))
  await assert.rejects(A.solve([1, 2, 3]), fails('invalid-argument', /b is an array/))
  await assert.rejects(A.solve(), fails('invalid-argument', /b is undefined/))
  await assert.rejects(A.solve(new Float64Array(9), { x0: new Float64Array(3) }), fails('invalid-argument', /x0 has 3/))
  await assert.rejects(A.solve(new Uint8Array(9)), fails('invalid-argument', /Uint8Array/))
})

test('options that are wrong', async () => {
  const A = ts.matrix(rows)
  const b = new Float64Array(9).fill(1)
  for (const [options, message] of [[{ method: 'sor' }, /"sor".*"cg"/], [{ preconditioner: 'lu' }, /"lu"/], [{ preconditioner: {} }, /preconditioner/],
    [{ rtol: -1 }, /rtol/], [{ rtol: '1e-5' }, /rtol is "1e-5"/], [{ maxIterations: 1.5 }, /integer/], [{ maxIterations: 0 }, /maxIterations/],
    [{ tolerance: 1 }, /no option "tolerance"/], [{ rtol: NaN }, /rtol/], [{ signal: {} }, /signal/], [{ onProgress: 5 }, /onProgress/],
    [{ precision: 'half' }, /"half"/], [{ method: 'cg\0' }, /method/], [{ stop: 'now' }, /stop/], [{ nullSpace: new Float64Array(4) }, /nullSpace/]])
    await assert.rejects(A.solve(b, options), fails('invalid-argument', message))
  await assert.rejects(A.solve(b, { rtol: 2 }), fails('invalid-argument', /rtol/))
})

test('a NaN in b ends the solve with a reason', async () => {
  const r = await ts.matrix(rows).solve(new Float64Array(9).fill(NaN)).catch(error => error)
  assert.ok(r.converged === false || r.code === 'invalid-argument')
  assert.match(r.reason ?? r.message, /NaN/)
})

test('a matrix that is disposed of', async () => {
  const A = ts.matrix(rows)
  A.dispose()
  A.dispose()
  assert.equal(A.isDisposed, true)
  assert.throws(() => A.multiply(new Float64Array(9)), fails('disposed', /Matrix/))
  assert.throws(() => ts.solver(A), fails('disposed'))
  assert.throws(() => A.frame(new Float64Array(9)), fails('disposed'))
  await assert.rejects(A.solve(new Float64Array(9)), fails('disposed'))
})

test('a matrix that is disposed of while a solve waits or runs', async () => {
  const A = ts.matrix(poisson(60))
  const b = random(3600)
  const one = A.solve(b, { rtol: 1e-8, onProgress: () => A.dispose() })
  const two = A.solve(b, { rtol: 1e-8 })
  assert.equal((await one).converged, true)
  await assert.rejects(two, fails('disposed'))
})

test('an abort before, between and within solves', async () => {
  const A = ts.matrix(poisson(80))
  const b = random(6400)
  await assert.rejects(A.solve(b, { signal: AbortSignal.abort() }), fails('aborted'))
  const during = new AbortController()
  let count = 0
  await assert.rejects(A.solve(b, { method: 'cg', preconditioner: 'jacobi', rtol: 1e-12, checkInterval: 1, signal: during.signal,
    onProgress: () => { if (++count === 3) during.abort(new Error('enough')) } }), fails('aborted'))
  assert.ok(count < 10)
  const second = new AbortController()
  const first = A.solve(b)
  const waiting = A.solve(b, { signal: second.signal })
  second.abort()
  assert.equal((await first).converged, true)
  await assert.rejects(waiting, fails('aborted'))
  assert.equal((await A.solve(b)).converged, true)
})

test('an error of the caller in onProgress comes out of the promise', async () => {
  const A = ts.matrix(poisson(40))
  await assert.rejects(A.solve(random(1600), { onProgress: () => { throw new RangeError('mine') } }), RangeError)
})

test('calls within onProgress', async () => {
  const A = ts.matrix(poisson(40))
  let error
  const r = await A.solve(random(1600), { onProgress: () => {
    try {
      A.multiply(new Float64Array(1600))
    } catch (found) { error = found }
  } })
  assert.equal(r.converged, true)
  assert.ok(fails('busy')(error))
})

test('many solves at once run one after the other', async () => {
  const A = ts.matrix(poisson(20))
  const results = await Promise.all(Array.from({ length: 30 }, (_, k) => A.solve(random(400, k + 1), { rtol: 1e-9 })))
  assert.ok(results.every(r => r.converged))
})

test('memory that does not exist', () => {
  const size = 30000000
  const offsets = new Int32Array(size + 1).map((_, k) => Math.min(k, 10))
  let error
  const kept = []
  try {
    for (let k = 0; k < 40; k++) kept.push(ts.matrix({ rowOffsets: offsets, columnIndices: new Int32Array(10).map((_, i) => i), values: new Float64Array(10).fill(1) }))
  } catch (found) { error = found }
  assert.ok(fails('out-of-memory', /\d+ bytes.*A WebAssembly module has at most 2\.00 GB/)(error))
  for (const A of kept) A.dispose()
})

test('a matrix that is too large for what is left of the memory', async () => {
  const { memory } = ts.runtime
  const blocks = []
  const fill = bytes => { for (;;) blocks.push(memory.allocate(bytes)) }
  const message = /no room for an array of \d+ bytes\. A WebAssembly module has at most 2\.00 GB, and this one has taken [12]\.\d\d GB/
  assert.throws(() => memory.allocate(2 ** 32 + 8), fails('out-of-memory', /array of 4294967304 bytes/))
  const A = ts.matrix(poisson(100))
  try {
    for (const bytes of [2 ** 26, 2 ** 22, 2 ** 16]) assert.throws(() => fill(bytes), fails('out-of-memory', message))
    assert.throws(() => ts.matrix(poisson(300)), fails('out-of-memory', message))
    await assert.rejects(A.solve(random(10000)), fails('out-of-memory', /bytes.*2\.00 GB/))
  } finally {
    for (const block of blocks) memory.free(block)
  }
  assert.equal((await A.solve(random(10000))).converged, true)
})

test('an array that the engine has no memory for', () => {
  const source = poisson(4)
  source.values.slice = () => new ArrayBuffer(2 ** 52)
  assert.throws(() => ts.matrix({ ...source, constrained: Object.assign(new Uint8Array(16), { slice: source.values.slice }) }),
    fails('out-of-memory', /browser has no memory.*alloc/))
})

test('objects that are dropped are freed', { skip: !globalThis.gc && 'needs --expose-gc' }, async () => {
  const before = ts.info.bytesDevice
  for (let k = 0; k < 50; k++) ts.matrix(poisson(60))
  assert.ok(ts.info.bytesDevice > before)
  for (let k = 0; k < 20 && ts.info.bytesDevice > before; k++) {
    globalThis.gc()
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  assert.ok(ts.info.bytesDevice <= before)
})

test('open() with wrong options', async () => {
  await assert.rejects(open({ backend: 'cuda' }), fails('invalid-argument', /"cuda"/))
  await assert.rejects(open({ backend: 'gl' }), fails('unavailable', /WebGL/))
  await assert.rejects(open({ gl: {} }), fails('invalid-argument', /WebGL2RenderingContext/))
  await assert.rejects(open({ wasmBinary: 'x' }), fails('invalid-argument', /wasmBinary/))
  await assert.rejects(open({ wasmBinary: new Uint8Array(10) }), fails('unavailable', /does not compile/))
  await assert.rejects(open({ wasmURL: '/nowhere/texsolve.wasm' }), fails('unavailable', /nowhere.*wasmURL/))
  await assert.rejects(open({ log: 1 }), fails('invalid-argument', /log/))
})
