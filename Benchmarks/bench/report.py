"""RESULTS.md, its plots and the README's five lines, from the numbers of a run."""

import re
from pathlib import Path

import plot
from peers import ROOT
from pictures import HEIC

UPRIGHT = "JPEG 12 MP upright"
ALIGNED, MIXED = "JPEG 12 MP turned, on blocks", "mixed"
PEERS = ("Pillow", "libvips")
# Safelight's two workers are busy then, and nothing waits long.
BUSY = 8


class Numbers:
    """Looks a run's numbers up."""

    def __init__(self, run):
        self.run = run
        self.rows = {(r["picture"], r["concurrency"], r["service"]): r for r in run["service"]["rows"]}

    def rate(self, picture, service, concurrency=BUSY):
        return self.rows[picture, concurrency, service]["rate"]

    def times(self, picture, service, concurrency=BUSY):
        return self.rate(picture, "Safelight", concurrency) / self.rate(picture, service, concurrency)

    def best_peer(self, picture, concurrency=BUSY):
        return min((self.times(picture, peer, concurrency), peer) for peer in PEERS)

    def memory(self, picture, service):
        return self.rows[picture, BUSY, service]["peak_mb"]

    def limit(self, picture):
        return next(row for row in self.run["limit"] if row["picture"] == picture)

    def peak(self, megapixels):
        return next(row for row in self.run["peaks"] if row["megapixels"] == megapixels)


def goals(numbers):
    """Each number to be reached, what was reached, and whether that is enough."""
    heic, best = numbers.limit(HEIC), numbers.best_peer(HEIC)
    cores = numbers.run["machine"]["cores"]
    possible = numbers.rows[HEIC, BUSY, best[1]]["cpu_ms"] / heic["cpu_ms"]
    share = numbers.rate(HEIC, "Safelight") * heic["cpu_ms"] / 1e3 / cores
    upright, aligned = numbers.times(UPRIGHT, "libvips"), numbers.times(ALIGNED, "libvips")
    memory = max(numbers.memory(HEIC, "Safelight") / numbers.memory(HEIC, peer) for peer in PEERS)
    rows = [
        ("CPU of a 12 MP HEIC, front and worker, to the limit", "≤ 1.10", f"{heic['ratio']:.2f}", heic["ratio"] <= 1.10),
        ("12 MP HEIC a second, to the best peer", "≥ 2.2",
         f"{best[0]:.2f} × {best[1]}; at the limit it would be {possible:.2f} ×", best[0] >= 2.2),
        ("12 MP HEIC a second, of what the limit allows", "≥ 90 %", f"{share:.0%}", share >= 0.9),
        ("12 MP JPEG upright, to libvips", "≥ 2.5", f"{upright:.2f}", upright >= 2.5),
        ("12 MP JPEG turned without loss, to libvips", "≥ 1.5", f"{aligned:.2f}", aligned >= 1.5),
        ("memory of all processes (PSS), to the leaner peer", "≤ 0.25", f"{memory:.2f}", memory <= 0.25),
    ]
    for megapixels, most in ((12, 45), (24, 50), (200, 72)):
        peak = numbers.peak(megapixels)["worker_mb"]
        rows.append((f"the worker's RSS for a HEIC of {megapixels} MP", f"≤ {most} MB", f"{peak:.0f} MB", peak <= most))
    front = max(row["front_mb"] for row in numbers.rows.values() if "front_mb" in row)
    rows.append(("the front's RSS without bodies and pictures", "≤ 25 MB", f"{front:.0f} MB", front <= 25))
    alone = numbers.run["alone"]["p50_ms"] / numbers.run["alone"]["one_core_p50_ms"]
    rows.append(("p50 of one 12 MP HEIC on an idle machine, to that on one core", "≤ 0.65", f"{alone:.2f}", alone <= 0.65))
    ready = 1e3 * numbers.run["service"]["start_s"]["Safelight"]
    rows.append(("ready after exec", "≤ 100 ms", f"{ready:.0f} ms", ready <= 100))
    alone = numbers.rows[UPRIGHT, 1, "Safelight"]
    front = alone["p50_ms"] - alone["worker_ms"]
    rows.append(("p50 of one 12 MP JPEG beyond the worker's own time", "≤ 2 ms",
                 f"{front:.1f} ms, {alone['store_ms']:.1f} of them to write and sync", front <= 2))
    goodput, refusal = numbers.run["load"]["goodput"], numbers.run["load"]["refusal_ms"]
    rows.append(("stored at 10 times capacity, of what is at capacity", "≥ 95 %", f"{goodput:.0%}", goodput >= 0.95))
    rows.append(("refused at 10 times capacity, median", "≤ 20 ms", f"{refusal:.1f} ms", refusal <= 20))
    return rows


def headlines(numbers):
    """The five ratios of the README."""
    heic, upright = numbers.best_peer(HEIC), numbers.best_peer(UPRIGHT)
    aligned, memory = numbers.best_peer(ALIGNED), min(
        numbers.memory(HEIC, peer) / numbers.memory(HEIC, "Safelight") for peer in PEERS)
    mixed = numbers.best_peer(MIXED)
    return [
        f"| 12 MP HEIC stored a second | {heic[0]:.1f} × the best peer ({heic[1]}) |",
        f"| 12 MP JPEG stored a second, upright · turned | {upright[0]:.1f} × · {aligned[0]:.1f} × the best peer |",
        f"| a mixed set stored a second | {mixed[0]:.1f} × the best peer ({mixed[1]}) |",
        f"| memory of all processes | 1/{memory:.1f} of the leanest peer's |",
        f"| CPU of a 12 MP HEIC, all told | {numbers.limit(HEIC)['ratio']:.2f} × that of bare libavcodec and TurboJPEG |",
    ]


def service_table(numbers):
    yield ("| picture | at once | service | photos/s (least…most) | Safelight is | p50 | p95 | p99 ms | CPU ms/photo "
           "| peak MB |")
    yield "|---|--:|---|--:|--:|--:|--:|--:|--:|--:|"
    for (picture, concurrency, service), r in numbers.rows.items():
        times = "" if service == "Safelight" else f"{numbers.times(picture, service, concurrency):.2f} ×"
        note = f" ({r['refused']} refused)" if r["refused"] else ""
        yield (f"| {picture} | {concurrency} | {service}{note} | {r['rate']:.2f} ({r['rate_least']:.2f}…{r['rate_most']:.2f}) "
               f"| {times} | {r['p50_ms']:.0f} | {r['p95_ms']:.0f} | {r['p99_ms']:.0f} | {r['cpu_ms']:.0f} "
               f"| {r['peak_mb']:.0f} |")


def command_table(rows):
    yield "| picture | command | ms (least…most) | CPU ms | peak MB |"
    yield "|---|---|--:|--:|--:|"
    for r in rows:
        yield (f"| {r['picture']} | {r['tool']} | {r['ms']:.0f} ({r['ms_least']:.0f}…{r['ms_most']:.0f}) "
               f"| {r['cpu_ms']:.0f} | {r['peak_mb']:.0f} |")


def limit_table(rows):
    yield "| picture | decode ms | encode ms | limit ms | Safelight ms | ratio (least…most) |"
    yield "|---|--:|--:|--:|--:|--:|"
    for r in rows:
        yield (f"| {r['picture']} | {r['decode_ms']:.0f} | {r['encode_ms']:.0f} | {r['cpu_ms']:.0f} | {r['ours_ms']:.0f} "
               f"| {r['ratio']:.2f} ({r['ratio_least']:.2f}…{r['ratio_most']:.2f}) |")


def growth_table(rows):
    yield "| megapixels | ms | CPU ms | CPU ms/MP | worker's RSS, MB |"
    yield "|--:|--:|--:|--:|--:|"
    for r in rows:
        yield (f"| {r['megapixels']} | {r['ms']:.0f} | {r['cpu_ms']:.0f} | {r['cpu_ms'] / r['megapixels']:.1f} "
               f"| {r['worker_mb']:.0f} |")


def write(run, folder):
    """RESULTS.md and the plots beside it, after Benchmarks/results.md.in."""
    numbers, plots = Numbers(run), folder / "plots"
    plots.mkdir(parents=True, exist_ok=True)
    pictures = list(dict.fromkeys(row["picture"] for row in run["service"]["rows"]))
    services = list(dict.fromkeys(row["service"] for row in run["service"]["rows"]))
    for name, key, unit in (("rate", "rate", "photos a second"), ("cpu", "cpu_ms", "CPU ms a photo"),
                            ("memory", "peak_mb", "MB of all processes")):
        groups = [(p, {s: numbers.rows[p, BUSY, s][key] for s in services}) for p in pictures]
        (plots / f"{name}.svg").write_text(plot.bars(f"{BUSY} at once", unit, groups))
    for name, key in (("growth-time", "cpu_ms"), ("growth-memory", "worker_mb")):
        points = [(row["megapixels"], row[key]) for row in run["growth"]]
        unit = "CPU ms" if key == "cpu_ms" else "MB of the worker"
        (plots / f"{name}.svg").write_text(plot.line(f"safelight convert of a HEIC: {unit}", points, "megapixels", unit))
    goal_lines = [f"| {name} | {wanted} | {found} | {'reached' if holds else '**missed**'} |"
                  for name, wanted, found, holds in goals(numbers)]
    fields = {
        "machine": "\n".join(f"- {name}: {value}" for name, value in run["machine"].items()),
        "minutes": f"{run['seconds'] / 60:.0f}", "goals": "\n".join(goal_lines),
        "service": "\n".join(service_table(numbers)), "commands": "\n".join(command_table(run["commands"])),
        "limit": "\n".join(limit_table(run["limit"])), "growth": "\n".join(growth_table(run["growth"])),
    }
    template = (ROOT / "Benchmarks/results.md.in").read_text()
    (folder / "RESULTS.md").write_text(re.sub(r"@(\w+)@", lambda match: fields[match[1]], template))
    return "\n".join(goal_lines)


def write_headlines(run):
    """Between the README's two marks."""
    readme = ROOT / "README.md"
    lines = "\n".join(["| | |", "|---|---|", *headlines(Numbers(run))])
    text, count = re.subn(r"(<!-- ratios -->\n).*?(<!-- /ratios -->)", rf"\g<1>{lines}\n\2", readme.read_text(), flags=re.S)
    if not count:
        raise SystemExit("README.md has no place for the ratios")
    readme.write_text(text)
