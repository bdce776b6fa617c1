"""The limit: bare libavcodec and TurboJPEG over the same tiles, against what Safelight takes for the whole job.

Both with all processors busy: what one does beside an idle one costs less, where they are two threads of one core.
"""

import json
import os
import subprocess
from statistics import mean, median

import load
from peers import ROOT, safelight
from processes import cpu_seconds

CORES = len(os.sched_getaffinity(0))
LIMIT = ROOT / ".build/bench/limit"


def compare(photos, folder, plan):
    """Safelight's CPU for a photo, front and worker together, as a ratio to the limit's; in turn, round after round."""
    service = safelight()
    service.start(plan.port + 10, folder)
    try:
        return [_compare(service, name, path, plan) for name, path in photos.items()]
    finally:
        service.stop()


def _limit(path):
    """The mean of as many copies as there are processors, at once."""
    copies = [subprocess.Popen([LIMIT, path, "3"], stdout=subprocess.PIPE) for _ in range(CORES)]
    numbers = [json.loads(copy.communicate()[0]) for copy in copies]
    return {key: mean(n[key] for n in numbers) for key in numbers[0]}


def _compare(service, name, path, plan):
    body, samples = path.read_bytes(), []
    for _ in range(plan.repeats):
        limit = _limit(path)
        before = cpu_seconds(service.process.pid)
        outcome = load.run(service.port, [body], CORES, plan.seconds, service.send)
        ours = 1e3 * (cpu_seconds(service.process.pid) - before) / len(outcome.latencies)
        service.empty()
        samples.append({**limit, "ours_ms": ours, "ratio": ours / limit["cpu_ms"]})
    row = {"picture": name, **{key: median(s[key] for s in samples) for key in samples[0]},
           "ratio_least": min(s["ratio"] for s in samples), "ratio_most": max(s["ratio"] for s in samples)}
    print(f"limit: {name}: {row['ours_ms']:.0f} ms of {row['cpu_ms']:.0f} ms, {row['ratio']:.2f}", flush=True)
    return row
