"""How near one picture is to another: luma's SSIM and colour's CIEDE2000, over arrays of 8-bit RGB."""

import numpy as np

# A picture is worked on by strips, so that memory does not grow with it.
STRIP = 256


def luma(rgb):
    """BT.601's luma, as JFIF has it, 0...255."""
    return rgb.astype(np.float32) @ np.array([0.299, 0.587, 0.114], np.float32)


def ssim(first, second):
    """Mean structural similarity of two planes (Wang et al. 2004): Gaussian window of 11, sigma 1.5, K1 0.01, K2 0.03."""
    total, count = 0.0, 0
    for top in range(0, first.shape[0] - 10, STRIP):
        part = _ssim_map(first[top:top + STRIP + 10], second[top:top + STRIP + 10])
        total, count = total + part.sum(dtype=np.float64), count + part.size
    return total / count


def _ssim_map(x, y):
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    # Around mid-grey: single precision then is enough for the variances.
    x, y = x - np.float32(128), y - np.float32(128)
    mean_x, mean_y = _blur(x), _blur(y)
    variance_x, variance_y = _blur(x * x) - mean_x ** 2, _blur(y * y) - mean_y ** 2
    covariance = _blur(x * y) - mean_x * mean_y
    mean_x, mean_y = mean_x + 128, mean_y + 128
    return ((2 * mean_x * mean_y + c1) * (2 * covariance + c2)
            / ((mean_x ** 2 + mean_y ** 2 + c1) * (variance_x + variance_y + c2)))


_WEIGHTS = np.exp(-np.arange(-5, 6, dtype=np.float64) ** 2 / (2 * 1.5 ** 2))
_WEIGHTS = (_WEIGHTS / _WEIGHTS.sum()).astype(np.float32)


def _blur(plane):
    """Where the whole window lies inside the plane."""
    rows = sum(w * plane[i:plane.shape[0] - 10 + i] for i, w in enumerate(_WEIGHTS))
    return sum(w * rows[:, i:plane.shape[1] - 10 + i] for i, w in enumerate(_WEIGHTS))


def mean_difference(first, second, spaces):
    """Mean CIEDE2000 of two pictures, each with its `Space` of `spaces`."""
    total = 0.0
    for top in range(0, first.shape[0], STRIP):
        pair = (space.lab(rgb[top:top + STRIP]) for rgb, space in zip((first, second), spaces))
        total += ciede2000(*pair).sum(dtype=np.float64)
    return total / (first.shape[0] * first.shape[1])


class Space:
    """What the numbers of a matrix profile (ICC.1:2010, 8.4.3) mean; without a profile they are sRGB's."""

    # IEC 61966-2-1, adapted to D50 as ICC has it.
    SRGB = [[0.4360, 0.3851, 0.1431], [0.2225, 0.7169, 0.0606], [0.0139, 0.0971, 0.7141]]
    WHITE = np.array([0.9642, 1.0, 0.8249], np.float32)

    def __init__(self, icc=None):
        numbers = np.arange(256) / 255
        if icc is None:
            self.matrix = np.array(self.SRGB)
            self.curves = [np.where(numbers <= 0.04045, numbers / 12.92, ((numbers + 0.055) / 1.055) ** 2.4)] * 3
        else:
            tags = _tags(icc)
            self.matrix = np.array([_fixed(tags[name][8:20]) for name in (b"rXYZ", b"gXYZ", b"bXYZ")]).T
            self.curves = [_curve(tags[name], numbers) for name in (b"rTRC", b"gTRC", b"bTRC")]

    def lab(self, rgb):
        light = np.stack([curve.astype(np.float32)[rgb[..., i]] for i, curve in enumerate(self.curves)], axis=-1)
        xyz = light @ self.matrix.T.astype(np.float32) / self.WHITE
        f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
        x, y, z = np.moveaxis(f, -1, 0)
        return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def _tags(icc):
    count = int.from_bytes(icc[128:132], "big")
    entries = (icc[132 + 12 * i:144 + 12 * i] for i in range(count))
    return {e[:4]: icc[int.from_bytes(e[4:8], "big"):][:int.from_bytes(e[8:12], "big")] for e in entries}


def _fixed(data):
    return np.frombuffer(data, ">i4") / 65536


def _curve(tag, x):
    if tag[:4] == b"curv":
        count = int.from_bytes(tag[8:12], "big")
        points = np.frombuffer(tag[12:12 + 2 * count], ">u2")
        if count <= 1:
            return x ** (points[0] / 256 if count else 1)
        return np.interp(x, np.linspace(0, 1, count), points / 65535)
    kind = int.from_bytes(tag[8:10], "big")
    assert tag[:4] == b"para" and kind in (0, 3), "a curve that phones do not write"
    g, a, b, c, d = [*_fixed(tag[12:32]), 1, 0, 0, 0][:5] if kind == 0 else _fixed(tag[12:32])
    return x ** g if kind == 0 else np.where(x >= d, (a * x + b) ** g, c * x)


def ciede2000(first, second):
    """Sharma, Wu and Dalal 2005, with all weights 1."""
    (l1, a1, b1), (l2, a2, b2) = first, second
    c7 = ((np.hypot(a1, b1) + np.hypot(a2, b2)) / 2) ** 7
    g = 1.5 - 0.5 * np.sqrt(c7 / (c7 + 25.0 ** 7))
    a1, a2 = a1 * g, a2 * g
    c1, c2 = np.hypot(a1, b1), np.hypot(a2, b2)
    h1, h2 = (np.degrees(np.arctan2(b, a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180
    grey = c1 * c2 == 0
    dl, dc = l2 - l1, c2 - c1
    dh = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(np.where(grey, 0, turn) / 2))
    l, c = (l1 + l2) / 2, (c1 + c2) / 2
    h = np.where(grey, h1 + h2, h1 + turn / 2)
    t = (1 - 0.17 * np.cos(np.radians(h - 30)) + 0.24 * np.cos(np.radians(2 * h))
         + 0.32 * np.cos(np.radians(3 * h + 6)) - 0.20 * np.cos(np.radians(4 * h - 63)))
    sl = 1 + 0.015 * (l - 50) ** 2 / np.sqrt(20 + (l - 50) ** 2)
    sc, sh = 1 + 0.045 * c, 1 + 0.015 * c * t
    rc = 2 * np.sqrt(c ** 7 / (c ** 7 + 25.0 ** 7))
    rt = -rc * np.sin(np.radians(60 * np.exp(-((h % 360 - 275) / 25) ** 2)))
    dl, dc, dh = dl / sl, dc / sc, dh / sh
    return np.sqrt(np.maximum(dl ** 2 + dc ** 2 + dh ** 2 + rt * dc * dh, 0))


def check():
    """Pairs that tell the usual mistakes apart, from the paper's table 1."""
    pairs = [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425), ((50, 2.49, -0.001), (50, -2.49, 0.0009), 7.1792),
        ((50, 2.5, 0), (73, 25, -18), 27.1492), ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((2.0776, 0.0795, -1.135), (0.9033, -0.0636, -0.5514), 0.9082),
    ]
    for first, second, expected in pairs:
        found = ciede2000(*([np.array([v], float) for v in lab] for lab in (first, second)))[0]
        assert abs(found - expected) < 1e-4, f"CIEDE2000 is {found} instead of {expected}"
