"""A closed loop of requests: each connection sends its next photo when its last is stored.

One that is refused waits as the answer asks (Retry-After) and sends its photo again; its latency is all of that.
"""

import http.client
import itertools
import threading
import time


# A photo that is refused so often is given up.
TRIES = 20


class Outcome:
    def __init__(self, latencies, refused, seconds):
        self.latencies, self.refused, self.seconds = sorted(latencies), refused, seconds

    @property
    def rate(self):
        return len(self.latencies) / self.seconds

    def percentile(self, share):
        return self.latencies[min(len(self.latencies) - 1, int(share * len(self.latencies)))]


def run(port, photos, connections, seconds, send):
    """Sends photos in turn over so many connections; no request is begun after so many seconds, all are waited for.

    `send(connection, photo)` tells whether the photo was stored, and for how many seconds to wait if not.
    """
    turn, latencies, refused = itertools.count(), [], []
    start = time.perf_counter()

    def work():
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        while time.perf_counter() - start < seconds:
            photo = photos[next(turn) % len(photos)]
            begun = time.perf_counter()
            for _ in range(TRIES):
                try:
                    stored, wait = send(connection, photo)
                except (OSError, http.client.HTTPException):
                    connection.close()
                    stored, wait = False, 1
                if stored:
                    latencies.append(time.perf_counter() - begun)
                    break
                refused.append(wait)
                time.sleep(wait)
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return Outcome(latencies, len(refused), time.perf_counter() - start)


def post(path):
    """Sends the photo as a raw body, as phones and curl do."""

    def send(connection, photo):
        connection.request("POST", path, photo, {"Content-Type": "application/octet-stream"})
        answer = connection.getresponse()
        answer.read()
        return answer.status == 201, float(answer.headers.get("Retry-After", 1))

    return send
