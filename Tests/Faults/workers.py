"""Workers that die, stand still or are driven mad by what they read."""
import concurrent.futures, signal, threading, time
import pictures
from client import convert, exchange, upload
from server import Server, until


def stalled(server, picture):
    """A request whose worker was stopped before the job came: a thread that holds its answer."""
    server.signal_workers(signal.SIGSTOP)
    answers = []
    thread = threading.Thread(target=lambda: answers.append(convert(server, picture)))
    thread.start()
    time.sleep(0.5)
    assert not answers, answers
    return thread, answers


def killed(number):
    with Server("--workers", "1") as server:
        before = server.workers()
        thread, answers = stalled(server, pictures.jpeg())
        server.signal_workers(number)
        server.signal_workers(signal.SIGCONT)
        thread.join()
        assert answers[0].status == 200, answers
        until("a fresh worker", lambda: server.workers() and not set(server.workers()) & set(before))
        assert convert(server, pictures.jpeg()).body == answers[0].body
        assert server.events("worker ended"), server.text()
        return "the job succeeds on a fresh worker"


def sigkill(scale):
    """A worker is killed in the middle of a job (SIGKILL)"""
    return killed(signal.SIGKILL)


def sigsegv(scale):
    """A worker crashes in the middle of a job (SIGSEGV)"""
    return killed(signal.SIGSEGV)


def killed_again_and_again(scale):
    """Every worker is killed as soon as it is there"""
    with Server("--workers", "1", "--job-deadline", "3s") as server:
        thread, answers = stalled(server, pictures.jpeg())
        while thread.is_alive():
            server.signal_workers(signal.SIGKILL)
            time.sleep(0.001)
        # Refused after two losses during the job, or busy where no worker came to it within the deadline.
        assert answers[0].status in (422, 503), answers
        until("readiness", server.is_ready)
        assert convert(server, pictures.jpeg()).status == 200
        return "that upload is refused (422 or 503) within its deadline; well again at once"


def standstill(scale):
    """A worker hangs (SIGSTOP, never continued)"""
    with Server("--workers", "1", "--job-deadline", "2s") as server:
        thread, answers = stalled(server, pictures.jpeg())
        thread.join()
        assert answers[0].status == 422 and answers[0].json["code"] == "undecodable", answers
        assert convert(server, pictures.jpeg()).status == 200
        return "killed at its deadline; that upload is refused (422), the next one served"


def hostile_beside_good(scale):
    """Hostile files beside good ones, and every 2 s a worker is killed"""
    with Server("--workers", "2") as server, concurrent.futures.ThreadPoolExecutor(5) as pool:
        end = time.monotonic() + (60 if scale == "long" else 8)
        counts = {"good": 0, "hostile": 0}

        def drive(kind, files, allowed):
            while time.monotonic() < end:
                for name, picture in files:
                    answer = upload(server, picture)
                    if answer.status == 503:
                        time.sleep(0.05)
                        continue
                    assert allowed(answer.status), f"{name}: {answer}"
                    counts[kind] += 1

        def assassinate():
            # Seldom enough that no job loses two workers, which would be held against its picture.
            while time.monotonic() < end:
                time.sleep(2)
                server.signal_workers(signal.SIGKILL, at_most=1)

        bad = pictures.hostile()
        good = pictures.good()
        work = [pool.submit(drive, "good", good, lambda s: s == 201) for _ in range(2)]
        # Some of the hostile ones are whole pictures with odd metadata; what counts is that none is ever a 5xx.
        work += [pool.submit(drive, "hostile", files, lambda s: s == 201 or 400 <= s < 500)
                 for files in (bad[::2], bad[1::2])]
        work.append(pool.submit(assassinate))
        for item in work:
            item.result()
        crashes = len(server.events("worker ended"))
        return f"{counts['good']} good uploads, 0 failed; {counts['hostile']} hostile ones, {crashes} workers lost"


def lone_hostile(scale):
    """Each hostile file alone, converted"""
    with Server("--workers", "1") as server:
        for name, picture in pictures.hostile():
            status = convert(server, picture).status
            assert status == 200 or 400 <= status < 500, f"{name}: {status}"
        assert exchange(server, "GET", "/healthz").status == 200
        return f"{len(pictures.hostile())} files, no 5xx"


ALL = [sigkill, sigsegv, killed_again_and_again, standstill, lone_hostile, hostile_beside_good]
