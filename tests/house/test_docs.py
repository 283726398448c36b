"""The documentation site builds without a network and without a broken link, its equations can be
set, and what it says of the source tree is true."""
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ["TALUS_SOURCE"])
TALUS = os.environ["TALUS"]
KATEX = "/usr/share/javascript/katex/katex.min.js"


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{command} said:\n{done.stdout}{done.stderr}"
    return done.stdout


def blocks(page, language):
    return re.findall(rf"^ *```{language}\n(.*?)^ *```", (SOURCE / "docs" / page).read_text(),
                      re.S | re.M)


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        run(SOURCE / "scripts/docs/build.py", "--talus", TALUS, "--output", cls.folder.name,
            "--papers", "none")
        cls.site = Path(cls.folder.name, "site")
        cls.pages = {p.relative_to(cls.site): p.read_text() for p in cls.site.rglob("*.html")}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_every_page_is_in_the_menu(self):
        menu = (SOURCE / "scripts/docs/mkdocs.yml").read_text()
        for page in (SOURCE / "docs").rglob("*.md"):
            self.assertIn(str(page.relative_to(SOURCE / "docs")), menu)

    def test_nothing_is_loaded_from_outside(self):
        self.assertGreater(len(self.pages), 30)
        for name, text in self.pages.items():
            loaded = re.findall(r'<(?:script|img|iframe)[^>]*\ssrc="([^"]*)"', text)
            loaded += re.findall(r'<link[^>]*rel="(?:stylesheet|preload|icon)"[^>]*href="([^"]*)"', text)
            self.assertTrue(loaded, f"{name} loads nothing at all")
            if name == Path("404.html"):
                continue  # a web server shows it anywhere, so its addresses begin at the site's root
            for address in loaded:
                self.assertNotRegex(address, r"^(https?:)?//", f"in {name}")
                if not address.startswith("data:"):
                    target = (self.site / name).parent / address.split("?")[0]
                    self.assertTrue(target.exists(), f"{name} loads {address}")

    def test_links_lead_somewhere(self):
        """Anchors too, which mkdocs does not look at."""
        for name, text in self.pages.items():
            body = text.split("<article")[-1].split("</article>")[0]
            for address in re.findall(r'<a[^>]*href="([^"]*)"', body):
                if re.match(r"[a-z]+:", address):
                    continue
                file, _, anchor = address.partition("#")
                target = ((self.site / name).parent / file).resolve() if file else self.site / name
                self.assertTrue(target.exists(), f"{name} links to {address}")
                if anchor and target.suffix == ".html":
                    self.assertIn(f'id="{anchor}"', target.read_text(), f"{name} links to {address}")

    def test_search_works_from_disk(self):
        """Chromium opens a page of the site as a file, with a question for the search in its address."""
        page = run("/usr/bin/chromium", "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=60000",
                   f"--user-data-dir={self.folder.name}/chromium", "--dump-dom",
                   f"{(self.site / 'laws/cohesion.html').as_uri()}?q=coarseness")
        found = re.findall(r'<a href="([^"]*)" class="md-search-result__link', page)
        self.assertTrue([f for f in found if f.startswith((self.site / "theory.html").as_uri())], found)

    def test_reference_is_complete(self):
        api = self.pages[Path("api.html")]
        for header in (SOURCE / "include/talus").glob("*.h"):
            for name in re.findall(r"\b(talus_\w+)\(", header.read_text()):
                self.assertIn(name, api)
        commands = self.pages[Path("commands.html")]
        for name in re.findall(r"^  talus (\w+)", run("talus", "help", executable=TALUS), re.M):
            self.assertIn(f"talus {name}</code>", commands)

    def test_equations_can_be_set(self):
        equations = []
        for text in self.pages.values():
            equations += re.findall(r'class="arithmatex">\\[(\[](.*?)\\[)\]]</', text, re.S)
        self.assertGreater(len(equations), 60)
        script = ("const katex=require(process.argv[1]);let t='';process.stdin.on('data',d=>t+=d)"
                  ".on('end',()=>{for(const e of JSON.parse(t))katex.renderToString(e,"
                  "{throwOnError:true,strict:'error'});console.log('set')})")
        import html
        import json
        out = run("node", "-e", script, KATEX, input=json.dumps([html.unescape(e) for e in equations]))
        self.assertEqual(out.strip(), "set")


class Words(unittest.TestCase):
    def test_paths_exist(self):
        for page in ("adding.md", "architecture.md"):
            text = (SOURCE / "docs" / page).read_text()
            for path in re.findall(r"`((?:src|include|tests|bench|app|papers|scripts|docs|python|viewer)/[\w./*-]+)`", text):
                self.assertTrue(list(SOURCE.glob(path.rstrip("/"))), f"{page} names {path}")

    def test_examples_in_c_compile(self):
        for block in [*blocks("adding.md", "c"), *blocks("interface.md", "c")]:
            run(os.environ["CC"], "-std=c17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror",
                "-Iinclude", "-Isrc/engine", "-Isrc/workshop", "-fsyntax-only", "-x", "c", "-", cwd=SOURCE, input=block)


if __name__ == "__main__":
    unittest.main(verbosity=2)
