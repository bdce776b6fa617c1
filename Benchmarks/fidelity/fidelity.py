"""Holds Safelight's JPEGs against Pillow's and writes FIDELITY.md; fails where one falls short.

The picture that both are held against is libde265's decode of the same HEIC, by heif-dec; Safelight decodes with
FFmpeg's, Pillow with the libheif of its wheel. Both JPEGs are read by the same libjpeg-turbo.
"""

import io
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pillow_heif
from PIL import Image, __version__ as pillow_version

from metrics import Space, check, luma, mean_difference, ssim

ROOT = Path(__file__).resolve().parents[2]
SAFELIGHT = ROOT / ".build/release/safelight"
QUALITY = 90
# At 500 kB the hard budget is held against the best that quality alone can do.
BUDGET = 500_000
FLOOR = 60

Image.MAX_IMAGE_PIXELS = None


def photos(corpus):
    """The 12 MP HEICs of the corpus."""
    for line in (corpus / "ORACLE.jsonl").read_text().splitlines():
        facts = json.loads(line)
        width, height = facts.get("display_width") or 0, facts.get("display_height") or 0
        if facts["format"] == "HEIF" and 11.5e6 < width * height < 13e6:
            yield corpus / facts["path"]


def reference(photo, folder):
    png = folder / f"{photo.stem}.png"
    # Level 0 stores: nothing here looks at the PNG's size.
    subprocess.run(
        ["heif-dec", "--quiet", "-d", "libde265", "-C", "nn", "--png-compression-level", "0", photo, png],
        check=True, stdout=subprocess.DEVNULL)
    with Image.open(png) as picture:
        return np.asarray(picture.convert("RGB"))


def safelight(photo, **options):
    flags = [text for name, value in options.items() for text in (f"--{name.replace('_', '-')}", str(value))]
    return subprocess.run([SAFELIGHT, "convert", *flags, photo, "-o", "-"], check=True, capture_output=True).stdout


def pillow(photo, quality=QUALITY):
    with pillow_heif.open_heif(photo).to_pillow() as picture:
        out = io.BytesIO()
        picture.convert("RGB").save(out, "JPEG", quality=quality, icc_profile=picture.info.get("icc_profile"))
        return out.getvalue()


class Judge:
    """Measures JPEGs against the picture that they should show."""

    def __init__(self, photo, folder):
        self.picture = reference(photo, folder)
        self.luma = luma(self.picture)
        self.space = Space(pillow_heif.open_heif(photo).info.get("icc_profile"))

    def ssim(self, jpeg):
        return ssim(self.luma, luma(decode(jpeg)[0]))

    def measure(self, jpeg):
        pixels, space = decode(jpeg)
        assert pixels.shape == self.picture.shape, "another size or turn than the reference has"
        difference = mean_difference(self.picture, pixels, (self.space, space))
        return {"bytes": len(jpeg), "ssim": ssim(self.luma, luma(pixels)), "difference": difference}


def decode(jpeg):
    with Image.open(io.BytesIO(jpeg)) as picture:
        return np.asarray(picture.convert("RGB")), Space(picture.info.get("icc_profile"))


def quality_only(photo, budget):
    """The JPEG of the highest quality that fits, at the photo's own size, and that quality."""
    low, high, best = 1, QUALITY, None
    while low <= high:
        quality = (low + high) // 2
        jpeg = safelight(photo, quality=quality)
        if len(jpeg) <= budget:
            low, best = quality + 1, (quality, jpeg)
        else:
            high = quality - 1
    return best


def compare(photo, folder):
    judge = Judge(photo, folder)
    row = {"name": photo.stem, "ours": judge.measure(safelight(photo, quality=QUALITY)),
           "pillow": judge.measure(pillow(photo))}
    budgeted, plain = safelight(photo, max_bytes=BUDGET), quality_only(photo, BUDGET)
    row["budget"] = {"bytes": len(budgeted), "ssim": judge.ssim(enlarged(budgeted, judge.picture))}
    row["plain"] = {"quality": plain[0], "ssim": judge.ssim(plain[1])}
    return row


def enlarged(jpeg, like):
    """A JPEG that the budget made smaller, brought to the photo's size again."""
    with Image.open(io.BytesIO(jpeg)) as picture:
        if picture.size == like.shape[1::-1]:
            return jpeg
        out = io.BytesIO()
        picture.convert("RGB").resize(like.shape[1::-1], Image.Resampling.LANCZOS).save(out, "PNG", compress_level=0)
        return out.getvalue()


def at_least(ours, theirs, digits):
    return round(ours, digits) >= round(theirs, digits)


def judge(row):
    """In what a photo's JPEG falls short; rounded as the table prints it."""
    ours, theirs = row["ours"], row["pillow"]
    if not at_least(ours["ssim"], theirs["ssim"], 4):
        yield "SSIM below Pillow's"
    if not at_least(-ours["difference"], -theirs["difference"], 3):
        yield "colours further off than Pillow's"
    if ours["bytes"] > theirs["bytes"]:
        yield "more bytes than Pillow's"
    if row["budget"]["bytes"] > BUDGET:
        yield "over the budget"
    # Lower qualities than the floor are not ours to choose: the picture shrinks instead.
    if row["plain"]["quality"] >= FLOOR and not at_least(row["budget"]["ssim"], row["plain"]["ssim"], 4):
        yield "under a budget, SSIM below that of quality alone"


def table(rows):
    yield "| photo | kB | Pillow | SSIM | Pillow | ΔE2000 | Pillow | at 500 kB: SSIM | quality alone |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    for row in rows:
        ours, theirs, plain = row["ours"], row["pillow"], row["plain"]
        yield (f"| {row['name']} | {ours['bytes'] / 1000:.0f} | {theirs['bytes'] / 1000:.0f} "
               f"| {ours['ssim']:.4f} | {theirs['ssim']:.4f} | {ours['difference']:.3f} | {theirs['difference']:.3f} "
               f"| {row['budget']['ssim']:.4f} | {plain['ssim']:.4f} (q {plain['quality']}) |")


REPORT = """# Fidelity

Each 12 MP HEIC of the corpus at quality {quality}, by Safelight and by Pillow {pillow} with pillow-heif {pillow_heif}
(4:2:0 both, the profile embedded by both), against libde265's decode of the same HEIC. SSIM is luma's mean over
11 × 11 Gaussian windows (higher is nearer), ΔE2000 the mean over all pixels in the profile's colours (lower is nearer).
The last two columns hold SSIM under `max_bytes=500KB` against that of the highest quality up to 90 that fits 500 kB (found by
bisection, at full size and with no floor: where that is below 60, Safelight shrinks the picture instead, and shows what
that costs).

{table}

Made by `make fidelity`, which fails where a photo falls short; what is behind the numbers:

- Safelight hands the decoder's YCbCr samples to the JPEG encoder as they are. Pillow goes by RGB, where rounding costs a
  little and out-of-gamut colours are clipped: that is its larger ΔE.
- The same samples take fewer bytes by Huffman tables that are made for phone photos (`Benchmarks/huffman/tables.py`);
  Pillow's are those of T.81's annex K. Without them Safelight's JPEGs would be up to 0.3 % larger than Pillow's, whose
  clipping makes chroma a little simpler.
"""


def main(corpus):
    if not (corpus / "ORACLE.jsonl").is_file():
        print(f"fidelity: no corpus at {corpus}: NOT compared")
        return 0
    check()
    rows, short = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for row in ThreadPoolExecutor(2).map(lambda photo: compare(photo, Path(folder)), photos(corpus)):
            rows.append(row)
            faults = list(judge(row))
            short += len(faults)
            print(f"{row['name']}: {', '.join(faults) or 'holds'}", flush=True)
    text = "\n".join(table(rows))
    print(text)
    (ROOT / "Benchmarks/FIDELITY.md").write_text(
        REPORT.format(quality=QUALITY, pillow=pillow_version, pillow_heif=pillow_heif.__version__, table=text))
    print(f"fidelity: {len(rows)} photos, {short} shortfalls")
    return 1 if short or not rows else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "../shared/corpus")))
