# SPDX-License-Identifier: MIT
"""The lab's files as arrays: scenes (`.aabbs`, frames of boxes) and results (JSON of `cleave bench`)."""

from __future__ import annotations

import json
import os
from typing import Any, Iterator, NamedTuple, Optional, Union

import numpy as np
import numpy.typing as npt

Path = Union[str, "os.PathLike[str]"]

#: The head of a scene file, little endian; then the frames, each of 32 bytes per box:
#: lower x y z 0, upper x y z 0.
_HEAD = np.dtype([("name", "S128"), ("type", "S128"), ("count", "<i4"), ("frames", "<i4"), ("zero", "<i4", 2), ("world", "<f4", (2, 4))])


class Scene:
    """Frames of boxes from a file, read where and when they are used.

    `boxes` is an array of frames x N x 2 x 3 (lower corner, upper corner) over the file itself, which `Space` takes without a copy:
    `space.move_all(scene[k])`. `rows()` is the whole as frames x N x 6, in memory. Frame 0 is the state before the first step.
    """

    def __init__(self, path: Path) -> None:
        self.path = os.fspath(path)
        size = os.path.getsize(self.path)
        if size < _HEAD.itemsize:
            raise ValueError(f"{self.path}: {size} bytes, where the head of a scene takes {_HEAD.itemsize}")
        head = np.fromfile(self.path, _HEAD, 1)[0]
        count, frames = int(head["count"]), int(head["frames"])
        for what, number, offset in (("boxes", count, 256), ("frames", frames, 260)):
            if number <= 0:
                raise ValueError(f"{self.path}: {number} {what} at byte {offset}; it is no scene file, or damaged")
        wanted = _HEAD.itemsize + 32 * count * (1 + frames)
        if size != wanted:
            raise ValueError(f"{self.path}: {size} bytes, where {count} boxes in 1 + {frames} frames take {wanted}")
        self.name: str = head["name"].decode("utf-8", "replace")
        self.type: str = head["type"].decode("utf-8", "replace")
        self.world: npt.NDArray[np.float32] = head["world"][:, :3].copy()
        corners = np.memmap(self.path, "<f4", "r", _HEAD.itemsize, (1 + frames, count, 2, 4))
        self.boxes: npt.NDArray[np.float32] = corners[..., :3].view(np.ndarray)

    def __len__(self) -> int:
        """Frames, the first included."""
        return len(self.boxes)

    def __getitem__(self, frame: Any) -> npt.NDArray[np.float32]:
        """The boxes of a frame: N x 2 x 3."""
        boxes: npt.NDArray[np.float32] = self.boxes[frame]
        return boxes

    def __iter__(self) -> Iterator[npt.NDArray[np.float32]]:
        return iter(self.boxes)

    def __repr__(self) -> str:
        return f"<cleave.Scene {self.name!r}: {len(self)} frames of {self.boxes.shape[1]} {self.type}>"

    def rows(self) -> npt.NDArray[np.float32]:
        """All frames in memory: frames x N x 6."""
        return self.boxes.reshape(len(self), -1, 6).copy()


def scene(path: Path) -> Scene:
    """Opens a scene file, as `cleave bake` writes it.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "two.aabbs")
    >>> boxes = np.zeros((3, 2, 6), np.float32)
    >>> boxes[:, :, 3:] = 1
    >>> boxes[:, 1, [0, 3]] += [[2], [1], [0.5]]                # comes near
    >>> cleave.write_scene(path, boxes, name="two", type="cubes")
    >>> [len(cleave.pairs(frame)) for frame in cleave.scene(path)]
    [0, 1, 1]
    """
    return Scene(path)


def write_scene(path: Path, boxes: npt.ArrayLike, *, name: str = "python", type: str = "boxes", world: Optional[npt.ArrayLike] = None) -> None:
    """Writes frames x N x 6, or frames x N x 2 x 3, as a scene file for the lab: two frames at least. `world` is its lower and upper
    corner; None: what holds all finite boxes."""
    given = np.asarray(boxes, np.float32)
    if given.ndim not in (3, 4) or given.shape[2:] not in ((6,), (2, 3)) or len(given) < 2 or given.shape[1] < 1:
        raise ValueError(f"boxes of {given.shape}, where frames x N x 6 or frames x N x 2 x 3 is needed, of two frames at least")
    given = given.reshape(len(given), -1, 2, 3)
    bad = ~(given[:, :, 0] <= given[:, :, 1]).all(axis=2)
    if bad.any():
        frame, box = np.argwhere(bad)[0].tolist()
        raise ValueError(f"frame {frame}, box {box}: lower is not <= upper")
    texts = [text.encode("utf-8") for text in (name, type)]
    if any(len(text) > 127 for text in texts):
        raise ValueError("name and type have 127 bytes at most")
    head = np.zeros(1, _HEAD)
    head["name"], head["type"] = texts
    head["count"], head["frames"] = given.shape[1], len(given) - 1
    if world is None:
        finite = np.where(np.isfinite(given), given, 0)
        world = np.stack([finite[:, :, 0].min(axis=(0, 1)), finite[:, :, 1].max(axis=(0, 1))])
    head["world"][0, :, :3] = np.asarray(world, np.float32).reshape(2, 3)
    with open(path, "wb") as file:
        file.write(head.tobytes())
        for frame in given:
            corners = np.zeros((len(frame), 2, 4), "<f4")
            corners[..., :3] = frame
            file.write(corners.tobytes())


class Results(NamedTuple):
    """What `cleave bench --json` wrote."""

    version: str  #: of the program
    machine: dict[str, Any]
    runs: list[dict[str, Any]]  #: one for each scene and method; per-frame lists are arrays, hashes are numbers

    def column(self, name: str) -> npt.NDArray[Any]:
        """One number of every run as an array, NaN where it is not known; other values as objects."""
        values = [run.get(name) for run in self.runs]
        if all(value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)) for value in values):
            return np.array([np.nan if value is None else value for value in values], np.float64)
        return np.array(values, object)


def results(path: Path) -> Results:
    """Reads the results of a benchmark.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "results.json"
    >>> text = '{"cleave": "0.1.0", "machine": {}, "runs": [{"method": "kd", "ms_median": 1.5, "frame_ms": [1, 2], "pairs_hash": "0x1f"}]}'
    >>> _ = path.write_text(text)
    >>> found = cleave.results(path)
    >>> found.column("ms_median"), found.runs[0]["frame_ms"], found.runs[0]["pairs_hash"]
    (array([1.5]), array([1., 2.]), 31)
    """
    with open(path, encoding="utf-8") as file:
        try:
            whole = json.load(file)
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from None
    if not isinstance(whole, dict) or not isinstance(whole.get("runs"), list):
        raise ValueError(f"{os.fspath(path)}: no results of the lab: there is no list of runs")

    def told(value: Any) -> Any:
        if isinstance(value, list) and all(item is None or isinstance(item, (int, float)) for item in value):
            return np.array([np.nan if item is None else item for item in value], np.float64)
        if isinstance(value, str) and value.startswith("0x"):
            try:
                return int(value, 16)
            except ValueError:
                return value
        return value

    runs = [{key: told(value) for key, value in run.items()} for run in whole["runs"]]
    return Results(whole.get("cleave", ""), whole.get("machine") or {}, runs)
