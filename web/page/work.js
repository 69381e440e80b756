// One long piece of work at a time, shown in the part with a button that stops it.

import { button, element } from './controls.js'

const DELAY_MS = 250 // shorter work is not shown

export class Work {
  #box
  #text = element('span', {})
  #controller = null
  #timer = 0

  constructor(host) {
    this.host = host
    this.#box = element('div', { class: 'work', hidden: true, role: 'status' }, element('i', { class: 'spinner' }), this.#text,
      button({ label: 'Stop', title: 'Stop (Escape)', onClick: () => this.stop() }))
    host.element.append(this.#box)
    host.key('escape', 'stop what runs', () => this.stop())
  }

  get isBusy() { return this.#controller !== null }

  /** Runs action({ signal, say }) and returns its result; undefined if it failed or was stopped, which is reported. */
  async run(text, action) {
    if (this.isBusy) return void this.host.say('Wait for what runs, or stop it.', 'info', 'busy')
    const controller = (this.#controller = new AbortController())
    const signal = AbortSignal.any([controller.signal, this.host.signal])
    const say = (now) => { this.#text.textContent = now }
    say(text)
    this.host.element.dataset.busy = 'true'
    this.#timer = setTimeout(() => { this.#box.hidden = false }, DELAY_MS)
    try {
      return await action({ signal, say })
    } catch (error) {
      if (error.code === 'aborted' && !this.host.signal.aborted) this.host.say('Stopped.', 'info', 'stopped')
      this.host.fail(error)
    } finally {
      clearTimeout(this.#timer)
      this.#box.hidden = true
      this.#controller = null
      this.host.element.dataset.busy = 'false'
    }
  }

  stop() {
    this.#controller?.abort()
  }
}
