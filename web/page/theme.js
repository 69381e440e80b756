// Dark or light: the system's choice until the person makes one.

const KEY = 'texsolve.theme'

export class Theme {
  onChange = () => {}
  #system = matchMedia('(prefers-color-scheme: light)')

  constructor() {
    this.#system.addEventListener('change', () => this.#apply())
    this.#apply()
  }

  get name() {
    return document.documentElement.dataset.theme ?? (this.#system.matches ? 'light' : 'dark')
  }

  toggle() {
    const name = this.name === 'dark' ? 'light' : 'dark'
    document.documentElement.dataset.theme = name
    try {
      localStorage.setItem(KEY, name)
    } catch { /* storage is forbidden: the choice lasts as long as the page */ }
    this.#apply()
  }

  #apply() {
    const colour = getComputedStyle(document.documentElement).getPropertyValue('--page').trim()
    document.querySelector('meta[name=theme-color]').content = colour
    this.onChange(this.name)
  }
}
