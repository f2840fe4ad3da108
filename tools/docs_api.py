# SPDX-License-Identifier: MIT
"""The C reference, out of the public headers as they are written: sections begin with /* ---- title ---- */, a comment
belongs to the declarations below it, up to an empty line; one behind a declaration to that one."""
import glob
import os
import re


def html(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def plain(comment):
    """A comment without its stars; examples, which are indented, stay examples."""
    lines = [re.sub(r"^\s*\*? ?", "", line) for line in comment.strip()[2:-2].split("\n")]
    out, code, item = [], False, False
    for line in lines:
        item = bool(re.match(r"\s*- ", line)) or (item and bool(line.strip()))
        indented = line.startswith("    ") and bool(line.strip()) and not item
        if indented != code:
            out.append("")
            code = indented
        keep = "  " if item and not line.strip().startswith("- ") else ""
        out.append(line if indented else keep + re.sub(r"([_*<])", r"\\\1", line.strip()))
    return "\n".join(out).strip("\n")


def declarations(text):
    """(comment, code) in order: a comment and the lines under it; a section is ("==", title)."""
    token = re.compile(r"/\*.*?\*/|[^\n]*\n?", re.S)
    comment, code, depth, at, found = "", "", 0, 0, []

    def flush():
        nonlocal comment, code
        if code.strip():
            found.append((comment, code.strip("\n")))
            comment = ""
        code = ""

    while at < len(text):
        m = re.compile(r"\s*/\*").match(text, at) if depth == 0 and (at == 0 or text[at - 1] == "\n") else None
        if m:
            end = text.index("*/", at) + 2
            body = text[at:end].strip()
            section = re.match(r"/\*\s*-{3,} (.*?) -{2,}", body, re.S)
            flush()
            rest = re.sub(r"^/\*\s*-{3,} .*? -{2,}\s*", "/* ", body, flags=re.S) if section else body
            if section:
                found.append(("==", section.group(1)))
            comment = "" if section and not re.sub(r"[/*\s-]", "", rest) else rest if section else body
            if section and comment.endswith("/* */"):
                comment = ""
            at = end
            continue
        line = token.match(text, at).group()
        line = text[at:text.find("\n", at) + 1] or text[at:]
        at += len(line)
        if not line.strip() and depth == 0:
            flush()
            continue
        bare = re.sub(r"/\*.*?\*/", "", line)
        if "/*" in bare: # a comment behind a declaration that goes on
            end = text.index("*/", at) + 2
            line += text[at:end]
            at = end
            bare = re.sub(r"/\*.*?\*/", "", line, flags=re.S)
        depth += bare.count("{") - bare.count("}") + bare.count("(") - bare.count(")")
        code += line
    flush()
    return found


def cleaned(text):
    """Without what only the compiler needs."""
    text = re.sub(r'^#(?:include|ifdef|endif|if|else|elif).*\n', "", text, flags=re.M)
    text = re.sub(r'^#define (?:WEFT_API|WEFT_\w+_H)\b.*\n', "", text, flags=re.M)
    text = re.sub(r'^extern "C" \{\n|^\}\n(?=\s*(?:\Z|#))', "", text, flags=re.M)
    return re.sub(r"\bWEFT_API ", "", text)


def name_of(code):
    m = re.search(r"\}\s*(weft_\w+)\s*;", code) or re.search(r"\b(weft_\w+)\s*\(", code) or re.search(r"\b(weft_\w+|WEFT_\w+)", code)
    return m.group(1) if m else "declarations"


def names_of(code):
    bare = re.sub(r"/\*.*?\*/", "", code, flags=re.S)
    if re.match(r"\s*typedef", bare) or "{" in bare:
        return [name_of(bare)]
    return re.findall(r"\b(weft_\w+)\s*\(", bare) or [name_of(bare)]


def header_page(path):
    text = open(path, encoding="utf-8").read()
    first = re.match(r"/\*.*?\*/", text, re.S).group()
    out = [f"## `<weft/{os.path.basename(path)}>`", "", plain(re.sub(r"SPDX-License-Identifier: MIT\s*\*?", "", first)), ""]
    for comment, code in declarations(cleaned(text[len(first):])):
        if comment == "==":
            out += [f"### {code[0].upper()}{code[1:]}", ""]
            continue
        for name in names_of(code):
            out.append(f'<a id="{name}"></a>')
        out.append("")
        if comment:
            out += [plain(comment), ""]
        out += ["```text", code, "```", ""]
    return "\n".join(out)


def page(folder):
    """weft.h first, then the headers that it includes."""
    paths = sorted(glob.glob(os.path.join(folder, "*.h")), key=lambda p: (os.path.basename(p) != "weft.h", p))
    head = ["# C reference", "", "Generated from the public headers. `#include <weft/weft.h>` brings all of them.", ""]
    return "\n".join(head + [header_page(p) for p in paths])
