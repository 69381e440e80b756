/* Reading OBJ, OFF and STL. */
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

#include "mesh_soup.hpp"

namespace {

using std::string, std::string_view, std::to_string, std::vector;

/* ---- Lines and words ---- */

/* Compares without regard to case. `lower` must be in lower case. */
bool is_keyword(string_view word, string_view lower) {
  const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; };
  return std::equal(word.begin(), word.end(), lower.begin(), lower.end(), same);
}

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

class line_reader {
public:
  line_reader(const char *bytes, size_t size, bool comments)
      : next_(bytes), end_(bytes + size), comments_(comments) {}

  /* Moves to the next line; false at the end. */
  bool next() {
    if (next_ >= end_) return false;
    const auto find = [](const char *from, const char *to, char c) {
      const void *const found = memchr(from, c, (size_t)(to - from));
      return found ? (const char *)found : to;
    };
    at_ = next_;
    line_end_ = find(at_, end_, '\n');
    next_ = line_end_ + 1;
    if (comments_) line_end_ = find(at_, line_end_, '#');
    number_++;
    return true;
  }
  /* Moves to the next line that is not blank. */
  bool next_filled() {
    while (next()) {
      while (at_ < line_end_ && is_blank(*at_)) at_++;
      if (at_ < line_end_) return true;
    }
    return false;
  }
  /* The next word of the line; empty at its end. */
  string_view word() {
    while (at_ < line_end_ && is_blank(*at_)) at_++;
    const char *const begin = at_;
    while (at_ < line_end_ && !is_blank(*at_)) at_++;
    return {begin, (size_t)(at_ - begin)};
  }
  mesh_point_in_file point(const char *where) {
    mesh_point_in_file p;
    for (double &coordinate : p) {
      const string_view text = word();
      char *behind = nullptr;
      if (!text.empty()) coordinate = strtod(text.data(), &behind);
      if (text.empty() || behind != text.data() + text.size() || !std::isfinite((float)coordinate))
        fail(string("expected three finite numbers") + where + ", below 3.4e38");
    }
    return p;
  }
  [[noreturn]] void fail(const string &what) const {
    throw std::runtime_error("line " + to_string(number_) + ": " + what);
  }

private:
  const char *next_, *const end_, *at_ = nullptr, *line_end_ = nullptr;
  const bool comments_;
  int64_t number_ = 0;
};

bool whole_number(string_view word, long long &value) {
  char *behind;
  if (word.empty()) return false;
  errno = 0;
  value = strtoll(word.data(), &behind, 10);
  return !errno && behind == word.data() + word.size();
}

/* ---- OBJ: only vertices and the vertex indices of faces; materials, groups and normals are ignored ---- */

/* A backslash at the end of a line continues it on the next line. */
void join_lines(char *bytes, size_t size) {
  for (char *end = bytes; (end = (char *)memchr(end, '\n', (size_t)(bytes + size - end))); end++) {
    char *last = end;
    while (last > bytes && last[-1] == '\r') last--;
    if (last > bytes && last[-1] == '\\') std::fill(last - 1, end + 1, ' ');
  }
}

/* Parses V, V/T, V//N or V/T/N. Indices are whole numbers from 1; negative ones count back from the last
 * vertex. */
int32_t read_corner(const line_reader &l, string_view word, long long before, long long all) {
  char *at;
  const char *const end = word.data() + word.size();
  errno = 0;
  const long long vertex = strtoll(word.data(), &at, 10);
  bool good = at != word.data() && !errno;
  for (int part = 1; part < 3 && good && at < end && *at == '/'; part++) {
    at += at[1] == '-' ? 2 : 1;
    while (at < end && *at >= '0' && *at <= '9') at++;
  }
  if (!good || at != end)
    l.fail("a face has the corner \"" + string(word.substr(0, 40)) + "\", expected the number of a vertex");
  if (vertex == 0 || vertex > all || -vertex > before)
    l.fail("a face has the vertex " + to_string(vertex) + ", expected one of 1 to " + to_string(all));
  return (int32_t)(vertex > 0 ? vertex - 1 : before + vertex);
}

/* ---- STL ---- */

enum { stl_header = 84, stl_facet = 50 };

class stl_joiner {
public:
  explicit stl_joiner(mesh_soup &soup) : soup_(soup) {}
  void add(const mesh_point_in_file &corner) {
    const mesh_point_in_file point = soup_.frame.place(corner);
    const auto made = numbers_.try_emplace(point, (int32_t)soup_.points.size());
    if (made.second) soup_.points.push_back(point);
    triangle_.push_back(made.first->second);
    if (triangle_.size() < 3) return;
    soup_.add_proper_face(triangle_);
    triangle_.clear();
  }

private:
  mesh_soup &soup_;
  std::map<mesh_point_in_file, int32_t> numbers_;
  vector<int32_t> triangle_;
};

/* `read` passes all corners to a function. It runs twice: the frame must be known before corners at the same
 * position can be joined. */
template <typename reader> void join_corners(mesh_soup &soup, const reader &read) {
  read([&soup](const mesh_point_in_file &corner) { soup.frame.add(corner); });
  soup.frame.choose_origin();
  soup.is_placed = true;
  stl_joiner joiner(soup);
  read([&joiner](const mesh_point_in_file &corner) { joiner.add(corner); });
}

template <typename visitor> void read_binary_stl(const char *bytes, uint32_t facets, const visitor &visit) {
  for (uint32_t f = 0; f < facets; f++)
    for (size_t corner = 0; corner < 3; corner++) {
      std::array<float, 3> point;
      memcpy(point.data(), bytes + stl_header + stl_facet * (size_t)f + 12 * (corner + 1), sizeof point);
      for (const float coordinate : point)
        if (!std::isfinite(coordinate))
          throw std::runtime_error("triangle " + to_string(f + 1) + " of " + to_string(facets) +
                                   ": a coordinate is " + (std::isnan(coordinate) ? "nan" : "infinite"));
      visit(mesh_point_in_file{point[0], point[1], point[2]});
    }
}

template <typename visitor> void read_text_stl(const char *bytes, size_t size, const visitor &visit) {
  bool ended = false;
  int64_t facets = 0, corners = 0;
  for (line_reader l(bytes, size, false); l.next_filled();) {
    const string_view first = l.word();
    facets += is_keyword(first, "facet");
    ended = is_keyword(first, "endsolid");
    if (!is_keyword(first, "vertex")) continue;
    corners++;
    visit(l.point(" after vertex"));
  }
  if (!ended) throw std::runtime_error("cut short: it does not end with endsolid");
  if (corners != 3 * facets)
    throw std::runtime_error(to_string(corners) + " vertices in " + to_string(facets) +
                             " facets, expected three in each");
}

} // namespace

void mesh_soup::add_face(const vector<int32_t> &vertices) {
  corners.insert(corners.end(), vertices.begin(), vertices.end());
  face_end.push_back(corners.size());
}

void mesh_soup::add_proper_face(const vector<int32_t> &vertices) {
  const auto &v = vertices;
  if (v.size() == 3 && (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]))
    left_out++;
  else
    add_face(vertices);
}

void mesh_soup::announce(int64_t vertices, int64_t faces, size_t bytes) {
  announced_vertices = vertices;
  if (vertices > (int64_t)bytes || faces > (int64_t)bytes)
    throw std::runtime_error("announces " + to_string(vertices) + " vertices and " + to_string(faces) +
                             " faces, more than its " + to_string(bytes) + " bytes can hold");
  points.reserve((size_t)vertices);
  corners.reserve(3 * (size_t)faces);
  face_end.reserve((size_t)faces);
}

void obj_read(char *bytes, size_t size, mesh_soup &soup) {
  if (memchr(bytes, '\0', size)) throw std::runtime_error("not an OBJ file: it contains binary data");
  join_lines(bytes, size);
  bool has_faces = false;
  for (line_reader l(bytes, size, true); l.next();) {
    const string_view first = l.word();
    if (first == "v") soup.points.push_back(l.point(" after v"));
    has_faces = has_faces || first == "f";
  }
  if (soup.points.empty() && !has_faces)
    throw std::runtime_error("not an OBJ file: no line begins with v or f");
  int64_t before = 0;
  vector<int32_t> face;
  for (line_reader l(bytes, size, true); l.next();) {
    const string_view first = l.word();
    before += first == "v";
    if (first != "f") continue;
    face.clear();
    for (string_view word = l.word(); !word.empty(); word = l.word())
      face.push_back(read_corner(l, word, before, (int64_t)soup.points.size()));
    if (face.size() < 3)
      l.fail("a face has " + to_string(face.size()) + (face.size() == 1 ? " corner" : " corners") +
             ", expected at least 3");
    soup.add_proper_face(face);
  }
}

/* Normals and colours may follow coordinates and faces, even if the keyword does not announce them. */
void off_read(char *bytes, size_t size, mesh_soup &soup) {
  line_reader l(bytes, size, true);
  const string_view keyword = l.next_filled() ? l.word() : string_view();
  /* The prefixes ST, C and N announce data after the coordinates; 4 and n announce other coordinates. */
  const size_t before = keyword.size() - 3;
  if (keyword.size() < 3 || keyword.size() > 7 || !is_keyword(keyword.substr(before), "off") ||
      keyword.substr(0, before).find_first_not_of("STCNstc") != string_view::npos)
    throw std::runtime_error("not an OFF file of points in space: it does not begin with OFF");
  string_view first = l.word();
  if (is_keyword(first, "binary")) throw std::runtime_error("a binary OFF file, expected a text file");
  if (first.empty() && !l.next_filled()) throw std::runtime_error("cut short after OFF");
  if (first.empty()) first = l.word();
  long long vertices, faces, number;
  if (!whole_number(first, vertices) || !whole_number(l.word(), faces) || vertices < 0 || faces < 0)
    l.fail("expected the numbers of vertices and faces");
  soup.announce(vertices, faces, size);
  const auto place = [](const char *what, long long k, long long all) {
    return what + to_string(k + 1) + " of " + to_string(all);
  };
  for (long long v = 0; v < vertices; v++) {
    if (!l.next_filled()) throw std::runtime_error("cut short at " + place("vertex ", v, vertices));
    soup.points.push_back(l.point(""));
  }
  vector<int32_t> face;
  for (long long f = 0; f < faces; f++) {
    if (!l.next_filled()) throw std::runtime_error("cut short at " + place("face ", f, faces));
    const auto visit = [&](string_view word, long long least) {
      if (!whole_number(word, number) || number < least || number > INT32_MAX)
        throw std::runtime_error(place("face ", f, faces) + ": expected the numbers of its vertices");
      return number;
    };
    const long long corners = visit(l.word(), 0);
    face.clear();
    while ((long long)face.size() < corners) {
      const string_view word = l.word();
      if (word.empty()) l.fail("a face of " + to_string(corners) + " corners has " + to_string(face.size()));
      face.push_back((int32_t)visit(word, INT32_MIN));
    }
    soup.add_face(face);
  }
}

void stl_read(char *bytes, size_t size, mesh_soup &soup) {
  uint32_t facets = 0;
  for (size_t i = 0; i < 4 && size >= stl_header; i++)
    facets |= (uint32_t)(unsigned char)bytes[80 + i] << 8 * i;
  const uint64_t expected = stl_header + (uint64_t)stl_facet * facets;
  const size_t mark = mesh_mark_size(bytes, size);
  const bool text = !memchr(bytes, '\0', size);
  line_reader l(bytes + mark, size - mark, false);
  /* Test this before text: the header of a binary file may also begin with "solid" and contain no zero byte. */
  const bool exact = size >= stl_header && size == expected;
  if (!exact && text && l.next() && is_keyword(l.word(), "solid")) {
    join_corners(soup, [=](const auto &visit) { read_text_stl(bytes + mark, size - mark, visit); });
  } else if (exact || (!text && facets && size > expected)) {
    soup.ignored_bytes = (int64_t)(size - expected);
    join_corners(soup, [=](const auto &visit) { read_binary_stl(bytes, facets, visit); });
  } else if (text || size < stl_header) {
    throw std::runtime_error("not an STL file: neither a binary one nor text that begins with solid");
  } else {
    throw std::runtime_error("cut short, or not an STL file: it has " + to_string(size) + " bytes, expected " +
                             to_string(expected) + " for the " + to_string(facets) + " triangles it announces");
  }
}
