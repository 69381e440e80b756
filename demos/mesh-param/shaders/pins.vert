/* A pin on the mesh, or with `in_image` in the UV map. Automatic pins are smaller than given ones. */
layout(location = 0) in vec3 place;
layout(location = 1) in vec2 image;
layout(location = 2) in float given;
uniform mat4 view, projection;
uniform vec4 window;
uniform float in_image, size;

void main() {
  gl_Position = in_image > 0.5 ? vec4((image - window.xy) * window.zw - 1.0, 0.0, 1.0)
                               : projection * (view * vec4(place, 1.0)) - vec4(0.0, 0.0, 0.002, 0.0);
  gl_PointSize = given > 0.5 ? size : 0.6 * size;
}
