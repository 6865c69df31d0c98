"""GraphML is read by an XML parser and by networkx, whatever the names, and says what the drawing says."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from xml.etree import ElementTree as ET

import networkx as nx
import pytest

from stagec.views.emitters import Picture
from stagec.views.emitters.graphml import EMITTER

NAMESPACE = "{http://graphml.graphdrawing.org/xmlns}"


def readable(text: str) -> str:
    """Return what XML can hold of a text."""
    return "".join(each if each.isprintable() or each in "\n\r\u202e\u2066\u200f\x7f" else "\ufffd" for each in text)


def data(element: ET.Element) -> dict[str, str]:
    found = {str(each.get("key")).partition(".")[2]: each.text or "" for each in element.findall(f"{NAMESPACE}data")}
    return {name: text for name, text in found.items() if text}


def test_names_are_text_whatever_they_are(hostile: Picture) -> None:
    root = ET.fromstring(EMITTER.emit((hostile,)))
    (graph,) = root.findall(f"{NAMESPACE}graph")
    nodes = graph.findall(f"{NAMESPACE}node")
    assert [data(each).get("name", "") for each in nodes] == [readable(box.name) for box in hostile.boxes.values()]
    assert {each.tag.removeprefix(NAMESPACE) for each in root.iter()} == {
        *("graphml", "key", "graph", "node", "edge", "data")
    }


def test_networkx_reads_every_node_and_line(every: Picture) -> None:
    graph = nx.read_graphml(BytesIO(EMITTER.emit((every,))), force_multigraph=True)
    assert graph.is_directed()
    told = [node for _, node in graph.nodes(data=True)]
    assert [each["id"] for each in told] == list(every.boxes)
    assert [each["reached"] for each in told] == [box.is_reached for box in every.boxes.values()]
    assert [each["join"] for each in told] == [box.is_join for box in every.boxes.values()]
    assert [each.get("kind") for each in told] == [box.kind for box in every.boxes.values()]
    names = nx.get_node_attributes(graph, "id")
    drawn = sorted((names[one], names[other], line["stroke"]) for one, other, line in graph.edges(data=True))
    assert drawn == sorted((line.source, line.target, line.stroke.value) for line in every.lines)


def test_what_was_found_stands_beside_the_node(every: Picture) -> None:
    graph = nx.read_graphml(BytesIO(EMITTER.emit((every,))), force_multigraph=True)
    found = {node["id"]: node["findings"] for _, node in graph.nodes(data=True) if "findings" in node}
    assert found["error"] == "error STG999: wrong"


def test_several_flows_are_graphs_with_ids_of_their_own(every: Picture) -> None:
    root = ET.fromstring(EMITTER.emit((every, every)))
    ids = [each.get("id") for each in root.iter() if each.get("id")]
    assert len(ids) == len(set(ids))
    assert len(root.findall(f"{NAMESPACE}graph")) == 2


@pytest.mark.parametrize("example", ["code-review", "docs-repair"])
def test_cycles_of_an_example_can_be_found_elsewhere(
    pictures: Callable[[str], tuple[Picture, ...]], example: str
) -> None:
    (picture,) = pictures(example)
    graph = nx.read_graphml(BytesIO(EMITTER.emit((picture,))))
    assert any(len(each) > 1 for each in nx.strongly_connected_components(nx.DiGraph(graph)))
