"""libvips behind ASGI."""

import pyvips

from storing import application


def prepare(body):
    picture = pyvips.Image.new_from_buffer(body, "", access="sequential")
    # Turning takes the rows in another order than they are decoded in.
    if "orientation" in picture.get_fields() and picture.get("orientation") > 1:
        picture = picture.copy_memory()
    picture = picture.autorot()
    for field in picture.get_fields():
        if field.startswith(("exif-", "xmp-", "iptc-", "photoshop-")) or field == "jpeg-thumbnail-data":
            picture = picture.copy()
            picture.remove(field)
    return picture.jpegsave_buffer(Q=90, subsample_mode="on"), (picture.width, picture.height)


app = application(prepare)
