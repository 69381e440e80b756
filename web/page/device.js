// What this device can do: the library's info and the limits of the WebGL context.

import { element, dialog } from './controls.js'

const shown = (name, value) => (name.startsWith('bytes') ? `${(value / 2 ** 20).toFixed(1)} MB` : String(value))
const yes = (value) => (value ? 'yes' : 'no')

/** Rows of name and value about a WebGL 2 context. */
export function contextRows(gl) {
  if (!gl) return [['WebGL 2', 'no: the solvers run on WebAssembly']]
  const extension = gl.getExtension('WEBGL_debug_renderer_info')
  const name = extension ? gl.getParameter(extension.UNMASKED_RENDERER_WEBGL) : gl.getParameter(gl.RENDERER)
  return [
    ['WebGL 2', name],
    ['float targets', yes(gl.getExtension('EXT_color_buffer_float'))],
    ['float filters', yes(gl.getExtension('OES_texture_float_linear'))],
    ['parallel compilation', yes(gl.getExtension('KHR_parallel_shader_compile'))],
    ['largest texture', gl.getParameter(gl.MAX_TEXTURE_SIZE)],
    ['render targets', gl.getParameter(gl.MAX_DRAW_BUFFERS)]
  ]
}

/** Rows about the opened library. */
export function libraryRows(ts) {
  const words = { backend: 'backend', device: 'device', driver: 'driver', reason: 'reason', exactSums: 'exact sums',
    version: 'version' }
  return Object.entries(ts.info).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value) && value !== '')
    .map(([name, value]) => [words[name] ?? name.replace(/([A-Z])/g, (letter) => ' ' + letter.toLowerCase()), shown(name, value)])
}

export async function deviceDialog(surface) {
  const table = (rows) => element('table', { class: 'facts' }, ...rows.map(([name, value]) =>
    element('tr', {}, element('th', {}, name), element('td', {}, String(value)))))
  const library = element('div', {}, element('p', { class: 'dim' }, 'The library is loading.'))
  dialog('What this device can do', element('h3', {}, 'Browser'), table([
    ...contextRows(surface.gl), ['processors', navigator.hardwareConcurrency ?? 'unknown'],
    ['quality', `${surface.quality.level} of 4${surface.quality.mode === 'auto' ? ', by the time of a frame' : ', fixed'}`]
  ]), element('h3', {}, 'texsolve'), library)
  try {
    library.replaceChildren(table(libraryRows(await surface.open())))
  } catch (error) {
    library.replaceChildren(element('p', { class: 'error' }, error.message))
  }
}
