#!/usr/bin/python3
"""Build the documentation site from docs/, the headers and the program itself, without a network.

    scripts/docs/build.py --talus PROGRAM --output DIR [--papers none|short|full]

DIR/site/index.html is the site; DIR/pages is what it was made from. Written by this script are the
pages of the C library (from the headers), of the Python package (from its docstrings, if it was built
beside PROGRAM), of the commands (from `talus help`) and of the figures of
the published experiments (from `talus paper`, in the versions that --papers says [short]).
"""
import argparse
import base64
import html
import importlib
import inspect
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "python"))
import generate  # noqa: E402  the reader of the headers that the Python package uses

KATEX = pathlib.Path("/usr/share/javascript/katex")
LINK = re.compile(r"(?<!\!)\[([^\]]*)\]\(([^)\s#]+)(#[^)]*)?\)")


def run(command, **options):
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    if result.returncode:
        said = [line for line in (result.stdout + result.stderr).splitlines() if "INFO" not in line]
        sys.exit(f"build-docs: {' '.join(map(str, command))} failed:\n" + "\n".join(said))
    return result.stdout


# ---- pages that are written by hand -----------------------------------------------------------

def adapt_links(text, page, pages):
    """Links that lead out of docs/ become links to copies of the files, or plain words."""
    def adapt(found):
        words, target = found.group(1), found.group(2)
        if re.match(r"[a-z]+:", target):
            return found.group(0)
        path = (page.parent / target).resolve()
        if path.is_relative_to(ROOT / "docs") or not path.exists():
            return found.group(0)  # mkdocs finds what does not exist
        if path.is_dir():
            return words
        copy = pages / "files" / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
        here = pages / page.relative_to(ROOT / "docs").parent
        return f"[{words}]({os.path.relpath(copy, here)})"
    return LINK.sub(adapt, text)


def stage_pages(pages):
    for path in sorted((ROOT / "docs").rglob("*")):
        target = pages / path.relative_to(ROOT / "docs")
        if path.is_dir():
            target.mkdir(parents=True, exist_ok=True)
        elif path.suffix == ".md":
            target.write_text(adapt_links(path.read_text(), path, pages))
        else:
            shutil.copyfile(path, target)


def stage_assets(pages):
    assets = pages / "assets"
    (assets / "katex").mkdir(parents=True)
    for name in ("talus.css", "equations.js", "search-from-disk.js"):
        shutil.copyfile(HERE / name, assets / name)
    for name in ("katex.min.js", "contrib/auto-render.js"):
        shutil.copyfile(KATEX / name, assets / "katex" / pathlib.Path(name).name)
    # The fonts are put into the style sheet: Firefox loads no font files for pages from disk.
    def inline(found):
        font = base64.b64encode((KATEX / found.group(1)).read_bytes()).decode()
        return f"src:url(data:font/woff2;base64,{font}) format('woff2')"
    style = (KATEX / "katex.min.css").read_text()
    style = re.sub(r"src:url\(([^)]*\.woff2)\) format\('woff2'\)(,url\([^)]*\) format\('\w+'\))*", inline, style)
    (assets / "katex" / "katex.min.css").write_text(style)


def write_search_index(site):
    """The index of the search as a script, which pages that are opened from disk may load."""
    index = (site / "search" / "search_index.json").read_text()
    (site / "search" / "search_index.js").write_text(f"search_index({index});\n")


# ---- pages that are generated -----------------------------------------------------------------

def declarations(name):
    """(comment, declaration as written) of all that a header declares, after its own comment."""
    text = (ROOT / "include" / name).read_text()
    lines = text.splitlines()
    code, comments = generate.split_comments(text, inline="")
    for start, end, _ in generate.statements(code):
        doc = generate.doc_above(comments, code, start)
        written = "\n".join(lines[start:end + 1])
        yield doc, re.sub(r"^static inline (.*)", r"\1;", written, flags=re.DOTALL)


def head_comment(name):
    lines = (ROOT / "include" / name).read_text().splitlines()
    block = []
    for line in lines:
        if not line.startswith("///"):
            break
        block.append(line[3:].strip())
    return "\n".join(block)


def title_of(declaration):
    if "{" in declaration:
        return re.search(r"(\w+)\s*;$", declaration.strip()).group(1) if not \
            re.match(r"enum\s*{", declaration) else "constants"
    found = re.search(r"(\w+)\s*\(", declaration) if "typedef" not in declaration else None
    return found.group(1) if found else re.search(r"(\w+)\s*(\([^)]*\))?\s*;", declaration).group(1)


def write_api(pages):
    out = ["# The C library", "",
           "All public headers, as they are installed; `#include <talus/talus.h>` includes those of the engine, "
           "`#include <talus/workshop.h>` all of them. "
           "The same names, without `talus_`, are in the [Python package](python.md).", ""]
    for name in generate.header_order(ROOT / "include"):
        if name in ("talus/talus.h", "talus/workshop.h"):
            continue
        out += [f"## `{name}`", "", head_comment(name), ""]
        for doc, declaration in declarations(name):
            clean = re.sub(r"TALUS_API |\s*TALUS_PRINTF\([^)]*\)", "", declaration)
            out += [f"### `{title_of(clean)}`", "", doc, "", "```c", clean, "```", ""]
    (pages / "api.md").write_text("\n".join(out))


def import_package(talus):
    """The Python package of the build that the program is from, None if it has none."""
    folder = pathlib.Path(talus).resolve().parent / "python"
    if not (folder / "talus" / "_header.py").exists():
        return None
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module("talus")
    except ImportError:  # built for another interpreter
        return None


def python_entry(title, thing):
    """A docstring as a page shows it: prose as it is, lists of options as they are set."""
    out = [f"### `{title}`", ""]
    for indented, lines in itertools.groupby(inspect.getdoc(thing).splitlines(),
                                             lambda line: line.startswith("    ")):
        lines = list(lines)
        out += ["```text", textwrap.dedent("\n".join(lines)), "```", ""] if indented else \
            [line.replace("<", "&lt;").replace("*", r"\*") for line in lines] + [""]
    return out


def callable_entry(name, thing, before=""):
    given = str(inspect.signature(thing)).replace("(self, ", "(").replace("(self)", "()")
    given = re.sub(r"<function (\w+) at \w+>", r"\1", given)
    return python_entry(f"{before}{name}{given}", thing)


def public(thing, wanted):
    return [(n, v) for n, v in vars(thing).items() if not n.startswith("_") and wanted(v) and
            inspect.getdoc(v)]


def write_python(talus, pages):
    out = ["# The Python package", ""]
    package = import_package(talus)
    if package is None:
        out += ["This site was built without the Python package; `make docs` has this page if it is "
                "built ([how](python.md#getting-it))."]
        (pages / "python-api.md").write_text("\n".join(out))
        return
    out += ["What `help()` shows of `import talus`. [Python](python.md) says how things belong "
            "together.", ""]
    parts = ("World", "WorldView", "Scene", "Recording", "Frame", "Figure")
    for name in parts:
        kind, bare = getattr(package, name), name.lower()
        out += [f"## {name}", "", *callable_entry(name, kind)]
        for method, thing in public(kind, lambda v: isinstance(v, property)):
            out += python_entry(f"{bare}.{method}", thing)
        for method, thing in public(kind, inspect.isfunction):
            out += callable_entry(method, thing, bare + ".")
    for head, module in (("Functions", package), ("Measures", package.measure)):
        out += [f"## {head}", ""]
        for name, thing in sorted(public(module, inspect.isfunction)):
            out += callable_entry(name, thing, "measure." * (module is not package))
    classes = [(n, v) for n, v in sorted(public(package, inspect.isclass)) if n not in parts]
    for head, base in (("Results", package.StepResult.__base__),
                       ("Words that options take", package.Status.__base__),
                       ("Exceptions", package.Error)):
        out += [f"## {head}", ""]
        for name, kind in classes:
            out += python_entry(name, kind) if issubclass(kind, base) else []
    (pages / "python-api.md").write_text("\n".join(out) + "\n")


def write_commands(talus, pages):
    listed = run(["talus", "help"], executable=talus)
    names = re.findall(r"^  talus (\w+)", listed, re.M)
    out = ["# Commands", "", "The same as `talus help` and `talus COMMAND --help`.", "",
           "```text", listed.rstrip(), "```", ""]
    for name in names:
        out += [f"## `talus {name}`", "", "```text",
                run(["talus", "help", name], executable=talus).rstrip(), "```", ""]
    (pages / "commands.md").write_text("\n".join(out))


def write_validation(talus, mode, folder, pages):
    out = ["# Validation: all figures", ""]
    if mode == "none":
        out += ["This site was built without the figures; `make docs` has them."]
    else:
        results = folder / "papers"
        shutil.rmtree(results, ignore_errors=True)
        command = [talus, "paper", "all", "-o", results, "--quiet"] + ["--short"] * (mode == "short")
        done = subprocess.run(command)
        if done.returncode not in (0, 4):  # 4: a number disagrees, and the page says so
            sys.exit("build-docs: talus paper failed")
        words = "the short versions of the test suite; `make docs PAPERS=full` has the full ones" \
            if mode == "short" else "the full versions"
        out += [f"[What the experiments are](papers.md). Here are {words}. Tables compare what was measured "
                "with what was published or predicted.", ""]
        body = (results / "index.html").read_text().split("<body>")[1].split("</body>")[0]
        for part in re.split(r'<h2 id="[^"]*">', body)[1:]:
            name, rest = part.split("</h2>", 1)
            out += [f"## {html.unescape(name)}", "", "<div>" + rest.replace("\n", " ") + "</div>", ""]
        for path in results.iterdir():  # the tables link to them
            if path.suffix in (".csv", ".svg"):
                shutil.copyfile(path, pages / path.name)
    (pages / "validation.md").write_text("\n".join(out))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--talus", required=True)
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("--papers", choices=["none", "short", "full"], default="short")
    options = parser.parse_args()
    folder = options.output.resolve()
    pages = folder / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    pages.mkdir(parents=True)
    stage_pages(pages)
    stage_assets(pages)
    write_api(pages)
    write_python(options.talus, pages)
    write_commands(options.talus, pages)
    write_validation(options.talus, options.papers, folder, pages)
    shutil.copyfile(HERE / "mkdocs.yml", folder / "mkdocs.yml")
    shutil.copytree(HERE / "theme", folder / "theme", dirs_exist_ok=True)
    run(["/usr/bin/mkdocs", "build", "--strict", "--config-file", folder / "mkdocs.yml"])
    write_search_index(folder / "site")
    print(f"{folder / 'site' / 'index.html'}")


if __name__ == "__main__":
    main()
