"""Object stores that speak S3 and the JSON API of Google Cloud Storage over HTTP, with a proxy before each."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.fleet.proxy import Proxy, proxy
from tests.server_process import free_ports, running, start_server
from tests.servers import need_package

BUCKET: Final = "team"
KINDS: Final = ("s3", "gs")

_GUEST: Final = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_DEFAULT_REGION": "us-east-1"}
_UNSET: Final = {"AWS_CONFIG_FILE": "/nowhere", "AWS_SHARED_CREDENTIALS_FILE": "/nowhere", "NO_GCE_CHECK": "true"}
"""Nothing of the account of the person who runs the tests, and no question to a cloud's own servers."""


@dataclass
class Store:
    """A running store with one bucket.

    Attributes:
        kind: Protocol of its addresses.
        url: Of the server itself.
        proxy: Before it; what is tested goes through it.
        client: Of the server itself, for the store that has one.
    """

    kind: str
    url: str
    proxy: Proxy
    client: Any = None

    def address(self, key: str = "") -> str:
        """Of an object or a folder."""
        return f"{self.kind}://{BUCKET}/{key}"

    def env(self, url: str | None = None) -> dict[str, str]:
        """What a user has in the environment; ``url`` where it is not the proxy's."""
        url = url or self.proxy.url
        where = {"AWS_ENDPOINT_URL": url, **_GUEST} if self.kind == "s3" else {"STORAGE_EMULATOR_HOST": url}
        return {**where, **_UNSET}

    def put(self, key: str, data: bytes) -> None:
        """Make or replace an object."""
        if self.kind == "s3":
            self.client.put_object(Bucket=BUCKET, Key=key, Body=data)
        else:
            name = urllib.parse.quote(key, safe="")
            self._gcs("POST", f"/upload/storage/v1/b/{BUCKET}/o?uploadType=media&name={name}", data)

    def put_all(self, objects: Mapping[str, bytes]) -> None:
        """The same for many."""
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda item: self.put(*item), objects.items()))

    def delete(self, key: str) -> None:
        """Remove an object."""
        if self.kind == "s3":
            self.client.delete_object(Bucket=BUCKET, Key=key)
        else:
            self._gcs("DELETE", f"/storage/v1/b/{BUCKET}/o/{urllib.parse.quote(key, safe='')}")

    def is_content(self, method: str, path: str) -> bool:
        """Whether a request asks for the content of an object."""
        folder = f"/{BUCKET}/" if self.kind == "s3" else "/download/"
        return method == "GET" and path.startswith(folder)

    def contents(self, part: str) -> list[str]:
        """The requests so far that asked for the content of an object whose key has this part."""
        return [one for one in self.proxy.asked if part in one and self.is_content(*one.split(" ", 1))]

    def _gcs(self, method: str, path: str, data: bytes | None = None, kind: str = "text/plain") -> None:
        request = urllib.request.Request(f"{self.url}{path}", data, {"Content-Type": kind}, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            answer.read()


@contextmanager
def store(kind: str) -> Iterator[Store]:
    """A store that is empty but for its bucket."""
    with s3_server() if kind == "s3" else _gcs_server() as url, proxy(url) as before:
        made = Store(kind, url, before)
        if kind == "s3":
            made.client = s3_client(url)
            made.client.create_bucket(Bucket=BUCKET)
        else:
            made._gcs("POST", "/storage/v1/b?project=p", json.dumps({"name": BUCKET}).encode(), "application/json")
        yield made


def s3_client(url: str, service: str = "s3") -> Any:
    """The client of Amazon's own package, of this service or another that the server has."""
    boto3 = need_package("boto3")
    keys = {"aws_access_key_id": "key", "aws_secret_access_key": "secret", "region_name": "us-east-1"}
    return boto3.client(service, endpoint_url=url, **keys)


@contextmanager
def s3_server() -> Iterator[str]:
    """Moto, which gives its URL."""
    need_package("moto")
    need_package("s3fs")

    def start(work: Path) -> tuple[str, subprocess.Popen[bytes]]:
        (port,) = free_ports(1)
        url = f"http://127.0.0.1:{port}"
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
        return url, start_server(command, {}, work, f"{url}/moto-api/")

    with running(start) as url:
        yield url


@contextmanager
def _gcs_server() -> Iterator[str]:
    need_package("gcp_storage_emulator")
    need_package("gcsfs")

    def start(work: Path) -> tuple[str, subprocess.Popen[bytes]]:
        (port,) = free_ports(1)
        url = f"http://127.0.0.1:{port}"
        where = ["start", "--host=127.0.0.1", f"--port={port}", "--in-memory", "--quiet"]
        return url, start_server([sys.executable, "-m", "gcp_storage_emulator", *where], {}, work, url)

    with running(start) as url:
        yield url
