"""The soak's judgement: a client that is kept out is a fault."""
import pathlib
import sys
import unittest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPO / "tests" / "soak"), str(REPO / "tests" / "http")]

import clients  # noqa: E402
import soak  # noqa: E402
from http_client import Answer  # noqa: E402


def tally_of(kind, statuses):
    tally = clients.Tally()
    tally.seconds.append(0.1)
    for status in statuses:
        tally.status(kind, Answer(status, {}, b""), "/")
    return tally


class Room(unittest.TestCase):
    def test_all_is_well(self):
        tally = tally_of("steady", [200] * 1000 + [503])
        tally.refused["garbage"] += 7
        self.assertEqual(list(soak.faults_of_room(tally)), [])

    def test_a_connection_that_is_closed_without_an_answer(self):
        for kind in ("steady", "follower"):
            tally = tally_of(kind, [200] * 1000)
            tally.refused[kind] += 1
            self.assertEqual(len(list(soak.faults_of_room(tally))), 1, kind)

    def test_many_that_are_told_to_come_again(self):
        for kind, faults in (("steady", 1), ("follower", 1), ("awkward", 0)):
            found = list(soak.faults_of_room(tally_of(kind, [200] * 900 + [503] * 100)))
            self.assertEqual(len(found), faults, kind)


if __name__ == "__main__":
    unittest.main()
