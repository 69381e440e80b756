// Figure 2: Poisson's equation on a grid, iteration by iteration: x, its residual, and x as its texture holds it.

import { element, button, choice } from '../controls.js'
import { chart } from '../chart.js'
import { Painter } from '../painter.js'
import { poisson, norm } from './problems.js'
import { picture, captioned } from './pictures.js'

const N = 63
const MOST = 240
const methods = {
  cg: { label: 'CG', colour: '--second', options: { method: 'cg', preconditioner: 'none' } },
  jacobi: { label: 'Jacobi', colour: '--accent', options: { method: 'richardson', preconditioner: 'jacobi' } }
}

const TEXTURE = `
uniform sampler2D source;
uniform ivec2 origin, size;
uniform float range;
uniform bool light;
out vec4 result;
void main() {
  float value = texelFetch(source, origin + ivec2(uv * vec2(size)), 0).r / range;
  vec3 zero = light ? vec3(1.0, 1.0, 0.99) : vec3(0.055, 0.067, 0.094);
  vec3 end = value < 0.0 ? (light ? vec3(0.01, 0.41, 0.66) : vec3(0.25, 0.69, 1.0))
                         : (light ? vec3(0.80, 0.33, 0.04) : vec3(1.0, 0.59, 0.27));
  result = vec4(mix(zero, end, pow(min(abs(value), 1.0), 0.6)), 1.0);
}`

export function iterateFigure(host, ts) {
  const A = ts.matrix(poisson(N))
  const b = new Float64Array(N * N)
  const place = (x, y, value) => { b[Math.round(y * (N - 1)) * N + Math.round(x * (N - 1))] += value * N * N }
  place(0.3, 0.35, 1)
  place(0.7, 0.6, -1)
  let method = 'cg', count = 0, running = false, range = 0
  const histories = { cg: [], jacobi: [] }
  const isGL = ts.info.backend === 'gl'
  const painter = isGL ? new Painter(host.gl) : null
  const program = painter?.program(TEXTURE)

  const xPicture = picture(N, 'x'), rPicture = picture(N, 'residual')
  const texture = element('canvas', { class: 'field', role: 'img', 'aria-label': 'x as its texture' })
  const curve = chart({ series: Object.values(methods).map(({ colour }) => ({ colour })), label: 'Residual norms', height: 120 })
  const xFigure = captioned(xPicture, 'x on the grid. Click to add a charge, with Shift a negative one')
  const rFigure = captioned(rPicture, 'The residual b - A x')
  const words = element('p', { class: 'words', 'aria-live': 'off' })

  /** Computes and shows x after `count` iterations from 0. */
  function show() {
    let x
    if (count === 0) x = new Float32Array(N * N)
    else {
      const frame = A.frame(b, { ...methods[method].options, iterations: count })
      x = frame.read()
      if (isGL) showTexture(frame.region)
      frame.dispose()
    }
    const product = A.multiply(Float64Array.from(x))
    const residual = b.map((value, i) => value - product[i])
    const history = histories[method]
    history[count] = norm(residual) / norm(b)
    range = Math.max(range, ...x.map(Math.abs))
    xPicture.paint(x, host.theme, range)
    rPicture.paint(residual, host.theme, Math.max(...residual.map(Math.abs)))
    curve.set(Object.keys(methods).map((name) => histories[name].filter((value) => value > 0)))
    words.textContent = `${methods[method].label}, iteration ${count}: the residual is ${history[count].toExponential(1)} of b.`
  }

  // The texture is drawn where it lies, to the page's WebGL canvas; only the picture is copied to this figure.
  function showTexture({ texture: source, x, y, width, height }) {
    const { canvas } = host
    canvas.width = texture.width = 4 * width
    canvas.height = texture.height = 4 * height
    painter.begin()
    painter.draw(program, null, { source, origin: [x, y], size: [width, height], range: range || 1e-9, light: host.theme === 'light' })
    texture.getContext('2d').drawImage(canvas, 0, 0)
  }

  function setRunning(state) {
    running = state
    play.set(state)
    play.setIcon(state ? 'pause' : 'play')
  }

  function step() {
    if (count >= MOST) return setRunning(false)
    count += count < 40 ? 1 : 4
    show()
  }

  function restart(clears) {
    count = 0
    range = 0
    if (clears) for (const name of Object.keys(histories)) histories[name] = []
    show()
  }

  xPicture.addEventListener('click', (event) => {
    const box = xPicture.getBoundingClientRect()
    place((event.clientX - box.left) / box.width, 1 - (event.clientY - box.top) / box.height, event.shiftKey ? -1 : 1)
    restart(true)
    setRunning(true)
  })
  const play = button({ icon: 'play', title: 'Run or pause', pressed: false, onClick: setRunning })
  const made = element('div', { class: 'figure' },
    element('div', { class: 'row' },
      choice({ options: Object.entries(methods).map(([name, { label }]) => [name, label]), value: method, onChange: (name) => {
        method = name
        histories[name] = []
        restart(false)
        setRunning(true)
      } }), play,
      button({ icon: 'step', title: 'One iteration', onClick: step }),
      button({ icon: 'reset', title: 'Start again', onClick: () => restart(false) })),
    element('div', { class: 'panes three' }, xFigure, rFigure,
      isGL ? captioned(texture, 'x as its texture holds it, drawn without a copy to the CPU')
        : element('p', { class: 'dim' }, 'The third picture would be the texture of x. Here the solvers run on WebAssembly, without textures.')),
    curve, words)
  return { element: made, show, setRunning, tick: () => { if (running) step() },
    free: () => {
      if (!host.wasLost) painter?.dispose()
      A.dispose()
    } }
}
