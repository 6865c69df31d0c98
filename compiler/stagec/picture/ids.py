"""How boxes are called among themselves, so that no name of a node is taken for anything else."""

from __future__ import annotations

from stagec.model.flow import Flow

DONE = "done"
FAILED = "failed"


def box_of(node: str) -> str:
    """Return the id of a node's box."""
    return f"node:{node}"


def missing_of(name: str) -> str:
    """Return the id of the box for a name that nothing has."""
    return f"missing:{name}"


def start_of(flow: Flow, node: str) -> str:
    """Return the id of the box from which runs begin at a node."""
    return f"start:{node}" if node in flow.nodes else f"start:missing:{node}"


def group_of(name: str) -> str:
    """Return the id of a box that stands for several."""
    return f"group:{name}"


def block_of(first: str) -> str:
    """Return the id of what is placed as one box though it is many, of which this is the first."""
    return f"block:{first}"
