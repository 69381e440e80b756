// The fluid without WebGL: the library runs on WebAssembly, carries the dye itself, and a 2D canvas shows it.

import { button, element } from '../controls.js'
import { Pointers } from './pointers.js'
import { cellsFor, scenes, TIME_STEP } from './simulation.js'
import { drifting, nextColour } from './colours.js'

const SIZE = 96 // cells along the side of a square of the same area
const SPLATS = 10

export async function startPlain(host, layout, ts) {
  const canvas = element('canvas', { 'aria-label': 'Fluid' })
  layout.view.append(canvas)
  const pen = canvas.getContext('2d')
  const small = document.createElement('canvas')
  let fluid, image, domain, time = 0, paused = false

  function make(aspect) {
    fluid?.dispose()
    const [width, height] = cellsFor(aspect, SIZE)
    fluid = ts.fluid({ width, height, timeStep: TIME_STEP, vorticity: scenes.ink.curls, dyeDecay: scenes.ink.fade,
      ...scenes.ink.sides })
    domain = [width / height, 1]
    small.width = width
    small.height = height
    image = small.getContext('2d').createImageData(width, height)
    for (let i = 0; i < SPLATS; i++) {
      const angle = 2 * Math.PI * Math.random()
      fluid.splat({ x: domain[0] * Math.random(), y: Math.random(), radius: 0.07, dye: nextColour(),
        velocity: [1.5 * Math.cos(angle), 1.5 * Math.sin(angle)] })
    }
  }

  function show() {
    const dye = fluid.read('dye')
    const { width, height } = small
    for (let j = 0; j < height; j++)
      for (let i = 0; i < width; i++) {
        const from = 4 * (j * width + i), to = 4 * ((height - 1 - j) * width + i)
        for (let k = 0; k < 3; k++) image.data[to + k] = 255 * (1 - Math.exp(-1.6 * dye[from + k]))
        image.data[to + 3] = 255
      }
    small.getContext('2d').putImageData(image, 0, 0)
    pen.imageSmoothingQuality = 'high'
    pen.drawImage(small, 0, 0, canvas.width, canvas.height)
  }

  const pointers = new Pointers(layout.view, host.signal, (x, y) => {
    const box = layout.view.getBoundingClientRect()
    return [(x - box.left) / box.width * domain[0], 1 - (y - box.top) / box.height]
  }, {
    begin: () => {},
    wall: () => {},
    push: ({ from, at, phase }) => fluid.splat({ x: at[0], y: at[1], radius: 0.05, dye: drifting(time, phase, 0.2),
      velocity: at.map((part, k) => Math.max(-4, Math.min(4, (part - from[k]) / TIME_STEP * 0.5))) })
  })
  const pause = button({ icon: 'pause', title: 'Pause or run', pressed: false, onClick: (state) => { paused = state } })
  layout.bar.append(pause, button({ icon: 'reset', title: 'Restart', onClick: () => make(canvas.width / canvas.height) }))
  layout.panel.append(element('p', { class: 'dim' }, 'This browser does not draw to float textures. The flow runs on WebAssembly, '
    + 'with fewer cells and a plainer picture.'))
  const box = layout.view.getBoundingClientRect()
  make(box.width / box.height)
  host.frames((seconds) => {
    time += seconds
    pointers.frame()
    if (!paused) fluid.step()
    show()
  })
  return {
    resize: (width, height) => {
      const before = canvas.width / canvas.height
      canvas.width = Math.max(1, Math.round(width))
      canvas.height = Math.max(1, Math.round(height))
      if (Math.abs(before / (width / height) - 1) > 0.2) make(width / height)
    },
    stop: () => fluid.dispose()
  }
}
