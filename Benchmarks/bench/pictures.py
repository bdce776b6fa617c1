"""What is measured: photos of the corpus where it is there, pictures made by independent tools where not."""

import io
import subprocess
from pathlib import Path

import numpy as np
import pillow_heif
from PIL import Image

HEIC, TMAP = "HEIC 12 MP", "HEIC 24 MP tmap"
# Name: the corpus's file, or how many pixels to make. A `.jpg` is made upright or turned by EXIF.
PHOTOS = {
    HEIC: ("heic/iphone7plus-ios11-o6-irot3-gps-p3.heic", (4032, 3024)),
    TMAP: ("hdr/iphone15pro-ios26-24mp-tmap-gps.heic", (5712, 4284)),
    "JPEG 12 MP upright": ("jpeg/iphone7-12mp-gps.jpg", (4032, 3024)),
    "JPEG 12 MP turned, on blocks": ("jpeg/pixel3a-12mp-o6.jpg", (4032, 3024)),
}
GROWTH = {1: (1024, 1024), 3: (2048, 1536), 12: (4032, 3024), 24: (5712, 4284), 48: (8064, 6048), 100: (11648, 8736),
          200: (16320, 12240)}


class Pictures:
    def __init__(self, corpus, folder):
        self.corpus, self.folder = corpus, folder
        folder.mkdir(parents=True, exist_ok=True)

    def _real(self, path):
        return self.corpus / path if (self.corpus / path).is_file() else None

    def photo(self, name):
        path, size = PHOTOS[name]
        if real := self._real(path):
            return real
        if path.endswith(".heic"):
            return self.heic(size)
        return self.jpeg(size, 6 if "turned" in name else 1)

    def service(self):
        """The service's pictures, each a list that is sent in turn."""
        found = {name: [self.photo(name)] for name in PHOTOS}
        found["JPEG 12 MP turned, off blocks"] = [self.jpeg((4000, 3000), 6)]
        found["mixed"] = [path for paths in list(found.values()) for path in paths]
        return found

    def peaks(self):
        """By megapixels, real where there are any: how much is held depends on the tiles, too."""
        return {12: self.photo(HEIC), 24: self.photo(TMAP), 200: self._real("heic/samsung-s24ultra-200mp-o6-emptygps-gainmap.heic")
                or self.heic(GROWTH[200])}

    def growth(self):
        return {megapixels: self.heic(size) for megapixels, size in GROWTH.items()}

    def heic(self, size):
        """A grid of 512 × 512 tiles, as phones write it, of a picture with photo-like detail."""
        path = self.folder / f"made-{size[0]}x{size[1]}.heic"
        if path.exists():
            return path
        tile = self.folder / "tile-00-00.png"
        across, down = (-(-side // 512) for side in size)
        texture = _texture(512 + 64 * 7, 512 + 64 * 7)
        for row in range(down):
            for column in range(across):
                # 64 different tiles in turn: real detail everywhere, and no time lost on making it.
                y, x = 64 * (row % 8), 64 * (column % 8)
                Image.fromarray(texture[y:y + 512, x:x + 512]).save(
                    self.folder / f"tile-{row:02}-{column:02}.png", compress_level=1)
        subprocess.run(
            ["heif-enc", "-q", "60", "-p", "preset=ultrafast", "-T", "--tiled-image-width", str(size[0]),
             "--tiled-image-height", str(size[1]), tile, "-o", path],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for part in self.folder.glob("tile-*.png"):
            part.unlink()
        return path

    def jpeg(self, size, orientation):
        path = self.folder / f"made-{size[0]}x{size[1]}-o{orientation}.jpg"
        if not path.exists():
            picture = Image.fromarray(self._pixels(size))
            exif = Image.Exif()
            exif[0x0112], exif[0x010F] = orientation, "made"
            picture.save(path, quality=92, exif=exif)
        return path

    def _pixels(self, size):
        """A real photo's, where there is one, brought to the size; else the texture."""
        if real := self._real(PHOTOS["JPEG 12 MP turned, on blocks"][0]):
            with Image.open(real) as picture:
                return np.asarray(picture.convert("RGB").resize(size, Image.Resampling.LANCZOS))
        return _texture(*size)


def _texture(width, height):
    """Noise of all scales: falls off with the frequency as photos do, and costs about as many bytes a pixel."""
    chance = np.random.default_rng(1)
    total = np.zeros((height, width, 3), np.float32)
    for scale in (1, 4, 16, 64, 256):
        part = chance.normal(0, 1.5 * scale ** 0.5, (-(-height // scale), -(-width // scale), 3)).astype(np.float32)
        total += part.repeat(scale, 0)[:height].repeat(scale, 1)[:, :width]
    return np.clip(total + 128, 0, 255).astype(np.uint8)
