"""Read the public headers and write what the binding is made of.

    generate.py INCLUDE-DIR OUT-DIR

writes OUT-DIR/_talus.c, the extension module in cffi's API mode (its compiler checks every struct
against the header itself), and OUT-DIR/_header.py: the names of parameters, what is const, and all
the `///` comments, from which come docstrings and the shapes of arrays. Nothing of the headers is
repeated by hand: a function or field that is added there is in Python after the next build.
"""
import pathlib
import pprint
import re
import sys

import cffi
import pycparser
from pycparser import c_ast, c_generator

# What the headers take from the C library, in words that pycparser and cffi understand.
PRELUDE = "typedef int... sig_atomic_t;\n"
PARSER_PRELUDE = """
typedef _Bool bool; typedef unsigned long size_t; typedef int sig_atomic_t;
typedef signed char int8_t; typedef unsigned char uint8_t;
typedef short int16_t; typedef unsigned short uint16_t;
typedef int int32_t; typedef unsigned uint32_t;
typedef long int64_t; typedef unsigned long uint64_t;
"""


# ---- text of a header ------------------------------------------------------------------------

def header_order(folder, name="talus/workshop.h", seen=None):
    """The headers that the umbrella includes, each after those that it includes itself."""
    seen = [] if seen is None else seen
    text = (folder / name).read_text()
    for included in re.findall(r"#include <(talus/\w+\.h)>", text):
        if included not in seen:
            header_order(folder, included, seen)
    if name not in seen:
        seen.append(name)
    return seen


def split_comments(text, inline=r"_default\s*\("):
    """Lines of code without comments and directives, and the comment of each line. Of the functions
    that a header defines, those that match `inline` are shown as declarations: the compiler has
    them. The others are handy in C only, as are its constants of a struct."""
    code, comments, skipping, continued = [], [], False, False
    for line in text.splitlines():
        found = re.match(r"(.*?)(//.*)?$", line)
        body, comment = found.group(1), found.group(2) or ""
        directive = continued or body.lstrip().startswith("#")
        if re.match(r"\s*#ifdef __cplusplus", body):
            skipping = True
        elif skipping and re.match(r"\s*#endif", body):
            skipping = False
        continued = directive and body.rstrip().endswith("\\")
        code.append("" if directive or skipping else
                    re.sub(r"\bTALUS_API\b|\bTALUS_PRINTF\([^)]*\)", "", body))
        comments.append(comment)
    return declare_inline(code, inline), comments


def declare_inline(code, wanted):
    text = "\n".join(code)

    def lines_of(found):
        head = found.group(1).strip() + ";" if re.search(wanted, found.group(1)) else ""
        return head + "\n" * (found.group(0).count("\n") - head.count("\n"))

    text = re.sub(r"TALUS_DEFAULT\((\w+),\s*(\w+)\);", r"\1 \2(void);", text)
    text = re.sub(r"static inline\s([^;{}]*)\{.*?\n\}", lines_of, text, flags=re.DOTALL)
    return re.sub(r"static const talus_\w+ \w+ = \{[^}]*\};", "", text).split("\n")


def statements(code, ends=";", first=0):
    """(start line, end line, text) of the pieces that end in one of `ends` outside of braces."""
    depth, start, text = 0, None, ""
    for number, line in enumerate(code, first):
        for char in line + "\n":
            if start is None and char.isspace():
                continue
            start = number if start is None else start
            depth += (char == "{") - (char == "}")
            text += char
            if char in ends and depth == 0:
                yield start, number, text[:-1].strip()
                start, text = None, ""
    if text.strip():
        yield start, first + len(code) - 1, text.strip()


def doc_above(comments, code, line):
    """The block of /// lines that ends just above a line."""
    block = []
    while line > 0 and comments[line - 1].startswith("///") and not code[line - 1].strip():
        line -= 1
        if comments[line].startswith("///<"):
            break
        block.insert(0, comments[line][3:].strip())
    return "\n".join(block)


def doc_beside(comments, code, start, end):
    """The ///< comment on the lines of a piece and on those that go on with it."""
    lines = [comments[n] for n in range(start, end + 1) if comments[n].startswith("///<")]
    end += 1
    while end < len(code) and not code[end].strip() and comments[end].startswith("///<"):
        lines.append(comments[end])
        end += 1
    return " ".join(line[4:].strip() for line in lines)


def member_docs(code, comments, start, end, separator):
    """{name: doc} of the fields or enumerators between the braces of a statement."""
    body = [line for line in code[start:end + 1]]
    body[0] = body[0].split("{", 1)[-1] if "{" in body[0] else ""
    for n, line in enumerate(body):  # an opening brace may stand on a later line
        if "{" in line:
            body[n] = line.split("{", 1)[1]
    body[-1] = body[-1].split("}")[0]
    docs = {}
    for first, last, text in statements(body, separator, start):
        doc = doc_beside(comments, code, first, last) or \
            doc_above(comments, code, first).replace("\n", " ")
        for part in (text.split("=")[0],) if separator == "," else text.split(","):
            name = re.search(r"(\w+)\s*(\[[^]]*\]\s*)*$", part.strip())
            if name:
                docs[name.group(1)] = doc
    return docs


def read_docs(folder, names):
    """Comments of all headers: functions by name, types by name, members by type."""
    docs, members, code_of = {}, {}, {}
    for name in names:
        code, comments = split_comments((folder / name).read_text())
        code_of[name] = "\n".join(code) + "\n"
        for start, end, text in statements(code):
            doc = doc_above(comments, code, start)
            if "{" in text:
                kind = re.match(r"(?:typedef\s+)?(struct|enum)", text).group(1)
                named = re.search(r"}\s*(\w+)$", text)
                inside = member_docs(code, comments, start, end, ";" if kind == "struct" else ",")
                if named:
                    docs[named.group(1)] = doc
                    members[named.group(1)] = inside
                else:  # an enum without a name: each constant has the doc of all
                    docs.update({n: d or doc for n, d in inside.items()})
            else:
                named = re.search(r"(\w+)\s*\(", text) or re.search(r"(\w+)$", text)
                docs[named.group(1)] = doc
    return docs, members, code_of


# ---- declarations ----------------------------------------------------------------------------

def describe(node):
    """Const-ness of what a declarator points to, and the fixed sizes of an array."""
    sizes, const, pointers = [], False, 0
    node = node.type
    while isinstance(node, (c_ast.PtrDecl, c_ast.ArrayDecl)):
        if isinstance(node, c_ast.ArrayDecl):
            sizes.append(getattr(node.dim, "value", getattr(node.dim, "name", None)))
        else:
            pointers += 1
        node = node.type
    if isinstance(node, c_ast.TypeDecl):
        const = "const" in node.quals
    return {"const": const, "sizes": sizes, "pointers": pointers}


def read_functions(tree):
    """{name: parameters} of all functions, and the function types that are callbacks."""
    functions, callbacks = {}, {}
    for node in tree.ext:
        kind = getattr(node, "type", None)
        if not isinstance(kind, c_ast.FuncDecl):
            continue
        params = [] if kind.args is None else [p for p in kind.args.params if p.name]
        listed = [dict(describe(p), name=p.name) for p in params]
        (callbacks if isinstance(node, c_ast.Typedef) else functions)[node.name] = listed
    return functions, callbacks


def read_fields(tree):
    """{struct: {field: const-ness}} of the structs whose fields the headers show."""
    structs = {}
    for node in tree.ext:
        inner = getattr(getattr(node, "type", None), "type", None)
        if isinstance(node, c_ast.Typedef) and isinstance(inner, c_ast.Struct) and inner.decls:
            structs[node.name] = {d.name: describe(d) for d in inner.decls}
    return structs


def trampolines(tree):
    """A function of Python for each type of callback: talus_log_fn becomes talus_python_log."""
    text = ""
    generator = c_generator.CGenerator()
    for node in tree.ext:
        if isinstance(node, c_ast.Typedef) and isinstance(node.type, c_ast.FuncDecl):
            declared = generator.visit(node.type)
            name = "talus_python_" + re.sub(r"^talus_|_fn$", "", node.name)
            text += 'extern "Python" ' + declared.replace(node.name, name, 1) + ";\n"
    return text


def main(include, out):
    include, out = pathlib.Path(include), pathlib.Path(out)
    names = header_order(include)
    docs, members, code = read_docs(include, names)
    text = "".join(code[name] for name in names)
    tree = pycparser.CParser().parse(PARSER_PRELUDE + text)
    functions, callbacks = read_functions(tree)
    header = {"docs": docs, "members": members, "functions": functions, "callbacks": callbacks,
              "fields": read_fields(tree)}
    out.mkdir(parents=True, exist_ok=True)
    (out / "_header.py").write_text('"""Written by generate.py from the public headers."""\n'
                                    "HEADER = " + pprint.pformat(header, width=100) + "\n")
    ffi = cffi.FFI()
    ffi.cdef(PRELUDE + text + trampolines(tree))
    ffi.set_source("talus._talus", "#include <signal.h>\n#include <talus/workshop.h>\n")
    ffi.emit_c_code(str(out / "_talus.c"))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: generate.py INCLUDE-DIR OUT-DIR")
    main(*sys.argv[1:])
