"""Is whatever depends on a file made again when the file changes? Asked of make's own rules, once everything is built:
`make -pn` prints every file with its prerequisites, those that the compilers wrote (-MD) among them.
"""
import functools
import os
import pathlib
import subprocess
import unittest

REPO = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("HBMVIEW", "build/hbmview")
UPLOT = "node_modules/uplot/dist/"
OTHER_CRYPTO = "server/storage/crypto_mbedtls.c"  # of the build without shared libraries: tests/static
WITH_LIBFUZZER = "tests/fuzz/wire_mutator.c"  # in no replay: MODE=fuzz alone has who calls it
WITHOUT_STORAGE = "server/storage/no_object_storage.c"  # of the build without libcurl: test_local_build.py


def tracked(*patterns):
    listed = subprocess.run(["git", "ls-files", *patterns], cwd=REPO, check=True, text=True, stdout=subprocess.PIPE)
    return {file for file in listed.stdout.split() if (REPO / file).exists()}


@functools.cache
def prerequisites():
    """file -> what it is made from, without what only has to exist (after the |)."""
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    printed = subprocess.run(["make", "-pn", "programs", "tidy", "check-headers"], cwd=REPO, env=environment,
                             check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout
    found = {}
    for line in printed.split("# Files\n", 1)[1].splitlines():
        target, colon, needs = line.partition(":")
        if colon and " " not in target and not line.startswith(("#", "\t")) and not needs.startswith("="):
            found.setdefault(target, set()).update(needs.lstrip(":").split("|")[0].split())
    return found


def all_below(target):
    found, todo = set(), [target]
    while todo:
        new = prerequisites().get(todo.pop(), set()) - found
        found |= new
        todo += new
    return found


class MakefileTest(unittest.TestCase):
    def test_the_program_is_made_again_from_every_source(self):
        sources = tracked("proto/*.[ch]", "proto/*.proto", "analysis/*.[ch]", "server/*.[ch]", "scripts/embed_assets.c")
        self.assertGreater(len(sources), 100)
        self.assertEqual({WITHOUT_STORAGE, OTHER_CRYPTO}, sources - all_below(PROGRAM))

    def test_the_program_is_made_again_from_every_part_of_the_page(self):
        page = {file for file in tracked("web") if not file.endswith(".md")}
        self.assertGreater(len(page), 10)
        self.assertEqual(set(), page - all_below(PROGRAM))
        self.assertEqual(set(), {UPLOT + "uPlot.esm.js", UPLOT + "uPlot.min.css"} - all_below(PROGRAM))

    def test_the_test_programs_are_made_again_from_their_sources(self):
        below = set().union(*map(all_below, prerequisites()["programs"]))
        self.assertEqual({WITH_LIBFUZZER}, tracked("tests/unit/*.[ch]", "tests/fuzz/*.[ch]") - below)

    def test_every_object_knows_the_headers_it_was_compiled_with(self):
        objects = {file for file in all_below("programs") if file.endswith(".o")}
        self.assertGreater(len(objects), 100)
        unknowing = {file for file in objects if not any(need.endswith(".h") for need in prerequisites()[file])}
        self.assertEqual(set(), unknowing)

    def test_objects_are_made_again_when_a_flag_changes(self):
        objects = {file for file in all_below("programs") if file.endswith(".o")}
        unknowing = {file for file in objects if not any(need.endswith("/flags") for need in prerequisites()[file])}
        self.assertEqual(set(), unknowing)

    def test_the_program_is_linked_again_when_a_source_goes(self):
        self.assertIn("sources", {pathlib.PurePath(file).name for file in all_below(PROGRAM)})

    def test_every_c_file_is_looked_at_again_when_it_or_the_rules_change(self):
        sources = tracked("proto/*.c", "analysis/*.c", "server/*.c", "tests/*.c", "scripts/*.c")
        stamps = {source: prerequisites().get(f"build/passed/tidy/{source}", set()) for source in sources}
        unseen = {source for source, needs in stamps.items()
                  if not needs >= {source, ".clang-tidy", "tests/.clang-tidy", "build/passed/flags"}}
        self.assertEqual({OTHER_CRYPTO}, unseen)  # its headers are not those of this machine

    def test_every_header_is_compiled_alone_again_when_it_changes(self):
        headers = tracked("proto/*.h", "analysis/*.h", "server/*.h", "tests/*.h")
        self.assertEqual(set(), {header for header in headers
                                 if header not in prerequisites().get(f"build/passed/headers/{header}", set())})


if __name__ == "__main__":
    unittest.main()
