"""Good photos and bad ones: made here, and the real ones of a corpus beside the repository where there is one."""
import io, pathlib, subprocess, tempfile
from functools import cache
from server import REPOSITORY
from PIL import Image

CORPUS = REPOSITORY / "../shared/corpus"


def has_corpus():
    return (CORPUS / "INDEX.tsv").is_file()


@cache
def jpeg(width=1600, height=1200, orientation=6):
    """A colourful JPEG that lies on its side."""
    image = Image.linear_gradient("L").resize((width, height))
    image = Image.merge("RGB", (image, image.transpose(Image.Transpose.ROTATE_180), Image.effect_noise(image.size, 40)))
    exif = Image.Exif()
    exif[0x0112] = orientation
    target = io.BytesIO()
    image.save(target, "JPEG", quality=88, exif=exif)
    return target.getvalue()


@cache
def slow_jpeg():
    """A JPEG that keeps a worker busy for seconds where it has to be encoded again: 60 megapixels, progressive."""
    image = Image.effect_noise((1000, 750), 60).resize((9000, 6700))
    target = io.BytesIO()
    Image.merge("RGB", (image, image.transpose(Image.Transpose.ROTATE_180), image)).save(
        target, "JPEG", quality=85, progressive=True)
    return target.getvalue()


@cache
def heic():
    """A HEIC of one tile, by heif-enc."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder, "in.jpg"), pathlib.Path(folder, "out.heic")
        source.write_bytes(jpeg(640, 480, 1))
        subprocess.run(["heif-enc", "-q", "60", source, "-o", target], check=True, capture_output=True)
        return target.read_bytes()


@cache
def good():
    """Photos that every server must prepare: name and bytes."""
    made = [("made.jpg", jpeg()), ("made.heic", heic())]
    if not has_corpus():
        return made
    honest = [path for path in sorted((CORPUS / "heic").iterdir()) + sorted((CORPUS / "jpeg").iterdir())
              if 50_000 < path.stat().st_size < 3_000_000]
    return made + [(path.name, path.read_bytes()) for path in honest[::7]]


@cache
def phones():
    """Photos as phones send them, of a megabyte and more; made ones where there is no corpus."""
    if not has_corpus():
        return [("large.jpg", jpeg(4000, 3000)), ("turned.jpg", jpeg(4000, 3000, 6))]
    honest = [path for path in sorted((CORPUS / "heic").iterdir()) + sorted((CORPUS / "jpeg").iterdir())
              if 1_000_000 < path.stat().st_size < 4_000_000 and "200mp" not in path.name]
    return [(path.name, path.read_bytes()) for path in honest]


@cache
def hostile():
    """Pictures that are to be refused or survived: those of the corpus, and cut or altered ones of our own."""
    picture = jpeg()
    made = [
        ("cut.jpg", picture[:len(picture) // 2]), ("cut.heic", heic()[:len(heic()) // 2]),
        ("zeros.heic", heic()[:64] + bytes(len(heic()) - 64)),
        ("flipped.jpg", bytes(b ^ 0x5A if i > 700 and i % 997 == 0 else b for i, b in enumerate(picture))),
    ]
    if not has_corpus():
        return made
    return made + [(path.name, path.read_bytes()) for path in sorted((CORPUS / "hostile").iterdir())
                   if path.stat().st_size > 0]
