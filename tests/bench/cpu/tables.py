# SPDX-License-Identifier: Apache-2.0
"""Medians, quartiles and tables of what compare.py measured."""

import json
import math
import re
import statistics

from contenders import COMPUTE, HALFTONE, MACHINE


def matching(all_rows, pattern):
    return [row for row in all_rows if not pattern or re.search(pattern, row.title())]


def quartiles(values):
    """[lower quartile, median, upper quartile]"""
    if len(values) < 2:
        return [values[0]] * 3
    return statistics.quantiles(values, n=4, method="inclusive")


def result_of(row, running, distances):
    result = {"section": row.section, "name": row.name, "format": row.format, "operations": row.operations, "bytes": row.bytes,
              "threads": {}}
    for threads in sorted({timed.threads for timed in running}):
        here = [timed for timed in running if timed.threads == threads]
        ours = next(timed for timed in here if timed.name == HALFTONE)
        found = {"contenders": {}, "ratios": {}, "machine": {}}
        for timed in here:
            if timed.library.name == MACHINE:
                rate = [timed.probed[0] / seconds for seconds in timed.seconds_of_run]
                found["machine"][timed.name] = {"per second": quartiles(rate)}
                continue
            found["contenders"][timed.name] = {
                "seconds": quartiles(timed.seconds_of_run), "runs of a turn": timed.count, "rounds": timed.seconds_of_run,
                "distance": distances[timed.name, threads], "idle share": timed.idle_share}
            if timed.why:
                found["contenders"][timed.name]["no ratio"] = timed.why
            elif timed is not ours:
                ratios = [theirs / own for theirs, own in zip(timed.seconds_of_run, ours.seconds_of_run)]
                found["ratios"][timed.name] = quartiles(ratios)
        found["best peer"] = best_peer(found)
        found |= shares(row, found)
        result["threads"][str(threads)] = found
    speed_up(result, running)
    return result


def best_peer(found):
    """The one with a ratio whose median time is the smallest."""
    return min(found["ratios"], key=lambda name: found["contenders"][name]["seconds"][1], default=None)


def shares(row, found):
    """Of the machine's most operations, and of its bandwidth, measured in the same rounds."""
    seconds = found["contenders"][HALFTONE]["seconds"][1]
    most = max((each["per second"][1] for each in found["machine"].values()), default=0)
    if not most:
        return {}
    if row.section == "stream":
        return {"GB/s": row.bytes / seconds * 1e-9, "of bandwidth": row.bytes / seconds / most, "bandwidth GB/s": most * 1e-9}
    return {"GFLOP/s": row.operations / seconds * 1e-9, "of peak": row.operations / seconds / most, "peak GFLOP/s": most * 1e-9}


def speed_up(result, running):
    """Of Halftone's second thread, in the same rounds."""
    times = {timed.threads: timed.seconds_of_run for timed in running if timed.name == HALFTONE}
    if 1 in times and 2 in times:
        result["two threads over one"] = quartiles([one / two for one, two in zip(times[1], times[2])])


def line_of(result):
    parts = []
    for threads, found in result["threads"].items():
        best = found["best peer"]
        said = f"{best} {spelled_ratio(found['ratios'][best])}" if best else "no peer"
        parts.append(f"{threads}: {spelled_time(found['contenders'][HALFTONE]['seconds'][1])}, {said}, {spelled_share(found)}")
    return "; ".join(parts)


def spelled_time(seconds):
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} us"


def spelled_ratio(ratio):
    low, middle, high = ratio
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def spelled_share(found):
    if "of peak" in found:
        return f"{found['GFLOP/s']:.1f} GFLOP/s, {found['of peak']:.0%}"
    if "of bandwidth" in found:
        return f"{found['GB/s']:.1f} GB/s, {found['of bandwidth']:.0%}"
    return ""


def names_of(results):
    names = []
    for result in results:
        for found in result["threads"].values():
            names += [name for name in found["contenders"] if name not in names]
    return names


def table(section, results):
    """Rows of one section; times are medians, ratios those to the fastest peer."""
    here = [result for result in results if result["section"] == section]
    names = names_of(here)
    share = "of bandwidth" if section == "stream" else "of peak"
    rate = "GB/s" if section == "stream" else "GFLOP/s"
    lines = [f"| {section} | format | threads | {' | '.join(names)} | ratio | {rate} | {share} |",
             "|" + "---|" * (len(names) + 6)]
    for result in here:
        for threads, found in result["threads"].items():
            best = found["best peer"]
            times = []
            for name in names:
                each = found["contenders"].get(name)
                text = spelled_time(each["seconds"][1]) if each else "-"
                times.append(text + (" (other values)" if each and "no ratio" in each else ""))
            ratio = spelled_ratio(found["ratios"][best]) if best else "-"
            reached = f"{found[rate]:.1f} | {found[share]:.0%}" if rate in found else "- | -"
            lines.append(f"| {result['name']} | {result['format']} | {threads} | {' | '.join(times)} | {ratio} | {reached} |")
    return "\n".join(lines)


def geometric_means(section, results):
    """Halftone's ratio to each peer over the rows of a section."""
    lines = []
    found = {}
    for result in results:
        if result["section"] != section:
            continue
        for threads, each in result["threads"].items():
            best = each["best peer"]
            for name, ratio in [*each["ratios"].items(), *([("the fastest peer", each["ratios"][best])] if best else [])]:
                found.setdefault((result["format"], threads, name), []).append(math.log(ratio[1]))
    for (format, threads, name), logs in sorted(found.items()):
        lines.append(f"| {section} | {format} | {threads} | {name} | {math.exp(sum(logs) / len(logs)):.2f} | {len(logs)} |")
    return lines


def limits(results):
    """What a step would take if it did nothing but its products at the peak, or nothing but move its bytes."""
    lines = ["| network | format | threads | operations | at the peak | bytes | Halftone | of peak | second thread |",
             "|---|---|---|---|---|---|---|---|---|"]
    for result in results:
        if result["section"] not in ("network", "small"):
            continue
        for threads, found in result["threads"].items():
            if "peak GFLOP/s" not in found:
                continue
            least = result["operations"] / found["peak GFLOP/s"] * 1e-9
            gain = spelled_ratio(result["two threads over one"]) if threads == "2" and "two threads over one" in result else ""
            row = f"| {result['name']} | {result['format']} | {threads} | {result['operations']:.3g} | {spelled_time(least)} "
            lines.append(f"{row}| {result['bytes']:.3g} | {spelled_time(found['contenders'][HALFTONE]['seconds'][1])} "
                         f"| {found['of peak']:.0%} | {gain} |")
    return "\n".join(lines)


def ceilings(results):
    """Medians over all rows of what the machine did at most."""
    found = {}
    for result in results:
        for threads, each in result["threads"].items():
            for name, rate in each["machine"].items():
                found.setdefault((name, threads), []).append(rate["per second"][1])
    lines = ["| ceiling | threads | median of the rows | lowest | highest |", "|---|---|---|---|---|"]
    for (name, threads), rates in sorted(found.items()):
        unit = "GFLOP/s" if name.startswith(COMPUTE) else "GB/s"
        spelled = " | ".join(f"{rate * 1e-9:.1f} {unit}" for rate in (statistics.median(rates), min(rates), max(rates)))
        lines.append(f"| {name} | {threads} | {spelled} |")
    return "\n".join(lines)


def report(facts, results):
    caches = ", ".join(f"{name} {size >> 10} KiB" for name, size in facts["caches"].items())
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    parts = [f"{facts['processor']}, {facts['cores']} cores, {caches}, {' '.join(facts['features'])}; {facts['date']}, commit "
             f"{facts['commit']}; {facts['Halftone']}. Peers: {versions or 'none'}. {facts['rounds']} rounds, turns of "
             f"{facts['seconds of a turn']} s."]
    parts += [f"Without {line}" for line in facts["missing"]]
    sections = list(dict.fromkeys(result["section"] for result in results))
    parts += [ceilings(results)] + [table(section, results) for section in sections]
    if {"network", "small"} & set(sections):
        parts.append(limits(results))
    means = [line for section in sections for line in geometric_means(section, results)]
    head = ["| section | format | threads | beside | geometric mean of ratios | rows |", "|---|---|---|---|---|---|"]
    if means:
        parts.append("\n".join(head + means))
    return "\n\n".join(parts)


def write_json(path, facts, results):
    with open(path, "w") as file:
        json.dump({**facts, "rows": results}, file, indent=1)
