"""The whole service over HTTP: bodies in, JPEGs stored and synced; all services in turn, round after round."""

import json
import subprocess
import sys
from pathlib import Path
from statistics import median

import load
from peers import ROOT, peers
from processes import MemoryWatch, cpu_seconds


def measure(pictures, folder, plan):
    """Rows of medians for each picture, concurrency and service."""
    services = peers()
    starts = {}
    for index, service in enumerate(services):
        starts[service.name] = service.start(plan.port + index, folder)
    try:
        rows = []
        for name, paths in pictures.items():
            photos = [path.read_bytes() for path in paths]
            for concurrency in plan.concurrency(name):
                rows += _compare(services, name, photos, concurrency, plan)
        return {"start_s": starts, "rows": rows}
    finally:
        for service in services:
            service.stop()


def overload(folder):
    """Ten times what it can do: how much of it is done all the same, and how fast the rest is refused."""
    path = folder / "load.json"
    # Its exit code tells of goals, which the report judges.
    subprocess.run([sys.executable, ROOT / "Tests/Faults/load.py", "15", "--json", path], stdout=sys.stderr)
    return json.loads(path.read_text())


def _compare(services, name, photos, concurrency, plan):
    samples = {service.name: [] for service in services}
    for _ in range(plan.rounds):
        for service in services:
            samples[service.name].append(_slice(service, photos, concurrency, plan.seconds))
            service.empty()
    rows = []
    for service, slices in samples.items():
        rates = [s["rate"] for s in slices]
        row = {key: median(s[key] for s in slices) for key in slices[0]}
        row |= {"picture": name, "concurrency": concurrency, "service": service,
                "rate_least": min(rates), "rate_most": max(rates),
                "peak_mb": max(s["peak_mb"] for s in slices), "refused": sum(s["refused"] for s in slices)}
        rows.append(row)
        print(f"{name}, {concurrency} at once: {service} {row['rate']:.2f}/s, {row['p50_ms']:.0f} ms, "
              f"{row['cpu_ms']:.0f} ms CPU, {row['peak_mb']:.0f} MB"
              + (f", {row['refused']} refused" if row["refused"] else ""), flush=True)
    return rows


def _slice(service, photos, concurrency, seconds):
    begin = Path(service.log.name).stat().st_size
    before = cpu_seconds(service.process.pid)
    with MemoryWatch(service.process.pid) as watch:
        outcome = load.run(service.port, photos, concurrency, seconds, service.send)
    used = cpu_seconds(service.process.pid) - before
    if not outcome.latencies:
        raise SystemExit(f"{service.name} stored nothing")
    return {
        "rate": outcome.rate, "p50_ms": 1e3 * outcome.percentile(0.50), "p95_ms": 1e3 * outcome.percentile(0.95),
        "p99_ms": 1e3 * outcome.percentile(0.99), "cpu_ms": 1e3 * used / len(outcome.latencies),
        "peak_mb": watch.peak / 1e6, "requests": len(outcome.latencies), "refused": outcome.refused,
        **_told(service, begin),
    }


def _told(service, begin):
    """What Safelight's log says of where the time went; nothing of the others."""
    with open(service.log.name) as log:
        log.seek(begin)
        lines = [json.loads(line) for line in log if line.startswith("{")]
    lines = [line for line in lines if "time.worker_ms" in line]
    names = ("worker", "store") if lines else ()
    return {f"{name}_ms": median(line[f"time.{name}_ms"] for line in lines) for name in names}
