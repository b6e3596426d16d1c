#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draw what `cleave tree` wrote as SVG: the scene cut through its middle, regions of the leaves, and boxes by where they live.

usage: scripts/tree_picture.py TREE.json OUT.svg

The cut is across z, about the middle. Blue boxes lie in leaves, orange ones across a plane and so in an inner node; planes are the thicker
the closer their node is to the root.
"""
import json
import pathlib
import sys

INK = json.loads(pathlib.Path(__file__).with_name("colours.json").read_text(encoding="utf-8"))
SIDE = 880
MARGIN = 20


def crosses(lower, upper, z):
    return lower[2] <= z <= upper[2]


def bounds(boxes):
    """The middle 99 % of the boxes along each axis, so that one far object does not shrink the others to dots."""
    out = []
    for axis in range(3):
        lows = sorted(box[axis] for box in boxes)
        highs = sorted(box[axis + 3] for box in boxes)
        skip = len(boxes) // 200
        out.append((lows[skip], highs[-1 - skip]))
    return out


class Frame:
    """From the scene to the picture."""

    def __init__(self, boxes):
        self.x, self.y, self.z = bounds(boxes)
        self.scale = SIDE / (self.x[1] - self.x[0])
        self.height = (self.y[1] - self.y[0]) * self.scale + 2 * MARGIN

    def clamp(self, value, ends):
        return min(max(value, ends[0]), ends[1])

    def rect(self, lower, upper, style):
        x0, x1 = (self.clamp(v, self.x) for v in (lower[0], upper[0]))
        y0, y1 = (self.clamp(v, self.y) for v in (lower[1], upper[1]))
        return (
            f'<rect x="{MARGIN + (x0 - self.x[0]) * self.scale:.1f}" y="{self.height - MARGIN - (y1 - self.y[0]) * self.scale:.1f}" '
            f'width="{(x1 - x0) * self.scale:.1f}" height="{(y1 - y0) * self.scale:.1f}" {style}/>'
        )


    def line(self, axis, plane, lower, upper, style):
        ends = [list(lower), list(upper)]
        for end in ends:
            end[axis] = plane
        points = [
            (
                MARGIN + (self.clamp(x, self.x) - self.x[0]) * self.scale,
                self.height - MARGIN - (self.clamp(y, self.y) - self.y[0]) * self.scale,
            )
            for x, y, _ in ends
        ]
        (x0, y0), (x1, y1) = points
        return f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" {style}/>'


def choose_cut(tree, boxes, ends):
    """Away from the planes across z, or every box in the picture would lie across one of them."""
    across = [boxes[slot] for node in tree["nodes"] if node.get("axis") == 2 for slot in node["objects"]]
    heights = [ends[0] + (ends[1] - ends[0]) * (0.3 + 0.4 * i / 64) for i in range(65)]
    return min(heights, key=lambda z: (sum(crosses(box[:3], box[3:], z) for box in across), abs(z - (ends[0] + ends[1]) / 2)))


def draw(tree, boxes):
    frame = Frame(boxes)
    middle = choose_cut(tree, boxes, frame.z)
    cut = [node for node in tree["nodes"] if crosses(node["lower"], node["upper"], middle)]
    leaves = [node for node in cut if "axis" not in node]
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIDE + 2 * MARGIN} {frame.height:.0f}">',
        f"<title>A cut through a tree of {len(tree['nodes'])} nodes over {len(boxes)} boxes: {len(leaves)} leaves</title>",
        f'<rect width="{SIDE + 2 * MARGIN}" height="{frame.height:.0f}" fill="{INK["ground"]}"/>',
    ]
    for number, node in enumerate(leaves):
        shade = INK["region"][number % 2]
        out.append(frame.rect(node["lower"], node["upper"], f'fill="{shade}"'))
    for node in cut:
        style = INK["inner"] if "axis" in node else INK["leaf"]
        for slot in node["objects"]:
            box = boxes[slot]
            if crosses(box[:3], box[3:], middle):
                out.append(
                    frame.rect(box[:3], box[3:], f'fill="{style["line"]}" fill-opacity="0.5" stroke="{style["line"]}" stroke-width="0.8"')
                )
    for node in sorted(cut, key=lambda n: -n["depth"]):
        if node.get("axis", 2) < 2:
            width = max(0.8, 4 - 0.6 * node["depth"])
            style = f'stroke="{INK["plane"]}" stroke-width="{width:.1f}" stroke-opacity="0.8"'
            out.append(frame.line(node["axis"], node["plane"], node["lower"], node["upper"], style))
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            dump = json.load(file)
        picture = draw(dump["tree"], dump["boxes"])
    except (OSError, ValueError, KeyError, IndexError) as error:
        sys.exit(f"tree_picture.py: {sys.argv[1]}: not what `cleave tree` writes: {error!r}")
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(picture)


main()
