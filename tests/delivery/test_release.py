"""Debian packages, checksums, the bill of materials, and that a release is the same bytes wherever it is made."""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

REPO = pathlib.Path(__file__).resolve().parents[2]
DIST = REPO / "build" / "dist"
VERSION = (REPO / "VERSION").read_text().strip()
ARCHITECTURES = {"amd64": "x86_64", "arm64": "aarch64"}


def told(*words, cwd=REPO, **more):
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    done = subprocess.run([str(word) for word in words], cwd=cwd, env={**environment, **more}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise AssertionError(f"{words}: exit {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.stdout


def package_of(architecture):
    return DIST / f"hbmview_{VERSION}_{architecture}.deb"


class DebianPackageTest(unittest.TestCase):
    def test_lintian_finds_nothing(self):
        for architecture in ARCHITECTURES:
            found = told("lintian", "--allow-root", "--fail-on", "error,warning", package_of(architecture))
            self.assertEqual("", found)

    def test_it_is_of_its_machine_and_depends_on_nothing(self):
        for architecture, machine in ARCHITECTURES.items():
            with tempfile.TemporaryDirectory() as folder:
                told("dpkg-deb", "-x", package_of(architecture), folder)
                program = pathlib.Path(folder, "usr/bin/hbmview").read_bytes()
                self.assertEqual((REPO / f"build/static/hbmview-{machine}").read_bytes(), program)
                self.assertTrue(pathlib.Path(folder, "usr/share/man/man1/hbmview.1.gz").exists())
            fields = told("dpkg-deb", "-f", package_of(architecture))
            self.assertIn(f"Version: {VERSION}\n", fields)
            self.assertIn(f"Architecture: {architecture}\n", fields)
            self.assertNotIn("Depends:", fields)


class ReleaseTest(unittest.TestCase):
    def test_the_checksums_name_every_file(self):
        told("sha256sum", "-c", "--strict", "SHA256SUMS", cwd=DIST)
        named = {line.split("  ")[1] for line in (DIST / "SHA256SUMS").read_text().splitlines()}
        self.assertEqual({file.name for file in DIST.iterdir()} - {"SHA256SUMS"}, named)
        self.assertEqual(8, len(named))

    def test_the_bill_of_materials_has_what_is_inside(self):
        bill = json.loads((DIST / f"hbmview-{VERSION}.cdx.json").read_text())
        parts = {part["name"]: part for part in bill["components"]}
        self.assertLessEqual({"zlib", "jansson", "protobuf-c", "libmicrohttpd", "curl", "uplot"}, set(parts))
        self.assertEqual(json.loads((REPO / "package.json").read_text())["dependencies"]["uplot"],
                         parts["uplot"]["version"])
        self.assertTrue(all(part["version"] and part["purl"] and part["licenses"] for part in parts.values()))
        self.assertEqual(VERSION, bill["metadata"]["component"]["version"])

    def test_another_folder_and_another_day_give_the_same_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            self.make_again(pathlib.Path(folder) / "a-longer-name")
            again = pathlib.Path(folder) / "a-longer-name" / "build" / "dist"
            self.assertEqual(self.sums(DIST), self.sums(again))

    def make_again(self, copy):
        """The x86-64 program, and all packages; the other machine's program is taken over, to save the time."""
        files = told("git", "ls-files", "-z").split("\0")
        for name in (name for name in files if name and (REPO / name).is_file()):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(REPO / name, copy / name)
            shutil.copymode(REPO / name, copy / name)
        for name in ("node_modules", ".cache"):
            (copy / name).symlink_to(REPO / name)
        told("git", "init", "-q", cwd=copy)
        told("git", "add", "-A", cwd=copy)
        told("make", f"-j{os.cpu_count()}", "static", "MACHINE=x86_64", cwd=copy)
        shutil.copy(REPO / "build/static/hbmview-aarch64", copy / "build/static/hbmview-aarch64")
        told("node", "scripts/packaging/describe.mjs", "build/static/hbmview-x86_64", "build/share", cwd=copy)
        told("scripts/packaging/make-release", "build/dist", cwd=copy, TZ="Pacific/Auckland")

    def sums(self, folder):
        return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()}


if __name__ == "__main__":
    unittest.main()
