from pathlib import Path

import pytest

from auditor.errors import CaptureError
from auditor.lab.recording import read
from auditor.lab.shell import Recorded


def write(capture: Path, text: str, **files: str) -> Path:
    folder = capture / "leaf-a"
    folder.mkdir(parents=True)
    (folder / "device.yaml").write_text(text)
    for name, body in files.items():
        (folder / f"{name}.txt").write_text(body)
    return capture


def test_listed_outputs_are_taken_as_they_are(tmp_path: Path) -> None:
    text = (
        "platforms: [sonic]\nrole: leaf\nprompt: 'leaf-a# '\noutputs:\n"
        "  - {file: one.txt, command: show version}\n"
        "  - {file: two.txt, command: some vendor command, exit: 3}\n"
        "  - {file: three.txt, command: show pfc priority, failure: rejected}\n"
    )
    (found,) = read(write(tmp_path, text, one="v\n", two="", three="no such command"))
    assert (found.device, found.platforms, found.role, found.prompt) == ("leaf-a", ("sonic",), "leaf", "leaf-a# ")
    assert found.answers == (
        Recorded("show version", "v\n"),
        Recorded("some vendor command", "", 3),
        Recorded("show pfc priority", "no such command", 1),
    )


def test_without_a_list_the_file_names_tell_the_commands(tmp_path: Path) -> None:
    (found,) = read(write(tmp_path, "platforms: [sonic]\n", show_version="v\n", notes="x"))
    assert found.answers == (Recorded("show version", "v\n"),)
    assert found.prompt == "admin@leaf-a:~$ "


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        ("[{file: gone.txt, command: show version}]", "gone.txt: No such file"),
        ("[{file: ../secret.txt, command: show version}]", "plain file"),
        ("[{file: one.txt, command: show version, exit: bad}]", "whole number"),
        ("[{file: one.txt}]", "needs the texts"),
        ("[one.txt]", "needs the texts"),
        ("[]", "no output"),
    ],
)
def test_what_cannot_be_replayed_is_refused_with_its_place(tmp_path: Path, outputs: str, message: str) -> None:
    (tmp_path / "secret.txt").write_text("")
    with pytest.raises(CaptureError, match=message) as error:
        list(read(write(tmp_path / "capture", f"platforms: [sonic]\noutputs: {outputs}\n", one="")))
    assert "leaf-a" in str(error.value)


def test_a_folder_that_is_no_capture_is_refused(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(CaptureError):
            list(read(folder))
