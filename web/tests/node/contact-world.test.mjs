// The plane's bodies and contacts. The problem is solved by plain Gauss-Seidel here: the page's own work is tested.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { boxPoints, centred, contains, makeBody, regularPoints } from '../../page/contact/bodies.js'
import { collide, sweep } from '../../page/contact/collide.js'
import { SCENES } from '../../page/contact/scenes.js'
import { STEP, World } from '../../page/contact/world.js'

/* Projected Gauss-Seidel on H M0^-1 H^T z + q, with a box of half width mu z_n for the tangent. */
async function solve({ jacobian: { rows, columns, rowOffsets, columnIndices, values }, inverseMass, q, z, friction }) {
  const x = z.slice(),
    v = new Float64Array(columns)
  const each = (row, action) => {
    for (let e = rowOffsets[row]; e < rowOffsets[row + 1]; e++) action(columnIndices[e], values[e])
  }
  const diagonal = new Float64Array(rows)
  for (let r = 0; r < rows; r++)
    each(r, (c, a) => {
      diagonal[r] += a * a * inverseMass[c]
      v[c] += a * inverseMass[c] * x[r]
    })
  for (let k = 0; k < 200; k++)
    for (let r = 0; r < rows; r++) {
      let w = q[r]
      each(r, (c, a) => {
        w += a * v[c]
      })
      const bound = friction[r >> 1] * x[r - 1],
        next = x[r] - w / diagonal[r]
      const changed = (r % 2 ? Math.min(bound, Math.max(-bound, next)) : Math.max(0, next)) - x[r]
      x[r] += changed
      each(r, (c, a) => {
        v[c] += a * inverseMass[c] * changed
      })
    }
  return { x, residual: 0, sweeps: 200, converged: true }
}

const contactsOf = (a, b, margin = 0.1) => {
  const found = []
  collide(a, b, margin, (...contact) => found.push(contact))
  return found.map(([, , x, y, nx, ny, gap, feature]) => ({ x, y, nx, ny, gap, feature }))
}
const near = (a, b, by = 1e-9) => assert.ok(Math.abs(a - b) <= by, `${a} is not ${b}`)
const box = (x, y, rest = {}) => makeBody({ points: boxPoints(0.5, 0.5), x, y, density: 1, ...rest })
const floor = () => makeBody({ points: boxPoints(50, 1), x: 0, y: -1, density: 0 })

test('mass, moment of inertia and centre of mass', () => {
  const b = makeBody({ points: boxPoints(1, 2), x: 0, y: 0, density: 3 })
  near(b.mass, 24)
  near(1 / b.inverseInertia, (24 * (4 + 16)) / 12)
  const disc = makeBody({ radius: 2, x: 0, y: 0, density: 1 }),
    many = makeBody({ points: regularPoints(8, 2), x: 0, y: 0, density: 1 })
  near(1 / disc.inverseInertia, (disc.mass * 4) / 2)
  assert.ok(many.mass < disc.mass && many.mass > 0.88 * disc.mass)
  const made = centred([
    [1, 1],
    [4, 1],
    [1, 4]
  ])
  near(made.x, 2)
  near(made.y, 2)
  assert.throws(() => makeBody({ points: regularPoints(9, 1), x: 0, y: 0, density: 1 }), RangeError)
})

test('contacts: box on box, shifted, turned; discs; a corner', () => {
  const two = contactsOf(box(0.25, 1.02), box(0, 0))
  assert.equal(two.length, 2)
  for (const c of two) {
    near(c.ny, 1)
    near(c.gap, 0.02)
  }
  assert.deepEqual(two.map((c) => Math.round(c.x * 100) / 100).sort(), [-0.25, 0.5])
  assert.notEqual(two[0].feature, two[1].feature)
  assert.equal(contactsOf(box(0, 1.2), box(0, 0)).length, 0)
  assert.equal(contactsOf(box(1.05, 1.05), box(0, 0), 0.01).length, 0)
  const tip = contactsOf(box(0, 0.5 + Math.SQRT1_2 - 0.01, { angle: Math.PI / 4 }), box(0, 0))
  near(Math.min(...tip.map((c) => c.gap)), -0.01, 1e-9)
  const [disc] = contactsOf(makeBody({ radius: 0.5, x: 0, y: 1.05, density: 1 }), box(0, 0))
  near(disc.ny, 1)
  near(disc.gap, 0.05)
  const [corner] = contactsOf(box(0, 0), makeBody({ radius: 0.5, x: 0.5 + 0.3, y: 0.5 + 0.4, density: 1 }))
  near(corner.gap, 0)
  near(corner.nx, -0.6)
  near(corner.ny, -0.8)
  const [same] = contactsOf(
    makeBody({ radius: 1, x: 0, y: 0, density: 1 }),
    makeBody({ radius: 1, x: 0, y: 0, density: 1 })
  )
  near(same.gap, -2)
  assert.ok(contains(box(3, 3, { angle: 1 }), 3.3, 3.3) && !contains(box(3, 3), 3.6, 3))
})

test('the sweep finds each pair once, as all pairs do', () => {
  const bodies = [
    floor(),
    ...Array.from({ length: 80 }, (_, k) => box(6 * Math.sin(k * 7.1), 3 + 3 * Math.cos(k * 3.3), { angle: k }))
  ]
  const order = bodies.filter((b) => b.mass),
    key = (a, b) => [bodies.indexOf(a), bodies.indexOf(b)].sort((i, j) => i - j).join()
  const found = [],
    all = []
  sweep(bodies, order, 0.1, (a, b) => found.push(key(a, b)))
  bodies.forEach((a, i) =>
    bodies.slice(i + 1).forEach((b) => {
      if (
        a.low[0] <= b.high[0] + 0.1 &&
        b.low[0] <= a.high[0] + 0.1 &&
        a.low[1] <= b.high[1] + 0.1 &&
        b.low[1] <= a.high[1] + 0.1
      )
        all.push(key(a, b))
    })
  )
  assert.deepEqual(found.sort(), all.sort())
})

test('a box falls, comes to rest and stays', async () => {
  const body = box(0, 2),
    world = new World({ bodies: [floor(), body], friction: 0.5 })
  for (let k = 0; k < 120; k++) await world.step(solve)
  near(body.y, 0.5, 0.004)
  near(body.angle, 0, 1e-6)
  assert.ok(Math.hypot(body.vx, body.vy) < 1e-6)
  const [x, y] = [body.x, body.y]
  for (let k = 0; k < 60; k++) await world.step(solve)
  near(body.x, x, 1e-6)
  near(body.y, y, 1e-4)
})

test('a sliding box stops after v^2 / (2 mu g)', async () => {
  const body = box(0, 0.5),
    world = new World({ bodies: [floor(), body], friction: 0.3 })
  body.vx = 3
  for (let k = 0; k < 120; k++) await world.step(solve)
  near(body.x, 9 / (2 * 0.3 * 9.81), 0.05)
  assert.ok(Math.abs(body.vx) < 1e-3)
})

test('every scene stays in place for two seconds, without energy from nowhere', async () => {
  for (const [name, { build }] of Object.entries(SCENES)) {
    const world = new World(build(15)),
      before = world.energy
    for (let k = 0; k < 120; k++) await world.step(solve)
    assert.ok(world.energy <= before * 1.001 + 1, `${name}: ${before} to ${world.energy}`)
    assert.equal(
      world.bodies.some((b) => b.y < -0.5 && b.mass),
      false,
      name
    )
  }
})

test('the arch stands by friction and falls without', async () => {
  for (const [friction, stands] of [
    [0.7, true],
    [0.02, false]
  ]) {
    const made = SCENES.arch.build(11),
      world = new World(made),
      top = world.bodies[6],
      high = top.y
    world.parameters.friction = friction
    for (let k = 0; k < 180; k++) await world.step(solve)
    assert.equal(Math.abs(top.y - high) < 0.05, stands, `friction ${friction}: ${high} to ${top.y}`)
  }
})

test('a pointer lifts a body, a pointer on nothing makes a ball, a body far away is removed', async () => {
  const body = box(0, 0.5),
    world = new World({ bodies: [floor(), body], friction: 0.5 })
  for (let k = 0; k < 90; k++) {
    world.point([{ id: 1, x: 0.2, y: Math.min(3, 0.5 + k * 0.05), reach: 0.1 }])
    await world.step(solve)
  }
  near(body.y + Math.sin(body.angle) * 0.2, 3, 0.2)
  world.point([])
  assert.equal(world.grips.size, 0)
  world.point([{ id: 2, x: -5, y: 2, reach: 0.1 }])
  assert.equal(world.bodies.length, 3)
  world.point([])
  world.bodies[2].x = 500
  await world.step(solve)
  assert.equal(world.bodies.length, 2)
  near(world.time, 91 * STEP, 1e-9)
})
