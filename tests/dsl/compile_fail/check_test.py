#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The checker of cases refuses what does not keep its promises. The compilers of these tests say what each test gives them."""
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import sys
import tempfile
import unittest

LOADER = importlib.machinery.SourceFileLoader("check", os.path.join(os.path.dirname(os.path.abspath(__file__)), "check"))
check = importlib.util.module_from_spec(importlib.util.spec_from_loader("check", LOADER))
sys.dont_write_bytecode = True
LOADER.exec_module(check)

FILE = """#include <cases.hpp>

// EXPECT first: the first
// sentence
MODEL(first)

// EXPECT second: the second sentence
// AND one sentence more
MODEL(second)
"""
FIRST = "In file included from case.cpp:1:\ncase.cpp:5:1: error: the first sentence\n    5 | MODEL(first)\n"
SECOND = "case.cpp:9:1: error: the second sentence\nh.hpp:7:1: note: expanded\n"
MORE = "case.cpp: In function 'f':\ncase.cpp:9:1: error: one sentence more\n"
COUNT = "3 errors generated.\n"


class Checker(unittest.TestCase):
    def sentences(self, said):
        return [sentence for sentence, _ in check.broken_promises("case.cpp", check.cases_of(FILE), said)]

    def test_accepts_what_is_promised(self):
        self.assertEqual(self.sentences(FIRST + SECOND + MORE + COUNT), [])

    def test_accepts_a_sentence_in_a_string_literal(self):
        cases = check.cases_of("// EXPECT quote: the name 'x'\n")
        self.assertEqual(check.broken_promises("a.cpp", cases, "a.cpp:1:1: error: \"the name \\'x\\'\"\n"), [])

    def test_accepts_a_sentence_in_lines(self):
        said = FIRST.replace("the first sentence", r"""'a::error<line<12>{"the first\'s "}, a::line<9>{"sentence"}>'""")
        cases = check.cases_of("\n\n// EXPECT first: the first's sentence\n// AND first's\n\n")
        self.assertEqual(check.broken_promises("case.cpp", cases, said + "case.cpp:4:1: error: first's\n"), [])

    def test_refuses_a_case_that_compiles(self):
        self.assertEqual(self.sentences(SECOND + MORE), ["first compiles although it is broken"])

    def test_refuses_another_sentence(self):
        self.assertEqual(self.sentences(FIRST.replace("first s", "1st s") + SECOND + MORE),
                         ['first does not say "the first sentence"'])

    def test_refuses_the_sentence_of_another_case(self):
        swapped = FIRST.replace("first s", "second s") + SECOND.replace("second s", "first s") + MORE
        self.assertEqual(len(self.sentences(swapped)), 2)

    def test_refuses_an_error_too_many_or_too_few(self):
        self.assertEqual(self.sentences(FIRST + FIRST + SECOND + MORE), ["first says 2 errors"])
        self.assertEqual(self.sentences(FIRST + SECOND), ['second does not say "one sentence more"', "second says 1 errors"])

    def test_refuses_a_warning_beside_the_error(self):
        self.assertEqual(self.sentences(FIRST + "case.cpp:5:1: warning: odd\n" + SECOND + MORE), ["first says 2 errors"])

    def test_refuses_an_error_outside_of_all_cases(self):
        self.assertEqual(self.sentences(FIRST + "case.cpp:1:1: error: x\n" + SECOND + MORE), ["an error is outside of all cases"])

    def test_refuses_an_error_in_a_header_with_the_users_line_in_a_note(self):
        header = "h.hpp:3:1: error: the first sentence\ncase.cpp:5:1: note: required from here\n"
        self.assertEqual(self.sentences(header + SECOND + MORE),
                         ["an error is outside of all cases", "first compiles although it is broken"])

    def test_refuses_many_lines_before_or_after_the_error(self):
        note = "h.hpp:7:1: note: why\n    7 | x\n"
        self.assertEqual(self.sentences(FIRST + 6 * note + SECOND + MORE), [])
        self.assertEqual(self.sentences(FIRST + 7 * note + SECOND + MORE), ["first says 17 lines, more than 15"])
        self.assertEqual(self.sentences("h.hpp:1:2:   required from here\n" * 13 + FIRST + SECOND + MORE),
                         ["first says 16 lines, more than 15"])

    def test_refuses_what_it_cannot_read(self):
        self.assertEqual(len(self.sentences("cc1plus: out of memory\n")), 3)

    def run_on(self, file, compilers):
        """Status and output of the whole checker on a file, with shell scripts as compilers."""
        with tempfile.TemporaryDirectory() as folder:
            for name, script in compilers.items():
                path = os.path.join(folder, name)
                with open(path, "w", encoding="utf-8") as program:
                    program.write(f"#!/bin/sh\n{script}\n")
                os.chmod(path, 0o755)
            source = os.path.join(folder, "case.cpp")
            with open(source, "w", encoding="utf-8") as program:
                program.write(file)
            before, arguments = os.environ["PATH"], sys.argv
            os.environ["PATH"], sys.argv = folder, ["check", folder, source]
            try:
                with contextlib.redirect_stdout(io.StringIO()) as said:
                    status = check.main()
            finally:
                os.environ["PATH"], sys.argv = before, arguments
            return status, said.getvalue()

    GOOD = ('for a; do last=$a; case $a in -DBROKEN) broken=1;; esac; done\n'
            '[ -z "$broken" ] || { echo "$last:1:1: error: no"; exit 1; }')

    def test_passes_where_both_compilers_keep_the_promises(self):
        self.assertEqual(self.run_on("// EXPECT a: no\n", {"g++": self.GOOD, "clang++-22": self.GOOD}), (0, ""))

    def test_fails_where_one_compiler_does_not(self):
        status, said = self.run_on("// EXPECT a: no\n", {"g++": self.GOOD, "clang++-22": "true"})
        self.assertEqual(status, 1)
        self.assertIn("case.cpp, clang++-22: a compiles although it is broken", said)

    def test_fails_where_the_sound_form_says_something(self):
        status, said = self.run_on("// EXPECT a: no\n", {"g++": self.GOOD, "clang++-22": "echo odd\n" + self.GOOD})
        self.assertEqual(status, 1)
        self.assertIn("clang++-22: the sound form does not compile silently", said)

    def test_fails_where_there_is_no_case(self):
        self.assertEqual(self.run_on("int x;\n", {"g++": self.GOOD, "clang++-22": self.GOOD})[0], 1)

    def test_skips_where_a_compiler_is_missing(self):
        self.assertEqual(self.run_on("// EXPECT a: no\n", {"g++": self.GOOD}), (77, "Skipped: no clang++-22 here\n"))


if __name__ == "__main__":
    unittest.main()
