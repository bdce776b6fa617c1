"""Drives a server with mixed photos at fractions and multiples of what it can do, and says what came of it.

    /usr/bin/python3 Tests/Faults/load.py [SECONDS]          0.5, 1, 2 and 10 times capacity, SECONDS each (default 20)
    /usr/bin/python3 Tests/Faults/load.py soak [SECONDS]     once capacity, for SECONDS (default 600): is memory flat?

With `--json FILE` the goals go into a file, too.

Capacity is measured first: as many uploads a second as a few clients that never pause get done. After that requests
come at their own rate, whether or not earlier ones are answered, as they do in the world. The generator runs on the
same processors as the server and tells how much of them it took. Exit code 1 where a goal falls short."""
import argparse, collections, functools, itertools, json, os, random, resource, select, socket, statistics, sys, time, typing

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pictures  # noqa: E402
from client import head  # noqa: E402
from server import Server  # noqa: E402

# Requests under way at once; beyond it the generator would measure its own descriptors.
UNDER_WAY_MAX = 200
# Each level is offered so many times, in as many parts of its seconds.
TURNS = 3
# Seconds before each turn in which its rate is offered already.
WARM_UP = 3
# What a sender may have under way before the first acknowledgement: ten segments (RFC 6928, section 2) of an Ethernet.
FIRST_WINDOW = 10 * 1460
# Seconds; a short one.
ROUND_TRIP = 0.01


class Level:
    """What was seen while one rate was offered, at one time or at several."""

    def __init__(self, name, offered):
        self.name, self.offered = name, offered
        self.good, self.refused, self.other = [], [], {}
        # Uploads that were begun, and those that were due while too many were under way.
        self.begun = self.skipped = 0
        self.front, self.workers, self.descriptors = 0.0, 0.0, 0
        # Of the seconds that count.
        self.seconds, self.offers, self.stored, self.busy = 0.0, 0, 0, 0.0

    def begin(self):
        """From now on it counts."""
        self.start, self.before = time.monotonic(), (self.begun, len(self.good), cpu_seconds())

    def end(self):
        """No more is offered: of what is answered later counts only how."""
        begun, good, busy = self.before
        self.seconds += time.monotonic() - self.start
        self.offers += self.begun - begun
        self.stored += len(self.good) - good
        self.busy += cpu_seconds() - busy

    @property
    def goodput(self):
        """Uploads stored a second."""
        return self.stored / self.seconds

    @property
    def share_offered(self):
        """What the generator came to begin, of what it was to."""
        return self.offers / self.seconds / self.offered

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
        return (f"| {self.name} | {self.offered:.1f} | {self.offers / self.seconds:.1f} | {self.skipped} "
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


class Mix:
    """The uploads to come, in their order again and again. A refused one comes again at once, as clients do: so what is
    stored is the same mix at every rate."""

    def __init__(self, requests):
        self.order, self.refused = itertools.cycle(requests), []

    def next(self):
        return self.refused.pop() if self.refused else next(self.order)


class Upload:
    """One upload on a connection of its own."""

    def __init__(self, connection, request, done):
        self.connection, self.done, self.start = connection, done, time.monotonic()
        # Bytes of the request that have been sent, and that may be.
        self.request, self.sent, self.window = request, 0, FIRST_WINDOW

    def send(self):
        """As much as the socket takes of what may go now; whether any of that is left."""
        try:
            self.sent += self.connection.send(self.request[self.sent:self.window])
        except BlockingIOError:
            pass
        return self.sent < min(self.window, len(self.request))

    def status(self):
        """What has been answered, where anything has; a word where the connection broke."""
        try:
            return int(self.connection.recv(4096)[9:12])
        except BlockingIOError:
            return None
        except (OSError, ValueError) as error:
            return type(error).__name__


class Generator:
    """Many uploads at once, in one thread that waits for all of them: it takes little of the server's processors.

    Each begins as it would over a network: of a body no more than the first window is sent until a round trip has passed.
    Loopback would take a megabyte before a refusal can be read, at the cost of the server that is measured."""

    def __init__(self, server):
        self.server, self.epoll = server, select.epoll()
        self.under_way, self.round_trips = {}, collections.deque()

    def begin(self, request, done):
        """`done` is called with the status and the seconds. An answer that comes early ends the sending."""
        connection = socket.socket()
        connection.setblocking(False)
        connection.connect_ex(("127.0.0.1", self.server.port))
        upload = Upload(connection, memoryview(request), done)
        self.under_way[connection.fileno()] = upload
        self.epoll.register(connection, select.EPOLLIN | select.EPOLLOUT)
        self.round_trips.append((upload.start + ROUND_TRIP, upload))

    def wait(self, until):
        """Goes on with what is under way: until then, and where that has passed with what is there."""
        now = time.monotonic()
        while True:
            while self.round_trips and self.round_trips[0][0] <= now:
                self._acknowledged(self.round_trips.popleft()[1])
            next_trip = self.round_trips[0][0] if self.round_trips else until
            for number, events in self.epoll.poll(max(0, min(until, next_trip) - now)):
                self._go_on(number, events)
            now = time.monotonic()
            if now >= until:
                break

    def finish(self):
        """Waits for what is under way; what has not been answered within two minutes will not be."""
        end = time.monotonic() + 120
        while self.under_way and time.monotonic() < end:
            self.wait(time.monotonic() + 0.1)
        for number, upload in list(self.under_way.items()):
            self._end(number, upload, "timeout")

    def _acknowledged(self, upload):
        number = upload.connection.fileno()
        if number >= 0:
            upload.window = len(upload.request)
            self.epoll.modify(number, select.EPOLLIN | select.EPOLLOUT)

    def _go_on(self, number, events):
        upload = self.under_way[number]
        if events & ~select.EPOLLOUT and (status := upload.status()) is not None:
            return self._end(number, upload, status)
        try:
            if events & select.EPOLLOUT and not upload.send():
                self.epoll.modify(number, select.EPOLLIN)
        except OSError as error:
            # An answer may lie before the end of the connection.
            self._end(number, upload, upload.status() or type(error).__name__)

    def _end(self, number, upload, status):
        del self.under_way[number]
        upload.connection.close()
        upload.done(status, time.monotonic() - upload.start)


def capacity(generator, mix, seconds):
    """Uploads a second that clients get done, two for each worker."""
    end, count = time.monotonic() + seconds, 0

    def again(status=None, _=None):
        nonlocal count
        if time.monotonic() < end:
            count += status == 201
            generator.begin(mix.next(), again)

    for _ in range(2 * len(generator.server.workers())):
        again()
    generator.wait(end)
    generator.finish()
    return count / seconds


def offer(generator, mix, level, seconds):
    """Uploads at a level's rate, evenly spaced; counted from when the queue has had time to fill."""
    def note(request, status, seconds):
        level.note(status, seconds)
        if status == 503:
            mix.refused.append(request)

    start = time.monotonic()
    for number in range(int(level.offered * (WARM_UP + seconds))):
        generator.wait(start + number / level.offered)
        if number == int(level.offered * WARM_UP):
            level.begin()
        if number % max(1, int(level.offered)) == 0:
            level.look(generator.server)
        has_room = len(generator.under_way) < UNDER_WAY_MAX
        level.begun += has_room
        level.skipped += not has_room
        if has_room:
            request = mix.next()
            generator.begin(request, functools.partial(note, request))
    generator.wait(start + WARM_UP + seconds)
    level.look(generator.server)
    level.end()
    generator.finish()


def levels(generator, mix, seconds):
    most = capacity(generator, mix, seconds)
    print(f"capacity: {most:.1f} uploads/s with {len(generator.server.workers())} workers\n\n{HEADER}", flush=True)
    seen = {factor: Level(f"{factor} ×", factor * most) for factor in (0.5, 1, 2, 10)}
    # Up and down: what slows the machine down for a while slows all levels down.
    for turn in range(TURNS):
        for factor in sorted(seen, reverse=turn % 2 == 1):
            offer(generator, mix, seen[factor], seconds / TURNS)
            time.sleep(1)
    for level in seen.values():
        print(level.row(), flush=True)
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


def soak(generator, mix, seconds):
    most = capacity(generator, mix, 10)
    samples, seen = [], []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        level = Level("1 ×", most)
        offer(generator, mix, level, 15)
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
    requests = [head("/v1/images", len(picture), extra="Connection: close\r\n") + picture
                for _, picture in pictures.phones()]
    random.Random(1).shuffle(requests)
    with Server() as server:
        goals = (soak if is_soak else levels)(Generator(server), Mix(requests), seconds)
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
