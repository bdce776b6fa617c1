"""Pillow and pillow-heif behind ASGI."""

import io

import pillow_heif
from PIL import Image, ImageOps

from storing import application

pillow_heif.register_heif_opener(thumbnails=False)
Image.MAX_IMAGE_PIXELS = None


def prepare(body):
    with Image.open(io.BytesIO(body)) as source:
        icc = source.info.get("icc_profile")
        picture = ImageOps.exif_transpose(source)
        out = io.BytesIO()
        picture.convert("RGB").save(out, "JPEG", quality=90, icc_profile=icc)
        return out.getvalue(), picture.size


app = application(prepare)
