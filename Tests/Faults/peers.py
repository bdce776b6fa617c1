"""Clients that are slow, idle, rude, gone, or speak a broken HTTP."""
import os, re, socket, threading, time
import pictures
from client import connect, convert, exchange, head, read_all, reset, upload
from server import Server, until


def served_beside(server):
    """A good client's request, which must not wait for the bad ones."""
    answer = upload(server, pictures.jpeg())
    assert answer.status == 201, answer
    return answer.seconds


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
        time.sleep(2)
        served_beside(server)
        for thread in threads:
            thread.join()
        assert len(endings) == 100, f"only {len(endings)} were ended"
        assert max(seconds for seconds, _ in endings) < 30, max(endings)
        told = sum(status == b"408" for _, status in endings)
        assert told >= 90, f"only {told} were told 408"
        until("their descriptors to be given back", lambda: server.descriptors() <= before + 4)
        return f"all ended within {max(seconds for seconds, _ in endings):.0f} s, {told} told so (408)"


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


def big_jpeg():
    return pictures.jpeg(6000, 4000)


def aborted_uploads(scale):
    """Uploads given up at every tenth of the body, by FIN and by RST"""
    with Server() as server:
        picture = big_jpeg()
        upload(server, pictures.jpeg())
        before, stored = server.descriptors(), len(server.stored())
        for tenth in range(10):
            for end in (socket.socket.close, reset):
                connection = connect(server)
                connection.sendall(head("/v1/images", len(picture)) + picture[:len(picture) * tenth // 10])
                time.sleep(0.02)
                end(connection)
        until("their descriptors to be given back", lambda: server.descriptors() <= before + 2)
        assert len(server.stored()) == stored, "half an upload was stored"
        served_beside(server)
        return "nothing stored, every descriptor and byte given back"


def vanished_clients(scale):
    """Clients that go away once their upload is complete"""
    with Server("--workers", "1") as server:
        picture = pictures.jpeg(3000, 2250, 5)
        for _ in range(20):
            connection = connect(server)
            connection.sendall(head("/v1/convert", len(picture)) + picture)
            reset(connection)
        until("quiet", lambda: served_beside(server), 30)
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
        time.sleep(0.5)
        for connection in flood:
            connection.close()
        until("the descriptors to be given back", lambda: server.descriptors() <= before + 2, 30)
        served_beside(server)
        return f"{len(flood)} connections against 64 descriptors; serves on when they are gone"


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


ALL = [broken_requests, aborted_uploads, vanished_clients, no_descriptors, slow_senders, slow_readers, idle_connections]
