"""The controller's side of the inference server's HTTP interface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import aiohttp


class RefusedError(Exception):
    """The server takes no new rollout now."""


@dataclass
class FailedCallError(Exception):
    """The server failed a call half-way.

    Attributes:
        tokens: What it had generated.
    """

    tokens: int


@dataclass(frozen=True, slots=True)
class Generated:
    """What a model call gave.

    Attributes:
        call_id: The call.
        begin_version: Weight version when it began.
        tokens: Generated tokens.
    """

    call_id: str
    begin_version: int
    tokens: list[int]


class InferenceClient:
    """Talks to one inference server.

    Args:
        url: Its address.
        session: Open HTTP session, without a limit on connections.
    """

    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        """Remember where the server is."""
        self._url = url
        self._session = session

    async def generate(
        self, call_id: str, task: int, max_tokens: int, headers: Mapping[str, str], *, first_turn: bool
    ) -> Generated:
        """Run a model call.

        Raises:
            RefusedError: The server's admission is closed.
            FailedCallError: The server failed the call.
        """
        body = {"call_id": call_id, "task": task, "max_tokens": max_tokens, "first_turn": first_turn}
        async with self._session.post(f"{self._url}/generate", json=body, headers=headers) as response:
            answer = await response.json()
            if response.status == 409:
                raise RefusedError
            if response.status != 200:
                raise FailedCallError(answer["tokens"])
            return Generated(call_id, answer["begin_version"], answer["tokens"])

    async def set_admission(self, *, is_open: bool) -> None:
        """Open or close the gate for new rollouts."""
        await self._post("admission", {"open": is_open})

    async def load(self, version: int, logits: Sequence[Sequence[float]]) -> None:
        """Install the weights that a run starts with; calls of an earlier controller are dropped."""
        await self._post("pause", {})
        await self._post("weights", {"version": version, "logits": logits, "fresh": True})
        await self._post("resume", {})

    async def refit(self, version: int, logits: Sequence[Sequence[float]]) -> list[list[Any]]:
        """Replace the weights while calls run; gives ``[call_id, tokens]`` of every call that it paused."""
        await self._post("pause", {})
        await self._post("weights", {"version": version, "logits": logits, "fresh": False})
        calls: list[list[Any]] = (await self._post("resume", {}))["calls"]
        return calls

    async def _post(self, path: str, body: dict[str, Any]) -> Any:
        async with self._session.post(f"{self._url}/{path}", json=body) as response:
            response.raise_for_status()
            return await response.json()
