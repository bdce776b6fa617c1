"""The whole service over HTTP: bodies in, JPEGs stored and synced; all services in turn, round after round."""

import json
import subprocess
import sys
from pathlib import Path
from statistics import median

import load
import report
from peers import ROOT, peers, safelight
from processes import MemoryWatch, cpu_seconds, own_memory


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


def alone(path, folder, plan):
    """The p50 of one request on a machine with nothing else to do, as it is, and on one core of it."""
    services = {"p50_ms": safelight(), "one_core_p50_ms": safelight("taskset", "-c", "0")}
    found = {}
    for name, service in services.items():
        service.start(plan.port + 20, folder)
        try:
            load.run(service.port, [path.read_bytes()], 1, 1, service.send)
            outcome = load.run(service.port, [path.read_bytes()], 1, plan.rounds * plan.seconds, service.send)
            found[name] = 1e3 * outcome.percentile(0.50)
        finally:
            service.stop()
    return found


def overload(folder):
    """Ten times what it can do: how much of it is done all the same, and how fast the rest is refused."""
    path = folder / "load.json"
    path.unlink(missing_ok=True)
    # Its exit code tells of goals, which the report judges; where it fails there is no file.
    subprocess.run([sys.executable, ROOT / "Tests/Faults/load.py", "15", "--json", path], stdout=sys.stderr)
    return json.loads(path.read_text())


def _compare(services, name, photos, concurrency, plan):
    samples = {service.name: [] for service in services}
    # With so many at once each round lasts long.
    for _ in range(1 if concurrency > report.BUSY else plan.rounds):
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
    if not lines:
        return {}
    return {f"{name}_ms": median(line[f"time.{name}_ms"] for line in lines) for name in ("worker", "store")} | {
        "front_mb": own_memory(service.process.pid) / 1e6}
