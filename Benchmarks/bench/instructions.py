"""Instructions that one photo takes, counted by callgrind: unlike seconds they are the same in every run.

`reference.json` holds the counts for each set of library versions that was met. Other versions have other counts: then
nothing is judged, and that is said.
"""

import hashlib
import json
import os
import re
import subprocess
from pathlib import Path

import machine
from peers import ROOT

REFERENCE = Path(__file__).with_name("reference.json")
TOLERANCE = 0.02
LIBRARIES = ("libheif1", "libavcodec59", "libavcodec61", "libturbojpeg0", "libjpeg62-turbo", "libzimg2", "liblcms2-2", "libc6")


def measure(photos, folder):
    subprocess.run(
        ["swift", "build", "-q", "-c", "release", "--static-swift-stdlib", "--product", "measure"], cwd=ROOT, check=True,
        env={**os.environ, "SAFELIGHT_BENCH": "1"})
    # valgrind 3.19 gives up at what the linker makes of Swift's debugging sections.
    program = folder / "measure"
    subprocess.run(["strip", "-o", program, ROOT / ".build/release/measure"], check=True)
    rows = []
    for name, path in photos.items():
        # The first photo pays for the start, so one is taken from two.
        one, two = (_count(program, path, times) for times in (1, 2))
        row = {"picture": name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "instructions": two - one}
        rows.append(row)
        print(f"instructions: {name}: {row['instructions'] / 1e6:.1f} million", flush=True)
    return rows


def _count(program, path, times):
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, path, str(times)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"callgrind: {done.stderr[-500:]}")
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1))


def _key():
    """What the counts depend on: the libraries, and the instructions that they find (SIMD)."""
    versions = machine.debian(LIBRARIES)
    return " ".join([machine.processor(), *(f"{name} {version}" for name, version in sorted(versions.items()))])


def _reference():
    return json.loads(REFERENCE.read_text()) if REFERENCE.exists() else {}


def record(rows):
    reference = _reference()
    known = reference.setdefault(_key(), {})
    known.update({row["sha256"]: {"picture": row["picture"], "instructions": row["instructions"]} for row in rows})
    REFERENCE.write_text(json.dumps(reference, indent=1, sort_keys=True) + "\n")


def judge(rows):
    """Lines that say which photo takes more than the reference allows."""
    known, faults = _reference().get(_key(), {}), []
    for row in rows:
        before = known.get(row["sha256"])
        if not before:
            print(f"instructions: NOT judged: no reference for {row['picture']} with this machine's libraries")
            continue
        row["change"] = row["instructions"] / before["instructions"] - 1
        if row["change"] > TOLERANCE:
            faults.append(f"{row['picture']} takes {row['change']:+.1%} instructions")
    print(f"instructions: {sum('change' in row for row in rows)} of {len(rows)} judged, {len(faults)} over the reference")
    return faults
