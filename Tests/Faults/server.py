"""A running `safelight serve` of the release build, and what the kernel says of it."""
import contextlib, json, os, pathlib, re, shutil, signal, subprocess, tempfile, time

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = REPOSITORY / ".build/release/safelight"


def until(what, condition, seconds=10):
    """Waits for a condition; its value. Fails by name where it does not come."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.02)


class Server:
    """One server on a free port of loopback. As a context it is ended by SIGTERM, and must end clean unless `kill`ed.

    Each has a folder of its own: `store` in it unless another is given, and its log."""

    def __init__(self, *flags, store=None, before=(), environment=None, program=PROGRAM):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="safelight-faults-"))
        # A server that runs as somebody else has to come through to its store.
        self.folder.chmod(0o755)
        self.store = pathlib.Path(store) if store else self.folder / "store"
        self.flags, self.before, self.environment, self.program = flags, before, environment or {}, program
        self.start()

    def start(self):
        self.log = open(self.folder / "log", "ab")
        self.exit = None
        begin = self.log.tell()
        command = [*self.before, self.program, "serve", "--listen", "127.0.0.1:0", "--store", self.store, *self.flags]
        self.process = subprocess.Popen(command, stderr=self.log, env={**os.environ, **self.environment})
        self.port = int(until("a port", lambda: self._port(begin)))
        until("readiness", self.is_ready, 20)

    def _port(self, begin):
        assert self.process.poll() is None, self.text()
        found = re.search(r'"http\.port":(\d+)', self.text()[begin:])
        return found and found[1]

    def is_ready(self):
        from client import exchange
        try:
            return exchange(self, "GET", "/readyz", seconds=5).status == 200
        except OSError:
            return False

    def text(self):
        return (self.folder / "log").read_text(errors="replace")

    def events(self, message):
        """The log's lines with this message."""
        lines = (json.loads(line) for line in self.text().splitlines() if line.startswith("{"))
        return [line for line in lines if line["message"] == message]

    @property
    def pid(self):
        return self.process.pid

    def workers(self):
        """The processes that the front has started and that live."""
        return list(self.work_done())

    def work_done(self):
        """The processor time that each worker has spent in its own code, in ticks of the kernel (10 ms)."""
        done = {}
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                fields = pathlib.Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[1]) == self.pid and fields[0] != "Z":
                done[int(entry)] = int(fields[11])
        return done

    def signal_workers(self, number, at_most=None):
        """Sends a signal to the workers, the first ones where only some are asked for. One may have ended meanwhile."""
        for pid in self.workers()[:at_most]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def resident_mb(self, pid=None):
        status = pathlib.Path(f"/proc/{pid or self.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024

    def front_mb(self):
        """What the front itself holds: not the memory files of bodies and pictures, which it has mapped."""
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return sum(int(re.search(rf"{name}:\s+(\d+)", status)[1]) for name in ("RssAnon", "RssFile")) / 1024

    def stored(self):
        """All files below the store's root, whatever they are called."""
        return [path for path in self.store.rglob("*") if path.is_file()]

    def kill(self):
        self.process.kill()
        self.exit = self.process.wait()

    def stop(self, seconds=40):
        self.process.send_signal(signal.SIGTERM)
        self.exit = self.process.wait(seconds)
        return self.exit

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        try:
            if self.exit is None:
                self.stop()
            if kind is None and self.exit != -signal.SIGKILL:
                assert self.exit == 0, f"exit code {self.exit}: {self.text()[-2000:]}"
        finally:
            if self.process.poll() is None:
                self.kill()
            self.log.close()
            shutil.rmtree(self.folder, ignore_errors=True)
