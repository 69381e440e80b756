/* Reading PLY. */
#include "mesh_soup.hpp"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

namespace {

using std::string, std::to_string, std::vector;

/* ---- The header ---- */

struct scalar_type {
  const char *name, *alias;
  int bytes;
  char kind; /* i: signed, u: unsigned, f: floating point */
};

constexpr scalar_type scalar_types[] = {{"char", "int8", 1, 'i'},     {"uchar", "uint8", 1, 'u'},
                                        {"short", "int16", 2, 'i'},   {"ushort", "uint16", 2, 'u'},
                                        {"int", "int32", 4, 'i'},     {"uint", "uint32", 4, 'u'},
                                        {"float", "float32", 4, 'f'}, {"double", "float64", 8, 'f'}};

struct property {
  string name;
  const scalar_type *type;
  const scalar_type *count; /* of a list; null: a single number */
};

struct element {
  string name;
  int64_t count;
  vector<property> properties;

  /* Index of the property; -1: not found. */
  int find(const char *wanted, bool is_list) const {
    for (size_t p = 0; p < properties.size(); p++)
      if (properties[p].name == wanted && (properties[p].count != nullptr) == is_list) return (int)p;
    return -1;
  }
};

struct header {
  enum { text, little_endian, big_endian } format;
  vector<element> elements;
  const char *body;
};

/* Splits a line into words, and moves *at to the next line. */
vector<string> read_line(const char **at, const char *end) {
  vector<string> words;
  bool inside = false;
  for (; *at < end && **at != '\n'; ++*at) {
    const bool blank = strchr(" \t\r\v\f", **at) != nullptr;
    if (!blank && !inside) words.emplace_back();
    if (!blank) words.back() += **at;
    inside = !blank;
  }
  if (*at < end) ++*at;
  return words;
}

[[noreturn]] void fail_in_header(int line, const string &what) {
  throw std::runtime_error("line " + to_string(line) + ": " + what);
}

const scalar_type *type_of(const string &name, int line) {
  for (const scalar_type &type : scalar_types)
    if (name == type.name || name == type.alias) return &type;
  fail_in_header(line,
                 "the type \"" + name.substr(0, 40) + "\", expected one such as uchar, int, float or double");
}

int64_t count_of(const string &word, int line) {
  char *end;
  errno = 0;
  const long long count = strtoll(word.c_str(), &end, 10);
  if (errno || end == word.c_str() || *end || count < 0 || count > (long long)UINT32_MAX)
    fail_in_header(line, "\"" + word.substr(0, 40) + "\", expected the number of elements");
  return count;
}

/* Parses a header line after the first one. Returns true at the end of the header. */
bool parse_line(const vector<string> &words, int line, header &h, bool &has_format) {
  const string first = words.empty() ? "comment" : words[0];
  if (first == "comment" || first == "obj_info") return false;
  if (first == "end_header") return true;
  if (first == "format" && words.size() >= 2) {
    static const char *const names[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    int format = 0;
    while (format < 3 && words[1] != names[format]) format++;
    if (format == 3)
      fail_in_header(line, "the format \"" + words[1].substr(0, 40) +
                               "\", expected ascii, binary_little_endian or binary_big_endian");
    h.format = (decltype(h.format))format;
    has_format = true;
  } else if (first == "element" && words.size() == 3) {
    h.elements.push_back({words[1], count_of(words[2], line), {}});
  } else if (first == "property" && h.elements.empty()) {
    fail_in_header(line, "a property before the first element");
  } else if (first == "property" && words.size() == 3) {
    h.elements.back().properties.push_back({words[2], type_of(words[1], line), nullptr});
  } else if (first == "property" && words.size() == 5 && words[1] == "list") {
    const scalar_type *const count = type_of(words[2], line);
    if (count->kind == 'f')
      fail_in_header(line, "a list whose length is a " + words[2] + ", expected a whole number");
    h.elements.back().properties.push_back({words[4], type_of(words[3], line), count});
  } else {
    fail_in_header(line,
                   "\"" + first.substr(0, 40) + (words.size() > 1 ? " " + words[1].substr(0, 40) + "..." : "") +
                       "\", expected element NAME COUNT, property TYPE NAME, property list TYPE TYPE NAME, "
                       "comment or end_header");
  }
  return false;
}

header parse_header(const char *bytes, const char *end) {
  header h = {};
  const char *at = bytes;
  bool has_format = false;
  read_line(&at, end); /* skip "ply" */
  for (int line = 2; at < end; line++)
    if (parse_line(read_line(&at, end), line, h, has_format)) {
      if (!has_format) fail_in_header(line, "the header ends without a line that names the format");
      h.body = at;
      return h;
    }
  throw std::runtime_error("cut short: the header has no end");
}

/* ---- The numbers ---- */

/* Reads consecutive numbers. In text, blanks separate them. */
class number_reader {
public:
  number_reader(const header &h, const char *end) : at_(h.body), end_(end), text_(h.format == header::text) {
    const uint16_t one = 1;
    const bool host_is_little = *(const unsigned char *)&one == 1;
    swap_ = !text_ && host_is_little != (h.format == header::little_endian);
  }

  size_t left() const { return (size_t)(end_ - at_); }

  /* Reads a number; false if there is none. `ended` distinguishes the end of the file from an error. */
  bool read(const scalar_type &type, double &value) {
    return text_ ? read_text(value) : read_binary(type, value);
  }
  bool skip(const scalar_type &type, size_t count) {
    double unused;
    if (text_) {
      for (; count; count--)
        if (!read_text(unused)) return false;
      return true;
    }
    ended_ = left() / (size_t)type.bytes < count;
    if (!ended_) at_ += count * (size_t)type.bytes;
    return !ended_;
  }
  bool ended() const { return ended_; }

private:
  bool read_text(double &value) {
    while (at_ < end_ && strchr(" \t\r\n\v\f", *at_) && *at_) at_++;
    ended_ = at_ == end_;
    if (ended_) return false;
    char *behind;
    value = strtod(at_, &behind);
    const bool good =
        behind != at_ && behind <= end_ && (behind == end_ || (*behind && strchr(" \t\r\n\v\f", *behind)));
    if (good) at_ = behind;
    return good;
  }

  bool read_binary(const scalar_type &type, double &value) {
    unsigned char raw[8];
    ended_ = left() < (size_t)type.bytes;
    if (ended_) return false;
    for (int k = 0; k < type.bytes; k++) raw[k] = (unsigned char)at_[swap_ ? type.bytes - 1 - k : k];
    at_ += type.bytes;
    switch (type.bytes) {
    case 1:
      value = type.kind == 'i' ? (double)(int8_t)raw[0] : raw[0];
      break;
    case 2:
      value = type.kind == 'i' ? (double)as<int16_t>(raw) : as<uint16_t>(raw);
      break;
    case 4:
      value = type.kind == 'f'   ? (double)as<float>(raw)
              : type.kind == 'i' ? (double)as<int32_t>(raw)
                                 : as<uint32_t>(raw);
      break;
    default:
      value = as<double>(raw);
    }
    return true;
  }

  template <typename T> static T as(const unsigned char *raw) {
    T value;
    memcpy(&value, raw, sizeof value);
    return value;
  }

  const char *at_, *const end_;
  const bool text_;
  bool swap_, ended_ = false;
};

/* ---- The elements ---- */

/* Formats numbers of any size. */
string digits(double value) {
  char text[40];
  snprintf(text, sizeof text, "%.17g", value);
  return text;
}

/* "vertex 3 of 7", for messages. */
string place(const element &e, int64_t number) {
  return e.name + " " + to_string(number + 1) + " of " + to_string(e.count);
}

[[noreturn]] void fail_in_element(const number_reader &in, const element &e, int64_t number,
                                  const char *expected) {
  if (in.ended()) throw std::runtime_error("cut short at " + place(e, number));
  throw std::runtime_error(place(e, number) + ": expected " + expected);
}

/* Reads the length of a list. It cannot exceed the number of remaining bytes. */
size_t read_length(number_reader &in, const property &list, const element &e, int64_t number) {
  double length;
  if (!in.read(*list.count, length)) fail_in_element(in, e, number, "the length of a list");
  if (!(length >= 0) || length != std::floor(length))
    throw std::runtime_error(place(e, number) + ": a list of " + digits(length) + " numbers");
  if (length > (double)in.left()) throw std::runtime_error("cut short at " + place(e, number));
  return (size_t)length;
}

void skip_property(number_reader &in, const property &p, const element &e, int64_t number) {
  const size_t count = p.count ? read_length(in, p, e, number) : 1;
  if (!in.skip(*p.type, count)) fail_in_element(in, e, number, "numbers");
}

void read_vertices(number_reader &in, const element &e, mesh_soup &soup) {
  int axis[3];
  for (int c = 0; c < 3; c++) {
    const char name[] = {"xyz"[c], 0};
    axis[c] = e.find(name, false);
    if (axis[c] < 0) throw std::runtime_error(string("its vertices have no property ") + name);
  }
  for (int64_t v = 0; v < e.count; v++) {
    mesh_point_in_file point = {};
    for (int p = 0; p < (int)e.properties.size(); p++) {
      double value;
      const int c = p == axis[0] ? 0 : p == axis[1] ? 1 : p == axis[2] ? 2 : -1;
      if (c < 0) {
        skip_property(in, e.properties[(size_t)p], e, v);
        continue;
      }
      if (!in.read(*e.properties[(size_t)p].type, value)) fail_in_element(in, e, v, "three finite numbers");
      point[(size_t)c] = value;
    }
    soup.points.push_back(point);
  }
}

/* Reads a vertex index. -1, or the largest number of an unsigned type, separates strips. */
int32_t read_vertex(number_reader &in, const scalar_type &type, const element &e, int64_t number) {
  double value;
  if (!in.read(type, value)) fail_in_element(in, e, number, "the numbers of its vertices");
  if (value != std::floor(value)) fail_in_element(in, e, number, "the numbers of its vertices");
  if (value == (double)UINT32_MAX) return -1;
  if (value < (double)INT32_MIN || value > (double)INT32_MAX)
    throw std::runtime_error(place(e, number) + " has the vertex " + digits(value) + ", expected one of 0 to " +
                             to_string(INT32_MAX));
  return (int32_t)value;
}

/* Each vertex of a strip forms a triangle with the two before it; every second triangle is reversed. Strips are
 * joined by -1, or by degenerate triangles, which are dropped. */
void add_strip(const vector<int32_t> &strip, const element &e, int64_t number, mesh_soup &soup) {
  const int64_t vertices = soup.announced_vertices;
  size_t begin = 0;
  for (size_t i = 0; i < strip.size(); i++) {
    if (strip[i] < -1 || strip[i] >= vertices)
      throw std::runtime_error(place(e, number) + " has the vertex " + to_string(strip[i]) +
                               ", expected one of 0 to " + to_string(vertices - 1) + ", or -1 between strips");
    if (strip[i] < 0) begin = i + 1;
    if (i < begin + 2) continue;
    const bool turned = (i - begin) % 2 != 0;
    const int32_t a = strip[i - 2 + turned], b = strip[i - 1 - turned], c = strip[i];
    if (a == b || b == c || c == a) continue;
    soup.add_face({a, b, c});
  }
}

/* Reads faces or triangle strips from the list vertex_indices, or vertex_index, of `e`. */
void read_lists(number_reader &in, const element &e, bool strips, mesh_soup &soup) {
  int list = e.find("vertex_indices", true);
  if (list < 0) list = e.find("vertex_index", true);
  if (list < 0 && e.count) throw std::runtime_error("its element " + e.name + " has no list vertex_indices");
  vector<int32_t> numbers;
  for (int64_t f = 0; f < e.count; f++)
    for (int p = 0; p < (int)e.properties.size(); p++) {
      const property &property = e.properties[(size_t)p];
      if (p != list) {
        skip_property(in, property, e, f);
        continue;
      }
      numbers.resize(read_length(in, property, e, f));
      for (int32_t &number : numbers) number = read_vertex(in, *property.type, e, f);
      if (strips)
        add_strip(numbers, e, f, soup);
      else
        soup.add_face(numbers);
    }
}

/* "; its elements are vertex (7) and range_grid (400)" */
string listed(const header &h) {
  string text = h.elements.empty() ? "" : "; its elements are ";
  for (size_t k = 0; k < h.elements.size() && k < 8; k++)
    text += string(k == 0                      ? ""
                   : k + 1 < h.elements.size() ? ", "
                                               : " and ") +
            h.elements[k].name.substr(0, 40) + " (" + to_string(h.elements[k].count) + ")";
  return text;
}

} // namespace

void ply_read(char *bytes, size_t size, mesh_soup &soup) {
  const char *at = bytes;
  const vector<string> words = read_line(&at, bytes + size);
  if (words.empty() || words[0] != "ply")
    throw std::runtime_error("not a PLY file: it does not begin with ply");
  const header h = parse_header(bytes, bytes + size);
  number_reader in(h, bytes + size);
  int64_t vertices = 0, faces = 0, strips = 0;
  for (const element &e : h.elements) {
    if (e.name == "vertex") vertices += e.count;
    if (e.name == "face") faces += e.count;
    if (e.name == "tristrips") strips += e.count;
  }
  if (vertices == 0) throw std::runtime_error("no vertices" + listed(h));
  if (faces + strips == 0) throw std::runtime_error("no faces" + listed(h));
  soup.announce(vertices, faces, size);
  for (const element &e : h.elements) {
    if (e.name == "vertex")
      read_vertices(in, e, soup);
    else if (e.name == "face" || e.name == "tristrips")
      read_lists(in, e, e.name == "tristrips", soup);
    else
      for (int64_t k = 0; k < e.count && !e.properties.empty(); k++)
        for (const property &p : e.properties) skip_property(in, p, e, k);
  }
}
