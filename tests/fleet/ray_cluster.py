"""A Ray cluster of two nodes on this machine: prints its address, and ends when standard input does."""

from __future__ import annotations

import sys

from ray.cluster_utils import Cluster


def main() -> None:
    """Run until standard input ends."""
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        cluster.add_node(num_cpus=2)
        sys.stdout.write(f"{cluster.address}\n")
        sys.stdout.flush()
        sys.stdin.read()
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    main()
