#!/bin/sh
# Runs the tests of the page in tests/web/unit, browser, proxied or notebook with node's test runner; closes with
# "N passed, N failed".
set -u
cd "$(dirname "$0")/.." || exit 2
kind=${1:-unit}
files=$(find "tests/web/$kind" -name '*.test.js' -o -name '*.test.mjs' 2>/dev/null | LC_ALL=C sort)
if [ -z "$files" ]; then
    echo 'no tests'
    echo '0 passed, 0 failed'
    exit 1
fi
mkdir -p build/logs
log=$(mktemp build/logs/node-XXXXXX)
if [ "$kind" != unit ]; then
    HBMVIEW_BROWSER=$(scripts/find-browser) || exit 1
    export HBMVIEW_BROWSER
    at_once=--test-concurrency=2  # files wait for the page and for the server, which share few cores
fi
# shellcheck disable=SC2086
node --test --test-reporter=tap ${at_once:-} $files 2>&1 | tee "$log" | grep --line-buffered -E '^(not )?ok [0-9]'
passed=$(sed -n 's/^# pass \([0-9]*\)$/\1/p' "$log" | tail -n 1)
failed=$(sed -n 's/^# \(fail\|cancelled\) \([0-9]*\)$/\2/p' "$log" | awk '{ n += $1 } END { print NR ? n : 1 }')
[ "$failed" -eq 0 ] || grep -vE '^ *ok |^ *# Subtest|^ *1\.\.|duration_ms|^ *(---|\.\.\.)$' "$log"
rm -f "$log"
passed=${passed:-0}
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
