#!/usr/bin/env python3
"""Doxygen's input filter: a public header, with its plain comments as Doxygen wants them.

    api_filter.py include/texsolve/HEADER.h

- A comment before declarations belongs to all of them, up to a blank line; one after a declaration or a field to that.
- The lists of enumerators (TS_X_LIST) are written out.
- Indented blocks are code, the first one is the header's example. "Errors:" begins a paragraph with that title.
- Names of this library become links. One that no header declares becomes a link to nothing, which Doxygen reports; so is
  a function without a comment.
"""
import pathlib
import re
import sys

COMMENT = r"/\*.*?\*/"
HEADERS = {}  # texts, by name
KNOWN = set()  # functions, types, enumerators, macros
FIELDS = {}  # of each struct


def read_headers(directory):
    for path in sorted(directory.glob("*.h")):
        text = HEADERS[path.name] = path.read_text()
        KNOWN.update(re.findall(r"^(?:TS_API|static inline)\b[^;{]*?\b(ts_\w+)\(", text, re.M))
        KNOWN.update(re.findall(r"^typedef [^;{]*?\(?\*?(ts_\w+)\)?(?:\([^;{]*\))?;", text, re.M))
        KNOWN.update(re.findall(r"^} (ts_\w+);", text, re.M))
        KNOWN.update(re.findall(r"^#define (\w+)", text, re.M))
        KNOWN.update(re.findall(r"\bX\((\w+),", text))
        for name, body in re.findall(r"^typedef struct (\w+) \{\n(.*?)^}", text, re.M | re.S):
            FIELDS[name] = re.sub(COMMENT, "", body, flags=re.S)
        for body in re.findall(r"\benum (?:\w+ )?\{(.*?)}", text, re.S):
            KNOWN.update(re.findall(r"\bTS_\w+", re.sub(COMMENT, "", body, flags=re.S)))


# ---- Text ----


def linked(match):
    name, field = match[1], match[2]
    if re.search("ENUM|OBJECT|_LIST$", name) or name.endswith("_") or match[0].endswith("..."):
        return match[0]
    if field and re.search(rf"\b{field}\b", FIELDS.get(name, "")):
        return f'@ref {name}::{field} "{name}.{field}"'
    return f'@ref {name} "{name}"' + (f".{field}" if field else "")


def sentence(text):
    """Escapes, links and code of a paragraph."""
    parts = re.split(r"(`[^`]*`)", text)
    for k in range(0, len(parts), 2):
        part = re.sub(r"([\\@<>&#%])", r"\\\1", parts[k])
        part = re.sub(r"\b((?:ts|TS)_\w+)(?:\.(?!\.)(\w+))?(?:\.\.\.)?", linked, part)
        part = re.sub(r"(?:texsolve/)?\b(\w+\.h)\b", lambda m: f'@ref {m[1]} "{m[0]}"' if m[1] in HEADERS else m[0], part)
        parts[k] = part.replace("et al. ", "et al.&nbsp;")
    return "".join(parts)


def lines_of(comment):
    """The comment's lines without its marks and margin."""
    lines = comment.strip()[2:-2].rstrip().split("\n")
    return [lines[0].strip()] + [re.sub(r"^ *\* ?" if re.match(r" *\*", line) else r"^ +", "", line) for line in lines[1:]]


def paragraphs(comment):
    """Doxygen's form: (text, is_code) of each block."""
    blocks, code, text = [], [], []

    def end():
        while code and not code[-1].strip():
            code.pop()
        if code:
            blocks.append(("\n".join(line[2:] for line in code), True))
        if text:
            blocks.append((" ".join(text), False))
        code.clear(), text.clear()

    for line in lines_of(comment):
        if line.startswith("  ") and not text or code and not line.strip():
            code.append(line)
        elif not line.strip():
            end()
        else:
            # "- " begins an item, unless a sentence happens to break there.
            if code or line.startswith("- ") and (not text or text[0].startswith("- ") or text[-1][-1] in ".:;"):
                end()
            for piece in re.split(r"(?:^|(?<=[.)] ))(?=Errors: )", line.strip()):
                if piece.startswith("Errors: "):
                    end()
                if piece:
                    text.append(piece.strip())
    end()
    return blocks


def document(comment, brief=True, command="", is_member=False):
    out = []
    for k, (block, is_code) in enumerate(paragraphs(comment)):
        if is_code:
            kind = ("code{.c}", "endcode") if "ts_" in block or ";" in block else ("verbatim", "endverbatim")
            out.append(f"@{kind[0]}\n{block}\n@{kind[1]}")
        elif block.startswith("Errors: "):
            out.append("@par Errors\n" + sentence(block[len("Errors: "):]))
        elif k == 0 and brief:
            first = block if is_member else re.match(r".*?(?:(?<!et al)(?<!\.)\.(?= )|$)", block)[0]
            rest = block[len(first):].strip()
            out.append("@brief " + sentence(first))
            if rest:
                out.append(sentence(rest))
        else:
            out.append(sentence(block))
    text = "\n\n".join(out)
    return "/** " + command + re.sub(r"\n\n(?=- )", "\n", text) + " */\n" if text or command else ""


# ---- Declarations ----


def members(body, end):
    """The fields of a struct (`end` is ";") or the enumerators of an enum (","), each with its comments before it."""
    out, before, after, item = [], [], [], ""

    def finish():
        text = " ".join(item.split())
        if not text:
            return
        names = [text]
        if end == ";" and "(" not in text and "," in text:
            first, *others = text.split(",")
            kind = re.match(r"(.*?)(\*?\w+(?:\[\w+\])?)$", first)
            names = [first] + [kind[1] + other.strip() for other in others]
        comment = "/*" + " ".join(" ".join(lines_of(c)) for c in before + after) + "*/"
        for name in names:
            out.append("  " + (document(comment, is_member=True) if before or after else "") + f"  {name}{end}\n")
        before.clear(), after.clear()

    done = False  # the item has ended, but a comment behind it may follow on its line
    for token in re.findall(rf"{COMMENT}|\n|{end}|[^\n/{end}]+|/", body, re.S):
        if token == "\n":
            if done:
                finish()
                item, done = "", False
        elif token.startswith("/*"):
            (after if item.strip() else before).append(token)
        elif token == end:
            done = True
        else:
            if done and token.strip():
                finish()
                item, done = "", False
            item += token
    finish()
    return "".join(out)


def expanded(text):
    """Enums of lists, written out."""
    lists = {}

    def take(match):
        body = match[3].replace("\\\n", "\n")
        entries = re.findall(rf'\bX\((\w+),(?: (-?\d+),)?\s*"([^"]*)"\)\s*({COMMENT})?', body, re.S)
        lists[match[2]] = (match[1] or "", entries)
        return ""

    text = re.sub(rf"(/\*(?:(?!\*/).)*\*/\n)?#define (TS_\w+_LIST)\(X\)((?:[^\n]*\\\n)*[^\n]*\n)", take, text, flags=re.S)

    def make(match):
        own, name, used, rest = match[1] or "", match[2], match[3], match[4]
        about, entries = lists[used]
        lines = []
        for enumerator, value, word, comment in entries:
            words = f'"{word}"' + (": " + " ".join(lines_of(comment)).strip() if comment else "")
            lines.append(f"  {enumerator}{f' = {value}' if value else ''}, /* {words} */")
        about = lines_of(about) if about else []
        own = lines_of(own) if own else []
        about = about + ([""] if about and own else []) + own
        comment = "".join(f" * {line}\n" for line in about + ["", f"{used}(X) has a line for each enumerator."])
        return f"/*{comment[2:]} */\ntypedef enum {name} {{\n" + "\n".join(lines) + f"\n{rest}}} {name};\n"

    return re.sub(rf"(/\*(?:(?!\*/).)*\*/\n)?typedef enum (\w+) \{{\n#define [^\n]*\n\s*(TS_\w+_LIST)\([^\n]*\n#undef [^\n]*\n(.*?)}} \2;\n",
                  make, text, flags=re.S)


def implied(declaration):
    """What names of types and of destructors say already."""
    found = re.match(r"typedef struct (ts_\w+)_(desc|info) \{", declaration)
    if found and found[2] == "desc" and f"{found[1]}_create" in KNOWN:
        return f"/* The descriptor of {found[1]}_create. */"
    if found and found[2] == "info":
        getters = [n for n in KNOWN if n.endswith("_info") and n.replace("_get_", "_") == f"{found[1]}_info" and "_get_" in n]
        return f"/* What {getters[0]} returns. */" if getters else ""
    found = re.match(r"typedef struct \w+ (ts_\w+);", declaration)
    if found and f"{found[1]}_create" in KNOWN:
        return f"/* Made by {found[1]}_create. */"
    if re.match(r"TS_API void ts_\w+_destroy\(", declaration):
        return "/* Destroys the object and sets the handle to NULL. NULL is accepted. */"
    return ""


def declaration_end(text, start):
    """The end of the declaration that begins at `start`: behind its semicolon or its last brace."""
    depth, k = 0, start
    while k < len(text):
        comment = re.compile(COMMENT, re.S).match(text, k)
        if comment:
            k = comment.end()
            continue
        depth += (text[k] in "{(") - (text[k] in ")}")
        k += 1
        if depth == 0 and text[k - 1] == ";":
            return k
        if depth == 0 and text[k - 1 : k + 1] == "}\n":  # a function's
            return k
    return k


def declared(declaration, comment):
    """A declaration behind its comment."""
    own = implied(declaration)
    if own and (not comment or "_destroy(" in declaration):
        comment = own
    if not comment and re.match(r"TS_API|static inline", declaration):
        return "/** @nocomment */\n" + declaration
    out = document(comment) if comment else ""
    found = re.match(r"((?:typedef )?(struct|enum) ?\w* ?\{)(.*)(\}[^}]*)$", declaration, re.S)
    if found:
        return out + found[1] + "\n" + members(found[3], ";" if found[2] == "struct" else ",") + found[4]
    return out + declaration


def filtered(name):
    text = expanded(HEADERS[name])
    opening = re.match(COMMENT, text, re.S)[0]
    if name == "texsolve.h":
        out = [document(opening, False, "@mainpage texsolve\n\n"), "/** @file\n@brief Contexts, spaces, vectors, scalars, matrices. The main page is the head of this header. */\n"]
    else:
        out = [document(opening, True, "@file\n\n")]
    comment, used, k = "", True, len(opening)
    while k < len(text):
        found = re.compile(r"\n+").match(text, k)
        if found:
            out.append(found[0])
            if len(found[0]) > 1:
                if not used:  # a comment without a declaration is about the header
                    out.append(document(comment, False, "@file\n\n"))
                comment, used = "", True
            k = found.end()
            continue
        found = re.compile(COMMENT, re.S).match(text, k)
        if found:
            if not re.match(r"/\* ----", found[0]):
                comment, used = found[0], False
            k = found.end()
            continue
        if text[k] == "#" or text.startswith('extern "C', k) or text.startswith("}", k):
            end = re.compile(r"(?:[^\n]*\\\n)*[^\n]*").match(text, k).end()
            line = text[k:end]
            if line.startswith("#define ts_"):
                out.append(document(comment) if comment else "/** @nocomment */\n")
                used = True
            out.append(re.sub(COMMENT, "", line, flags=re.S))
            k = end
            continue
        end = declaration_end(text, k)
        declaration = text[k:end]
        behind = re.compile(r"[ \t]*(/\*.*?\*/)", re.S).match(text, end)
        own = comment
        if behind:
            words = lines_of(behind[1])
            rest = lines_of(comment) if comment else []
            own = "/*" + "\n".join(" * " + line for line in words + ([""] + rest if rest else []))[2:] + "*/"
            end = behind.end()
        out.append(declared(declaration, own))
        used = True
        if "_destroy(" in declaration:
            comment = ""  # what it says is about the creation
        k = end
    return "".join(out)


def main():
    path = pathlib.Path(sys.argv[1])
    read_headers(path.parent)
    sys.stdout.write(filtered(path.name))


main()
