#!/bin/sh
# The wide comparison: every request of a corpus of profiles that XProf answered, by the corpus's own comparer
# (CORPUS/../tools/xprof_compare.py) where it is, else by ours. run-corpus.sh CORPUS
set -u
cd "$(dirname "$0")/.." || exit 2
export PYTHONDONTWRITEBYTECODE=1
status=0
for comparison in wide_comparison corpus_in_buckets; do
    python3 "tests/http/$comparison.py" "$1" || status=1
done
exit $status
