#!/bin/sh
# Runs tests/FOLDER/test_*.py against $HBMVIEW (default build/hbmview): tests/run-python.sh http|cli|scripts|...
# ONLY=test_name runs one file; PYTHON is the interpreter, for tests that need packages (scripts/test-venv). Closes with "N passed, N failed".
set -u
cd "$(dirname "$0")/.." || exit 2
logs=build/logs
mkdir -p "$logs"
log=$(mktemp "$logs/$1-XXXXXX")
PYTHONDONTWRITEBYTECODE=1 "${PYTHON:-python3}" -m unittest discover -s "tests/$1" -p "${ONLY:-test_*}.py" -v 2>&1 | tee "$log"
verdict=$(grep -E '^(OK|FAILED)( |$)' "$log" | tail -n 1)  # the interpreter may warn after it
# number NAME: what the closing "OK (...)" or "FAILED (...)" says of it, else 0.
number() { echo "$verdict" | sed -n "s/^\(OK\|FAILED\) (.*$1=\([0-9]*\).*/\2/p" | grep . || echo 0; }
total=$(sed -n 's/^Ran \([0-9]*\) test.*/\1/p' "$log" | tail -n 1)
total=${total:-0}
failed=$(($(number failures) + $(number errors)))
skipped=$(number skipped)
rm -f "$log"
case $verdict in OK*) ;; *) [ "$failed" -gt 0 ] || failed=1 ;; esac
[ "$total" -gt 0 ] || echo 'no tests'
passed=$((total - failed - skipped))
[ "$passed" -ge 0 ] || passed=0
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
