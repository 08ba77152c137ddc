"""The demo's inference server: ``python -m rtrace_otel.demo.server``. Prints its port and serves until ended."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from typing import Final

from aiohttp import web

from rtrace_otel.demo.engine import Engine
from rtrace_otel.demo.tracing import ServerTracing

ENGINE: Final = web.AppKey("engine", Engine)
TRACING: Final = web.AppKey("tracing", ServerTracing)
GATE: Final = web.AppKey("gate", dict[str, bool])


async def generate(request: web.Request) -> web.Response:
    """Run one model call; 409 if it is a rollout's first and admission is closed, 500 if the server fails it."""
    wanted = await request.json()
    if wanted["first_turn"] and not request.app[GATE]["open"]:
        return web.json_response({"error": "admission closed"}, status=409)
    tracing = request.app[TRACING]
    span = tracing.start(request.headers, wanted["call_id"], wanted["max_tokens"])
    try:
        succeeded, call = await request.app[ENGINE].generate(wanted["call_id"], wanted["task"], wanted["max_tokens"])
    except asyncio.CancelledError:
        tracing.end(span, None, "client is gone")
        raise
    tracing.end(span, call, None if succeeded else "server error")
    if not succeeded:
        return web.json_response({"error": "server error", "tokens": len(call.tokens)}, status=500)
    return web.json_response({"tokens": call.tokens, "begin_version": call.begin_version})


async def admission(request: web.Request) -> web.Response:
    """Open or close the gate for new rollouts."""
    request.app[GATE]["open"] = (await request.json())["open"]
    return web.json_response({})


async def pause(request: web.Request) -> web.Response:
    """Freeze running calls for a refit."""
    request.app[ENGINE].pause()
    return web.json_response({})


async def weights(request: web.Request) -> web.Response:
    """Install weights; with ``fresh`` the calls of an earlier client are dropped first."""
    wanted = await request.json()
    engine = request.app[ENGINE]
    if wanted["fresh"]:
        engine.abort_all()
        request.app[GATE]["open"] = True
    engine.install(wanted["version"], wanted["logits"])
    return web.json_response({})


async def resume(request: web.Request) -> web.Response:
    """Let the calls go on; says how far each had come."""
    return web.json_response({"calls": request.app[ENGINE].resume()})


async def truth(request: web.Request) -> web.Response:
    """The true weight versions of every token of every call."""
    return web.json_response(request.app[ENGINE].truth)


async def serve(engine: Engine) -> None:
    """Serve on a free port of this machine and print it."""
    app = web.Application()
    app[ENGINE] = engine
    app[GATE] = {"open": True}
    app[TRACING] = ServerTracing()
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    app.add_routes([web.post(f"/{f.__name__}", f) for f in (generate, admission, pause, weights, resume)])
    app.add_routes([web.get("/truth", truth)])
    runner = web.AppRunner(app, handler_cancellation=True, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    sys.stdout.write(f"{runner.addresses[0][1]}\n")
    sys.stdout.flush()
    running = asyncio.create_task(engine.run())
    await ended.wait()
    running.cancel()
    app[TRACING].shut_down()


def main() -> None:
    """Parse the command line and serve."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--slots", type=int, required=True)
    parser.add_argument("--token-s", type=float, required=True)
    parser.add_argument("--failure-rate", type=float, required=True)
    wanted = parser.parse_args()
    asyncio.run(serve(Engine(wanted.seed, wanted.slots, wanted.token_s, wanted.failure_rate)))


if __name__ == "__main__":
    main()
