#!/bin/sh
# The wide comparison: every request of a corpus of profiles that XProf answered, by the corpus's own comparer
# (CORPUS/../tools/xprof_compare.py) where it is, else by ours. run-corpus.sh CORPUS
set -u
cd "$(dirname "$0")/.." || exit 2
PYTHONDONTWRITEBYTECODE=1 exec python3 tests/http/wide_comparison.py "$1"
