// Messages in the lower left corner. A warning or an error stays until it is closed.

import { element, button } from './controls.js'

const INFO_MS = 4000
const MOST = 4 // messages at once; older ones go

export class Messages {
  #box
  constructor(box) { this.#box = box }

  say(text, kind = 'info', id = undefined) {
    const same = [...this.#box.children].find((child) => id ? child.dataset.id === id : child.dataset.text === text)
    same?.remove()
    const message = element('div', { class: `message ${kind}` }, element('p', {}, text))
    message.dataset.text = text
    if (id) message.dataset.id = id
    message.append(button({ icon: 'close', title: 'Close', onClick: () => message.remove() }))
    this.#box.append(message)
    while (this.#box.children.length > MOST) this.#box.firstChild.remove()
    if (kind === 'info') setTimeout(() => message.remove(), INFO_MS)
  }

  fail(error) {
    if (error?.code === 'aborted' || error?.name === 'AbortError') return
    const text = error?.message || String(error)
    this.say(error?.code ? `${text} (${error.code})` : text, 'error')
    console.error(error)
  }
}
