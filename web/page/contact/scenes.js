// The scenes: lists of bodies, friction, and the part of the plane to look at.
import { boxPoints, centred, makeBody, regularPoints } from './bodies.js'

const DENSITY = 500,
  STONE = 2000,
  IRON = 3000 // kg per square metre

/** A random number of 0 to 1 from a whole number. */
function random(k) {
  const x = Math.sin(12.9898 * (k + 1)) * 43758.5453
  return x - Math.floor(x)
}

const floor = (reach) => makeBody({ points: boxPoints(reach, 1), x: 0, y: -1, density: 0 })
const pillar = (x, halfWidth, height) =>
  makeBody({ points: boxPoints(halfWidth, height / 2), x, y: height / 2, density: 0 })

function pile(count) {
  const across = Math.max(4, Math.round(Math.sqrt(count * 0.62))),
    spacing = 0.62,
    inside = (spacing * (across + 1.2)) / 2,
    high = inside * 0.75
  const bodies = [floor(300), pillar(-inside - 0.2, 0.2, high), pillar(inside + 0.2, 0.2, high)]
  for (let k = 0; k < count; k++) {
    const row = Math.floor(k / across),
      x = ((k % across) - (across - 1) / 2) * spacing + 0.12 * (random(k) - 0.5),
      y = 0.6 + row * spacing * 1.1
    const size = 0.16 + 0.11 * random(k + 0.5),
      place = { x, y, angle: 6 * random(k + 0.3), density: DENSITY, hue: k }
    const kind = k % 5
    if (kind === 0 || kind === 3) bodies.push(makeBody({ ...place, radius: size }))
    else if (kind === 4) bodies.push(makeBody({ ...place, points: regularPoints(3 + (k % 4), size * 1.15) }))
    else bodies.push(makeBody({ ...place, points: boxPoints(size, size * (0.6 + 0.4 * random(k + 0.7))) }))
  }
  return { bodies, friction: 0.5, view: { x: 0, y: high * 0.95, width: 2.9 * inside, height: 2.2 * high } }
}

function wall(count) {
  const across = Math.max(4, Math.round(Math.sqrt(count * 0.7))),
    half = 0.25,
    high = 0.125,
    bodies = [floor(300)]
  let row = 0,
    column = 0
  for (let k = 0; k < count; k++) {
    const isOdd = row % 2,
      length = across - isOdd
    bodies.push(
      makeBody({
        points: boxPoints(half - 0.003, high),
        x: 2 * half * (column - (across - 1) / 2 + isOdd / 2),
        y: high * (2 * row + 1),
        density: STONE,
        hue: 7 * k + row
      })
    )
    if (++column === length) {
      column = 0
      row++
    }
  }
  const top = 2 * high * (row + 1),
    ball = makeBody({ radius: 0.12 * top + 0.1, x: -half * across - 6, y: 0.55 * top, density: IRON, hue: -1 })
  ball.vx = 16
  ball.vy = 1.6
  bodies.push(ball)
  return {
    bodies,
    friction: 0.6,
    view: { x: 0, y: top * 0.55, width: Math.max(2.4 * half * across + 4, 7), height: top * 1.35 }
  }
}

function arch(count) {
  const inner = 2.0,
    thick = 0.56,
    step = Math.PI / count,
    bodies = [floor(300)]
  for (let k = 0; k < count; k++) {
    const a = Math.PI - k * step,
      b = a - step,
      at = (r, angle) => [r * Math.cos(angle), r * Math.sin(angle)]
    const made = centred([at(inner, a), at(inner, b), at(inner + thick, b), at(inner + thick, a)])
    bodies.push(makeBody({ ...made, density: STONE, hue: 2 * k }))
  }
  return { bodies, friction: 0.7, view: { x: 0, y: 1.5, width: 7.6, height: 4.2 } }
}

function dominoes(count) {
  const high = 0.5,
    spacing = 0.52,
    bodies = [floor(300)],
    left = (-(count - 1) * spacing) / 2
  for (let k = 0; k < count; k++)
    bodies.push(makeBody({ points: boxPoints(0.06, high), x: left + k * spacing, y: high, density: DENSITY, hue: 3 * k }))
  const ball = makeBody({ radius: 0.28, x: left - 2.4, y: 0.9, density: DENSITY, hue: -1 })
  ball.vx = 3.4
  bodies.push(ball)
  return { bodies, friction: 0.35, view: { x: 0, y: 0.9, width: count * spacing + 3, height: 3 } }
}

export const SCENES = {
  pile: { label: 'Pile', count: 180, least: 20, most: 700, build: pile },
  wall: { label: 'Wall', count: 96, least: 20, most: 500, build: wall },
  arch: { label: 'Arch', count: 15, least: 5, most: 31, build: arch },
  dominoes: { label: 'Dominoes', count: 16, least: 4, most: 60, build: dominoes }
}
