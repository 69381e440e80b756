// One long piece of work at a time, shown in the part with a button that stops it.

import { button, element } from './controls.js'

const DELAY_MS = 250 // shorter work is not shown

export class Work {
  #box
  #text = element('span', {})
  #controller = null
  #running = Promise.resolve()
  #isQuiet = false
  #timer = 0

  constructor(host) {
    this.host = host
    this.#box = element(
      'div',
      { class: 'work', hidden: true, role: 'status' },
      element('i', { class: 'spinner' }),
      this.#text,
      button({ label: 'Stop', title: 'Stop (Escape)', onClick: () => this.stop() })
    )
    host.element.append(this.#box)
    host.key('escape', 'stop the computation', () => this.stop())
  }

  get isBusy() {
    return this.#controller !== null
  }

  /** Runs action({ signal, say }) and returns its result; undefined if it failed or was stopped, which is reported. */
  async run(text, action) {
    if (this.isBusy) return void this.host.say('Wait for the computation, or stop it.', 'info', 'busy')
    let end
    this.#running = new Promise((resolve) => (end = resolve))
    this.#controller = new AbortController()
    this.#isQuiet = false
    const say = (now) => {
      this.#text.textContent = now
    }
    say(text)
    this.host.element.dataset.busy = 'true'
    this.#timer = setTimeout(() => {
      this.#box.hidden = false
    }, DELAY_MS)
    try {
      return await action({ signal: AbortSignal.any([this.#controller.signal, this.host.signal]), say })
    } catch (error) {
      const isShown = error.code === 'aborted' && !this.#isQuiet && !this.host.signal.aborted
      if (isShown) this.host.say('Stopped.', 'info', 'stopped')
      this.host.fail(error)
    } finally {
      clearTimeout(this.#timer)
      this.#box.hidden = true
      this.#controller = null
      this.host.element.dataset.busy = 'false'
      end()
    }
  }

  stop() {
    this.#controller?.abort()
  }

  /** Stops the computation for another one, and waits for its end. */
  async interrupt() {
    if (!this.isBusy) return
    this.#isQuiet = true
    this.stop()
    await this.#running
  }
}
