"""Requests as good clients send them, and sockets for those that bad ones do."""
import http.client, json, socket, struct, time


class Answer:
    def __init__(self, response, seconds):
        self.status, self.headers, self.seconds = response.status, response.headers, seconds
        self.body = response.read()

    @property
    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.body[:200]!r}"


def exchange(server, method, path, body=None, headers=None, seconds=60):
    """One request on a connection of its own."""
    start = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=seconds)
    try:
        connection.request(method, path, body=body, headers=headers or {})
        response = connection.getresponse()
        return Answer(response, time.monotonic() - start)
    finally:
        connection.close()


def upload(server, picture, **options):
    return exchange(server, "POST", "/v1/images", picture, **options)


def convert(server, picture, **options):
    return exchange(server, "POST", "/v1/convert", picture, **options)


def connect(server, seconds=60):
    return socket.create_connection(("127.0.0.1", server.port), timeout=seconds)


def head(path, length, method="POST", extra=""):
    return f"{method} {path} HTTP/1.1\r\nHost: h\r\nContent-Length: {length}\r\n{extra}\r\n".encode()


def reset(connection):
    """Ends a connection the rude way: with RST instead of FIN."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def read_all(connection, seconds=60):
    """What comes until the other side ends the connection; nothing more is waited for after `seconds`."""
    connection.settimeout(seconds)
    received = b""
    try:
        while piece := connection.recv(65536):
            received += piece
    except ConnectionResetError:
        pass
    return received
