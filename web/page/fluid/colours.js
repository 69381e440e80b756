// Colours of dye that go well together: neighbours on the wheel are a golden angle apart.

/** Red, green, blue from 0 to 1 of a hue (1: once around) and a saturation. */
export function hue(turn, saturation = 0.9) {
  return [0, 1 / 3, 2 / 3].map((shift) => {
    const x = Math.abs(((turn - shift + 1.5) % 1 + 1) % 1 - 0.5) * 6
    return 1 - saturation + saturation * Math.min(1, Math.max(0, x - 1))
  })
}

let last = Math.random()

export function nextColour(strength = 1) {
  last = (last + 0.61803398875) % 1
  return hue(last).map((part) => part * strength)
}

/** A colour that drifts with time. */
export function drifting(seconds, offset, strength) {
  return hue(offset + 0.11 * seconds).map((part) => part * strength)
}
