/* The background of the picture. */
in vec2 across;
out vec4 shown;

void main() { shown = vec4(background(), 1.0); }
