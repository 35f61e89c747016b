import sys
from importlib.metadata import EntryPoint

import pytest

from auditor import loader
from auditor.errors import PlatformError


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package `things_<n>` with the given modules."""

    def make(**modules):
        name = f"things_{len(list(tmp_path.iterdir()))}_{tmp_path.name.replace('-', '_')}"
        folder = tmp_path / name
        folder.mkdir()
        (folder / "__init__.py").write_text("")
        for module, text in modules.items():
            (folder / f"{module}.py").write_text(text)
        monkeypatch.syspath_prepend(str(tmp_path))
        return name

    yield make
    for name in [name for name in sys.modules if name.startswith("things_")]:
        del sys.modules[name]


def test_objects_of_the_kind_are_found_in_the_order_of_their_modules(package):
    name = package(b="two = 2\nother = 'text'\n", a="one = 1\n", _hidden="three = 3\n")
    assert loader.declared(name, int) == [1, 2]


def test_an_object_that_two_modules_name_is_found_once(package):
    name = package(a="class Thing: ...\nthing = Thing()\n")
    again = package(b=f"from {name}.a import thing, Thing\nsame = thing\n")
    kind = __import__(f"{name}.a", fromlist=["Thing"]).Thing
    assert len(loader.declared(again, kind)) == 1


def test_an_empty_package_declares_nothing(package):
    assert loader.declared(package(), int) == []


def fake(monkeypatch, value):
    monkeypatch.setattr(loader, "entry_points", lambda group: [EntryPoint("extra", value, group)])


def test_entry_points_add_their_own(package, monkeypatch):
    name = package(a="one = 1\n")
    extra = package(c="answer = 42\n")
    fake(monkeypatch, f"{extra}.c:answer")
    assert loader.declared(name, int, "some.group") == [1, 42]
    assert loader.declared(name, int) == [1]


@pytest.mark.parametrize(("value", "words"), [("no_such_module_here:x", "cannot be imported"), ("os:sep", "is no int")])
def test_a_broken_entry_point_is_named(package, monkeypatch, value, words):
    fake(monkeypatch, value)
    with pytest.raises(PlatformError, match=f"'extra' in group 'some.group' {words}"):
        loader.declared(package(), int, "some.group")
