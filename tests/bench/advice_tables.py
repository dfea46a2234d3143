"""The tables of docs/advice.md, as Markdown, of what advice_judge.py found."""
import collections
import statistics

from advice_judge import (CLOSE_PERCENT, FAR_TIMES, NARROW_PERCENT, does_fit, error_percent, is_close_enough,
                          is_far_off, is_inside, is_missed, is_narrow, is_told, width_percent)

MIB = 1 << 20


def count(rows, test):
    return sum(map(bool, map(test, rows)))


def share(rows, test):
    return f"{count(rows, test)} of {len(rows)}"


def mib(size):
    return f"{size / MIB:.1f}"


def print_row(row):
    if not is_told(row):
        print(f"| {row.family} | {row.id} | {mib(row.before)} | cannot tell | - | - | {mib(row.truth)} | - | - |"
              f" {row.understood} |")
        return
    error = f"{error_percent(row):+.1f}"
    print(f"| {row.family} | {row.id} | {mib(row.before)} | {mib(row.predicted)} | {mib(row.low)} | {mib(row.high)} |"
          f" {mib(row.truth)} | {error if is_close_enough(row) else f'**{error}**'} |"
          f" {'yes' if is_inside(row) else '**no**'} | {row.understood:.2f} |")


def print_summary(rows):
    print("\n| change | pairs | median error % | within 3 % | close enough | inside | widest range % |")
    print("|---|---|---|---|---|---|---|")
    by_id = collections.defaultdict(list)
    for row in rows:
        by_id[row.id].append(row)
    for name, some in [*by_id.items(), ("all", rows)]:
        print(f"| {name} | {len(some)} | {statistics.median(abs(error_percent(row)) for row in some):.1f} |"
              f" {share(some, lambda row: abs(error_percent(row)) <= CLOSE_PERCENT)} | {share(some, is_close_enough)} |"
              f" {share(some, is_inside)} | {max(map(width_percent, some)):.0f} |")


def print_plans(shown, plans):
    print("\n| family | capacity % | plan | told to | predicted | compiled | capacity | it fits |")
    print("|---|---|---|---|---|---|---|---|")
    for plan in shown:
        print(f"| {plan.family} | {plan.percent} | {' + '.join(plan.ids)} | {plan.fit.replace('_', ' ')} |"
              f" {mib(plan.predicted)} | {mib(plan.truth)} | {mib(plan.capacity)} |"
              f" {'yes' if does_fit(plan) else '**no**'} |")
    print(f"\nPlans that were compiled and fit: {share(plans, does_fit)}.")


def print_counts(rows, told):
    print(f"\nCannot tell: {len(rows) - len(told)} of {len(rows)}. Ranges narrower than {NARROW_PERCENT} %:"
          f" {share(told, is_narrow)}. Off by more than {FAR_TIMES} times: {share(told, is_far_off)}.")


def print_families(title, rows, plans, is_short):
    """All rows, or those that are missed; a summary of those that tell a total; and the plans."""
    print(f"\n### {title}\n")
    print("| family | change | before | predicted | low | high | compiled | error % | inside | understood |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        if is_missed(row) or not is_short:
            print_row(row)
    told = [row for row in rows if is_told(row)]
    if told:
        print_summary(told)
    print_plans([plan for plan in plans if not does_fit(plan) or not is_short], plans)
    print_counts(rows, told)


def percent_of(rows, test):
    return f"{count(rows, test)} ({100 * count(rows, test) / max(1, len(rows)):.1f} %)"


def print_sums(sets):
    """A row for each set, a dictionary of rows by its name."""
    print(f"\n| set | pairs told | close enough | inside | narrower than {NARROW_PERCENT} % |"
          f" off by more than {FAR_TIMES} times, unsaid | cannot tell |")
    print("|---|---|---|---|---|---|---|")
    for name, rows in ((name, rows) for name, rows in sets.items() if rows):
        told = [row for row in rows if is_told(row)]
        print(f"| {name} | {len(told)} | {percent_of(told, is_close_enough)} | {percent_of(told, is_inside)} |"
              f" {percent_of(told, is_narrow)} | {count(told, is_far_off)} | {len(rows) - len(told)} of {len(rows)} |")
