#include "ui.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <GLFW/glfw3.h>
#include <imgui.h>
#include <imgui_impl_glfw.h>
#include <imgui_impl_opengl3.h>

#include "font.h"

static float ui_scale = 1;
static const ImVec4 error_colour(0.72f, 0.10f, 0.12f, 1.0f);

static void set_style(float scale) {
  ImGui::StyleColorsLight();
  ImGuiStyle &style = ImGui::GetStyle();
  style.WindowRounding = style.FrameRounding = style.GrabRounding = style.ScrollbarRounding = 3;
  style.WindowBorderSize = 0;
  style.FrameBorderSize = 1;
  style.ItemSpacing = ImVec2(6, 5);
  style.ScrollbarSize = 11;
  style.Colors[ImGuiCol_WindowBg] = ImVec4(0.945f, 0.95f, 0.955f, 1);
  style.Colors[ImGuiCol_FrameBg] = ImVec4(1, 1, 1, 1);
  style.Colors[ImGuiCol_Border] = ImVec4(0, 0, 0, 0.16f);
  style.Colors[ImGuiCol_Button] = ImVec4(0.86f, 0.89f, 0.93f, 1);
  style.Colors[ImGuiCol_Header] = ImVec4(0.80f, 0.85f, 0.91f, 1);
  style.Colors[ImGuiCol_TextDisabled] = ImVec4(0.42f, 0.43f, 0.45f, 1);
  style.Colors[ImGuiCol_PlotLines] = ImVec4(0.10f, 0.34f, 0.66f, 1);
  style.Colors[ImGuiCol_PlotHistogram] = ImVec4(0.36f, 0.56f, 0.78f, 1);
  style.ScaleAllSizes(scale);
}

/* Dear ImGui's built-in font is a bitmap of 13 pixels, which does not scale. Load outlines. */
static void load_font(float pixels) {
  ImFontAtlas *fonts = ImGui::GetIO().Fonts;
  const char *file = font_file();
  if (file && fonts->AddFontFromFileTTF(file, pixels)) return;
  ImFontConfig font;
  font.SizePixels = pixels;
  fonts->AddFontDefault(&font);
}

int ui_create(GLFWwindow *window, float scale) {
  int units = 0, pixels = 0, ignored;
  IMGUI_CHECKVERSION();
  ImGui::CreateContext();
  ImGuiIO &io = ImGui::GetIO();
  io.IniFilename = nullptr; /* do not write a settings file */
  load_font(std::round(static_cast<float>(FONT_PIXELS) * scale));
  /* Dear ImGui uses window units, which may be several pixels. */
  glfwGetWindowSize(window, &units, &ignored);
  glfwGetFramebufferSize(window, &pixels, &ignored);
  io.FontGlobalScale = units > 0 && pixels > 0 ? static_cast<float>(units) / static_cast<float>(pixels) : 1;
  ui_scale = scale * io.FontGlobalScale;
  set_style(ui_scale);
  if (!ImGui_ImplGlfw_InitForOpenGL(window, true)) {
    ImGui::DestroyContext();
    return 1;
  }
  if (!ImGui_ImplOpenGL3_Init("#version 330 core")) {
    ImGui_ImplGlfw_Shutdown();
    ImGui::DestroyContext();
    return 1;
  }
  return 0;
}

void ui_destroy() {
  if (!ImGui::GetCurrentContext()) return;
  ImGui_ImplOpenGL3_Shutdown();
  ImGui_ImplGlfw_Shutdown();
  ImGui::DestroyContext();
}

void ui_begin_frame() {
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  ImGui::NewFrame();
}

void ui_end_frame() {
  ImGui::Render();
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

int ui_wants_pointer() {
  return ImGui::GetIO().WantCaptureMouse;
}

int ui_wants_text() {
  return ImGui::GetIO().WantTextInput;
}

/* ---- Panels, in pixels ---- */

static ImVec2 units(float x, float y) {
  const ImVec2 pixels = ImGui::GetIO().DisplayFramebufferScale;
  return ImVec2(x / (pixels.x > 0 ? pixels.x : 1), y / (pixels.y > 0 ? pixels.y : 1));
}

/* Breaks lines at blanks only. Dear ImGui also breaks after a point, even within a number. It still breaks
 * words that are longer than a line. */
static std::string lines(const char *text, float width) {
  std::string all;
  for (const char *line = text; *line;) {
    const char *end = line;
    do {
      const char *word = end + std::strspn(end, " ");
      word += std::strcspn(word, " \n");
      if (end != line && ImGui::CalcTextSize(line, word).x > width) break;
      end = word;
    } while (*end == ' ');
    all.append(line, end);
    line = *end == '\n' ? end + 1 : end + std::strspn(end, " ");
    if (*line || *end == '\n') all += '\n';
  }
  return all;
}

static void text_in_lines(const char *text, float width) {
  const std::string all = lines(text, width);
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + width + 1);
  ImGui::TextUnformatted(all.c_str());
  ImGui::PopTextWrapPos();
}

static const ImGuiWindowFlags fixed = ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize |
                                      ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoCollapse |
                                      ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav;

void ui_panel_begin(const char *name, float x, float y, float width, float height) {
  ImGui::SetNextWindowPos(units(x, y));
  ImGui::SetNextWindowSize(units(width, height));
  ImGui::Begin(name, nullptr, fixed);
  ImGui::PushItemWidth(ImGui::GetContentRegionAvail().x * 0.62f);
}

void ui_panel_end() {
  ImGui::PopItemWidth();
  ImGui::End();
}

void ui_list(const char *name, const ui_row *rows, int count, float x, float y, float width, float height) {
  const ImVec2 padding(16 * ui_scale, 12 * ui_scale);
  const float gap = 14 * ui_scale;
  float left = 0, right = 0;
  for (int k = 0; k < count; k++) {
    left = std::max(left, ImGui::CalcTextSize(rows[k].left).x);
    right = std::max(right, ImGui::CalcTextSize(rows[k].right).x);
  }
  ImVec2 middle = units(x + 0.5f * width, y + 0.5f * height), most = units(width, height);
  const float around = 2 * padding.x + ImGui::GetStyle().ScrollbarSize + left + gap;
  if (around + right > most.x) { /* cover the whole of a small window */
    most = ImGui::GetIO().DisplaySize;
    middle = ImVec2(0.5f * most.x, 0.5f * most.y);
  }
  /* If there is too little room, the second column wraps its text and the list scrolls. */
  right = std::min(right, std::max(most.x - around, 0.0f));
  ImGui::SetNextWindowPos(middle, ImGuiCond_Always, ImVec2(0.5f, 0.5f));
  ImGui::SetNextWindowSizeConstraints(ImVec2(0, 0), most);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, ui_scale);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, padding);
  ImGui::Begin(name, nullptr, fixed | ImGuiWindowFlags_AlwaysAutoResize);
  ImGui::PopStyleVar(2);
  for (int k = 0; k < count; k++) {
    ImGui::TextUnformatted(rows[k].left);
    ImGui::SameLine(padding.x + left + gap);
    text_in_lines(rows[k].right, right);
  }
  ImGui::End();
}

void ui_note(const char *text, int is_error, float x, float y, float width, float height) {
  const float margin = 8 * ui_scale, padding = 5 * ui_scale;
  const ImVec2 corner = units(x, y + height), space = units(width, 0);
  const float wrap = space.x - 2 * (margin + padding);
  const std::string all = lines(text, wrap);
  const ImVec2 size = ImGui::CalcTextSize(all.c_str(), nullptr, false, wrap);
  const ImVec2 at(corner.x + margin + padding, std::max(corner.y - margin - padding - size.y, padding));
  ImDrawList *list = ImGui::GetBackgroundDrawList();
  list->AddRectFilled(ImVec2(at.x - padding, at.y - padding),
                      ImVec2(at.x + size.x + padding, at.y + size.y + padding),
                      is_error ? IM_COL32(255, 238, 236, 245) : IM_COL32(248, 249, 250, 225), 3 * ui_scale);
  list->AddText(nullptr, 0, at, ImGui::GetColorU32(is_error ? error_colour : ImVec4(0.15f, 0.16f, 0.18f, 1)),
                all.c_str(), nullptr, wrap);
}

int ui_section(const char *title) {
  return ImGui::CollapsingHeader(title, ImGuiTreeNodeFlags_DefaultOpen);
}

int ui_section_closed(const char *title) {
  return ImGui::CollapsingHeader(title);
}

void ui_disabled_begin(int disabled) {
  ImGui::BeginDisabled(disabled != 0);
}

void ui_disabled_end() {
  ImGui::EndDisabled();
}

void ui_same_line() {
  ImGui::SameLine();
}

void ui_space() {
  ImGui::Spacing();
}

/* ---- Text ---- */

void ui_text(const char *format, ...) {
  char text[1000];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  text_in_lines(text, ImGui::GetContentRegionAvail().x);
}

void ui_dim_text(const char *text) {
  ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyle().Colors[ImGuiCol_TextDisabled]);
  ui_text("%s", text);
  ImGui::PopStyleColor();
}

void ui_tip(const char *text) {
  if (!ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) return;
  ImGui::BeginTooltip();
  text_in_lines(text, std::min(380 * ui_scale, 0.8f * ImGui::GetIO().DisplaySize.x));
  ImGui::EndTooltip();
}

void ui_point_at() {
  const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
  const float gap = 3 * ui_scale;
  ImGui::GetWindowDrawList()->AddRect(ImVec2(low.x - gap, low.y - gap), ImVec2(high.x + gap, high.y + gap),
                                      IM_COL32(214, 96, 16, 255), 3 * ui_scale, 0, 2 * ui_scale);
}

/* ---- Controls ---- */

int ui_button(const char *label, int count) {
  const float space = ImGui::GetStyle().ItemSpacing.x;
  const ImVec2 low = ImGui::GetWindowContentRegionMin(), high = ImGui::GetWindowContentRegionMax();
  const float width = (high.x - low.x - space * static_cast<float>(count - 1)) / static_cast<float>(count);
  return ImGui::Button(label, ImVec2(width, 0));
}

int ui_check_box(const char *label, int *on) {
  bool value = *on != 0;
  const bool changed = ImGui::Checkbox(label, &value);
  *on = value;
  return changed;
}

int ui_combo(const char *label, int *choice, const char *const *names, int count) {
  return ImGui::Combo(label, choice, names, count);
}

int ui_menu_begin(const char *label, const char *now) {
  return ImGui::BeginCombo(label, now);
}

int ui_menu_item(const char *name, int selected, const char *why_not) {
  const int chosen = ImGui::Selectable(name, selected != 0, why_not ? ImGuiSelectableFlags_Disabled : 0);
  if (why_not) {
    ImGui::Indent();
    ui_dim_text(why_not);
    ImGui::Unindent();
  }
  return chosen;
}

void ui_menu_end() {
  ImGui::EndCombo();
}

/* Dear ImGui draws the value on the slider, and the handle hides it. Here the value is to the right of the
 * slider, in a column wide enough for `widest`. The slider shows it only while the user types one, after Ctrl
 * and a click. */
template <typename Slider>
static int slider(const char *label, const char *value, const char *widest, Slider draw) {
  static ImGuiID typed = 0;
  const float whole = ImGui::CalcItemWidth(), gap = ImGui::GetStyle().ItemInnerSpacing.x;
  const float column = std::max(0.4f * whole, ImGui::CalcTextSize(widest).x), left = ImGui::GetCursorPosX();
  ImGui::BeginGroup();
  ImGui::PushID(label);
  const ImGuiID id = ImGui::GetID("##slider");
  ImGui::SetNextItemWidth(std::max(whole - column - gap, 0.3f * whole));
  const bool hidden = typed != id;
  if (hidden) ImGui::PushStyleColor(ImGuiCol_Text, ImVec4(0, 0, 0, 0));
  const bool changed = draw("##slider");
  if (hidden) ImGui::PopStyleColor();
  if (ImGui::IsItemActive() && ImGui::GetIO().WantTextInput)
    typed = id;
  else if (!hidden)
    typed = 0;
  ImGui::SameLine(0, gap);
  ImGui::TextUnformatted(value);
  ImGui::SameLine(0, 0);
  ImGui::SetCursorPosX(left + whole + gap);
  ImGui::TextUnformatted(label);
  ImGui::PopID();
  ImGui::EndGroup();
  return changed;
}

int ui_slider(const char *label, float *value, float low, float high, const char *format) {
  char text[40], widest[40];
  std::snprintf(text, sizeof text, format, static_cast<double>(*value));
  std::snprintf(widest, sizeof widest, format, static_cast<double>(high));
  return slider(label, text, widest, [=](const char *id) {
    return ImGui::SliderFloat(id, value, low, high, format, ImGuiSliderFlags_AlwaysClamp);
  });
}

/* Dear ImGui's logarithmic slider does not work with values that its format would print as 0. */
int ui_slider_log(const char *label, double *value, double low, double high) {
  float power = static_cast<float>(std::log10(*value));
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", *value);
  if (!slider(label, text, "", [&](const char *id) {
        return ImGui::SliderFloat(id, &power, static_cast<float>(std::log10(low)),
                                  static_cast<float>(std::log10(high)), text,
                                  ImGuiSliderFlags_AlwaysClamp | ImGuiSliderFlags_NoInput);
      }))
    return 0;
  /* Round to the two digits that are shown. */
  std::snprintf(text, sizeof text, "%.1e", std::pow(10.0, static_cast<double>(power)));
  *value = std::strtod(text, nullptr);
  return 1;
}

int ui_slider_unit(const char *label, double *value, double low, double high, const char *unit) {
  char format[40], text[60], widest[60];
  std::snprintf(format, sizeof format, "%%.3g %s", unit);
  std::snprintf(text, sizeof text, "%.3g %s", *value, unit);
  std::snprintf(widest, sizeof widest, "-0.05 %s", unit);
  return slider(label, text, widest, [&](const char *id) {
    return ImGui::SliderScalar(id, ImGuiDataType_Double, value, &low, &high, format,
                               ImGuiSliderFlags_AlwaysClamp | ImGuiSliderFlags_NoRoundToFormat);
  });
}

int ui_slider_log_unit(const char *label, double *value, double low, double high, int from_zero,
                       const char *unit) {
  const double range = std::log(high / low);
  /* If the slider includes 0, its first hundredth selects 0. */
  const float first = from_zero ? 0.01f : 0;
  float at = 0;
  char text[60], widest[60];
  if (*value >= low) at = first + (1 - first) * static_cast<float>(std::log(*value / low) / range);
  std::snprintf(text, sizeof text, "%.2g %s", *value, unit);
  std::snprintf(widest, sizeof widest, "0.0005 %s", unit);
  if (!slider(label, text, widest, [&](const char *id) {
        return ImGui::SliderFloat(id, &at, 0, 1, "", ImGuiSliderFlags_AlwaysClamp | ImGuiSliderFlags_NoInput);
      }))
    return 0;
  if (from_zero && at < first) {
    *value = 0;
    return 1;
  }
  /* Round to the two digits that are shown. */
  std::snprintf(text, sizeof text, "%.1e",
                low * std::exp(range * static_cast<double>((at - first) / (1 - first))));
  *value = std::strtod(text, nullptr);
  return 1;
}

static int int_slider(const char *label, int *value, int low, int high, const char *at_low, int flags) {
  char text[40];
  const char *const format = *value == low && at_low ? at_low : "%d";
  std::snprintf(text, sizeof text, "%d", *value);
  return slider(label, format == at_low ? at_low : text, at_low ? at_low : "", [=](const char *id) {
    return ImGui::SliderInt(id, value, low, high, format, ImGuiSliderFlags_AlwaysClamp | flags);
  });
}

int ui_slider_int(const char *label, int *value, int low, int high, const char *at_low) {
  return int_slider(label, value, low, high, at_low, 0);
}

int ui_slider_int_log(const char *label, int *value, int low, int high) {
  return int_slider(label, value, low, high, nullptr, ImGuiSliderFlags_Logarithmic);
}

int ui_colour(const char *label, float rgb[3]) {
  return ImGui::ColorEdit3(label, rgb, ImGuiColorEditFlags_NoInputs);
}

int ui_text_field(const char *name, char *text, int size, const char *button) {
  ImGui::PushID(name);
  ImGui::InputText("##text", text, static_cast<size_t>(size));
  ImGui::SameLine();
  const bool pressed = ImGui::Button(button, ImVec2(ImGui::GetContentRegionAvail().x, 0));
  ImGui::PopID();
  return pressed;
}

void ui_plot(const char *text, const float *values, int count, float low, float high, int bars) {
  const ImVec2 size(ImGui::GetContentRegionAvail().x, 44 * ui_scale);
  ui_text("%s", text);
  ImGui::PushID(text);
  if (bars)
    ImGui::PlotHistogram("##plot", values, count, 0, nullptr, low, high, size);
  else
    ImGui::PlotLines("##plot", values, count, 0, nullptr, low, high, size);
  ImGui::PopID();
}

static ImVec4 colour_of(const ui_curve &curve) {
  return ImVec4(curve.rgb[0], curve.rgb[1], curve.rgb[2], 1);
}

void ui_curves(const char *text, const ui_curve *curves, int count, int room, float low, float high) {
  ui_text("%s", text);
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const ImVec2 size(ImGui::GetContentRegionAvail().x, 64 * ui_scale);
  const ImVec2 to(from.x + size.x, from.y + size.y);
  ImDrawList *list = ImGui::GetWindowDrawList();
  list->AddRectFilled(from, to, ImGui::GetColorU32(ImGuiCol_FrameBg));
  list->PushClipRect(from, to, true);
  const float margin = 2 * ui_scale, scale = high > low ? (size.y - 2 * margin) / (high - low) : 0;
  for (int c = 0; c < count; c++) {
    ImVec2 before(0, 0);
    bool joined = false;
    for (int k = 0; k < curves[c].count; k++) {
      if (!std::isfinite(curves[c].values[k])) continue;
      const float age = static_cast<float>(curves[c].count - 1 - k) / static_cast<float>(room - 1);
      const ImVec2 at(to.x - size.x * age, to.y - margin - (curves[c].values[k] - low) * scale);
      if (joined) list->AddLine(before, at, ImGui::GetColorU32(colour_of(curves[c])), 1.5f * ui_scale);
      joined = true;
      before = at;
    }
  }
  list->PopClipRect();
  list->AddRect(from, to, ImGui::GetColorU32(ImGuiCol_Border));
  ImGui::Dummy(size);
  for (int c = 0; c < count; c++) {
    if (c) ImGui::SameLine();
    if (ImGui::CalcTextSize(curves[c].name).x > ImGui::GetContentRegionAvail().x) ImGui::NewLine();
    ImGui::TextColored(colour_of(curves[c]), "%s", curves[c].name);
  }
}
