"""Clients that are slow, idle, rude, gone, or speak a broken HTTP."""
import asyncio, collections, contextlib, re, socket, threading, time
import pictures
from client import connect, exchange, head, read_all, reset, upload, vanish
from server import Server, until


def served_beside(server):
    """A good client's request, which must not wait for the bad ones."""
    answer = upload(server, pictures.jpeg())
    assert answer.status == 201, answer
    return answer.seconds


def is_served(server):
    """Whether a good client's upload is stored; busy is all that it may be told instead."""
    answer = upload(server, pictures.jpeg())
    assert answer.status in (201, 503), answer
    return answer.status == 201


def idle_connections(scale):
    """2,000 idle connections"""
    with Server() as server:
        upload(server, pictures.jpeg())
        before = server.resident_mb(), server.descriptors()
        idle = [connect(server) for _ in range(2000)]
        worst = max(served_beside(server) for _ in range(5))
        held = server.descriptors() - before[1]
        assert held < 400, f"{held} descriptors are held"
        grown = server.resident_mb() - before[0]
        assert grown < 32, f"the front grew by {grown:.0f} MB"
        # Headers have to come within 10 s.
        until("the idle ones to be ended", lambda: server.descriptors() <= before[1] + 4, 30)
        for connection in idle:
            connection.close()
        return (f"a good upload beside them takes {worst * 1000:.0f} ms at worst; the front holds {held} of them "
                f"and grows by {grown:.0f} MB; ended after 10 s")


def slow_senders(scale):
    """100 clients that send 1 byte a second"""
    with Server() as server:
        before = server.descriptors()
        start, endings = time.monotonic(), []

        def drip():
            with connect(server) as connection:
                connection.sendall(head("/v1/images", 1_000_000))
                try:
                    while time.monotonic() < start + 40:
                        connection.sendall(b"\xff")
                        connection.settimeout(1)
                        try:
                            answer = connection.recv(4096)
                            endings.append((time.monotonic() - start, answer[9:12]))
                            return
                        except TimeoutError:
                            pass
                except OSError:
                    endings.append((time.monotonic() - start, b"RST"))

        threads = [threading.Thread(target=drip) for _ in range(100)]
        for thread in threads:
            thread.start()
        # For their first second they count as uploads on their way.
        until("a good upload beside them", lambda: is_served(server))
        for thread in threads:
            thread.join()
        assert len(endings) == 100, f"only {len(endings)} were ended"
        assert max(seconds for seconds, _ in endings) < 30, max(endings)
        # All at once they are more than wait for a worker: most are refused at their header, the rest for their pace.
        slow, refused = (sum(status == code for _, status in endings) for code in (b"408", b"503"))
        assert slow >= 5 and slow + refused >= 90, endings
        until("their descriptors to be given back", lambda: server.descriptors() <= before + 4)
        return (f"all ended within {max(seconds for seconds, _ in endings):.0f} s, {refused} refused at their header (503), "
                f"{slow} told to be too slow (408)")


def slow_readers(scale):
    """50 clients that ask for a picture and do not read it"""
    with Server() as server:
        key = upload(server, big_jpeg()).json["key"]
        before = server.descriptors()
        readers = []
        for _ in range(50):
            connection = socket.socket()
            # Little room on the way, so that the server has to wait for the reader.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect(("127.0.0.1", server.port))
            connection.sendall(head(f"/v1/images/{key}", 0, "GET"))
            readers.append(connection)
        served_beside(server)
        until("the readers to be ended", lambda: server.descriptors() <= before + 4, 45)
        for connection in readers:
            connection.close()
        return "ended; others are served meanwhile"


def vanished_readers(scale):
    """Clients whose host is gone before it has acknowledged one byte of a large answer"""
    with Server() as server:
        picture = big_jpeg()
        key = upload(server, picture).json["key"]
        before, gone = server.descriptors(), []
        requests = 20 * [head(f"/v1/images/{key}", 0, "GET")] + 4 * [head("/v1/convert", len(picture)) + picture]
        for request in requests:
            connection = connect(server)
            connection.sendall(request[:-1])
            vanish(connection)
            connection.sendall(request[-1:])
            gone.append(connection)
        until("their answers to be under way", lambda: server.descriptors() >= before + len(gone))
        served_beside(server)
        until("their connections to be ended", lambda: server.descriptors() <= before + 4, 60)
        for connection in gone:
            reset(connection)
        return f"all {len(gone)} ended; others are served meanwhile"


def lawful_crowd(scale):
    """300 uploads at once, each slow but within the law (17 KiB/s)"""
    # Neither the queue nor the bodies' memory is to turn them away: the connections alone are what they could use up.
    with Server("--queue", "1000", "--bodies-max", "2GiB") as server:
        before, seen, over = server.descriptors(), collections.Counter(), threading.Event()
        crowd = threading.Thread(target=lambda: asyncio.run(crawl(server, 300, seen, over)))
        crowd.start()
        try:
            until("a crowd", lambda: server.descriptors() >= before + 200, 30)
            held = server.descriptors() - before
            worst, tries, stored = collections.defaultdict(float), 0, 0
            end = time.monotonic() + (90 if scale == "long" else 30)
            while time.monotonic() < end + (0 if stored else 60):
                for path in ("/healthz", "/readyz"):
                    answer = exchange(server, "GET", path, seconds=10)
                    assert answer.status == 200, f"{path}: {answer}"
                    worst[path] = max(worst[path], answer.seconds)
                answer = upload(server, pictures.jpeg(), seconds=10)
                assert answer.status in (201, 503), answer
                worst["upload"] = max(worst["upload"], answer.seconds)
                tries, stored = tries + 1, stored + (answer.status == 201)
                time.sleep(0.5)
        finally:
            over.set()
            crowd.join()
        assert stored, f"none of {tries} good uploads was stored"
        # What they are told instead of being let crawl on.
        assert set(seen) <= {b"408", b"503", b"RST"}, seen
        until("their descriptors to be given back", lambda: server.descriptors() <= before + 4, 30)
        told = ", ".join(f"{count} × {what.decode()}" for what, count in sorted(seen.items()))
        return (f"{held} of them held a connection; beside them every look at the health and every upload is answered "
                f"within {max(worst.values()):.1f} s, {stored} of {tries} good uploads are stored, the others told to come "
                f"later; of the slow ones were turned away: {told or 'none'}")


async def crawl(server, count, seen, over):
    """As many uploads at 17 KiB/s each, which do not end in this time; one that is turned away comes again."""
    loop = asyncio.get_running_loop()

    async def once():
        with socket.socket() as connection:
            connection.setblocking(False)
            await loop.sock_connect(connection, ("127.0.0.1", server.port))
            await loop.sock_sendall(connection, head("/v1/images", 4_000_000))
            begun, sent = time.monotonic(), 0
            while not over.is_set():
                due = int(17 * 1024 * (time.monotonic() - begun + 1))
                await loop.sock_sendall(connection, bytes(due - sent))
                sent = due
                with contextlib.suppress(TimeoutError):
                    return (await asyncio.wait_for(loop.sock_recv(connection, 4096), 1))[9:12] or b"RST"

    async def client():
        while not over.is_set():
            try:
                status = await once()
            except OSError:
                status = b"RST"
            if status:
                seen[status] += 1
            await asyncio.sleep(1)

    await asyncio.gather(*(client() for _ in range(count)))


def big_jpeg():
    return pictures.jpeg(6000, 4000)


def aborted_uploads(scale):
    """Uploads given up at every tenth of the body, by FIN and by RST"""
    picture = big_jpeg()
    # Room for one such body and no second one: each upload waits until the one before has given back every byte.
    room = str(len(picture) + 1000)
    with Server("--body-max", room, "--bodies-max", room) as server:
        def begun():
            """A connection on which the whole body may come, by a `100 Continue`; None where there is no room for it."""
            connection = connect(server)
            connection.sendall(head("/v1/images", len(picture), extra="Expect: 100-continue\r\n"))
            answer = connection.recv(4096)
            assert answer[9:12] in (b"100", b"503"), answer
            if answer[9:12] == b"100":
                return connection
            connection.close()

        upload(server, pictures.jpeg(640, 480))
        before, stored = server.descriptors(), len(server.stored())
        for tenth in range(10):
            for end in (socket.socket.close, reset):
                connection = until("room for a whole body", begun)
                connection.sendall(picture[:len(picture) * tenth // 10])
                time.sleep(0.02)
                end(connection)
        until("their descriptors to be given back", lambda: server.descriptors() <= before + 2)
        assert len(server.stored()) == stored, "half an upload was stored"
        until("room for a whole body", begun).close()
        until("a whole upload", lambda: upload(server, picture).status == 201)
        return "nothing stored, every descriptor and every byte of the bodies' budget given back"


def vanished_clients(scale):
    """Clients that go away once their upload is complete"""
    with Server("--workers", "1") as server:
        picture = pictures.jpeg(3000, 2250, 5)
        for _ in range(20):
            connection = connect(server)
            connection.sendall(head("/v1/convert", len(picture)) + picture)
            reset(connection)
        until("the next client to be served", lambda: is_served(server), 30)
        return "the next client is served"


def no_descriptors(scale):
    """The front runs out of descriptors"""
    with Server(before=["prlimit", "--nofile=64:64"]) as server:
        before = server.descriptors()
        flood = []
        try:
            for _ in range(200):
                flood.append(connect(server, 2))
        except OSError:
            pass
        most = until("the front to come to its limit", lambda: server.descriptors() >= 62 and server.descriptors())
        for connection in flood:
            connection.close()
        until("the descriptors to be given back", lambda: server.descriptors() <= before + 2, 30)
        served_beside(server)
        return f"{len(flood)} connections against 64 descriptors, of which {most} were used; serves on when they are gone"


# What is sent, and the statuses that may come back; where several may, libmicrohttpd's version decides.
BROKEN = [
    ("Content-Length beside Transfer-Encoding",
     b"POST /v1/images HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", {400}),
    ("two Content-Lengths",
     b"POST /v1/images HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcd", {400}),
    ("the same Content-Length twice",
     b"POST /v1/images HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nabcd", {400}),
    ("a negative Content-Length", b"POST /v1/images HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n", {400}),
    ("a Content-Length beyond counting",
     b"POST /v1/images HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999999\r\n\r\n", {400, 413}),
    ("an unknown Transfer-Encoding",
     b"POST /v1/images HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", {400, 501}),
    ("a blank before the colon", b"GET /healthz HTTP/1.1\r\nHost : h\r\n\r\n", {400}),
    ("a folded header", b"GET /healthz HTTP/1.1\r\nHost: h\r\nX-A: b\r\n c\r\n\r\n", {200, 400}),
    # libmicrohttpd 0.9.75 hands out what stands before the NUL.
    ("a NUL in a header", b"GET /healthz HTTP/1.1\r\nHost: h\r\nX-A: b\0c\r\n\r\n", {200, 400}),
    ("a NUL in the path", b"GET /v1/images/a\0b HTTP/1.1\r\nHost: h\r\n\r\n", {400, 404}),
    ("%00 in the path", b"GET /v1/images/a%00b HTTP/1.1\r\nHost: h\r\n\r\n", {400, 404}),
    ("a path that climbs", b"GET /v1/images/..%2f..%2fetc%2fpasswd HTTP/1.1\r\nHost: h\r\n\r\n", {400, 404}),
    ("a header of 1 MB", b"GET /healthz HTTP/1.1\r\nHost: h\r\nX-A: " + b"a" * 1_000_000 + b"\r\n\r\n", {400, 413, 431, None}),
    ("a target of 1 MB", b"GET /" + b"a" * 1_000_000 + b" HTTP/1.1\r\nHost: h\r\n\r\n", {400, 404, 414, 431, None}),
    ("an absolute target", b"GET http://h/healthz HTTP/1.1\r\nHost: h\r\n\r\n", {200}),
    ("CONNECT", b"CONNECT h:80 HTTP/1.1\r\nHost: h\r\n\r\n", {400, 404, 405}),
    ("no version", b"GET /healthz\r\n\r\n", {400, 505, None}),
    ("another protocol", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(64), {400, None}),
]


def broken_requests(scale):
    """Smuggled, doubled, oversized and malformed requests"""
    with Server() as server:
        for name, request, allowed in BROKEN:
            with connect(server, 20) as connection:
                try:
                    connection.sendall(request)
                    connection.shutdown(socket.SHUT_WR)
                except OSError:
                    # Refused and ended while it was still being sent.
                    assert None in allowed, name
                received = read_all(connection, 20)
            status = int(received[9:12]) if received.startswith(b"HTTP/") else None
            assert status in allowed, f"{name}: {status}, allowed {allowed}: {received[:300]!r}"
        smuggled(server)
        pipelined(server)
        served_beside(server)
        return f"{len(BROKEN)} kinds refused or read by the rules, none smuggled past"


def smuggled(server):
    """A request hidden in the body of a doubtful one is never answered."""
    hidden = b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n"
    for framing in (b"Content-Length: 0\r\nTransfer-Encoding: chunked", b"Content-Length: 0\r\nContent-Length: 43",
                    b"Transfer-Encoding : chunked", b"Transfer-Encoding: xchunked"):
        with connect(server, 20) as connection:
            connection.sendall(b"POST /v1/convert HTTP/1.1\r\nHost: h\r\n" + framing + b"\r\n\r\n0\r\n\r\n" + hidden)
            connection.shutdown(socket.SHUT_WR)
            received = read_all(connection, 20)
        # libmicrohttpd's own error page may carry its head twice, so 200s are counted.
        assert b'"status":"ok"' not in received and b" 200 " not in received, f"{framing!r}: {received[:500]!r}"


def pipelined(server):
    """Three requests in one write get three answers, in order."""
    picture = pictures.jpeg(64, 48)
    with connect(server, 20) as connection:
        connection.sendall(head("/healthz", 0, "GET") + head("/v1/convert", len(picture)) + picture
                           + head("/nothing", 0, "GET", "Connection: close\r\n"))
        received = read_all(connection, 20)
    statuses = re.findall(rb"HTTP/1\.1 (\d+) ", received)
    assert statuses == [b"200", b"200", b"404"], statuses


ALL = [broken_requests, aborted_uploads, vanished_clients, no_descriptors, slow_senders, slow_readers, vanished_readers,
       lawful_crowd, idle_connections]
