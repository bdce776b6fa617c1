"""What it was measured on, and with which versions."""

import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path

PACKAGES = ("libheif1", "libavcodec59", "libavcodec61", "libturbojpeg0", "libjpeg62-turbo", "libzimg2", "liblcms2-2",
            "libvips42", "libvips42t64", "imagemagick", "libc6")
WHEELS = ("pillow", "pillow-heif", "pyvips", "starlette", "uvicorn", "thumbor")


def _text(*command):
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def debian(packages=PACKAGES):
    """Installed versions; what is not there is left out."""
    lines = _text("dpkg-query", "-W", "-f", "${db:Status-Status} ${Package} ${Version}\n", *packages).splitlines()
    return dict(line.split()[1:] for line in lines if line.startswith("installed "))


def processor():
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def describe(root):
    release = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
    return {
        "processor": processor(), "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9),
        "system": release.get("PRETTY_NAME", "?").strip('"'), "kernel": platform.release().partition("-")[0],
        "load_before": round(os.getloadavg()[0], 2), "commit": _text("git", "-C", root, "describe", "--always", "--dirty"),
        "swift": _text("swift", "--version").partition("version ")[2].split(" ")[0],
        "python": platform.python_version(), **debian(), **{name: metadata.version(name) for name in WHEELS},
    }
