#!/bin/sh
# Runs tests/FOLDER/test_*.py against $HBMVIEW (default build/hbmview): tests/run-python.sh http|cli|scripts|...
# ONLY='test_name ...' runs some files; PYTHON is the interpreter, for tests that need packages (scripts/test-venv). Closes with "N passed, N failed".
cd "$(dirname "$0")/.." || exit 2
PYTHONDONTWRITEBYTECODE=1 exec python3 tests/python_files.py "$1"
