// Controls that all parts share. Each function returns an element; those with a value have `.value` and `.set(value)`.

import { icon } from './icons.js'

/** Makes an element with properties (class, attributes, on... listeners) and children. */
export function element(name, properties = {}, ...children) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue
    if (key.startsWith('on')) made.addEventListener(key.slice(2).toLowerCase(), value)
    else if (key === 'class') made.className = value
    else made.setAttribute(key, value === true ? '' : value)
  }
  made.append(...children.filter((child) => child !== undefined && child !== null))
  return made
}

/** A button: label or icon or both. With `pressed` (a boolean) it is a toggle; onClick gets the new state. */
export function button({ label, icon: name, title, pressed, kind = '', disabled = false, onClick }) {
  const made = element('button', { type: 'button', class: `${kind} ${label ? '' : 'only-icon'}`.trim(), title, disabled })
  if (name) made.append(icon(name))
  if (label) made.append(element('span', {}, label))
  else made.setAttribute('aria-label', title)
  if (pressed !== undefined) made.setAttribute('aria-pressed', String(pressed))
  made.set = (state) => made.setAttribute('aria-pressed', String(state))
  made.setIcon = (other) => made.querySelector('svg').replaceWith(icon(other))
  made.addEventListener('click', (event) => {
    if (pressed === undefined) return onClick?.(event)
    const state = made.getAttribute('aria-pressed') !== 'true'
    made.set(state)
    onClick?.(state)
  })
  return made
}

/** A switch with a label. */
export function toggle({ label, title, value = false, onChange }) {
  const input = element('input', { type: 'checkbox', role: 'switch' })
  input.checked = value
  const made = element('label', { class: 'toggle', title }, element('span', {}, label), input)
  input.addEventListener('change', () => onChange?.(input.checked))
  Object.defineProperty(made, 'value', { get: () => input.checked })
  made.set = (state) => { input.checked = state }
  return made
}

/** A slider with its value as text. log: steps are factors. format(value) gives the text. */
export function slider({ label, title, min, max, step, value, log = false, format = (number) => String(+number.toPrecision(3)),
  onChange }) {
  const into = log ? Math.log : (number) => number
  const from = log ? Math.exp : (number) => number
  const input = element('input', { type: 'range', min: into(min), max: into(max),
    step: log ? (into(max) - into(min)) / 200 : step ?? (max - min) / 200 })
  const output = element('output', {})
  const made = element('label', { class: 'slider', title }, element('span', {}, label), output, input)
  const show = () => { output.textContent = format(from(+input.value)) }
  const set = (number) => {
    input.value = into(number)
    show()
  }
  input.addEventListener('input', () => {
    show()
    onChange?.(from(+input.value))
  })
  set(value)
  Object.defineProperty(made, 'value', { get: () => from(+input.value) })
  made.set = set
  return made
}

let groups = 0

/** One of a few options, as a row of buttons. options: [value, text] or [value, text, icon]. */
export function choice({ label, options, value, onChange }) {
  const name = `choice-${++groups}`
  const inputs = options.map(([option]) => {
    const input = element('input', { type: 'radio', name, value: option })
    input.checked = option === value
    input.addEventListener('change', () => onChange?.(option))
    return input
  })
  const made = element('fieldset', { class: 'choice' }, label ? element('legend', {}, label) : undefined,
    element('div', {}, ...options.map(([, text, symbol], i) =>
      element('label', {}, inputs[i], symbol ? icon(symbol) : undefined, element('span', {}, text)))))
  Object.defineProperty(made, 'value', { get: () => options[inputs.findIndex((input) => input.checked)]?.[0] })
  made.set = (option) => inputs.forEach((input, i) => { input.checked = options[i][0] === option })
  return made
}

/** A drop-down list. */
export function select({ label, options, value, onChange }) {
  const input = element('select', {}, ...options.map(([option, text]) =>
    element('option', { value: option, selected: option === value }, text)))
  const made = element('label', { class: 'select' }, element('span', {}, label), input)
  input.addEventListener('change', () => onChange?.(input.value))
  Object.defineProperty(made, 'value', { get: () => input.value })
  made.set = (option) => { input.value = option }
  return made
}

/** A titled group of controls that can be closed. */
export function group(title, ...children) {
  return element('details', { class: 'group', open: true }, element('summary', {}, title),
    element('div', { class: 'controls' }, ...children))
}

/** A number with a name: readout.set(text). */
export function readout({ label, title, value = '' }) {
  const output = element('output', {}, value)
  const made = element('div', { class: 'readout', title }, element('span', {}, label), output)
  made.set = (text) => { if (output.textContent !== text) output.textContent = text }
  return made
}

/** The usual layout of a part that draws: `view` fills the part (put the canvas there), `panel` holds groups of
 * controls (at the right on a desktop, a sheet from below on a phone), `bar` the buttons that are always seen. */
export function stage(host) {
  const view = element('div', { class: 'view' })
  const panel = element('aside', { class: 'panel', 'aria-label': 'Controls' })
  const bar = element('div', { class: 'bar', role: 'toolbar', 'aria-label': 'Actions' })
  const more = button({ icon: 'sliders', title: 'Controls', pressed: false,
    onClick: (state) => host.element.classList.toggle('open', state) })
  more.classList.add('more')
  const dock = element('div', { class: 'dock' }, bar, more)
  host.element.classList.add('stage')
  host.element.append(view, panel, dock)
  return { view, panel, bar }
}

/** A modal dialog with a title; closed by Escape, its button or a click outside. */
export function dialog(title, ...children) {
  const made = element('dialog', {})
  const close = button({ icon: 'close', title: 'Close', onClick: () => made.close() })
  made.append(element('header', {}, element('h2', {}, title), close), element('div', { class: 'body' }, ...children))
  made.addEventListener('click', (event) => { if (event.target === made) made.close() })
  made.addEventListener('close', () => made.remove())
  document.body.append(made)
  made.showModal()
  return made
}

/** Takes files that are dropped on `target`, until the signal is aborted. Returns a function that opens the browser's
 * dialog. accept: '.obj,.ply'. onFile gets a File. */
export function fileDrop(target, { accept, signal, onFile }) {
  const input = element('input', { type: 'file', accept, hidden: true })
  input.addEventListener('change', () => {
    if (input.files[0]) onFile(input.files[0])
    input.value = ''
  })
  const options = { signal }
  const mark = (state) => target.classList.toggle('dropping', state)
  target.addEventListener('dragover', (event) => {
    event.preventDefault()
    mark(true)
  }, options)
  target.addEventListener('dragleave', (event) => {
    if (!target.contains(event.relatedTarget)) mark(false)
  }, options)
  target.addEventListener('drop', (event) => {
    event.preventDefault()
    mark(false)
    if (event.dataTransfer.files[0]) onFile(event.dataTransfer.files[0])
  }, options)
  target.append(input)
  return () => input.click()
}

/** Saves a Blob as a file. */
export function save(name, blob) {
  const link = element('a', { href: URL.createObjectURL(blob), download: name })
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10000)
}
