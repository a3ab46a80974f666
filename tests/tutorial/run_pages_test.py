#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What run_pages accepts of a tutorial, and what it refuses."""
import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import sys
import tempfile
import unittest

LOADER = importlib.machinery.SourceFileLoader("run_pages", str(pathlib.Path(__file__).resolve().parent / "run_pages"))
run_pages = importlib.util.module_from_spec(importlib.util.spec_from_loader("run_pages", LOADER))
sys.dont_write_bytecode = True
LOADER.exec_module(run_pages)

SOUND = """```txt file=a
one
```
```txt append=a
two
```
```sh
cat a
```
```text
one
[...]
t[...]o
```
```sh fails
false
```
"""


class Pages(unittest.TestCase):
    def said(self, page, readme="1. [A](1-a.md)"):
        """Nothing where the tutorial holds, otherwise why it does not."""
        with tempfile.TemporaryDirectory() as folder:
            pages = pathlib.Path(folder) / "pages"
            pages.mkdir()
            (pages / "README.md").write_text(readme)
            (pages / "1-a.md").write_text(page)
            with contextlib.redirect_stdout(io.StringIO()):
                try:
                    run_pages.main(pages, pathlib.Path(folder) / "work")
                except run_pages.Broken as fault:
                    return str(fault)
        return ""

    def test_accepts_what_holds(self):
        self.assertEqual(self.said(SOUND), "")

    def test_refuses_output_that_is_another(self):
        self.assertIn("1-a.md:10: the page says", self.said(SOUND.replace("one\n[...]", "none\n[...]")))
        self.assertIn("1-a.md:10: the page says", self.said(SOUND.replace("t[...]o", "three")))
        self.assertIn("1-a.md:10: the page says", self.said(SOUND.replace("[...]\nt[...]o\n", "")))

    def test_refuses_commands_that_end_otherwise(self):
        self.assertIn("1-a.md:15: exit status 0", self.said(SOUND.replace("false", "true")))
        self.assertIn("1-a.md:7: exit status 1", self.said(SOUND.replace("cat a", "cat a\nfalse\ntrue")))

    def test_refuses_blocks_that_do_nothing(self):
        self.assertIn("neither written nor run", self.said("```cpp\nint x;\n```\n"))
        self.assertIn("neither written nor run", self.said("```sh maybe\ntrue\n```\n"))
        self.assertIn("no block of sh", self.said("```text\n```\n"))
        self.assertIn("does not end", self.said("```sh\ntrue\n"))

    def test_refuses_pages_that_are_not_listed(self):
        self.assertIn("other pages", self.said(SOUND, readme="1. [B](1-b.md)"))


if __name__ == "__main__":
    unittest.main()
