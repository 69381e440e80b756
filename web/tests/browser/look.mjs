// Pictures of a page, compared coarsely: 32 x 20 averages of colours from 0 to 255.

const WIDTH = 32, HEIGHT = 20

/** The averages of a screenshot, 3 numbers for each of 32 x 20 boxes, row by row. */
export async function look(tab, clip = undefined) {
  const shot = await tab.screenshot({ clip, animations: 'allow' })
  return tab.evaluate(async ([url, width, height]) => {
    const image = new Image()
    image.src = url
    await image.decode()
    const pen = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d')
    pen.imageSmoothingQuality = 'high'
    pen.drawImage(image, 0, 0, width, height)
    return [...pen.getImageData(0, 0, width, height).data].filter((_, i) => i % 4 < 3)
  }, ['data:image/png;base64,' + shot.toString('base64'), WIDTH, HEIGHT])
}

/** The mean difference of two pictures, 0 to 255. */
export function difference(a, b) {
  return a.reduce((sum, value, i) => sum + Math.abs(value - b[i]), 0) / a.length
}

/** The colour at a place, in parts of the width and the height. */
export function colourAt(picture, x, y) {
  const at = 3 * (Math.min(HEIGHT - 1, Math.floor(y * HEIGHT)) * WIDTH + Math.min(WIDTH - 1, Math.floor(x * WIDTH)))
  return picture.slice(at, at + 3)
}

/** How colourful a picture is: the mean of the largest minus the smallest part of each colour. */
export function colourfulness(picture) {
  let sum = 0
  for (let i = 0; i < picture.length; i += 3) {
    const colour = picture.slice(i, i + 3)
    sum += Math.max(...colour) - Math.min(...colour)
  }
  return 3 * sum / picture.length
}
