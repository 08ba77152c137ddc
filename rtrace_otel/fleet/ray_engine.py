"""Traces read as tasks of a Ray cluster, by the same function as on one machine."""

from __future__ import annotations

import logging
import os
import socket
import sys
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any, Final

from rtrace_otel.errors import MissingExtraError, RTraceError
from rtrace_otel.fleet.patience import PATIENCE_S
from rtrace_otel.fleet.pool import TRIES
from rtrace_otel.fleet.ray_task import answer, answer_from_store, store_variables
from rtrace_otel.fleet.results import KILLED, Failure, Outcome, decode
from rtrace_otel.fleet.sources import is_remote

IN_FLIGHT: Final = 1_000
"""Tasks that the cluster is given at a time."""


KNOCK_S: Final = 5.0
"""Longest wait for a cluster's first sign."""


class RayClusterError(RTraceError):
    """There is no cluster, or it does not answer; the text says how to start one."""


def read_on_ray(
    paths: Sequence[str], address: str | None = None, patience_s: float = PATIENCE_S
) -> Generator[tuple[int, Outcome], None, None]:
    """Read traces on a Ray cluster.

    Each trace is one task on one CPU. Its node needs rtrace-otel in the same version, and sees the same paths. A task
    whose worker was killed is run once more, as on one machine. Tasks on stores are given the variables of this
    process's environment that the clients of stores read.

    Args:
        paths: Paths on a file system that all nodes share, or addresses.
        address: Of the cluster; by default ``RAY_ADDRESS``, else the cluster of this machine.
        patience_s: How long a store is waited for, in seconds.

    Yields:
        Place in ``paths`` and what came of it, in the order in which they are ready.

    Raises:
        MissingExtraError: Ray is not installed.
        RayClusterError: There is no cluster at the address.
    """
    with _connected(address) as ray:
        task = _task(ray, patience_s)
        waiting = iter(enumerate(paths))
        running: dict[Any, int] = {}
        while True:
            while len(running) < IN_FLIGHT and (following := next(waiting, None)) is not None:
                place, path = following
                running[task(path)] = place
            if not running:
                return
            for ready in ray.wait(list(running), num_returns=1)[0]:
                place = running.pop(ready)
                yield place, _outcome(ray, ready, paths[place])


def _task(ray: Any, patience_s: float) -> Callable[[str], Any]:
    """Submits a trace.

    Credentials go as an argument, which the cluster shows to nobody; it shows the environments of tasks.
    """
    here = ray.remote(num_cpus=1, max_retries=TRIES - 1)(answer).options(name="rtrace fleet")
    there = ray.remote(num_cpus=1, max_retries=TRIES - 1)(answer_from_store).options(name="rtrace fleet")
    variables = store_variables()

    def submit(path: str) -> Any:
        if is_remote(path):
            return there.remote(path, patience_s, variables)
        # A worker runs in a folder of its own.
        return here.remote(path, str(Path(path).absolute()))

    return submit


def _outcome(ray: Any, reference: Any, path: str) -> Outcome:
    try:
        return decode(ray.get(reference))
    except (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError, ray.exceptions.NodeDiedError):
        return Failure(path, KILLED)
    except ray.exceptions.RayError as error:
        said = str(error).strip().splitlines() or [type(error).__name__]
        return Failure(path, f"the cluster could not read it: {said[-1][:500]}")


def _knock(address: str) -> None:
    """Find out whether anybody listens there: Ray itself tries for minutes.

    Raises:
        OSError: Nobody does.
    """
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), KNOCK_S).close()


@contextmanager
def _connected(address: str | None) -> Generator[Any, None, None]:
    try:
        # Ray logs through a logger of its own, and warns of its future: neither is an answer of this command.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import ray
    except ImportError as error:
        raise MissingExtraError("rtrace fleet --engine ray", "ray", error.name or "ray") from error
    where = address or os.environ.get("RAY_ADDRESS") or "auto"
    try:
        _knock(where)
        ray.init(where, log_to_driver=False, logging_level=logging.ERROR, configure_logging=False)
    except (OSError, RuntimeError, ValueError) as error:
        said = "".join(str(error).strip().splitlines()[:1])[:300].rstrip(".")
        raise RayClusterError(
            f"no Ray cluster at {where!r}: {said}. Start one with 'ray start --head', name one with --ray-address or "
            "RAY_ADDRESS, or leave out --engine ray"
        ) from error
    # Ray prints what befalls its workers where the answer of a command belongs, and does so until it is shut down.
    with redirect_stdout(sys.stderr):
        try:
            yield ray
        finally:
            ray.shutdown()
