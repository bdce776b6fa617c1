"""Measures Safelight beside its peers and its limit, and writes the results.

    python Benchmarks/bench [--short] [--corpus FOLDER] [--publish] [--record]
"""

import argparse
import json
import sys
import time
from pathlib import Path

import commands
import instructions
import limit
import machine
import report
import service
from peers import ROOT
from pictures import Pictures


class Plan:
    """How long each part takes: the full form under 20 minutes, the short one about two."""

    port = 8350

    def __init__(self, short):
        self.short = short
        self.rounds, self.repeats, self.seconds = (1, 1, 1.0) if short else (3, 3, 2.2)

    def concurrency(self, picture):
        if self.short:
            return (1, report.BUSY)
        return (1, 2, 8, 32) if picture in (report.HEIC, report.MIXED) else (1, 8)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--short", action="store_true", help="about two minutes: fewer rounds and pictures, no gate on speed")
    options.add_argument("--corpus", type=Path, default=ROOT / "../shared/corpus", help="real photos, where there are any")
    options.add_argument("--publish", action="store_true", help="write Benchmarks/RESULTS.md and the README's ratios")
    options.add_argument("--record", action="store_true", help="count instructions only, and make them the reference")
    chosen = options.parse_args()
    plan, begun = Plan(chosen.short), time.time()
    folder = ROOT / ".build/bench"
    pictures = Pictures(chosen.corpus, folder / "pictures")

    run = {"form": "short" if plan.short else "full", "machine": machine.describe(ROOT)}
    served, single = pictures.service(), {name: pictures.photo(name) for name in (report.HEIC, report.UPRIGHT, report.ALIGNED)}
    run["instructions"] = instructions.measure(single, folder)
    if chosen.record:
        instructions.record(run["instructions"])
        return 0
    faults = instructions.judge(run["instructions"])
    heics = {name: paths[0] for name, paths in served.items() if name.startswith("HEIC")}
    run["limit"] = limit.compare(heics, folder, plan)
    if not plan.short:
        run["peaks"] = commands.grow(pictures.peaks(), folder, plan)
        run["growth"] = commands.grow(pictures.growth(), folder, plan)
        run["commands"] = commands.compare(served, folder, plan)
        run["load"] = service.overload(folder)
        run["alone"] = service.alone(single[report.HEIC], folder, plan)
    run["service"] = service.measure(
        {name: served[name] for name in single} if plan.short else served, folder, plan)
    run["seconds"] = round(time.time() - begun)

    path = folder / f"results-{run['form']}.json"
    path.write_text(json.dumps(run, indent=1) + "\n")
    if not plan.short:
        print(report.write(run, ROOT / "Benchmarks" if chosen.publish else folder))
        if chosen.publish:
            report.write_headlines(run)
            (ROOT / "Benchmarks/results.json").write_text(path.read_text())
    print(f"bench: {run['seconds']} s, numbers in {path.relative_to(ROOT)}")
    for fault in faults:
        print(f"bench: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
