// Systems, contacts, fluids and meshes on the WebAssembly backend, against known answers.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { fails, open, patch, poisson, random, residual } from './support.mjs'

const ts = await open()
after(() => ts.dispose())

const close = (found, expected, tolerance = 1e-6) => {
  assert.equal(found.length, expected.length)
  found.forEach((value, k) => assert.ok(Math.abs(value - expected[k]) <= tolerance, `number ${k} is ${value}; expected ${expected[k]}`))
}

test('a least-squares system with a locked unknown', async () => {
  const system = ts.system({ unknowns: 3, leastSquares: true })
  system.lock(0, 5)
  for (let i = 0; i < 2; i++) system.row([i, i + 1], [-1, 1], 1)
  const r = await system.solve({ rtol: 1e-12 })
  assert.ok(r.converged)
  close(r.x, [5, 6, 7])
  system.lock(0, 10)
  close((await system.solve({ rtol: 1e-12 })).x, [10, 11, 12])
  system.unlock(0)
  await assert.rejects(system.solve(), fails('invalid-argument', /do not determine 3/))
})

test('a square system by entries, and one by rows', async () => {
  const source = poisson(8)
  const entries = ts.system(64)
  const rows = ts.system({ unknowns: 64 })
  const b = random(64)
  for (let i = 0; i < 64; i++) {
    const unknowns = [...source.columnIndices.slice(source.rowOffsets[i], source.rowOffsets[i + 1])]
    const coefficients = source.values.slice(source.rowOffsets[i], source.rowOffsets[i + 1])
    unknowns.forEach((j, k) => entries.add(i, j, coefficients[k]))
    entries.addRightHandSide(i, b[i])
    rows.row(unknowns, coefficients, b[i])
  }
  for (const system of [entries, rows]) assert.ok(residual(source, (await system.solve({ rtol: 1e-10 })).x, b) < 2e-10)
  assert.throws(() => rows.row([64], [1]), fails('invalid-argument', /unknowns\[0\] is 64/))
  assert.throws(() => rows.row([1], [NaN]), fails('invalid-argument', /NaN/))
  assert.throws(() => rows.row([1, 2], [1]), fails('invalid-argument', /row 64/))
  assert.throws(() => ts.system(0), fails('invalid-argument', /unknowns/))
  assert.throws(() => rows.add(0, -1, 1), fails('invalid-argument', /j is -1/))
})

test('several components', async () => {
  const system = ts.system({ unknowns: 2, components: 3 })
  system.row([0], [2], [2, 4, 6]).row([1], [4], [4, 8, 12])
  close((await system.solve({ rtol: 1e-12 })).x, [1, 2, 3, 1, 2, 3])
})

test('complementarity: dense, sparse, bounds', async () => {
  const q = new Float64Array([-3, 1])
  const dense = new Float64Array([2, 1, 1, 2])
  const sparse = { rowOffsets: new Int32Array([0, 2, 4]), columnIndices: new Int32Array([0, 1, 0, 1]), values: dense }
  for (const matrix of [dense, sparse]) {
    const r = await ts.lcp({ matrix, q, rtol: 1e-10 })
    assert.ok(r.converged)
    close(r.x, [1.5, 0])
  }
  close((await ts.lcp({ matrix: dense, q, upper: 1, rtol: 1e-10 })).x, [1, 0])
  close((await ts.lcp({ matrix: dense, q, lower: new Float64Array([-Infinity, -Infinity]), rtol: 1e-10 })).x, [7 / 3, -5 / 3])
  const r = await ts.lcp({ matrix: dense, q: Float32Array.from(q) })
  assert.ok(r.x instanceof Float32Array)
})

test('a block on a slope: friction holds it or not', async () => {
  // A mass of 1 on one contact: u = r + q, with the velocity q that gravity would give: normal -1, tangent t.
  const matrix = new Float64Array([1, 0, 0, 1])
  const held = await ts.lcp({ matrix, q: new Float64Array([-1, 0.3]), friction: new Float64Array([0.5]), rtol: 1e-10 })
  close(held.x, [1, -0.3])
  const slides = await ts.lcp({ matrix, q: new Float64Array([-1, 0.9]), friction: new Float64Array([0.5]), rtol: 1e-10 })
  close(slides.x, [1, -0.5])
})

test('contacts start from the last solution', async () => {
  const n = 60
  const H = { rowOffsets: Int32Array.from({ length: n + 1 }, (_, i) => i ? 2 * i - 1 : 0), columnIndices: new Int32Array(2 * n - 1),
    values: new Float64Array(2 * n - 1), columns: n }
  H.values[0] = 1
  for (let i = 1; i < n; i++) { // a stack: contact i between bodies i - 1 and i
    H.columnIndices.set([i - 1, i], 2 * i - 1)
    H.values.set([-1, 1], 2 * i - 1)
  }
  const contacts = ts.contacts({ jacobian: H, inverseMass: new Float64Array(n).fill(1) })
  const q = new Float64Array(n)
  q[0] = -1 // gravity moves all bodies; only the lowest contact closes
  const cold = await contacts.solve(q, { rtol: 1e-8, maxIterations: 20000 })
  assert.ok(cold.converged, cold.message)
  close(cold.x, Array.from({ length: n }, (_, i) => n - i), 1e-3)
  const warm = contacts.solveNow(q, { rtol: 1e-8 })
  assert.ok(warm.converged && warm.iterations < cold.iterations)
  contacts.reset()
  assert.equal(contacts.solveNow(q, { sweeps: 3 }).iterations, 3)
  assert.throws(() => contacts.solveNow(new Float64Array(3)), fails('invalid-argument', /q has 3/))
  assert.throws(() => contacts.solveNow(q, { omega: 1 }), fails('invalid-argument', /omega/))
})

test('bad complementarity problems', async () => {
  const q = new Float64Array(2)
  for (const [problem, message] of [[{ q }, /matrix is undefined/], [{ matrix: new Float64Array(3), q }, /n \* n/],
    [{ matrix: new Float64Array([0, 0, 0, 1]), q }, /diagonal/], [{ matrix: new Float64Array([1, 0, 0, 1]), q: new Float64Array(3) }, /q has 3/],
    [{ matrix: new Float64Array([1, 0, 0, 1]), q, lower: 2, upper: 1 }, /bounds of unknown 0/],
    [{ matrix: new Float64Array([1, 0, 0, 1]), q, friction: new Float64Array(2) }, /friction/],
    [{ matrix: new Float64Array([1, 0, 0, 1]), q, friction: new Float64Array([-1]) }, /friction|mu/]])
    await assert.rejects(ts.lcp(problem), fails('invalid-argument', message))
})

test('smoke rises, and the divergence stays small', async () => {
  const fluid = ts.fluid({ width: 48, height: 64, buoyancy: 3, sources: [{ x: 0.35, y: 0.1, halfWidth: 0.08, dye: [1, 0.5, 0.2], temperature: 1 }] })
  for (let k = 0; k < 40; k++) fluid.step(1 / 60)
  const r = await fluid.measure()
  assert.equal(r.steps, 41)
  assert.ok(r.after < 1e-3 * r.before, `${r.before} to ${r.after}`)
  const now = await fluid.divergence()
  assert.ok(Math.abs(now.rms - r.after) < 0.05 * r.after + 1e-7)
  const velocity = fluid.read('velocity')
  assert.ok(velocity.filter((_, k) => k % 2).reduce((a, b) => Math.max(a, b)) > 0.05)
  assert.ok(Math.max(...fluid.read('dye')) > 0.9)
  const solid = new Uint8Array(48 * 64)
  solid.fill(1, 48 * 40, 48 * 44)
  fluid.setWalls(solid)
  fluid.step()
  assert.equal(fluid.info.fluidCells, 48 * 60)
  fluid.splat({ x: 0.3, y: 0.3, radius: 0.05, velocity: [1, 0], dye: [0, 0, 1] })
  fluid.setParameters({ viscosity: 1e-3, pressure: { preconditioner: 'jacobi', iterations: 20 } })
  const jacobi = fluid.step(1 / 60, undefined, { measure: true })
  assert.equal(jacobi.iterations, 20)
  const kept = { velocity: fluid.read('velocity'), dye: fluid.read('dye') }
  fluid.reset()
  assert.equal(fluid.time, 0)
  assert.equal(Math.max(...fluid.read('dye')), 0)
  for (const name in kept) {
    fluid.write(name, kept[name])
    assert.deepEqual(fluid.read(name), kept[name])
  }
  for (const [name, values, message] of [['walls', kept.dye, /"walls"/], ['dye', kept.velocity, /values has \d+ elements; expected 12288/],
    ['velocity', [1], /Float32Array/], ['dye', new Float32Array(12288).fill(NaN), /values\[0\] is NaN/]])
    assert.throws(() => fluid.write(name, values), fails('invalid-argument', message))
})

test('bad fluids', () => {
  for (const [options, message] of [[{ width: 2, height: 8 }, /width is 2/], [{ width: 8, height: 8.5 }, /height/],
    [{ width: 8, height: 8, left: 'door' }, /left is "door".*"wall"/], [{ width: 8, height: 8, wind: 1 }, /"wind"/],
    [{ width: 8, height: 8, viscosity: -1 }, /viscosity/], [{ width: 8, height: 8, solid: new Uint8Array(3) }, /solid has 3/],
    [{ width: 8, height: 8, left: 'periodic' }, /periodic/], [{ width: 8, height: 8, solid: new Uint8Array(64).fill(1) }, /fluid/]])
    assert.throws(() => ts.fluid(options), fails('invalid-argument', message))
  const fluid = ts.fluid({ width: 8, height: 8 })
  assert.throws(() => fluid.step(NaN), fails('invalid-argument', /dt/))
  assert.throws(() => fluid.step(-1), fails('invalid-argument', /time_step/))
  assert.throws(() => fluid.read('smoke'), fails('invalid-argument', /"smoke".*velocity/))
  assert.throws(() => fluid.setSources([{ x: 0, y: NaN, halfWidth: 1 }]), fails('invalid-argument', /sources\[0\].y/))
  assert.throws(() => fluid.textures.dye, fails('unsupported'))
})

test('a sphere shrinks by mean curvature: r^2 = r_0^2 - 2 t', async () => {
  const n = 24, m = 12, positions = [], triangles = []
  positions.push(0, 0, 1)
  for (let j = 1; j < m; j++) {
    for (let i = 0; i < n; i++) {
      const theta = Math.PI * j / m, phi = 2 * Math.PI * i / n
      positions.push(Math.sin(theta) * Math.cos(phi), Math.sin(theta) * Math.sin(phi), Math.cos(theta))
    }
  }
  positions.push(0, 0, -1)
  const south = positions.length / 3 - 1
  const at = (j, i) => 1 + (j - 1) * n + i % n
  for (let i = 0; i < n; i++) {
    triangles.push(0, at(1, i), at(1, i + 1), south, at(m - 1, i + 1), at(m - 1, i))
    for (let j = 1; j < m - 1; j++) triangles.push(at(j, i), at(j + 1, i), at(j + 1, i + 1), at(j, i), at(j + 1, i + 1), at(j, i + 1))
  }
  const mesh = ts.mesh({ positions: Float32Array.from(positions), triangles: Uint16Array.from(triangles) })
  const moved = await mesh.smooth({ timeStep: 0.01, steps: 10 })
  assert.ok(moved instanceof Float32Array)
  const radius = k => Math.hypot(moved[3 * k], moved[3 * k + 1], moved[3 * k + 2])
  const mean = Array.from({ length: south + 1 }, (_, k) => radius(k)).reduce((a, b) => a + b) / (south + 1)
  assert.ok(Math.abs(mean - Math.sqrt(0.8)) < 0.02, `radius ${mean}`)
  mesh.positions = Float32Array.from(positions)
  assert.ok(mesh.step(0.01).converged)
  close(mesh.positions.subarray(0, 3), [0, 0, Math.sqrt(0.98)], 0.01)
})

test('bad meshes', async () => {
  const { positions, triangles } = patch(3)
  const change = (array, at, value) => array.map((old, k) => k === at ? value : old)
  for (const [mesh, message] of [[{}, /positions is undefined/], [{ positions: positions.slice(1), triangles }, /positions has 26/],
    [{ positions: change(positions, 4, NaN), triangles }, /positions\[4\] is NaN/], [{ positions, triangles: change(triangles, 5, 9) }, /triangles\[5\] is 9/],
    [{ positions, triangles: triangles.slice(1) }, /triangles has 23/], [{ positions, triangles: [...triangles] }, /triangles is an array/]]) {
    assert.throws(() => ts.mesh(mesh), fails('invalid-argument', message))
    await assert.rejects(ts.lscm(mesh), fails('invalid-argument', message))
  }
  assert.throws(() => ts.mesh({ positions, triangles: change(triangles, 1, triangles[0]) }), fails('invalid-argument', /triangle/))
  const mesh = ts.mesh({ positions, triangles })
  await assert.rejects(mesh.smooth({ timeStep: -1 }), fails('invalid-argument', /timeStep/))
})

test('a flat patch unwraps to itself', async () => {
  const mesh = patch(12, (x, y) => 0.5 * x - 0.25 * y)
  const { uv, converged, parts, closed } = await ts.lscm({ ...mesh, rtol: 1e-12 })
  assert.ok(converged && parts === 1 && closed === 0)
  const { positions, triangles } = mesh
  for (let k = 0; k < triangles.length; k++) { // edges keep their lengths
    const a = triangles[k], b = triangles[k % 3 === 2 ? k - 2 : k + 1]
    const length = Math.hypot(...[0, 1, 2].map(d => positions[3 * a + d] - positions[3 * b + d]))
    assert.ok(Math.abs(Math.hypot(uv[2 * a] - uv[2 * b], uv[2 * a + 1] - uv[2 * b + 1]) - length) < 1e-6)
  }
})

test('a saddle keeps its angles; pins stay', async () => {
  const mesh = patch(30)
  const pins = { 0: [0, 0], 899: [1, 1] }
  const { uv, converged } = await ts.lscm({ ...mesh, pins, rtol: 1e-10 })
  assert.ok(converged)
  close([uv[0], uv[1], uv[1798], uv[1799]], [0, 0, 1, 1], 0)
  const { positions, triangles } = mesh
  const angle = (array, size, a, b, c) => {
    const [p, q] = [b, c].map(v => Array.from({ length: size }, (_, d) => array[size * v + d] - array[size * a + d]))
    const dot = p.reduce((sum, value, d) => sum + value * q[d], 0)
    return Math.acos(dot / Math.hypot(...p) / Math.hypot(...q))
  }
  let worst = 0
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = triangles.subarray(t, t + 3)
    worst = Math.max(worst, Math.abs(angle(positions, 3, a, b, c) - angle(uv, 2, a, b, c)))
  }
  assert.ok(worst < 0.05, `an angle changes by ${worst}`)
  await assert.rejects(ts.lscm({ ...mesh, pins: { 0: [0, 0] } }), fails('invalid-argument', /pins has 1/))
  await assert.rejects(ts.lscm({ ...mesh, pins: { 0: [0, 0], 900: [1, 1] } }), fails('invalid-argument', /900/))
})

test('a mesh in two parts, and a vertex without triangles', async () => {
  const one = patch(5)
  const positions = new Float64Array(2 * one.positions.length + 3)
  positions.set(one.positions)
  positions.set(one.positions.map((value, k) => k % 3 ? value : value + 5), one.positions.length)
  const triangles = new Int32Array(2 * one.triangles.length)
  triangles.set(one.triangles)
  triangles.set(one.triangles.map(v => v + 25), one.triangles.length)
  const r = await ts.lscm({ positions, triangles })
  assert.equal(r.parts, 2)
  assert.ok(r.converged && Number.isNaN(r.uv[100]) && r.uv.subarray(0, 100).every(Number.isFinite))
})
