/* Writes the normal and the depth in eye space. */
in vec3 normal, eye;
out vec4 seen;

void main() { seen = vec4(normalize(normal), -eye.z); }
