// The page's shell: navigation between parts, colours, messages, the shared canvas and library.
//
// A part is an ES module, web/page/NAME/NAME.js, that exports
//
//   export async function start(host) { ...; return { stop, resize, key, lost, restored } }
//
// start() fills host.element, an empty element as large as the space under the header, and returns an object with
// optional functions:
//   stop()           leave: free everything (the signal is aborted first)
//   resize(w, h)     host.element has a new size in CSS pixels; also called once after start
//   key(event)       a key that the shell did not take
//   theme(name)      the colours changed to 'dark' or 'light'
//   lost()           the WebGL context is lost: do not draw
//   restored()       the context and the library are back, every WebGL object of the part is gone. Without this
//                    function the shell stops the part and starts it again
//
// host.js documents `host`, and controls.js has buttons, sliders, panels and so on.

import { Host } from './host.js'
import { Messages } from './messages.js'
import { Surface } from './surface.js'
import { element, button, dialog } from './controls.js'
import { icon } from './icons.js'
import { Theme } from './theme.js'
import { deviceDialog } from './device.js'
import { registerOffline } from './offline.js'

export const parts = [
  { id: 'fluid', label: 'Fluid', title: 'Fluid', icon: 'fluid', load: () => import('./fluid/fluid.js') },
  { id: 'mesh', label: 'Mesh', title: 'Smooth and unwrap', icon: 'mesh', load: () => import('./mesh/mesh.js') },
  { id: 'contact', label: 'Contact', title: 'Contact', icon: 'contact', load: () => import('./contact/contact.js') },
  { id: 'file', label: 'Matrix', title: 'Solve a file', icon: 'file', load: () => import('./file/file.js') },
  { id: 'how', label: 'How', title: 'How it works', icon: 'how', load: () => import('./how/how.js') }
]

const main = document.querySelector('main')
const messages = new Messages(document.querySelector('.messages'))
const theme = new Theme()
const surface = new Surface(messages)
let current = null // { part, host, running }
let switching = Promise.resolve()

/** Leaves the part that runs. Its signal is aborted before its stop(). */
async function leave() {
  if (!current) return
  const { host, running } = current
  current = null
  host.abort()
  try {
    await running?.stop?.()
  } catch (error) {
    messages.fail(error)
  }
  host.element.remove()
}

async function enter(part) {
  const host = new Host({ surface, messages, theme, part })
  main.replaceChildren(host.element)
  document.title = `${part.title} · texsolve`
  for (const link of document.querySelectorAll('nav a')) {
    if (link.hash === '#' + part.id) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
  }
  current = { part, host, running: null }
  try {
    if (part.id === 'fluid') host.open().catch(() => {}) // it takes long; the part waits for it and reports errors
    const module = await part.load()
    const running = await module.start(host)
    if (current?.host !== host) return void running?.stop?.()
    current.running = running ?? {}
    resized()
  } catch (error) {
    if (host.signal.aborted) return
    messages.fail(error)
    host.element.append(element('p', { class: 'empty' }, `${part.title} could not start. The message below has the reason.`))
  }
}

/** Switches to a part. Switches run one after another: a part never starts while another stops. */
function go(part) {
  switching = switching.then(async () => {
    if (current?.part === part) return
    await leave()
    await enter(part)
  })
  return switching
}

function route() {
  const id = location.hash.slice(1).split('/')[0]
  go(parts.find((part) => part.id === id) ?? parts[0])
}

function resized() {
  const box = main.getBoundingClientRect()
  current?.running?.resize?.(box.width, box.height)
}

function shortcuts() {
  const rows = [
    ['1 to 5', 'the parts'],
    ['T', 'dark or light'],
    ['H', 'hide or show the controls'],
    ['?', 'these keys'],
    ...(current?.host.keys.map(({ key, label }) => [key === ' ' ? 'Space' : key.toUpperCase(), label]) ?? [])
  ]
  dialog('Keys', element('table', { class: 'keys' }, ...rows.map(([key, label]) =>
    element('tr', {}, element('th', {}, element('kbd', {}, key)), element('td', {}, label)))))
}

function pressed(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
  if (event.target.closest('input[type=text], input[type=number], textarea, dialog[open]')) return
  const isControl = event.target.closest('button, a, select, summary, input')
  if (isControl && (event.key === ' ' || event.key === 'Enter' || event.key.startsWith('Arrow'))) return
  const part = parts[Number(event.key) - 1]
  if (part) location.hash = part.id
  else if (event.key === 't') theme.toggle()
  else if (event.key === 'h') document.body.classList.toggle('bare')
  else if (event.key === '?') shortcuts()
  else if (!current?.host.pressed(event)) return void current?.running?.key?.(event)
  event.preventDefault()
}

function header() {
  document.querySelector('nav').append(...parts.map((part) =>
    element('a', { href: '#' + part.id, title: part.title }, icon(part.icon), element('span', {}, part.label))))
  const colours = button({ icon: 'theme', title: 'Dark or light (T)', onClick: () => theme.toggle() })
  const device = button({ icon: 'device', title: 'What this device can do', onClick: () => deviceDialog(surface) })
  const keys = button({ icon: 'keys', title: 'Keys (?)', onClick: shortcuts })
  keys.classList.add('wide-only')
  document.querySelector('.tools').append(device, keys, colours)
}

surface.onLost = () => {
  messages.say('The graphics driver took the context back. Waiting for it to return.', 'warning', 'context')
  if (current) current.host.wasLost = true
  current?.running?.lost?.()
}
surface.onRestored = async () => {
  messages.say('The graphics context is back.', 'info', 'context')
  if (!current) return
  if (current.running?.restored) return current.running.restored()
  const { part } = current
  switching = switching.then(leave).then(() => enter(part))
  await switching
}
theme.onChange = (name) => current?.running?.theme?.(name)

// For measurements (web/tests/browser/figures.mjs).
window.texsolvePage = { quality: () => surface.quality.level, frameMs: () => surface.quality.lastMedian,
  memory: () => current?.running?.memory?.() ?? surface.memory() }

header()
addEventListener('hashchange', route)
addEventListener('keydown', pressed)
new ResizeObserver(resized).observe(main)
addEventListener('unhandledrejection', (event) => {
  if (event.reason?.code !== 'aborted') messages.fail(event.reason)
})
route()
registerOffline(messages)
