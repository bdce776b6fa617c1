"""Disks that are full, read-only or forbidden, and a front that is killed while it stores."""
import concurrent.futures, errno, hashlib, io, os, pathlib, random, shutil, subprocess, tempfile, threading, time
from PIL import Image
import pictures
from client import convert, exchange, upload
from server import PROGRAM, Server, until


class NotTried(Exception):
    """A fault that this user cannot bring about."""


def tool(name):
    program = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if not program:
        raise NotTried(f"there is no {name}")
    return program


class SmallDisk:
    """A file system of its own, which takes the right to mount: in memory, or one as it lies on disks, in a file."""

    def __init__(self, megabytes=0, kind="tmpfs", image=None):
        self.path, self.image = tempfile.mkdtemp(prefix="safelight-disk-"), image
        mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "none", self.path]
        try:
            if image or kind != "tmpfs":
                self.image = image or self._format(megabytes, kind)
                mount = ["mount", "-o", "loop", self.image, self.path]
            mounted = subprocess.run(mount, capture_output=True, text=True)
            if mounted.returncode:
                raise NotTried(mounted.stderr.strip())
        except NotTried:
            self._forget()
            raise

    @staticmethod
    def _format(megabytes, kind):
        program = tool(f"mkfs.{kind}")
        number, image = tempfile.mkstemp(prefix="safelight-disk-")
        os.truncate(number, megabytes << 20)
        os.close(number)
        subprocess.run([program, "-q", "-m", "0", image], check=True)
        return image

    def after_a_power_cut(self):
        """Another one of what lies in the file now, without what this one's kernel has yet to write, as a machine finds it
        that starts again."""
        image = f"{self.image}-cut"
        shutil.copyfile(self.image, image)
        # 1 and 2: it has mended something.
        assert subprocess.run([tool("e2fsck"), "-fy", image], capture_output=True).returncode in (0, 1, 2)
        return SmallDisk(image=image)

    def _forget(self):
        os.rmdir(self.path)
        if self.image:
            os.unlink(self.image)

    def __enter__(self):
        return self

    def fill(self, name):
        """Writes a file until there is no room; its path."""
        path = pathlib.Path(self.path, name)
        with open(path, "wb", buffering=0) as file:
            try:
                while file.write(bytes(4096)):
                    pass
            except OSError as error:
                assert error.errno == errno.ENOSPC, error
        return path

    def remount(self, option):
        subprocess.run(["mount", "-o", f"remount,{option}", self.path], check=True)

    def __exit__(self, *_):
        subprocess.run(["umount", "--lazy", self.path], check=True)
        self._forget()


def full_disk(scale):
    """The disk is full"""
    return _fill(SmallDisk(3))


def full_ext4(scale):
    """The disk is full, and has ext4"""
    return _fill(SmallDisk(12, "ext4"))


def _fill(disk):
    with disk, Server(store=f"{disk.path}/store") as server:
        keys = []
        while (answer := upload(server, pictures.jpeg())).status == 201:
            keys.append(answer.json["key"])
            assert len(keys) < 100
        assert answer.status == 507 and answer.json["code"] == "storage_full", answer
        assert len(server.stored()) == len(keys), "something half-written is visible"
        rest = disk.fill("rest")
        assert exchange(server, "GET", "/readyz").status == 503
        assert convert(server, pictures.jpeg()).status == 200
        rest.unlink()
        stored = exchange(server, "GET", f"/v1/images/{keys[-1]}")
        assert hashlib.sha256(stored.body).hexdigest() == stored.headers["ETag"].strip('"')
        for key in keys:
            assert exchange(server, "DELETE", f"/v1/images/{key}").status == 204
        assert exchange(server, "GET", "/readyz").status == 200
        assert upload(server, pictures.jpeg()).status == 201
        return f"{len(keys)} stored, then 507, nothing half-written; converting goes on; well again once there is room"


def power_cut(scale):
    """The power is cut right after uploads were acknowledged"""
    count = 0
    # With a journal, and without one.
    for kind in ("ext4", "ext2"):
        with SmallDisk(64, kind) as disk, Server(store=f"{disk.path}/store") as server:
            with concurrent.futures.ThreadPoolExecutor(4) as clients:
                answers = list(clients.map(lambda _: upload(server, pictures.jpeg()), range(24)))
            stored = {answer.json["key"]: answer.json["sha256"] for answer in answers if answer.status == 201}
            with disk.after_a_power_cut() as later:
                there = {path.name: hashlib.sha256(path.read_bytes()).hexdigest()
                         for path in pathlib.Path(later.path, "store").rglob("*.jpg")}
            lost = [key for key, digest in stored.items() if there.get(key) != digest]
            assert stored and not lost, f"{kind}: of {len(stored)} acknowledged pictures {len(lost)} are lost"
            count += len(stored)
    return f"{count} acknowledged on ext4 and ext2, all there and whole"


def read_only(scale):
    """The store turns read-only"""
    with SmallDisk(20) as disk, Server(store=f"{disk.path}/store") as server:
        key = upload(server, pictures.jpeg()).json["key"]
        disk.remount("ro")
        answer = upload(server, pictures.jpeg())
        assert answer.status == 503 and answer.json["code"] == "storage_unavailable", answer
        assert exchange(server, "GET", "/readyz").status == 503
        assert exchange(server, "GET", f"/v1/images/{key}").status == 200
        assert convert(server, pictures.jpeg()).status == 200
        disk.remount("rw")
        assert upload(server, pictures.jpeg()).status == 201
        return "503 with Retry-After; reading and converting go on; well again by itself"


def forbidden(scale):
    """The permission to write the store is lost"""
    if os.geteuid() != 0:
        raise NotTried("takes root, to become somebody else")
    with tempfile.TemporaryDirectory(prefix="safelight-forbidden-") as folder:
        os.chmod(folder, 0o755)
        # The programs may lie where only root comes to.
        for program in (PROGRAM, PROGRAM.with_name("safelight-worker")):
            shutil.copy(program, folder)
        store = pathlib.Path(folder, "store")
        store.mkdir()
        os.chown(store, 65534, 65534)
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        with Server(store=store, before=nobody, program=pathlib.Path(folder, PROGRAM.name)) as server:
            assert upload(server, pictures.jpeg()).status == 201
            paths = [store, *(path for path in store.rglob("*") if path.is_dir())]
            for path in paths:
                os.chown(path, 0, 0)
                os.chmod(path, 0o700)
            answer = upload(server, pictures.jpeg())
            assert answer.status == 503 and answer.json["code"] == "storage_unavailable", answer
            for path in paths:
                os.chown(path, 65534, 65534)
            assert upload(server, pictures.jpeg()).status == 201
        return "503 storage_unavailable; well again by itself"


def clock_jump(scale):
    """The clock jumps back a day and forth again"""
    with tempfile.TemporaryDirectory() as folder:
        offset, library = pathlib.Path(folder, "offset"), f"{folder}/clock.so"
        source = pathlib.Path(__file__).with_name("clock.c")
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        fake = {"LD_PRELOAD": library, "FAULT_CLOCK": str(offset)}
        with Server(environment=fake) as server:
            days = []
            for jump in (0, -86400, 86400, 0):
                offset.write_text(str(jump))
                answer = upload(server, pictures.jpeg())
                assert answer.status == 201, answer
                assert exchange(server, "GET", answer.json["url"]).status == 200
                days.append(answer.json["key"][:8])
            assert len(set(days)) == 3, f"the clock did not jump: {days}"
        return "uploads go on; keys tell the clock's time and stay unique"


def front_killed(scale):
    """The front is killed (SIGKILL) in the middle of 200 concurrent uploads"""
    rounds = 10 if scale == "long" else 2
    acknowledged = {}
    with Server("--workers", "2") as server:
        for round in range(rounds):
            acknowledged |= one_kill(server)
            check_store(server, acknowledged)
            server.log.close()
            server.start()
            for key in random.sample(sorted(acknowledged), min(20, len(acknowledged))):
                body = exchange(server, "GET", f"/v1/images/{key}").body
                assert hashlib.sha256(body).hexdigest() == acknowledged[key], key
    assert acknowledged
    return f"{rounds} kills: {len(acknowledged)} acknowledged, all there and whole; no process or file left over"


def one_kill(server):
    """Uploads from 200 clients until the front is killed: key and sha256 of what was acknowledged."""
    acknowledged, is_over = {}, threading.Event()
    picture = pictures.jpeg(640, 480)

    def drive():
        while not is_over.is_set():
            try:
                answer = upload(server, picture)
            except (OSError, ValueError):
                return
            except Exception:
                # http.client's own: the line ended within an answer, which then was none.
                return
            if answer.status == 201:
                record = answer.json
                acknowledged[record["key"]] = record["sha256"]
            else:
                assert answer.status == 503, answer
                is_over.wait(0.1 * random.random())

    with concurrent.futures.ThreadPoolExecutor(200) as pool:
        drivers = [pool.submit(drive) for _ in range(200)]
        time.sleep(1 + random.random())
        workers = server.workers()
        server.kill()
        is_over.set()
        for driver in drivers:
            driver.result()
    until("the workers' end", lambda: not any(is_alive(pid) for pid in workers), 5)
    return acknowledged


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def check_store(server, acknowledged):
    files = {path.name: path for path in server.stored()}
    for key, digest in acknowledged.items():
        assert key in files, f"acknowledged, but not there: {key}"
        assert hashlib.sha256(files[key].read_bytes()).hexdigest() == digest, key
    for name, path in files.items():
        assert name.endswith(".jpg"), f"left over: {name}"
        # Stored just before the kill and never acknowledged: whole all the same.
        if name not in acknowledged:
            Image.open(io.BytesIO(path.read_bytes())).load()


ALL = [full_disk, full_ext4, power_cut, read_only, forbidden, clock_jump, front_killed]
