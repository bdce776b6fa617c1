"""Drives a server with mixed photos at fractions and multiples of what it can do, and says what came of it.

    /usr/bin/python3 Tests/Faults/load.py [SECONDS]          0.5, 1, 2 and 10 times capacity, SECONDS each (default 20)
    /usr/bin/python3 Tests/Faults/load.py soak [SECONDS]     once capacity, for SECONDS (default 600): is memory flat?

With `--json FILE` the goals go into a file, too.

Capacity is measured first: as many uploads a second as a few clients that never pause get done. After that requests
come at their own rate, whether or not earlier ones are answered, as they do in the world. The generator runs on the
same processors as the server and tells how much of them it took. Exit code 1 where a goal falls short."""
import argparse, asyncio, itertools, json, os, random, resource, socket, statistics, sys, time, typing

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pictures  # noqa: E402
from client import head  # noqa: E402
from server import Server  # noqa: E402

# Requests under way at once; beyond it the generator would measure its own descriptors.
UNDER_WAY_MAX = 200


class Level:
    """What was seen while one rate was offered."""

    def __init__(self, name, offered):
        self.name, self.offered = name, offered
        self.good, self.refused, self.other = [], [], {}
        # Uploads that were begun, and those that were due while too many were under way.
        self.begun = self.skipped = 0
        self.front, self.workers, self.descriptors = 0.0, 0.0, 0
        self.start, self.busy = time.monotonic(), cpu_seconds()

    def end(self):
        """No more is offered: what was stored by now counts for these seconds; of what is answered later only how."""
        self.seconds = time.monotonic() - self.start
        self.busy = cpu_seconds() - self.busy
        self.stored = len(self.good)

    @property
    def goodput(self):
        """Uploads stored a second."""
        return self.stored / self.seconds

    @property
    def share_offered(self):
        """What the generator came to begin, of what it was to."""
        return self.begun / self.seconds / self.offered

    def note(self, status, seconds):
        if status == 201:
            self.good.append(seconds)
        elif status == 503:
            self.refused.append(seconds)
        else:
            self.other[status] = self.other.get(status, 0) + 1

    def look(self, server):
        self.front = max(self.front, server.front_mb())
        self.workers = max(self.workers, sum(resident(server, pid) for pid in server.workers()))
        self.descriptors = max(self.descriptors, server.descriptors())

    def row(self):
        p50, p95, p99 = (f"{1000 * quantile(self.good, q):.0f}" for q in (0.5, 0.95, 0.99))
        refusal = f"{1000 * quantile(self.refused, 0.5):.1f}" if self.refused else "–"
        return (f"| {self.name} | {self.offered:.1f} | {self.begun / self.seconds:.1f} | {self.skipped} "
                f"| {self.goodput:.1f} | {len(self.refused)} | {p50} | {p95} | {p99} "
                f"| {refusal} | {self.front:.0f} | {self.workers:.0f} | {self.descriptors} "
                f"| {100 * self.busy / self.seconds:.0f} % | {self.other or '–'} |")


HEADER = ("| load | due/s | begun/s | skipped | stored/s | refused | p50 ms | p95 | p99 | refusal p50 ms | front MB "
          "| workers MB | descriptors | generator CPU | else |\n" + 15 * "|---" + "|")


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def resident(server, pid):
    try:
        return server.resident_mb(pid)
    except (OSError, TypeError):
        return 0.0


def quantile(values, q):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))] if ordered else float("nan")


async def upload(server, picture):
    """One upload on a connection of its own: status and seconds. An answer that comes early ends the sending."""
    loop, start = asyncio.get_running_loop(), time.monotonic()
    connection = socket.socket()
    connection.setblocking(False)
    # No more under way than a network holds: loopback alone would take megabytes before a refusal can be read.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 17)
    sending = None
    try:
        async with asyncio.timeout(120):
            await loop.sock_connect(connection, ("127.0.0.1", server.port))
            await loop.sock_sendall(connection, head("/v1/images", len(picture), extra="Connection: close\r\n"))
            sending = asyncio.create_task(loop.sock_sendall(connection, picture))
            answer = await loop.sock_recv(connection, 4096)
        return int(answer[9:12]), time.monotonic() - start
    except (OSError, ValueError) as error:
        return type(error).__name__, time.monotonic() - start
    finally:
        if sending:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
        connection.close()


async def capacity(server, mix, seconds):
    """Uploads a second that clients get done, two for each worker."""
    end, count = time.monotonic() + seconds, 0

    async def drive():
        nonlocal count
        while time.monotonic() < end:
            status, _ = await upload(server, next(mix))
            count += status == 201 and time.monotonic() < end

    await asyncio.gather(*(drive() for _ in range(2 * len(server.workers()))))
    return count / seconds


async def offer(server, mix, name, rate, seconds):
    """Uploads at a fixed rate, evenly spaced."""
    level, tasks = Level(name, rate), set()

    async def one(picture):
        level.note(*await upload(server, picture))

    for number in range(int(rate * seconds)):
        await asyncio.sleep(max(0, level.start + number / rate - time.monotonic()))
        if number % max(1, int(rate)) == 0:
            level.look(server)
        if len(tasks) >= UNDER_WAY_MAX:
            level.skipped += 1
            continue
        level.begun += 1
        task = asyncio.create_task(one(next(mix)))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
    level.look(server)
    level.end()
    while tasks:
        await asyncio.wait(tasks)
    return level


async def levels(server, mix, seconds):
    most = await capacity(server, mix, seconds)
    print(f"capacity: {most:.1f} uploads/s with {len(server.workers())} workers\n\n{HEADER}", flush=True)
    seen = {}
    for factor in (0.5, 1, 2, 10):
        level = await offer(server, mix, f"{factor} ×", factor * most, seconds)
        seen[factor] = level
        print(level.row(), flush=True)
        await asyncio.sleep(2)
    once, tenfold = seen[1], seen[10]
    refusal = 1000 * quantile(tenfold.refused, 0.5)
    goodput = tenfold.goodput / once.goodput
    # What the server was left with: the generator takes its processor time from the same processors.
    processors = len(os.sched_getaffinity(0))
    corrected = goodput * (processors - once.busy / once.seconds) / (processors - tenfold.busy / tenfold.seconds)
    growth, growth_max = tenfold.front - once.front, 0.1 * once.front + 8
    return [
        Goal("goodput", goodput, f"stored at 10 ×: {100 * goodput:.0f} % of what is stored at 1 × (goal ≥ 95 %); each for "
             f"the processor time that the generator left: {100 * corrected:.0f} %", goodput >= 0.95),
        Goal("goodput_of_time_left", corrected),
        Goal("refusal_ms", refusal, f"refusals at 10 ×: {refusal:.1f} ms at the median (goal ≤ 20 ms)", refusal <= 20),
        Goal("front_growth", growth, f"the front at 10 ×: {growth:+.1f} MB on {once.front:.0f} MB at 1 × "
             f"(goal ≤ {growth_max:.0f} MB)", growth <= growth_max),
        Goal("offered", tenfold.share_offered, f"10 ×: {100 * tenfold.share_offered:.0f} % of the uploads that were due "
             "were begun (from 90 % on the other figures are those of 10 ×)", tenfold.share_offered >= 0.9),
        nothing_else(seen.values()),
    ]


class Goal(typing.NamedTuple):
    """A figure; without a text it is only kept, and not judged."""
    name: str
    value: float
    text: str = ""
    holds: bool = True


def nothing_else(levels):
    count = sum(sum(level.other.values()) for level in levels)
    return Goal("other", count, f"{count} answers besides 201 and 503 (goal 0)", count == 0)


async def soak(server, mix, seconds):
    most = await capacity(server, mix, 10)
    samples, seen = [], []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        level = await offer(server, mix, "1 ×", most, 15)
        seen.append(level)
        samples.append((level.front, level.workers, level.descriptors))
    third = max(1, len(samples) // 3)
    stored = sum(level.stored for level in seen)
    goals = [nothing_else(seen), Goal("stored", stored, f"{stored} uploads stored", stored > 0)]
    for index, (name, slack) in enumerate((("front MB", 4), ("workers MB", 32), ("descriptors", 8))):
        early, late = (statistics.median(s[index] for s in part) for part in (samples[:third], samples[-third:]))
        goals.append(Goal(
            name, late, f"{name}: {early:.0f} in the first third, {late:.0f} in the last", late <= 1.1 * early + slack))
    return goals


def main():
    parser = argparse.ArgumentParser(usage="load.py [soak] [SECONDS] [--json FILE]")
    parser.add_argument("words", nargs="*")
    parser.add_argument("--json")
    chosen = parser.parse_args()
    is_soak = chosen.words[:1] == ["soak"]
    numbers = [int(word) for word in chosen.words[is_soak:]]
    seconds = numbers[0] if numbers else 600 if is_soak else 20
    photos = [picture for _, picture in pictures.phones()]
    random.Random(1).shuffle(photos)
    with Server() as server:
        goals = asyncio.run((soak if is_soak else levels)(server, itertools.cycle(photos), seconds))
    print()
    for goal in goals:
        if goal.text:
            print(f"{'holds' if goal.holds else 'FALLS SHORT'}: {goal.text}")
    if chosen.json:
        with open(chosen.json, "w") as file:
            json.dump({goal.name: goal.value for goal in goals}, file)
    return 0 if all(goal.holds for goal in goals) else 1


if __name__ == "__main__":
    sys.exit(main())
