"""What a tree of processes uses: CPU seconds and memory, from /proc."""

import os
import threading
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def tree(root):
    """The process and all that descend from it."""
    found, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        try:
            for task in os.listdir(f"/proc/{pid}/task"):
                waiting += map(int, Path(f"/proc/{pid}/task/{task}/children").read_text().split())
        except OSError:
            pass
    return found


def cpu_seconds(root):
    """Of all of the tree, and of their children that have ended and were waited for."""
    total = 0
    for pid in tree(root):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += sum(map(int, fields[11:15]))
        except OSError:
            pass
    return total / TICKS


def memory(root):
    """Bytes held by the tree, pages that several share counted once (PSS)."""
    total = 0
    for pid in tree(root):
        try:
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
            total += 1024 * int(rollup.partition("\nPss:")[2].split()[0])
        except (OSError, IndexError):
            pass
    return total


def own_memory(pid):
    """Bytes resident in one process now, without what it has mapped of memory files: bodies and pictures."""
    status = Path(f"/proc/{pid}/status").read_text()
    return sum(1024 * int(status.partition(f"\n{name}:")[2].split()[0]) for name in ("RssAnon", "RssFile"))


def resident_most(pid):
    """The most bytes that one process has had resident so far (RSS)."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        return 1024 * int(status.partition("\nVmHWM:")[2].split()[0])
    except (OSError, IndexError):
        return 0


class MemoryWatch:
    """The most that a tree holds while this is entered."""

    def __init__(self, root, interval=0.05):
        self.root, self.interval, self.peak = root, interval, 0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def _watch(self):
        while not self._end.wait(self.interval):
            self.peak = max(self.peak, memory(self.root))

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()
