/* Points with a fixed size in pixels. */
layout(location = 0) in vec3 place;
layout(location = 1) in vec3 rgb;
layout(location = 2) in float marked;
uniform mat4 view, projection;
uniform float size; /* of the disc without its ring */
flat out vec3 inside;
flat out float ring;

void main() {
  gl_Position = projection * (view * vec4(place, 1.0));
  gl_PointSize = 1.6 * size;
  inside = rgb;
  ring = marked;
}
