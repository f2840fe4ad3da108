#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Every code block of README.md and docs/*.md, compiled and run; links between pages; commits that pages name.

    test_docs.py BUILD [--site]      --site: build the site too and look at it

What a block is, its fence says; a comment on the line before it says more:
    ```c with main(             a program: compiled against the library, run; must end with 0
    ```c                        a fragment: tests/docs_fixture.h says what it may use; it is put into a function
    ```sh                       a script (sh -e), or, with lines that begin with "$ ", commands and what they print
    ```python                   run, behind the page's earlier ones, with the module of the build on its path; skipped without it
    ```cmake                    only where another test is named
    <!-- output -->             before ```text: what the program above printed; "..." stands for any text
    <!-- with: C -->            before ```c: declarations for the fragment; #include lines go to its top
    <!-- compiled only -->      not run: it needs what is not here
    <!-- tested by NAME: ... --> another test of ctest runs these very commands
"""
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
BUILD = os.path.abspath(sys.argv[1])
tally = {"passed": 0, "failed": 0, "skipped": 0}


def check(what, ok, detail=""):
    tally["passed" if ok else "failed"] += 1
    if not ok:
        print(f"FAIL {what}\n{str(detail)[:2500]}")
    return ok


def skip(what):
    tally["skipped"] += 1
    print(f"skipped: {what}")


class Block:
    def __init__(self, page, line, language, text, hints):
        self.where = f"{page}:{line}"
        self.language, self.text, self.hints, self.printed, self.before = language, text, hints, None, ""


def blocks_of(page):
    """Fenced blocks with the comments directly before them."""
    found, hints, fence, start = [], [], None, 0
    for number, line in enumerate(open(os.path.join(ROOT, page), encoding="utf-8").read().split("\n"), 1):
        if fence is None:
            opened = re.match(r"```(\w*)\s*$", line)
            hint = re.match(r"<!-- (.*) -->\s*$", line)
            if opened:
                fence, start, body = opened.group(1), number, []
            elif hint:
                hints.append(hint.group(1))
            elif line.strip():
                hints = []
        elif line.startswith("```"):
            found.append(Block(page, start, fence, "\n".join(body) + "\n", hints))
            if fence == "python": # a page goes on where its last block ended
                found[-1].before = "".join(b.text for b in found[:-1] if b.language == "python")
            fence, hints = None, []
        else:
            body.append(line)
    check(f"{page}: every fence is closed", fence is None)
    return found


def matches(want, got):
    """'...' stands for anything; spaces at ends of lines do not count."""
    tidy = ["\n".join(line.rstrip() for line in t.strip("\n").split("\n")) for t in (want, got)]
    pattern = ".*?".join(re.escape(part) for part in tidy[0].split("..."))
    return re.fullmatch(pattern, tidy[1], re.S) is not None


# ---- languages -------------------------------------------------------------------------------------------------
def run(argv, cwd, stdin=None, **env):
    p = subprocess.run(argv, cwd=cwd, input=stdin, capture_output=True, text=True, timeout=120,
                       env={**os.environ, "NO_COLOR": "1", **env})
    return p.returncode, p.stdout, p.stderr


def c_source(block):
    if re.search(r"\bmain\s*\(", block.text):
        return block.text
    first = "".join(h[6:] + "\n" for h in block.hints if h.startswith("with: #"))
    more = "".join(h[6:] + "\n" for h in block.hints if h.startswith("with: ") and not h.startswith("with: #"))
    top = "".join(re.findall(r"^#include.*\n", block.text, re.M))
    body = re.sub(r"^#include.*\n", "", block.text, flags=re.M)
    # functions of the fragment stay outside of the function that it is put into
    functions = "".join(re.findall(r"^static [^;{]*\)\s*\{\n(?:.*\n)*?\}\n", body, re.M))
    body = re.sub(r"^static [^;{]*\)\s*\{\n(?:.*\n)*?\}\n", "", body, flags=re.M)
    return (f'#include "docs_fixture.h"\n{first}{top}{functions}\nstatic void fragment(void) {{\n{more}{body}}}\n'
            "int main(void) { fixture_begin(); fragment(); return fixture_end(); }\n")


def run_c(block, folder):
    source, program = os.path.join(folder, "block.c"), os.path.join(folder, "block")
    open(source, "w").write(c_source(block))
    include = [f"-I{ROOT}/include", f"-I{ROOT}/tests", f"-I{ROOT}/examples", f"-I{ROOT}/examples/adapters"]
    flags = ["-std=gnu17", "-Wall", "-Wno-unused-variable", "-Wno-unused-but-set-variable", "-Wno-unknown-pragmas",
             "-Werror"]
    only = "compiled only" in block.hints
    code, out, err = run(["cc", *flags, *include, source, *(["-c", "-o", os.devnull] if only else
                         ["-o", program, f"-L{BUILD}", "-lweft", f"-Wl,-rpath,{BUILD}", "-lm", "-lpthread"])], folder)
    if code or only:
        return code == 0, err
    code, block.printed, err = run([program], folder)
    return code == 0, block.printed + err


def run_sh(block, folder):
    if not re.search(r"^\$ ", block.text, re.M):
        code, out, err = run(["sh", "-e"], folder, stdin=block.text)
        return code == 0, out + err
    for part in re.split(r"^\$ ", block.text, flags=re.M)[1:]:
        command, _, want = part.partition("\n")
        while command.endswith("\\"):
            line, _, want = want.partition("\n")
            command += "\n" + line
        code, out, err = run(["sh", "-e"], folder, stdin=command + "\n")
        if code:
            return False, f"$ {command}\n{out}{err}"
        if want.strip() and not matches(want, out + err):
            return False, f"$ {command}\nprinted:\n{out}{err}\nthe page says:\n{want}"
    return True, ""


def run_python(block, folder):
    code, out, err = run(["/usr/bin/python3", "-"], folder, stdin=block.before + block.text,
                         PYTHONPATH=os.path.join(BUILD, "python"))
    if code and "No module named 'weft'" in err:
        return None, "the Python module is not built"
    block.printed = out
    return code == 0, out + err


def known_tests():
    out = subprocess.run(["ctest", "--test-dir", BUILD, "-N"], capture_output=True, text=True).stdout
    return set(re.findall(r"Test +#\d+: (\S+)", out))


def prepare(folder):
    """What pages take for granted: the tree as it looks from its root, and two small arrays."""
    os.mkdir(os.path.join(folder, "build"))
    os.symlink(BUILD, os.path.join(folder, "build", "release"))
    for name in ("include", "examples", "docs", "tests", "tools", "src"):
        os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
    weft = os.path.join(BUILD, "weft")
    for name in "xyab":
        run([weft, "eval", f"{name}*4", f"{name}=f64[1000]", "-o", name + ".npy"], folder)


def run_block(block, tests):
    by = [h for h in block.hints if h.startswith("tested by ")]
    if by:
        name = re.match(r"tested by (\w+)", by[0]).group(1)
        known = name in tests or os.path.exists(os.path.join(ROOT, "tests", f"test_{name}.py"))
        return known or name == "setup", f"no test is called {name}"
    runner = {"c": run_c, "sh": run_sh, "python": run_python}.get(block.language)
    if not runner:
        return False, f"nothing runs {block.language}; name the test that does"
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder)
        return runner(block, folder)


def test_blocks(pages):
    tests = known_tests()
    blocks = [b for page in pages for b in blocks_of(page)]
    code = [b for b in blocks if b.language in ("c", "sh", "python", "cmake")]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        for block, (ok, detail) in zip(code, pool.map(lambda b: run_block(b, tests), code)):
            if ok is None:
                skip(f"{block.where}: {detail}")
            else:
                check(f"{block.where}: {block.language}", ok, detail)
    before = None
    for b in blocks:
        if "output" in b.hints and before is not None and before.printed is not None:
            check(f"{b.where}: what the block before printed", matches(b.text, before.printed), before.printed)
        before = b if b.language in ("c", "python") else before
    check("the pages have code", len(code) >= 20, len(code))


# ---- links -----------------------------------------------------------------------------------------------------
def anchors(text):
    titles = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M), re.M)
    return {re.sub(r"[^\w\- ]", "", t.lower()).strip().replace(" ", "-") for t in titles}


def test_links(pages):
    for page in pages:
        text = open(os.path.join(ROOT, page), encoding="utf-8").read()
        prose = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
        bad = []
        for target in re.findall(r"\]\(([^)\s]+)\)", prose):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            file = os.path.normpath(os.path.join(ROOT, os.path.dirname(page), path)) if path else os.path.join(ROOT, page)
            generated = os.path.basename(path) in ("api.md", "operations.md") and os.path.dirname(page) == "docs"
            if not os.path.exists(file) and not generated:
                bad.append(target)
            elif anchor and file.endswith(".md") and not generated and anchor not in anchors(open(file, encoding="utf-8").read()):
                bad.append(target)
        check(f"{page}: links", not bad, bad)


def test_commits():
    """Commits that contributing.md walks through exist and have touched the files it lists for them."""
    text = open(os.path.join(ROOT, "docs/contributing.md"), encoding="utf-8").read()
    named = re.findall(r"<!-- commit ([0-9a-f]{7,}): (.*?) -->", text)
    check("contributing.md walks through commits", len(named) >= 3, named)
    if subprocess.run(["git", "-C", ROOT, "rev-parse", "--git-dir"], capture_output=True).returncode:
        return skip("no repository here, its commits are not looked up")
    for commit, files in named:
        p = subprocess.run(["git", "-C", ROOT, "show", "--name-only", "--format=", commit], capture_output=True, text=True)
        if p.returncode and os.path.exists(os.path.join(ROOT, ".git", "shallow")):
            skip(f"{commit}: the clone is shallow")
            continue
        touched = p.stdout.split()
        missing = [f for f in files.split() if f not in touched]
        check(f"commit {commit}", p.returncode == 0 and not missing, missing)


# ---- the site --------------------------------------------------------------------------------------------------
def test_site():
    p = subprocess.run(["/usr/bin/python3", os.path.join(ROOT, "tools", "docs.py"), BUILD, os.path.join(BUILD, "docs")],
                       capture_output=True, text=True, timeout=300)
    if p.returncode == 3:
        return skip(p.stderr.strip())
    site = os.path.join(BUILD, "docs")
    if not check("the site is built", p.returncode == 0, p.stdout + p.stderr):
        return
    pages = glob.glob(os.path.join(site, "**", "*.html"), recursive=True)
    check("every page is there", len(pages) >= 16, pages)
    bad, outside = [], []
    for page in pages:
        text = open(page, encoding="utf-8").read()
        outside += re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="(https?:[^"]*)"', text)
        for target in re.findall(r'(?:href|src)="([^"#:]+)(?:#[^"]*)?"', text):
            to = os.path.normpath(os.path.join(site if target.startswith("/") else os.path.dirname(page), target.lstrip("/")))
            if os.path.basename(page) != "404.html" and not os.path.exists(to):
                bad.append((os.path.relpath(page, site), target))
    check("links of the site", not bad, bad[:20])
    check("nothing is fetched from elsewhere", not outside, outside[:5])
    api = open(os.path.join(site, "api.html"), encoding="utf-8").read()
    headers = "".join(open(h).read() for h in glob.glob(os.path.join(ROOT, "include", "weft", "*.h")))
    names = set(re.findall(r"WEFT_API[^;]*?\b(weft_\w+)\s*\(", headers))
    missing = sorted(n for n in names if n not in api)
    check("the reference has every function", not missing and len(names) > 250, missing)
    ops = open(os.path.join(site, "operations.html"), encoding="utf-8").read()
    table = subprocess.run([os.path.join(BUILD, "weft"), "ops"], capture_output=True, text=True).stdout.split("\n\n")[0]
    missing = [line.split()[0] for line in table.splitlines() if f'id="{line.split()[0]}"' not in ops]
    check("the operation reference has every row", not missing, missing)
    check("with results", ops.count("class=\"language-text\"") > 100, ops.count("language-text"))


pages = ["README.md"] + sorted(os.path.relpath(p, ROOT) for p in glob.glob(os.path.join(ROOT, "docs", "*.md")))
test_blocks(pages)
test_links(pages)
test_commits()
if "--site" in sys.argv:
    test_site()
print("{passed} passed, {failed} failed, {skipped} skipped".format(**tally))
sys.exit(tally["failed"] > 0)
