"""What a careful ASGI service does around its image library: whole body in, JPEG stored and synced, 201 with JSON."""

import asyncio
import json
import os
import secrets
import time
from concurrent.futures import ThreadPoolExecutor

from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

STORE = os.environ["STORE"]
# One photo at a time for each process, beside the event loop: more would only take memory.
WORKER = ThreadPoolExecutor(1)


def store(jpeg):
    """Whole or not at all, and there after a power cut."""
    key = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{secrets.token_hex(16)}.jpg"
    partial = os.path.join(STORE, f".{key}")
    with open(partial, "wb") as file:
        file.write(jpeg)
        os.fsync(file.fileno())
    os.rename(partial, os.path.join(STORE, key))
    folder = os.open(STORE, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)
    return key


def application(prepare):
    """`prepare(body)` gives the JPEG and its size."""

    def work(body):
        jpeg, (width, height) = prepare(body)
        return {"key": store(jpeg), "width": width, "height": height, "bytes": len(jpeg)}

    async def images(request):
        body = await request.body()
        record = await asyncio.get_running_loop().run_in_executor(WORKER, work, body)
        return Response(json.dumps(record), 201, media_type="application/json")

    return Starlette(routes=[Route("/v1/images", images, methods=["POST"])])
