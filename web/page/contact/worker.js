// The simulation, apart from the page.
import { open } from '../texsolve/texsolve.js'
import { serve } from '../remote.js'
import { SCENES } from './scenes.js'
import { World } from './world.js'

let opening = null
let ts = null
let world = null
let sent = -1 // the version of the bodies that the page has

async function scene({ name, count }) {
  ts = await (opening ??= open({ backend: 'cpu' }))
  const made = SCENES[name].build(count)
  world = new World(made)
  sent = -1
  return { view: made.view, friction: made.friction }
}

// The number of contacts changes from step to step, so each has a problem of its own. It starts from the last impulses.
function solve({ jacobian, inverseMass, q, z, friction }, { tolerance, sweeps }) {
  const problem = ts.contacts({ jacobian, inverseMass, friction, precision: 'double' })
  try {
    const found = problem.solveNow(q, { x0: z, rtol: tolerance, maxIterations: sweeps, acceleration: 'momentum' })
    return { ...found, sweeps: found.iterations }
  } finally {
    problem.dispose()
  }
}

// Shapes, when they changed.
function shapes() {
  if (sent === world.version) return null
  sent = world.version
  return world.bodies.map(({ points, radius, hue, mass }) => ({
    points: points && [...points],
    radius,
    hue,
    isFixed: !mass
  }))
}

// The state: x, y, angle of each body; x, y, normal and tangent force, nx, ny and the two centres of each contact.
function picture(figures) {
  const places = new Float32Array(3 * world.bodies.length),
    forces = new Float32Array(6 * world.contacts.length)
  world.bodies.forEach(({ x, y, angle }, k) => places.set([x, y, angle], 3 * k))
  const number = new Map(world.bodies.map((body, k) => [body, k]))
  world.contacts.forEach(({ a, b, x, y, normal, tangent }, k) =>
    forces.set([x, y, Math.hypot(normal, tangent) * 60, normal * 60, number.get(a) ?? -1, number.get(b) ?? -1], 6 * k)
  )
  const held = [...world.grips].map(([id, { body, px, py }]) => ({ id, body: number.get(body) ?? -1, px, py }))
  return {
    result: {
      places,
      forces,
      held,
      shapes: shapes(),
      figures,
      time: world.time,
      energy: world.energy,
      bodies: world.bodies.length
    },
    transfer: [places.buffer, forces.buffer]
  }
}

async function step({ steps, pointers, parameters }) {
  Object.assign(world.parameters, parameters)
  world.point(pointers)
  const all = []
  for (let k = 0; k < steps; k++) all.push(await world.step(solve))
  return picture(all)
}

const memory = () => ({ module: ts?.info.bytesMemory ?? 0 })

serve({ scene, step, memory })
