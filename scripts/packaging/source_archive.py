"""The source distribution: what builds the program and its package, with what needs node made already.

    hbmview-V/  the sources, pyproject.toml, PKG-INFO
                page/    the page as it is delivered (build/gen/page), so that neither node nor npm is needed
                share/   man page and completions (build/share)

It holds no tests but the built-in sample; those are in the repository.
"""
import gzip
import io
import pathlib
import subprocess
import tarfile

from wheel_file import REPO, epoch, metadata, version

SOURCES = ["proto", "analysis", "server", "web", "python", "docs/*.md", "scripts/embed_assets.c",
           "scripts/build-page.mjs", "scripts/install-deps", "scripts/packaging", "Makefile", "VERSION",
           ":(glob)*.md", ":(glob)*.toml", ":(glob)package*.json"]
SAMPLE = "tests/fixtures/logdir/plugins/profile/v5e_gpt_12layer_oom/tpu-vm-0.xplane.pb.gz"
MADE = {"page": "build/gen/page", "share": "build/share"}


def tracked():
    listed = subprocess.run(["git", "ls-files", "-z", "--", *SOURCES, SAMPLE], cwd=REPO, check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    return [name for name in listed.split("\0") if name and (REPO / name).is_file()]


def contents():
    """name -> (bytes, mode)."""
    found = {name: REPO / name for name in tracked()}
    for name, made in MADE.items():
        found.update({f"{name}/{path.relative_to(REPO / made).as_posix()}": path
                      for path in (REPO / made).rglob("*") if path.is_file()})
    files = {name: (path.read_bytes(), 0o755 if path.stat().st_mode & 0o100 else 0o644) for name, path in found.items()}
    return {**files, "PKG-INFO": (metadata().encode(), 0o644)}


def write_source_archive(folder):
    """Returns the archive's name."""
    base = f"hbmview-{version()}"
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w", format=tarfile.PAX_FORMAT) as file:
        for name, (data, mode) in sorted(contents().items()):
            entry = tarfile.TarInfo(f"{base}/{name}")
            entry.size, entry.mode, entry.mtime = len(data), mode, epoch()
            file.addfile(entry, io.BytesIO(data))
    archive = pathlib.Path(folder) / f"{base}.tar.gz"
    archive.parent.mkdir(parents=True, exist_ok=True)
    archive.write_bytes(gzip.compress(tar.getvalue(), 9, mtime=epoch()))
    return archive.name
