#!/usr/bin/env python3
"""Is every answer about a corpus the same from real object stores as from disk? corpus_in_buckets.py CORPUS"""
import sys

from real_buckets import SCHEMES, RealBucket
from same_answers import asked_of_both


def main():
    passed = failed = 0
    for scheme in SCHEMES:
        with RealBucket(scheme, sys.argv[1]) as bucket:
            for question, here, there in asked_of_both(sys.argv[1], "", bucket):
                passed += here == there
                failed += here != there
                if here != there:
                    print(f"{scheme}: {question.path} {question.query}: {there[0]} {there[1][:300]!r}, "
                          f"on disk {here[0]} {here[1][:300]!r}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
