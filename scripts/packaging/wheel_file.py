"""One wheel: the program among the scripts, the Python package beside it, man page and completions below share/.

    hbmview-V-py3-none-TAGS.whl
        hbmview/*.py, py.typed                    python/hbmview
        hbmview-V.data/scripts/hbmview            the program, which pip makes `hbmview`
        hbmview-V.data/data/share/man/...         build/share
        hbmview-V.dist-info/METADATA, WHEEL, entry_points.txt, RECORD

The same files give the same bytes: members are sorted, and all of the day that CHANGELOG.md has for the version.
"""
import base64
import calendar
import hashlib
import os
import pathlib
import re
import time
import zipfile

REPO = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = REPO / "python" / "hbmview"
SUMMARY = "Where the memory of a TPU or GPU went, and what to change so that the program fits"
EXTRAS = {"fleet": ["pyarrow>=14", "ray[data]>=2.9"], "fit": ["jax>=0.4.30"]}
ENTRY_POINTS = {"jupyter_serverproxy_servers": "hbmview = hbmview._jupyter:server_proxy"}
CLASSIFIERS = ["Environment :: Console", "Environment :: Web Environment", "Operating System :: POSIX :: Linux",
               "Programming Language :: C", "Programming Language :: Python :: 3", "Typing :: Typed"]


def version():
    return (REPO / "VERSION").read_text().strip()


def epoch():
    """Seconds: $SOURCE_DATE_EPOCH, else the day of the version."""
    if told := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(told)
    heading = rf"^## {re.escape(version())} \((\d+)-(\d+)-(\d+)\)$"
    day = re.search(heading, (REPO / "CHANGELOG.md").read_text(), re.M)
    if not day:
        raise SystemExit(f"CHANGELOG.md has no heading \"## {version()} (YYYY-MM-DD)\"")
    return calendar.timegm((*map(int, day.groups()), 0, 0, 0))


def metadata():
    lines = ["Metadata-Version: 2.1", "Name: hbmview", f"Version: {version()}", f"Summary: {SUMMARY}",
             "Keywords: TPU,GPU,HBM,memory,XLA,JAX,XProf,TensorBoard,profile", "Requires-Python: >=3.9",
             *(f"Classifier: {name}" for name in CLASSIFIERS)]
    for extra, needs in EXTRAS.items():
        lines += [f"Provides-Extra: {extra}", *(f'Requires-Dist: {need}; extra == "{extra}"' for need in needs)]
    lines.append("Description-Content-Type: text/markdown")
    return "\n".join(lines) + "\n\n" + (REPO / "python" / "README.md").read_text()


def entry_points():
    """Those whose module there is: a wrong one would break every tool that looks through the group."""
    there = {group: line for group, line in ENTRY_POINTS.items()
             if (PACKAGE.parent / (re.search(r"= ([\w.]+):", line)[1].replace(".", "/") + ".py")).exists()}
    return "".join(f"[{group}]\n{line}\n" for group, line in there.items())


def wheel_text(tags):
    python, abi, platforms = tags.split("-")
    lines = ["Wheel-Version: 1.0", "Generator: hbmview", "Root-Is-Purelib: false",
             *(f"Tag: {python}-{abi}-{platform}" for platform in platforms.split("."))]
    return "\n".join(lines) + "\n"


def package_files():
    return sorted(path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def members(program, share, tags):
    """name -> (bytes, is a program), but RECORD."""
    base = f"hbmview-{version()}"
    found = {f"hbmview/{path.relative_to(PACKAGE).as_posix()}": (path.read_bytes(), False) for path in package_files()}
    found[f"{base}.data/scripts/hbmview"] = pathlib.Path(program).read_bytes(), True
    for path in sorted(path for path in pathlib.Path(share).rglob("*") if path.is_file()):
        found[f"{base}.data/data/share/{path.relative_to(share).as_posix()}"] = path.read_bytes(), False
    for name, text in (("METADATA", metadata()), ("WHEEL", wheel_text(tags)), ("entry_points.txt", entry_points())):
        found[f"{base}.dist-info/{name}"] = text.encode(), False
    return found


def record(found, name):
    def line(member, data):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        return f"{member},sha256={digest},{len(data)}\n"
    return "".join(line(member, data) for member, (data, _) in sorted(found.items())) + f"{name},,\n"


def write_wheel(folder, program, share, tags):
    """Returns the wheel's name."""
    found = members(program, share, tags)
    name = f"hbmview-{version()}.dist-info/RECORD"
    found[name] = record(found, name).encode(), False
    wheel = pathlib.Path(folder) / f"hbmview-{version()}-{tags}.whl"
    wheel.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for member in sorted(found, key=lambda member: (".dist-info/" in member, member)):  # metadata last, as PEP 427
            data, is_program = found[member]
            entry = zipfile.ZipInfo(member, time.gmtime(epoch())[:6])
            entry.external_attr = (0o100755 if is_program else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            file.writestr(entry, data)
    return wheel.name
