"""What `hbmview advise` says of a program before a change, beside what the compiler made of the program after it.

A family is the modules of one program: "base", and others by the change that was made. What of a prediction is close
enough, narrow or far off is said here, for scripts/bench-advice and docs/advice.md.
"""
import collections
import json
import os
import pathlib
import subprocess

HBMVIEW = os.environ.get("HBMVIEW", pathlib.Path(__file__).resolve().parents[2] / "build" / "hbmview")
WAYS = 4
MOST_PERCENT = {"rematerialize": 25, "rematerialize_dots": 25, "host_offload_activations": 25}  # of error; others:
MOST_PERCENT_USUALLY, MOST_PERCENT_OF_TWO, CLOSE_PERCENT = 15, 20, 3
CAPACITIES = range(30, 101, 5)            # percent of the base
WIDENED_IN_WORDS = "has squeezed this program", "Half of the pictures"
NARROW_PERCENT, FAR_TIMES = 10, 1.5       # counted, not required

Row = collections.namedtuple("Row", "family id before predicted low high understood truth is_widened")
Plan = collections.namedtuple("Plan", "family percent ids fit predicted capacity truth")


# --- Both sides of a row ---

def hbmview(*arguments):
    done = subprocess.run([HBMVIEW, *arguments, "--format=json"], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"hbmview {' '.join(map(str, arguments))} ends with {done.returncode}")
    return json.loads(done.stdout)


def total_of(file):
    module, = hbmview("report", file, "--memory-space=HBM", "--top=1")["modules"]
    return module["memory_spaces"][0]["total_allocation_bytes"]


def advice_by_set(base):
    """Changes -> what is told of them together."""
    document = hbmview("advise", base, f"--ways={WAYS}")
    singles = {one["id"]: one for one in document["interventions"]}
    told = {frozenset([name]): one for name, one in singles.items()}
    for chain in document["chains"]:
        understood = min(singles[name]["understood"] for name in chain["interventions"])
        told[frozenset(chain["interventions"])] = {**chain, "understood": understood}
    return told


def set_of(variant):
    return frozenset(variant.split(".")[0].split("+"))


def told_of(variant, advice):
    """What is told of a variant's changes together; of "micro_batch.8" what is told of so many parts."""
    told, way = advice.get(set_of(variant), {}), variant.partition(".")[2]
    others = [{**told, **other} for other in told.get("other_parts", []) if str(other["parts"]) == way]
    return others[0] if others else told


def predicted_of(variant, told):
    """Of two totals the second, where the change is made the other way."""
    is_followed = variant.endswith(".follow") and "followed_total_bytes" in told
    return told["followed_total_bytes" if is_followed else "predicted_total_bytes"] if told else None


def least_of(variant, told):
    """Of two totals each has its range: where the step computes as before, from a least of its own."""
    is_kept = not variant.endswith(".follow") and "kept_low_bytes" in told
    return told.get("kept_low_bytes" if is_kept else "low_bytes")


def most_of(variant, told):
    """And where it computes in what it is given, up to a most of its own."""
    is_followed = variant.endswith(".follow") and "followed_high_bytes" in told
    return told.get("followed_high_bytes" if is_followed else "high_bytes")


def is_widened(told):
    """Does the range go on to a second total, what a squeezed program may fill again, or pictures in their lanes?"""
    evidence = " ".join(told.get("evidence", []))
    return "followed_total_bytes" in told or any(words in evidence for words in WIDENED_IN_WORDS)


def rows_of(name, family):
    base, files = family["base"], {variant: file for variant, file in family.items() if variant != "base"}
    before = total_of(base)
    advice = advice_by_set(base)
    for variant, file in files.items():
        if len(set_of(variant)) > 1 and set_of(variant) not in advice:
            continue  # no chain: it is compiled for the plans
        told = told_of(variant, advice)
        yield Row(name, variant, before, predicted_of(variant, told), least_of(variant, told),
                  most_of(variant, told), told.get("understood"), total_of(file), is_widened(told))


def made_by(document):
    """The plan's changes as a variant has them: in other parts than usual, "micro_batch.8"."""
    usual = {one["id"]: one.get("parts") for one in document["interventions"]}
    return frozenset(step["id"] + (f".{step['parts']}" if step.get("parts") != usual[step["id"]] else "")
                     for step in document["plan"]["steps"])


def plans_of(name, family):
    """The plan for each capacity, where its changes were compiled."""
    base, files = family["base"], {variant: file for variant, file in family.items() if variant != "base"}
    before = total_of(base)
    truths = {frozenset(variant.split("+")): total_of(file) for variant, file in files.items()}
    for percent in CAPACITIES:
        capacity = before * percent // 100
        document = hbmview("advise", base, f"--ways={WAYS}", f"--capacity={capacity}")
        plan, made = document["plan"], made_by(document)
        if plan["fits"] and made in truths:
            yield Plan(name, percent, sorted(made), plan["fit"], plan["predicted_total_bytes"], capacity, truths[made])


# --- Judging ---

def error_percent(row):
    return 100 * (row.predicted - row.truth) / row.truth


def is_inside(row):
    return row.low <= row.truth <= row.high


def width_percent(row):
    return 100 * (row.high - row.low) / row.predicted


def is_joined(row):
    return "+" in row.id


def is_close_enough(row):
    if row.id == "align_dimensions":
        return abs(row.predicted - row.truth) <= abs(row.before - row.truth) / 3
    usually = MOST_PERCENT_OF_TWO if is_joined(row) else MOST_PERCENT_USUALLY
    return abs(error_percent(row)) <= MOST_PERCENT.get(row.id, usually)


def does_fit(plan):
    return plan.truth <= plan.capacity


def is_narrow(row):
    return width_percent(row) < NARROW_PERCENT


def is_far_off(row):
    return max(row.predicted, row.truth) > FAR_TIMES * min(row.predicted, row.truth)


def is_told(row):
    return row.predicted is not None


def is_missed(row):
    """Not told, not close enough, or outside of its range."""
    return not is_told(row) or not is_close_enough(row) or not is_inside(row)


def by_kind(rows):
    """What chips share, what runs again, and all other changes."""
    kinds = collections.defaultdict(list)
    for row in rows:
        kinds["Shared over chips" if "shard" in row.id else "Run again" if "remat" in row.id else "Neither"].append(row)
    return kinds
