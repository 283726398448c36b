#!/usr/bin/python3
"""The kernels in the program keep the promise of the same bits: what clang made of them (PTX) has no
fused or approximate operation on floats, and NVIDIA's compiler, if it is here, can read it."""
import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

SOURCE = Path(os.environ["TALUS_SOURCE"])
FOLDER = Path(os.environ["TALUS_BUILD"]) / "card"
# Fused multiply-add in all its spellings, approximations, and numbers flushed to zero.
INEXACT = re.compile(r"^\s*(@!?%p\d+\s+)?((fma|mad)\.[a-z.]*f\d+|[a-z0-9.]*\.(approx|full|ftz)\b)[^;]*;", re.M)


class TestPtx(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sources = sorted((SOURCE / "src" / "engine").rglob("card_*.cu"))
        if not (FOLDER / "modules.inc").exists():
            raise unittest.SkipTest("this build has no kernels for cards")

    def modules(self):
        for source in self.sources:
            yield source.stem, (FOLDER / (source.stem + ".ptx")).read_text()

    def test_all_kernels_are_there(self):
        self.assertTrue(self.sources)
        listed = re.findall(r"MODULE\((\w+),", (FOLDER / "modules.inc").read_text())
        self.assertEqual(sorted(listed), sorted(name for name, _ in self.modules()))
        for source in self.sources:
            code = source.read_text()
            for name in re.findall(r'^#include "(\S+/card_\w+\.h)"', code, re.M):
                code += (SOURCE / "src" / "engine" / name).read_text()
            kernels = re.findall(r"^CARD_KERNEL\((\w+),", code, re.M)
            self.assertTrue(kernels, source)
            text = (FOLDER / (source.stem + ".ptx")).read_text()
            for kernel in kernels:
                self.assertIn(f".visible .entry {kernel}(", text)

    def test_exact_operations(self):
        operations = 0
        for name, text in self.modules():
            found = INEXACT.search(text)
            self.assertIsNone(found, f"{name}: {found and found.group()}")
            operations += len(re.findall(r"\b(add|mul)\.rn\.f(32|64)\b", text))
        self.assertGreater(operations, 10)  # rounded by themselves, and said so

    def test_the_pattern_finds_them(self):
        for line in ("\tfma.rn.f64 \t%fd1, %fd2, %fd3, %fd4;", "\tmad.f32 \t%f1, %f2, %f3, %f4;",
                     "\t@%p1 fma.rn.f32 \t%f1, %f2, %f3, %f4;", "\tdiv.full.f32 %f1, %f2, %f3;",
                     "\tsqrt.approx.ftz.f32 \t%f1, %f2;", "\tmul.ftz.f32 \t%f1, %f2, %f3;"):
            self.assertIsNotNone(INEXACT.search(line), line)
        for line in ("\tmad.lo.s32 \t%r1, %r2, %r3, %r4;", "\tmad.wide.u32 \t%rd1, %r2, 8, %rd3;",
                     "\tadd.rn.f64 \t%fd1, %fd2, %fd3;", "\tsqrt.rn.f32 \t%f1, %f2;"):
            self.assertIsNone(INEXACT.search(line), line)

    def test_nothing_is_missing(self):
        for name, text in self.modules():
            self.assertNotRegex(text, r"\.extern\s+\.func", name)

    def test_the_vendors_compiler_can_read_it(self):
        """The driver has the same compiler inside. On sources that are too large it ends with a
        segmentation fault, and takes the program along."""
        ptxas = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
        if not Path(ptxas).exists():
            self.skipTest("ptxas is not here")
        for name, _ in self.modules():
            made = subprocess.run([ptxas, "-arch=sm_90", FOLDER / (name + ".ptx"), "-o", os.devnull],
                                  capture_output=True, text=True, timeout=300, check=False)
            self.assertEqual(made.returncode, 0, f"{name}: {made.stderr}")

    def test_barriers_order_shared_memory(self):
        """What other threads wrote is read behind the barrier, not before it (card/phases.h)."""
        for _, text in self.modules():
            body = re.search(r"\.entry card_chained_sums\(.*?\n}", text, re.S)
            if not body:
                continue
            before, after = body.group().split("bar.sync", 1)
            self.assertNotIn("ld.shared", before)
            self.assertIn("ld.shared", after)


if __name__ == "__main__":
    unittest.main()
