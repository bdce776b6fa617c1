"""The services that are compared: each is started on loopback with two processes, and takes a raw body."""

import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import load

ROOT = Path(__file__).resolve().parents[2]


class Peer:
    def __init__(self, name, command, send, environment=None, ready="/v1/images"):
        self.name, self.command, self.send = name, command, send
        self.environment, self.ready = environment or {}, ready

    def start(self, port, folder):
        """Comes back when a connection is taken and the first answer has come."""
        store = folder / self.name.replace(" ", "-")
        shutil.rmtree(store, ignore_errors=True)
        store.mkdir(parents=True)
        self.port, self.store = port, store
        command = [part.format(port=port, store=store) for part in self.command]
        environment = {**os.environ, "STORE": str(store), **self.environment}
        self.log = (folder / f"{store.name}.log").open("w")
        begun = time.perf_counter()
        self.process = subprocess.Popen(command, env=environment, stdout=self.log, stderr=self.log, start_new_session=True)
        while time.perf_counter() - begun < 30:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}{self.ready}", timeout=5)
                break
            except urllib.error.HTTPError as error:
                # It answers, if only that one must POST; not ready yet is no answer.
                if error.code != 503:
                    break
            except OSError:
                pass
            time.sleep(0.002)
        else:
            raise SystemExit(f"{self.name} does not start: see {self.log.name}")
        if self.process.poll() is not None:
            raise SystemExit(f"{self.name} has ended: see {self.log.name}")
        return time.perf_counter() - begun

    def empty(self):
        """What was stored is measured, not kept."""
        for file in self.store.rglob("*"):
            if file.is_file():
                file.unlink()

    def stop(self):
        # thumbor's processes outlive the one that started them.
        os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait(30)
        self.log.close()
        shutil.rmtree(self.store, ignore_errors=True)


def safelight(*before):
    """`before`: a command that starts it."""
    program = ROOT / ".build/release/safelight"
    command = [*before, str(program), "serve", "--listen", "127.0.0.1:{port}", "--store", "{store}"]
    return Peer("Safelight", command, load.post("/v1/images"), ready="/readyz")


def asgi(name, module):
    command = [sys.executable, "-m", "uvicorn", f"{module}:app", "--port", "{port}", "--workers", "2",
               "--log-level", "warning", "--no-access-log"]
    return Peer(name, command, load.post("/v1/images"), {"PYTHONPATH": str(ROOT / "Benchmarks/peers")})


def thumbor():
    """Stores the original at POST; the picture is prepared, and stored beside it, at the GET that follows."""
    command = [str(Path(sys.executable).with_name("thumbor")), "--port", "{port}", "--ip", "127.0.0.1", "--processes",
               "2", "--conf", str(ROOT / "Benchmarks/peers/thumbor.conf")]

    def send(connection, photo):
        # thumbor asks the type and not the bytes.
        kind = "image/jpeg" if photo[:2] == b"\xff\xd8" else "image/heic"
        connection.request("POST", "/image", photo, {"Content-Type": kind, "Slug": "photo"})
        answer = connection.getresponse()
        answer.read()
        if answer.status != 201:
            return False, 1
        key = answer.headers["Location"].split("/")[2]
        connection.request("GET", f"/unsafe/filters:format(jpeg):quality(90)/{key}")
        answer = connection.getresponse()
        return answer.read()[:2] == b"\xff\xd8" and answer.status == 200, 1

    return Peer("thumbor", command, send, ready="/healthcheck")


def peers():
    return [safelight(), asgi("Pillow", "pillow_server"), asgi("libvips", "vips_server"), thumbor()]
