"""What pip calls to build a wheel out of the sources (PEP 517): make, then a wheel for this machine alone.

The wheels that run on every Linux hold a static program instead: scripts/packaging/build-wheel.
"""
import os
import shutil
import subprocess
import sysconfig

from source_archive import write_source_archive
from wheel_file import REPO, write_wheel

MADE_ALREADY = REPO / "share"  # in a source distribution


PROGRAMS = ["make", os.environ.get("CC", "gcc"), "pkg-config", "protoc-c"]
LIBRARIES = ["libmicrohttpd", "jansson", "libprotobuf-c", "zlib"]


def _missing():
    if missing := [name for name in PROGRAMS if not shutil.which(name)]:
        return missing
    return [name for name in LIBRARIES if subprocess.run(["pkg-config", "--exists", name], check=False).returncode]


def _make(*targets):
    if missing := _missing():
        raise SystemExit(f"hbmview is built by make from C, and this machine lacks {', '.join(missing)}. On Debian and "
                         "Ubuntu scripts/install-deps of the source archive installs it; or install one of the ready "
                         "wheels, which need nothing.")
    subprocess.run(["make", f"-j{os.cpu_count()}", *targets], cwd=REPO, check=True)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    _make("all", *([] if MADE_ALREADY.exists() else ["share"]))
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    share = MADE_ALREADY if MADE_ALREADY.exists() else REPO / "build" / "share"
    return write_wheel(wheel_directory, REPO / "build" / "hbmview", share, f"py3-none-{platform}")


def build_sdist(sdist_directory, config_settings=None):
    _make("all", "share")
    return write_source_archive(sdist_directory)
