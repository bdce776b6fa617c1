"""Makes Sources/C/CJPEG/tables.h: Huffman tables that suit phone photos better than those of T.81's annex K.

    .build/bench/python/bin/python Benchmarks/huffman/tables.py ../shared/corpus

A table made for one picture takes a second pass over all its coefficients. These take none: they are made once, from
photos of many phones at several qualities and sizes, so that they save on all of them and most where annex K is worst.
"""

import heapq
import itertools
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
# Which qualities each set of tables is made of; between the two lies the border in encoder.c.
SETS = {"low": (60, 70), "high": (90,), "top": (95,)}
# The share of pictures of other kinds, so that these do not suffer: every symbol is among them.
OTHERS = 0.2


def photos(corpus):
    for facts in map(json.loads, (corpus / "ORACLE.jsonl").read_text().splitlines()):
        pixels = (facts.get("display_width") or 0) * (facts.get("display_height") or 0)
        if facts["path"].split("/")[0] in ("hdr", "heic", "jpeg") and 4.5e6 < pixels < 40e6:
            yield corpus / facts["path"], f"1,1,{facts['display_width'] - 1},{facts['display_height'] - 1}"


def histogram(counter, photo, quality):
    # The crop makes a JPEG be encoded again.
    path, crop = photo
    with tempfile.NamedTemporaryFile(suffix=".jpg") as jpeg:
        subprocess.run(
            [ROOT / ".build/release/safelight", "convert", path, "-o", jpeg.name, "--quality", str(quality), "--crop", crop,
             "--subsampling", "420"], check=True)
        text = subprocess.run([counter, jpeg.name], check=True, capture_output=True, text=True).stdout
    return np.array([line.split() for line in text.splitlines()], float)


def code_lengths(counts):
    """The length of each symbol's code by libjpeg's method (T.81, K.2): none is all ones, none longer than 16."""
    counts = [*counts, 1e-12]
    lengths = np.zeros(257, int)
    heap = [(n, -i, [i]) for i, n in enumerate(counts) if n]
    heapq.heapify(heap)
    while len(heap) > 1:
        (first, rank, members), (second, _, others) = heapq.heappop(heap), heapq.heappop(heap)
        lengths[members + others] += 1
        heapq.heappush(heap, (first + second, rank, members + others))
    number = np.bincount(lengths, minlength=258)
    number[0] = 0
    for length in range(257, 16, -1):
        while number[length]:
            shorter = max(i for i in range(1, length - 1) if number[i])
            np.add.at(number, [length, length - 1, shorter + 1, shorter], (-2, 1, 2, -1))
    number[max(i for i in range(17) if number[i])] -= 1
    order = sorted((i for i in range(256) if lengths[i]), key=lambda i: (lengths[i], i))
    return number[1:17], order


def tables(histograms, weights, annex_k):
    made = []
    for table in range(4):
        mix = sum(w * h[table] / h.sum() for w, h in zip(weights, histograms))
        # Annex K's lengths speak of the pictures that it was made for.
        number, order = annex_k[table]
        others = np.zeros(256)
        others[order] = 0.5 ** np.repeat(np.arange(1, 17), number)
        mix = (1 - OTHERS) * mix / mix.sum() + OTHERS * others / others.sum()
        made.append(code_lengths(mix))
    return made


def bits(histogram, tables):
    return sum(h[order] @ np.repeat(np.arange(1, 17), number) for h, (number, order) in zip(histogram, tables))


def fit(histograms, annex_k):
    """Tables whose most bits on any photo, against annex K's, are fewest: photos on which little is saved gain weight."""
    least = np.array([bits(h, annex_k) for h in histograms])
    weights = np.full(len(histograms), 1 / len(histograms))
    best = None
    for step in range(80):
        made = tables(histograms, weights, annex_k)
        ratios = np.array([bits(h, made) for h in histograms]) / least
        if best is None or ratios.max() < best[1].max():
            best = made, ratios
        weights = weights * np.exp(60 / (1 + step / 10) * (ratios - ratios.mean()))
        weights /= weights.sum()
    return best


def read_tables(jpeg):
    """A JPEG's tables, luma's DC and AC, then chroma's."""
    found, at = {}, 2
    while jpeg[at + 1] != 0xDA:
        end = at + 2 + int.from_bytes(jpeg[at + 2:at + 4], "big")
        start = at + 4
        while jpeg[at + 1] == 0xC4 and start < end:
            number = list(jpeg[start + 1:start + 17])
            found[jpeg[start]] = number, list(jpeg[start + 17:start + 17 + sum(number)])
            start += 17 + sum(number)
        at = end
    return [found[0x00], found[0x10], found[0x01], found[0x11]]


def c_table(table):
    number, order = table
    rows = (order[i:i + 16] for i in range(0, len(order), 16))
    text = ",\n            ".join(", ".join(f"0x{symbol:02x}" for symbol in row) for row in rows)
    return f"""        {{
            {{0, {', '.join(map(str, number))}}},
            {{{text}}},
            FALSE,
        }},
"""


def c_source(name, made):
    dc, ac = ("".join(map(c_table, made[first::2])) for first in (0, 1))
    return f"static const cjpeg_tables {name}_tables = {{\n    {{\n{dc}    }},\n    {{\n{ac}    }},\n}};"


HEADER = """/* Made by Benchmarks/huffman/tables.py, which says how; not edited. */

/* Luma's, then chroma's. */
typedef struct {
  JHUFF_TBL dc[2], ac[2];
} cjpeg_tables;"""


def main(corpus):
    with tempfile.TemporaryDirectory() as folder:
        counter = Path(folder) / "histogram"
        source = Path(__file__).with_name("histogram.c")
        subprocess.run(["gcc", "-O2", source, "-o", counter, "-ljpeg"], check=True)
        plain = subprocess.run(
            ["cjpeg", "-quality", "90"], input=b"P6 8 8 255\n" + bytes(192), check=True, capture_output=True).stdout
        annex_k = read_tables(plain)
        parts = []
        with ThreadPoolExecutor(2) as pool:
            for name, qualities in SETS.items():
                trials = list(itertools.product(photos(corpus), qualities))
                histograms = list(pool.map(lambda trial: histogram(counter, *trial), trials))
                made, ratios = fit(histograms, annex_k)
                print(f"{name}: {len(trials)} pictures, bits of annex K's: mean {ratios.mean():.3f}, "
                      f"least {ratios.min():.3f}, most {ratios.max():.3f}")
                left_out = []
                for photo in {trial[0] for trial in trials}:
                    kept = [h for h, trial in zip(histograms, trials) if trial[0] != photo]
                    others, _ = fit(kept, annex_k)
                    left_out += [bits(h, others) / bits(h, annex_k) for h, trial in zip(histograms, trials)
                                 if trial[0] == photo]
                print(f"    of tables made without the photo: mean {np.mean(left_out):.3f}, most {max(left_out):.3f}")
                parts.append(c_source(name, made))
    (ROOT / "Sources/C/CJPEG/tables.h").write_text("\n\n".join([HEADER, *parts]) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
