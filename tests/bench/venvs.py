"""Virtual environments that a benchmark makes once for itself, or is told of by an environment variable."""
import os
import pathlib
import subprocess
import sys


def python(variable, folder, packages):
    """The Python of the environment in $variable, else of `folder`, which is made with `packages` when missing."""
    if os.environ.get(variable):
        return str(pathlib.Path(os.environ[variable]) / "bin" / "python")
    if not (folder / "made").exists():
        print(f"pip install {' '.join(packages)} into {folder.name} ...", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([folder / "bin" / "pip", "install", "--quiet", *packages], check=True)
        (folder / "made").touch()
    return str(folder / "bin" / "python")
