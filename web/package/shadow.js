// Keeps copies of the state of a caller's WebGL context that browsers do not keep on the page's side. A query of it would
// wait until the GPU has done everything that was asked before; the library asks in each call, to restore the state.
//
// The functions of this context that set the state are replaced by ones that remember it, and getParameter() by one that
// answers from memory. A caller sees no difference.

const shadowed = new WeakSet()

/** Replaces the functions of a context, once. */
export function shadowState(gl) {
  if (shadowed.has(gl)) return
  shadowed.add(gl)
  const original = name => gl[name].bind(gl)
  const query = original('getParameter'), pixelStorei = original('pixelStorei'), colorMask = original('colorMask')
  const beginTransformFeedback = original('beginTransformFeedback')
  const names = [gl.PACK_ROW_LENGTH, gl.PACK_ALIGNMENT, gl.PACK_SKIP_ROWS, gl.PACK_SKIP_PIXELS, gl.UNPACK_ROW_LENGTH,
    gl.UNPACK_IMAGE_HEIGHT, gl.UNPACK_SKIP_ROWS, gl.UNPACK_SKIP_PIXELS, gl.UNPACK_SKIP_IMAGES]
  const known = new Map()
  let mask, wasFeedbackUsed

  const read = () => {
    for (const name of names) known.set(name, query(name))
    mask = query(gl.COLOR_WRITEMASK)
    wasFeedbackUsed = false
  }
  read()
  wasFeedbackUsed = query(gl.TRANSFORM_FEEDBACK_ACTIVE)

  gl.pixelStorei = (name, value) => {
    pixelStorei(name, value)
    if (known.has(name)) known.set(name, name === gl.PACK_ALIGNMENT && ![1, 2, 4, 8].includes(value) ? query(name) : value | 0)
  }
  gl.colorMask = (...values) => {
    colorMask(...values)
    mask = values.map(Boolean)
  }
  gl.beginTransformFeedback = mode => {
    beginTransformFeedback(mode)
    wasFeedbackUsed = true // from now on the browser is asked: the state belongs to an object
  }
  gl.getParameter = name => {
    if (known.has(name)) return known.get(name)
    if (name === gl.COLOR_WRITEMASK) return [...mask]
    if (name === gl.TRANSFORM_FEEDBACK_ACTIVE && !wasFeedbackUsed) return false
    return query(name)
  }
  gl.canvas?.addEventListener?.('webglcontextrestored', read) // everything is at its default again
}
