#!/usr/bin/env python3
"""Write the tables of docs/scenes.md anew: between `<!-- keys: SECTION -->` and `<!-- end -->` goes
what `talus schema --markdown SECTION` prints.

    scripts/update-scene-keys.py [PROGRAM]     PROGRAM: build/release/talus if not given
"""
import re
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
PAGE = SOURCE / "docs" / "scenes.md"
program = sys.argv[1] if len(sys.argv) > 1 else SOURCE / "build" / "release" / "talus"


def table(found):
    command = [program, "schema", "--markdown", found.group(1)]
    keys = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return f"<!-- keys: {found.group(1)} -->\n\n{keys}\n<!-- end -->"


text = PAGE.read_text()
PAGE.write_text(re.sub(r"<!-- keys: (\S+) -->\n.*?<!-- end -->", table, text, flags=re.DOTALL))
