#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The documentation as a static site. usage: docs.py BUILD TARGET

In: README.md, docs/*.md, the public headers, the operation table as the built command knows it. Out: TARGET with one
.html a page, nothing fetched from elsewhere. mkdocs makes the pages; the C reference (docs_api.py) and the operation
reference (docs_ops.py) are written for it at every build and kept nowhere else. Exit status 3: mkdocs is missing."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

import docs_api
import docs_ops

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
NAV = [("Start", ["index", "tutorial", "install", "embedding"]),
       ("Reference", ["api", "operations", "numerics", "differences", "seeing", "control", "checked"]),
       ("Inside", ["architecture", "performance", "decisions", "kernels", "testing", "exhaustive"]),
       ("Contributing", ["contributing"])]


def title_of(text):
    return re.search(r"^# (.*)$", text, re.M).group(1)


def from_readme(text):
    """Links of the README as seen from the folder of the pages; files that are no page lead to nowhere but their name."""
    text = re.sub(r"\]\(docs/([^)]+)\)", r"](\1)", text)
    return re.sub(r'src="docs/', 'src="', text)


def unlink_files(text, pages):
    """Links to files of the repository become their names: the site has pages only."""
    def keep(m):
        path = m.group(2).partition("#")[0]
        inside = not path or re.match(r"[a-z]+:", path) or path in pages or path.endswith(".svg")
        return m.group(0) if inside else f"{m.group(1)} (`{path.replace('../', '')}`)"
    return re.sub(r"\[([^\]]+)\]\(([^)\s]+)\)", keep, text)


def write_pages(build, folder):
    pages = {os.path.basename(p)[:-3]: open(p, encoding="utf-8").read() for p in glob.glob(os.path.join(ROOT, "docs", "*.md"))}
    pages["index"] = from_readme(open(os.path.join(ROOT, "README.md"), encoding="utf-8").read())
    pages["api"] = docs_api.page(os.path.join(ROOT, "include", "weft"))
    pages["operations"] = docs_ops.page(build)
    names = {n + ".md" for n in pages}
    for name, text in pages.items():
        text = re.sub(r"^<!-- (?:output|with:|compiled only|tested by|commit).*-->\n", "", text, flags=re.M)
        open(os.path.join(folder, name + ".md"), "w", encoding="utf-8").write(unlink_files(text, names))
    for svg in glob.glob(os.path.join(ROOT, "docs", "*.svg")):
        shutil.copy(svg, folder)
    return pages


def config(pages, folder, target):
    lines = ["site_name: weft", f"docs_dir: {folder}", f"site_dir: {target}", "use_directory_urls: false",
             "theme:", "  name: mkdocs", "  highlightjs: false", "  color_mode: auto", "markdown_extensions: [tables, toc]",
             "plugins: [search]", "nav:"]
    seen = set()
    for group, names in NAV:
        have = [n for n in names if n in pages]
        seen.update(have)
        lines.append(f"  - {group}:")
        lines += [f"    - \"{title_of(pages[n])}\": {n}.md" for n in have]
    rest = sorted(set(pages) - seen)
    if rest:
        lines.append("  - More:")
        lines += [f"    - \"{title_of(pages[n])}\": {n}.md" for n in rest]
    return "\n".join(lines) + "\n"


def main():
    build, target = (os.path.abspath(p) for p in sys.argv[1:3])
    if not shutil.which("mkdocs"):
        print("mkdocs is not installed: apt-get install mkdocs", file=sys.stderr)
        return 3
    with tempfile.TemporaryDirectory() as work:
        folder = os.path.join(work, "pages")
        os.mkdir(folder)
        pages = write_pages(build, folder)
        yml = os.path.join(work, "mkdocs.yml")
        open(yml, "w", encoding="utf-8").write(config(pages, folder, target))
        p = subprocess.run(["mkdocs", "build", "--quiet", "--clean", "--config-file", yml], capture_output=True, text=True)
        said = [line for line in (p.stdout + p.stderr).splitlines() if line.strip() and "DeprecationWarning" not in line]
        if p.returncode or any("WARNING" in line for line in said):
            print("\n".join(said), file=sys.stderr)
            return 1
    print(f"{len(pages)} pages in {target}, from index.html on")
    return 0


if __name__ == "__main__":
    sys.exit(main())
