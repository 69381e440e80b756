// The part of a stage that controls do not cover.

const PANEL = 316, DOCK = 66, LEAST = 200 // CSS pixels; PANEL and DOCK with their margins

/** The size in CSS pixels of what is free at the upper left of a stage's view. */
export function freeOf(host, { width, height }) {
  if (!matchMedia('(max-width: 760px)').matches) return { width: Math.max(LEAST, width - PANEL), height: Math.max(LEAST, height) }
  const sheet = host.element.classList.contains('open') ? host.element.querySelector('.panel').offsetHeight + 8 : 0
  return { width: Math.max(LEAST, width), height: Math.max(LEAST, height - DOCK - sheet) }
}

/** Calls onChange when the sheet of a phone opens or closes. */
export function watchSheet(host, onChange) {
  const observer = new MutationObserver(onChange)
  observer.observe(host.element, { attributeFilter: ['class'] })
  host.signal.addEventListener('abort', () => observer.disconnect())
}
