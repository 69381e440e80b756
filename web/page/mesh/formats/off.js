// OFF, the Object File Format, as text. Colours and normals are skipped.
import { Growing, Scanner, pushPolygon } from './scanner.js'

function header(scanner) {
  if (!scanner.nextWordLine()) scanner.fail('the file is empty')
  const word = scanner.word()
  if (!/^(C|N|CN|ST)?OFF$/.test(word)) scanner.fail(`the file begins with "${word.slice(0, 20)}", expected OFF`)
  if (/BINARY/.test(scanner.rest())) scanner.fail('binary OFF is not supported')
  scanner.nextLine()
  if (!scanner.nextWordLine()) scanner.fail('the counts of vertices and faces are missing')
  const vertices = scanner.integer('the number of vertices'),
    faces = scanner.integer('the number of faces')
  if (vertices < 3 || faces < 1) scanner.fail(`${vertices} vertices and ${faces} faces are not a mesh`)
  if (vertices + faces > scanner.bytes.length) scanner.fail(`${vertices} vertices and ${faces} faces do not fit the file`)
  scanner.nextLine()
  return { vertices, faces }
}

export function parseOff(bytes) {
  const scanner = new Scanner(bytes)
  const { vertices, faces } = header(scanner)
  const positions = new Float64Array(3 * vertices),
    triangles = new Growing(Int32Array),
    corners = []
  for (let v = 0; v < vertices; v++) {
    if (!scanner.nextWordLine()) scanner.fail(`the file ends after ${v} of ${vertices} vertices`)
    for (let k = 0; k < 3; k++) positions[3 * v + k] = scanner.number('xyz'[k])
    scanner.nextLine()
  }
  for (let f = 0; f < faces; f++) {
    if (!scanner.nextWordLine()) scanner.fail(`the file ends after ${f} of ${faces} faces`)
    const count = scanner.integer('the number of corners')
    if (count < 3 || count > vertices) scanner.fail(`the face has ${count} corners, expected at least 3`)
    for (let k = 0; k < count; k++) {
      corners[k] = scanner.integer(`corner ${k + 1}`)
      if (!(corners[k] >= 0 && corners[k] < vertices))
        scanner.fail(`the face has vertex ${corners[k]}, expected 0 to ${vertices - 1}`)
    }
    pushPolygon(triangles, corners, count)
    scanner.nextLine()
  }
  return { positions, triangles: triangles.finish() }
}
