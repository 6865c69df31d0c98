"""The colours of nodes by the form of their kind, the same in every format; forms tell kinds apart without them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from stagec.picture.document import Form


class Tint(NamedTuple):
    """The colours of an area and of its border on a light ground."""

    fill: str
    edge: str


INK = "#1f2937"
"""What is written in every area of the palette."""

TINTS: Mapping[Form, Tint] = {
    Form.PLAIN: Tint("#f3f4f6", "#374151"),
    Form.ROUNDED: Tint("#dbeafe", "#1d4ed8"),
    Form.HEXAGON: Tint("#ede9fe", "#6d28d9"),
    Form.DOUBLE_OCTAGON: Tint("#ccfbf1", "#0f766e"),
    Form.SLANTED: Tint("#fce7f3", "#9d174d"),
    Form.BARS: Tint("#ecfccb", "#3f6212"),
    Form.HOUSE: Tint("#e2e8f0", "#334155"),
}
