"""The command line: one photo, one process, a file out; and how CPU and memory grow with the picture."""

import resource
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from processes import memory, resident_most, tree

SAFELIGHT = Path(__file__).resolve().parents[2] / ".build/release/safelight"


def run(command):
    """Seconds by the clock and of CPU, and the most bytes held, of a command and its children; and by its
    child alone (RSS)."""
    begun = time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    peak = worker = 0
    while process.poll() is None:
        peak = max(peak, memory(process.pid))
        worker = max([worker, *map(resident_most, tree(process.pid)[1:])])
        time.sleep(0.004)
    seconds, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    complaint = process.stderr.read().decode(errors="replace")
    if process.returncode:
        raise RuntimeError(f"{command[0]}: {complaint[-300:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"ms": 1e3 * seconds, "cpu_ms": 1e3 * cpu, "peak_mb": peak / 1e6, "worker_mb": worker / 1e6}


def rivals(path, out):
    """What a user would type instead, for the same upright JPEG without metadata."""
    found = {"safelight convert": [SAFELIGHT, "convert", path, "-o", out]}
    if path.suffix == ".heic":
        found["heif-dec"] = ["heif-dec", "--quiet", "-q", "90", path, out]
        found["ImageMagick"] = ["/usr/bin/convert", path, "-auto-orient", "-strip", "-quality", "90", out]
        found["vips"] = ["vips", "jpegsave", path, out, "--Q", "90", "--strip", "--subsample-mode", "on"]
    else:
        found["ImageMagick"] = ["/usr/bin/convert", path, "-auto-orient", "-strip", "-quality", "90", out]
        found["jpegtran"] = ["jpegtran", "-perfect", "-copy", "none", "-outfile", out, path]
        if "turned" in str(path) or "o6" in path.stem:
            found["jpegtran"][1:1] = ["-rotate", "90"]
            found["vips"] = ["vips", "autorot", path, f"{out}[Q=90,strip,subsample_mode=on]"]
        else:
            found["vips"] = ["vips", "jpegsave", path, out, "--Q", "90", "--strip", "--subsample-mode", "on"]
    return found


def compare(pictures, folder, plan):
    rows, out = [], folder / "out.jpg"
    for name, paths in pictures.items():
        if len(paths) > 1:
            continue
        commands = rivals(paths[0], out)
        samples = {tool: [] for tool in commands}
        for _ in range(plan.repeats):
            for tool, command in list(commands.items()):
                try:
                    samples[tool].append(run(command))
                except RuntimeError as error:
                    print(f"command line: {name}: {error}", file=sys.stderr)
                    del commands[tool]
        for tool, runs in samples.items():
            if runs:
                rows.append({"picture": name, "tool": tool, **_medians(runs)})
                print(f"command line: {name}: {tool} {rows[-1]['ms']:.0f} ms, {rows[-1]['cpu_ms']:.0f} ms CPU, "
                      f"{rows[-1]['peak_mb']:.0f} MB", flush=True)
    return rows


def grow(pictures, folder, plan):
    """`safelight convert` of each, by megapixels."""
    rows, out = [], folder / "out.jpg"
    for megapixels, path in pictures.items():
        row = {"megapixels": megapixels, **_medians([run([SAFELIGHT, "convert", path, "-o", out])
                                                     for _ in range(plan.repeats)])}
        rows.append(row)
        print(f"growth: {megapixels} MP: {row['ms']:.0f} ms, worker {row['worker_mb']:.0f} MB", flush=True)
    return rows


def _medians(runs):
    return {key: (max if key.endswith("_mb") else median)(r[key] for r in runs) for key in runs[0]} | {
        "ms_least": min(r["ms"] for r in runs), "ms_most": max(r["ms"] for r in runs)}
