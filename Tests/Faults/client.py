"""Requests as good clients send them, and sockets for those that bad ones do."""
import ctypes, fcntl, http.client, json, socket, struct, termios, time

# Of asm-generic/socket.h; Python does not name it.
SO_ATTACH_FILTER = 26


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


def convert(server, picture, query="", **options):
    return exchange(server, "POST", f"/v1/convert{query}", picture, **options)


def connect(server, seconds=60):
    return socket.create_connection(("127.0.0.1", server.port), timeout=seconds)


def head(path, length, method="POST", extra=""):
    return f"{method} {path} HTTP/1.1\r\nHost: h\r\nContent-Length: {length}\r\n{extra}\r\n".encode()


def reset(connection):
    """Ends a connection the rude way: with RST instead of FIN."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def vanish(connection):
    """From now on the kernel drops whatever comes for this connection, acknowledgements too, and answers nothing: as if its
    host were gone. What is sent goes out once."""
    # First what was sent before has to arrive: with nothing acknowledged no more of it would be sent.
    while struct.unpack("i", fcntl.ioctl(connection, termios.TIOCOUTQ, bytes(4)))[0]:
        time.sleep(0.005)
    drop = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0), 8)  # BPF_RET of 0 bytes
    program = struct.pack("HP", 1, ctypes.addressof(drop))
    connection.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)


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
