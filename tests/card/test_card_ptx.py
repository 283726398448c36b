#!/usr/bin/python3
"""The kernels in the program keep the promise of the same bits: what clang made of them (PTX) has no
fused or approximate operation on floats, for all sources in both precisions."""
import os
import re
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
            for name in (source.stem, source.stem + "_single"):
                yield name, (FOLDER / (name + ".ptx")).read_text()

    def test_both_precisions_of_all(self):
        self.assertTrue(self.sources)
        listed = re.findall(r"MODULE\((\w+),", (FOLDER / "modules.inc").read_text())
        self.assertEqual(sorted(listed), sorted(name for name, _ in self.modules()))
        for source in self.sources:
            kernels = re.findall(r"^CARD_KERNEL\((\w+),", source.read_text(), re.M)
            self.assertTrue(kernels, source)
            for name in (source.stem, source.stem + "_single"):
                text = (FOLDER / (name + ".ptx")).read_text()
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
