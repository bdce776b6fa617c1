"""Workers that die, stand still or are driven mad by what they read."""
import concurrent.futures, os, signal, time
import pictures
from client import convert, exchange, upload
from server import Server, until


# What makes a worker spend a second or two on the slow picture, and what makes it spend many.
SLOW, SLOWER = "?max_width=8000&quality=80", "?max_bytes=1MB&progressive=true"


def slowly(server, query):
    return convert(server, pictures.slow_jpeg(), query, seconds=300)


def at_work(server, pool, query):
    """The slow picture on its way through the only worker, which is at it: what its answer will come by."""
    def is_at_it():
        return any(ticks >= before.get(pid, 0) + 5 for pid, ticks in server.work_done().items())

    before = server.work_done()
    coming = pool.submit(slowly, server, query)
    until("the worker to be at the job", lambda: coming.done() or is_at_it(), 30)
    assert not coming.done(), coming.result()
    return coming


def killed(number):
    with (Server("--workers", "1", "--job-deadline", "2m") as server,
          concurrent.futures.ThreadPoolExecutor(1) as pool):
        before = server.workers()
        coming = at_work(server, pool, SLOW)
        server.signal_workers(number)
        answer = coming.result()
        assert answer.status == 200, answer
        assert server.workers() and not set(server.workers()) & set(before), "the worker is still the one from before"
        assert slowly(server, SLOW).body == answer.body
        ended = [line["worker.during_job"] for line in server.events("worker ended")]
        assert ended == [True], server.text()
        return f"lost in mid-job, the job succeeds on a fresh worker; {answer.seconds:.1f} s in all"


def sigkill(scale):
    """A worker is killed in the middle of a job (SIGKILL)"""
    return killed(signal.SIGKILL)


def sigsegv(scale):
    """A worker crashes in the middle of a job (SIGSEGV)"""
    return killed(signal.SIGSEGV)


def killed_again_and_again(scale):
    """Every worker is killed as soon as it is there"""
    with (Server("--workers", "1", "--job-deadline", "3s") as server,
          concurrent.futures.ThreadPoolExecutor(1) as pool):
        coming = at_work(server, pool, SLOWER)
        while not coming.done():
            server.signal_workers(signal.SIGKILL)
            time.sleep(0.001)
        answer = coming.result()
        # Refused after two losses during the job, or busy where no worker came to it within the deadline.
        assert answer.status in (422, 503), answer
        assert any(line["worker.during_job"] for line in server.events("worker ended")), server.text()
        until("readiness", server.is_ready, 30)
        assert convert(server, pictures.jpeg()).status == 200
        return f"that upload is refused ({answer.status}) after {answer.seconds:.1f} s; well again at once"


def standstill(scale):
    """A worker hangs in the middle of a job (SIGSTOP, never continued)"""
    with (Server("--workers", "1", "--job-deadline", "4s") as server,
          concurrent.futures.ThreadPoolExecutor(1) as pool):
        stopped = server.workers()
        coming = at_work(server, pool, SLOWER)
        server.signal_workers(signal.SIGSTOP)
        answer = coming.result()
        assert answer.status == 422 and answer.json["code"] == "undecodable", answer
        ended = [line["worker.pid"] for line in server.events("worker killed at the deadline")]
        assert ended == stopped, server.text()
        assert convert(server, pictures.jpeg()).status == 200
        return "killed at its deadline; that upload is refused (422), the next one served"


def frozen(scale):
    """All of the service stands still in mid-job for longer than the job may take, as when a container is paused"""
    with (Server("--workers", "1", "--job-deadline", "10s") as server,
          concurrent.futures.ThreadPoolExecutor(1) as pool):
        coming = at_work(server, pool, SLOW)
        os.kill(server.pid, signal.SIGSTOP)
        server.signal_workers(signal.SIGSTOP)
        time.sleep(12)
        server.signal_workers(signal.SIGCONT)
        os.kill(server.pid, signal.SIGCONT)
        answer = coming.result()
        assert answer.status == 200, answer
        assert not server.events("worker killed at the deadline"), server.text()
        return "the time is not held against the job, which succeeds"


def hostile_beside_good(scale):
    """Hostile files beside good ones, and every 2 s a worker is killed"""
    with Server("--workers", "2") as server, concurrent.futures.ThreadPoolExecutor(5) as pool:
        end = time.monotonic() + (60 if scale == "long" else 8)

        def drive(files, allowed):
            """How many uploads were answered, and how many of these were refused for want of a place (503)."""
            answered = refused = 0
            while time.monotonic() < end:
                for name, picture in files:
                    answer = upload(server, picture)
                    answered += 1
                    if answer.status == 503:
                        refused += 1
                        time.sleep(0.05)
                    else:
                        assert allowed(answer.status), f"{name}: {answer}"
            return answered, refused

        def assassinate():
            # Seldom enough that no job loses two workers, which would be held against its picture.
            while time.monotonic() < end:
                time.sleep(2)
                server.signal_workers(signal.SIGKILL, at_most=1)

        bad = pictures.hostile()
        good = pictures.good()
        killer = pool.submit(assassinate)
        goods = [pool.submit(drive, good, lambda s: s == 201) for _ in range(2)]
        # Some of the hostile ones are whole pictures with odd metadata; what counts is that none is ever a 500.
        hostiles = [pool.submit(drive, files, lambda s: s == 201 or 400 <= s < 500) for files in (bad[::2], bad[1::2])]
        killer.result()
        (good_count, good_refused), (bad_count, bad_refused) = (
            map(sum, zip(*(driver.result() for driver in drivers))) for drivers in (goods, hostiles))
        crashes = len(server.events("worker ended"))
        assert good_count and bad_count and crashes, (good_count, bad_count, crashes)
        # Four uploads at a time never fill the queue of eight: a 503 is one that has waited for a worker too long, behind
        # pictures that take theirs long.
        assert good_refused * 5 < good_count and bad_refused * 5 < bad_count, (good_refused, bad_refused, server.text())
        return (f"{good_count} good uploads, 0 failed, {good_refused} told to wait (503); "
                f"{bad_count} hostile ones, {bad_refused} told to wait; {crashes} workers lost")


def lone_hostile(scale):
    """Each hostile file alone, converted"""
    with Server("--workers", "1") as server:
        for name, picture in pictures.hostile():
            status = convert(server, picture).status
            assert status == 200 or 400 <= status < 500, f"{name}: {status}"
        assert exchange(server, "GET", "/healthz").status == 200
        return f"{len(pictures.hostile())} files, no 5xx"


ALL = [sigkill, sigsegv, killed_again_and_again, standstill, frozen, lone_hostile, hostile_beside_good]
