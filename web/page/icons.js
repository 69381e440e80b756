// Icons: paths in a square of 24, drawn as lines.

const paths = {
  fluid: 'M3 8c3-4 6 4 9 0s6 4 9 0M3 13c3-4 6 4 9 0s6 4 9 0M3 18c3-4 6 4 9 0s6 4 9 0',
  mesh: 'M12 3l8 5v8l-8 5-8-5V8zM4 8l8 4 8-4M12 12v9M12 3v9M4 16l8-4 8 4',
  contact: 'M3 20h18M5 20v-6h6v6M13 20v-6h6v6M9 14V8h6v6',
  file: 'M6 3h8l4 4v14H6zM9 11h1M13 11h2M9 15h1M12 15h.1M15 18h.1M9 18h1',
  how: 'M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h3v3h-3zM17 17h3v3h-3z',
  theme: 'M12 4a8 8 0 100 16V4zM12 4a8 8 0 010 16',
  device: 'M7 7h10v10H7zM10 3v4M14 3v4M10 17v4M14 17v4M3 10h4M3 14h4M17 10h4M17 14h4',
  keys: 'M3 6h18v12H3zM6.5 10h.1M10 10h.1M14 10h.1M17.5 10h.1M7 14h10',
  sliders: 'M4 7h9M17 7h3M13 5v4M4 17h3M11 17h9M9 15v4M4 12h12M20 12h0M17 10v4',
  close: 'M6 6l12 12M18 6L6 18',
  play: 'M8 5l11 7-11 7z',
  pause: 'M8 5v14M16 5v14',
  step: 'M6 5l9 7-9 7zM18 5v14',
  reset: 'M4 4v6h6M4.5 10a8 8 0 112 7',
  undo: 'M4 9h10a5 5 0 010 10h-4M4 9l4-4M4 9l4 4',
  save: 'M12 4v11M7 11l5 5 5-5M4 20h16',
  open: 'M12 16V5M7 9l5-5 5 5M4 20h16',
  picture: 'M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15 9h.1',
  pen: 'M4 20l1-4L16 5l3 3L8 19zM14 7l3 3',
  eraser: 'M9 19l-5-5 9-9 6 6-8 8zM9 10l6 6M8 20h12',
  trash: 'M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13',
  hand: 'M7 12V7a1.5 1.5 0 013 0v4M10 11V5a1.5 1.5 0 013 0v6M13 11V6a1.5 1.5 0 013 0v7l1-2a1.5 1.5 0 013 1l-3 6c-1 2-3 3-5 3h-1c-3 0-5-2-6-4l-2-4a1.5 1.5 0 013-1',
  sparkle: 'M12 3l2 7 7 2-7 2-2 7-2-7-7-2 7-2z',
  stop: 'M6 6h12v12H6z'
}

export function icon(name) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
  svg.setAttribute('viewBox', '0 0 24 24')
  svg.setAttribute('aria-hidden', 'true')
  svg.setAttribute('class', 'icon')
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path')
  path.setAttribute('d', paths[name] ?? paths.close)
  svg.append(path)
  return svg
}
