// What moves the fluid in each scene besides the pointers.

import { drifting, hue, nextColour } from './colours.js'

/** Starts a scene: walls and the first splats. */
export function begin(scene, { simulation, display, walls }) {
  const [width, height] = simulation.domain
  if (scene === 'ink') {
    const size = Math.min(width, height), splats = []
    for (let i = 0; i < 14; i++) {
      const at = [width * (0.1 + 0.8 * Math.random()), height * (0.1 + 0.8 * Math.random())]
      const angle = 2 * Math.PI * Math.random(), speed = 1 + 1.4 * Math.random()
      const velocity = [speed * Math.cos(angle), speed * Math.sin(angle)]
      const end = at.map((part, k) => part + 0.07 * size * velocity[k])
      splats.push(...simulation.splatsAlong(at, end, 0.055 * size, velocity))
      display.stroke(at, end, nextColour(0.85), 0.045 * size)
    }
    simulation.fluid.splat(...splats)
  } else if (scene === 'marble') {
    display.fillBands()
    stir(simulation)
  } else if (scene === 'tunnel' && walls.isEmpty) {
    const radius = 0.09 * Math.min(1, width / height)
    walls.disc([Math.min(0.3, 0.3 * height / width + 0.05), 0.502], radius)
  }
}

/** Pushes without dye. */
export function stir(simulation) {
  const [width, height] = simulation.domain
  for (let i = 0; i < 8; i++) {
    const at = [width * (0.1 + 0.8 * Math.random()), height * (0.1 + 0.8 * Math.random())]
    const angle = 2 * Math.PI * Math.random()
    simulation.push(at, at, 0.12 * Math.min(width, height), [0.7 * Math.cos(angle), 0.7 * Math.sin(angle)])
  }
}

/** The scene's own motion in each step. idle: seconds since a person touched the fluid. */
export function drive(scene, seconds, idle, { simulation, display }) {
  const [width, height] = simulation.domain
  if (scene === 'ink') {
    if (idle > 12) wander(seconds, simulation, display)
  } else if (scene === 'marble') {
    if (idle > 8) wander(seconds, simulation, null)
  } else if (scene === 'tunnel') {
    const count = 13
    for (let i = 0; i < count - 1; i++) {
      const y = height * (i + 1) / count
      const colour = hue(0.02 + 0.6 * i / count, 0.85).map((part) => 0.75 * part)
      display.stroke([0, y], [0.03, y], colour, -0.012 * height)
    }
  } else {
    for (const side of [-1, 1]) {
      const x = width * (0.5 + 0.22 * side), sway = 0.35 * Math.sin(2.1 * seconds + side)
      simulation.push([x, 0.03 * height], [x, 0.03 * height], 0.035 * height, [0.05 * sway, 0.16])
      display.stroke([x, 0.015 * height], [x, 0.035 * height], drifting(0.4 * seconds, side > 0 ? 0.05 : 0.55, 0.09), 0.03 * height)
    }
  }
}

// Two invisible fingers on slow curves.
function wander(seconds, simulation, display) {
  const [width, height] = simulation.domain
  const size = Math.min(width, height)
  for (const k of [0, 1]) {
    const place = (t) => [width * (0.5 + 0.36 * Math.sin(0.53 * t + 2.4 * k) * Math.cos(0.21 * t + k)),
      height * (0.5 + 0.36 * Math.cos(0.41 * t + 1.9 * k) * Math.sin(0.29 * t + 0.6 + k))]
    const at = place(seconds), before = place(seconds - 1 / 60)
    const velocity = at.map((part, i) => (part - before[i]) * 60 * 0.35)
    simulation.push(before, at, 0.05 * size, velocity)
    display?.stroke(before, at, drifting(seconds, 0.5 * k, 0.035), 0.045 * size)
  }
}
