"""What is inside the program, as CycloneDX 1.6 JSON: each library with its version, license, and where it comes from.

The versions are read where the build reads them: static-sources.txt (Debian's source packages), package-lock.json (the
page), tests/requirements/static.txt (zig, which brings musl). Nothing is random in it, and no time but the version's.
"""
import json
import re
import time
import uuid

from wheel_file import REPO, epoch, version

LICENSES = {"zlib": "Zlib", "jansson": "MIT", "protobuf-c": "BSD-2-Clause", "libmicrohttpd": "LGPL-2.1-or-later",
            "mbedtls": "Apache-2.0", "curl": "curl", "uplot": "MIT", "ziglang": "MIT"}


def component(name, number, purl, digest=None):
    found = {"type": "library", "bom-ref": purl, "name": name, "version": number, "purl": purl,
             "licenses": [{"license": {"id": LICENSES[name]}}]}
    if digest:
        found["hashes"] = [{"alg": "SHA-256", "content": digest}]
        found["properties"] = [{"name": "hash of", "value": "the .dsc of the source package"}]
    return found


def libraries():
    lines = (REPO / "scripts/packaging/static-sources.txt").read_text().splitlines()
    for name, source, digest in (line.split() for line in lines if line and not line.startswith("#")):
        number = re.search(r"_([^/]+)\.dsc$", source)[1]
        yield component(name, number, f"pkg:deb/debian/{name}@{number.replace('+', '%2B')}?arch=source", digest)


def page_packages():
    """What the page is delivered with: the dependencies, not those that build or test it."""
    lock = json.loads((REPO / "package-lock.json").read_text())["packages"]
    for name in sorted(lock[""]["dependencies"]):
        number = lock[f"node_modules/{name}"]["version"]
        yield component(name, number, f"pkg:npm/{name}@{number}")


def compiler():
    text = (REPO / "tests/requirements/static.txt").read_text()
    number = re.search(r"^ziglang==(\S+)", text, re.M)[1]
    part = component("ziglang", number, f"pkg:pypi/ziglang@{number}")
    yield {**part, "description": "the compiler, and musl with it"}


def bill_of_materials():
    program = f"pkg:generic/hbmview@{version()}"
    parts = [*libraries(), *page_packages(), *compiler()]
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, program)}",
        "metadata": {"timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch())),
                     "component": {"type": "application", "bom-ref": program, "name": "hbmview", "version": version(),
                                   "purl": program}},
        "components": parts,
        "dependencies": [{"ref": program, "dependsOn": [part["bom-ref"] for part in parts]}],
    }


def bill_text():
    return json.dumps(bill_of_materials(), indent=1) + "\n"
