"""A Ray cluster of two nodes on this machine: prints its address, and ends when standard input does."""

from __future__ import annotations

import importlib
import sys
from typing import Any


def main() -> None:
    """Run until standard input ends."""
    # By its name: the package is an extra that not every machine has, and it has no types.
    ray: Any = importlib.import_module("ray.cluster_utils")
    cluster = ray.Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        cluster.add_node(num_cpus=2)
        sys.stdout.write(f"{cluster.address}\n")
        sys.stdout.flush()
        sys.stdin.read()
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    main()
