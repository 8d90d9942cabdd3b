"""A release as one file for a browser: the very folder of ``labelkit export``, packed.

Large releases belong on the command line; a browser's download is held in the server's memory.
The work is a child process's: what draws the figures would stay in the server's memory for good,
and everybody who labels would wait while tables are written.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

from labelkit.domain.person import Person
from labelkit.errors import InputError, LabelkitError
from labelkit.store import Store
from labelkit.store.samples import sample
from labelkit.workflows.children import own_pipes, receive, send
from labelkit.workflows.release.export import export
from labelkit.workflows.review.access import Right, require
from labelkit.workflows.review.schemes import rubric_in

LARGEST = 50_000_000
"""Bytes of a packed release that a page hands out."""
_EARLIEST = (1980, 1, 1, 0, 0, 0)


def packed_release(store: Store, who: Person, sample_id: str) -> tuple[str, bytes]:
    """Return the file name and the bytes of a sample's release; the same store, the same bytes.

    Raises:
        NotAllowedError: ``who`` may not export.
        FindingsError: the texts hold what looks like personal data; see ``labelkit export``.
        InputError: nothing was labelled, or the release is too large for a browser.
    """
    require(who, Right.EXPORT)
    found = sample(store, sample_id)
    rubric = rubric_in(store, found.design.rubric_digest)
    name = f"{rubric.name}-{found.id[:12]}"
    with TemporaryDirectory(prefix="labelkit-release-") as place:
        made = export(store, rubric, Path(place) / name, sample=found)
        packed = _pack(made.folder, name)
    if len(packed) > LARGEST:
        raise InputError(
            f"the release has {len(packed) / 1e6:.0f} MB and is too large for a browser; run"
            f" `labelkit export {found.id[:12]} FOLDER` where the store is"
        )
    return f"{name}.zip", packed


def answer() -> None:
    """Be the child of ``review.packing``: pack the one release that is asked for.

    Sends name and bytes, or the sentence that says why there is none.
    """
    questions, answers = own_pipes()
    address, who, sample_id = receive(questions)
    try:
        with Store.open(address) as store:
            send(answers, packed_release(store, who, sample_id))
    except LabelkitError as error:
        send(answers, str(error))


def _pack(folder: Path, name: str) -> bytes:
    """Pack a folder without clocks, so that equal folders are equal files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(f"{name}/{file.relative_to(folder).as_posix()}", _EARLIEST)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, file.read_bytes())
    return out.getvalue()
