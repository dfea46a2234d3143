#!/bin/sh
# XProf's recorded answers against $HBMVIEW (default build/hbmview): run-golden.sh [FOLDER with logdir/, xprof_golden/].
cd "$(dirname "$0")/.." || exit 2
PYTHONDONTWRITEBYTECODE=1 exec python3 tests/http/xprof_answers.py "${1:-tests/fixtures}"
