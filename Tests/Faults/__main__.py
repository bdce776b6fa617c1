"""Does to a release build what happens to a server in the world, and says what became of it.

    /usr/bin/python3 Tests/Faults [short|long] [NAME …]

Each fault is a function, asked for by its name or its file's: its docstring names the fault, its value says what was
seen. One that falls short fails by an assertion. `short` is for CI; `long` does the same more often."""
import os, sys, time, traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import peers, pictures, stores, workers  # noqa: E402


def main(arguments):
    scale = arguments[0] if arguments[:1] in (["short"], ["long"]) else "short"
    names = set(arguments) - {scale}
    modules = (workers, stores, peers)
    for module in modules:
        if module.__name__ in names:
            names = names - {module.__name__} | {fault.__name__ for fault in module.ALL}
    faults = [fault for module in modules for fault in module.ALL]
    unknown = names - {fault.__name__ for fault in faults}
    if unknown:
        sys.exit(f"faults: unknown: {', '.join(sorted(unknown))}; known are: {', '.join(f.__name__ for f in faults)}")
    if not pictures.has_corpus():
        print("faults: no corpus beside the repository: only pictures made here are used")
    failed = untried = 0
    chosen = [fault for fault in faults if not names or fault.__name__ in names]
    for fault in chosen:
        start = time.monotonic()
        try:
            seen = fault(scale)
        except stores.NotTried as reason:
            untried += 1
            seen = f"NOT tried: {reason}"
        except Exception:
            failed += 1
            seen = "FELL SHORT\n" + traceback.format_exc()
        print(f"{fault.__doc__}: {seen} ({time.monotonic() - start:.0f} s)", flush=True)
    survived = len(chosen) - failed - untried
    print(f"faults: {survived} survived, {failed} fell short" + (f", {untried} NOT tried" if untried else ""))
    return 1 if failed else 0


sys.exit(main(sys.argv[1:]))
