"""The limit: bare libavcodec and TurboJPEG over the same tiles, against what Safelight takes for the whole job."""

import json
import subprocess
from statistics import median

import load
from peers import ROOT, safelight
from processes import cpu_seconds

LIMIT = ROOT / ".build/bench/limit"


def compare(photos, folder, plan):
    """Safelight's CPU for a photo, front and worker together, as a ratio to the limit's; in turn, round after round."""
    service = safelight()
    service.start(plan.port + 10, folder)
    try:
        return [_compare(service, name, path, plan) for name, path in photos.items()]
    finally:
        service.stop()


def _compare(service, name, path, plan):
    body, samples = path.read_bytes(), []
    for _ in range(plan.repeats):
        text = subprocess.run([LIMIT, path, "3"], check=True, capture_output=True, text=True).stdout
        limit = json.loads(text)
        before = cpu_seconds(service.process.pid)
        outcome = load.run(service.port, [body], 1, plan.seconds, service.send)
        ours = 1e3 * (cpu_seconds(service.process.pid) - before) / len(outcome.latencies)
        service.empty()
        samples.append({**limit, "ours_ms": ours, "ratio": ours / limit["cpu_ms"]})
    row = {"picture": name, **{key: median(s[key] for s in samples) for key in samples[0]},
           "ratio_least": min(s["ratio"] for s in samples), "ratio_most": max(s["ratio"] for s in samples)}
    print(f"limit: {name}: {row['ours_ms']:.0f} ms of {row['cpu_ms']:.0f} ms, {row['ratio']:.2f}", flush=True)
    return row
