"""An MJCF file with what it includes: sections, default classes, and attributes with their units.

Everything is checked against `schema`: what is unknown is refused where it stands, what is known but not taken over is
collected by `mbd.io.left_out`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ...errors import Array
from ..left_out import LeftOut
from ..xml_file import Element, is_file, read_xml, shortened
from . import schema
from .attributes import Attributes, place, same, unknown
from .frames import TURNS, Frames

HINTS = {"robot": " (a URDF file, which mbd.load_urdf reads)"}


class Document:
    """Sections of a file with their elements, default classes, and what the compiler section says."""

    def __init__(self, path: Path, left_out: LeftOut) -> None:
        self.path, self.left_out = path, left_out
        self.root = read_xml(path, "mujoco", "MJCF", HINTS)
        self._include()
        self._check_attributes(self.root, "mujoco")
        for section in self.root:
            if section.tag not in schema.SECTIONS:
                raise unknown(section, section.words, schema.SECTIONS)
            if section.tag != "keyframe":
                self._left_out(section, section.tag)
        self.compiler = self._settings("compiler")
        self.option = self._settings("option")
        flags = [flag for option in self.root.all("option") for flag in option]
        self.flags = self._merged(flags, "option/flag")
        self._notes_of_settings()
        degrees = self.compiler.word("angle", ("degree", "radian"), "degree") == "degree"
        self.frames = Frames(degrees, self._sequence())
        self.automatic_limits = self.compiler.flag("autolimits", True)
        if self.compiler.word("coordinate", ("local", "global"), "local") == "global":
            raise self.compiler.error("coordinate", '"local"; global coordinates ended with MuJoCo 2.3.4')
        self.classes: dict[str, dict[str, dict[str, tuple[str, Element]]]] = {"main": {}}
        self.actuator_defaults: dict[str, list[Element]] = {"main": []}
        self.parents: dict[str, str] = {}
        self._read_classes()

    # --- files

    def _include(self) -> None:
        """Replace <include> by the elements of the file that it names."""
        seen = {self.path.resolve()}
        todo = [self.root]
        while todo:
            parent = todo.pop()
            waiting = parent.children[::-1]
            parent.children = []
            while waiting:
                child = waiting.pop()
                if child.tag != "include":
                    parent.children.append(child)
                    continue
                if child.children or set(child.attributes) != {"file"}:
                    raise child.error('expected <include file="..."/> and nothing else')
                waiting.extend(self._included(child, seen).children[::-1])
            todo.extend(parent.children)

    def _included(self, element: Element, seen: set[Path]) -> Element:
        name = element.name_of("file")
        found = None
        for folder in (element.file.parent, self.path.parent):
            candidate = folder / name
            if is_file(candidate):
                found = candidate
                break
        if found is None:
            raise element.error(f"there is no file {shortened(name)!r} beside it")
        if found.resolve() in seen:
            raise element.error(f"{shortened(name)!r} is included twice; expected every file once")
        seen.add(found.resolve())
        root = read_xml(found, "", "MJCF")
        if not root.children:
            raise element.error(f"{shortened(name)!r} is empty; expected at least one element")
        return root

    # --- what elements there are

    def section(self, name: str) -> Iterator[Element]:
        """The elements of all sections with this name, but for those that are left out."""
        for section in self.root.all(name):
            yield from section

    def leave_out_sections(self, keyframe: str | None) -> None:
        """Collect the sections that nothing else reads."""
        for element in self.section("contact"):
            if not self._left_out(element, f"contact/{element.tag}"):
                raise unknown(element, element.words, ("pair", "exclude"))
        for section in self.root.all("keyframe"):
            if keyframe is None:
                self._left_out(section, "keyframe")

    def gravity(self) -> Array:
        """The acceleration of gravity."""
        given = self.option.numbers("gravity", 3, default=(0.0, 0.0, -9.81))
        return given if self.enabled("gravity") else np.zeros(3)

    def _left_out(self, element: Element, path: str) -> bool:
        """Whether an element is left out as a whole, and then collected."""
        if path in schema.LEFT_OUT:
            meaning = schema.LEFT_OUT[path]
            self.left_out.note(path, place(element), meaning, minor=meaning != schema.CONTACT_ONLY)
            return True
        if path in schema.REFUSED:
            self.left_out.refuse(path, place(element), schema.REFUSED[path])
            return True
        return False

    def read(self, element: Element, path: str, childclass: str | None = None) -> Attributes | None:
        """The attributes of an element with its defaults, or None if it is left out."""
        if self._left_out(element, path):
            return None
        if path not in schema.KINDS:
            section = path.partition("/")[0]
            below = [key.partition("/")[2] for key in (*schema.KINDS, *schema.REFUSED, *schema.LEFT_OUT)
                     if key.startswith(f"{section}/")]  # fmt: skip
            raise unknown(element, element.words, below or schema.IN_BODY)
        self._check_attributes(element, path)
        texts = {name: (text, element) for name, text in element.attributes.items()}
        if (defaults := self._defaults(element, path, childclass)) is not None:
            turned = [name for name in TURNS if name in texts]
            texts = {k: v for k, v in defaults.items() if not (turned and k in TURNS)} | texts
        attributes = Attributes(element, texts)
        for name, (text, _) in texts.items():
            if name in schema.KINDS[path].acts and not same(text, schema.KINDS[path].acts[name][0]):
                self.left_out.refuse(f"{path}@{name}", place(element), schema.KINDS[path].acts[name][1])
        return attributes

    def _check_attributes(self, element: Element, path: str) -> None:
        kind = schema.KINDS[path]
        for name in element.attributes:
            if not kind.knows(name):
                if ":" in name or name.startswith("xmlns"):
                    continue  # the schema of an editor
                raise unknown(element, f"attribute {shortened(name)!r}", kind.attributes)
        solver = [name for name in kind.solver.split() if name in element.attributes]
        if solver and not path.startswith("option"):
            what = "softness of constraints, which are rigid here" if "solref" in kind.solver else "softness of joints"
            self.left_out.note(f"{path}@{solver[0]}", place(element), what)

    def children(self, element: Element, path: str, known: tuple[str, ...] = ()) -> None:
        """Refuse or collect what stands inside of an element that is read without its children."""
        for child in element:
            below = f"{path}/{child.tag}" if f"{path}/{child.tag}" in schema.REFUSED else child.tag
            if child.tag not in known and not self._left_out(child, below):
                raise unknown(child, child.words, known)

    # --- settings

    def _merged(self, elements: list[Element], path: str) -> Attributes:
        """Repeated elements as one: the last setting counts."""
        texts: dict[str, tuple[str, Element]] = {}
        for element in elements:
            self._check_attributes(element, path)
            texts |= {name: (text, element) for name, text in element.attributes.items()}
        return Attributes(elements[-1] if elements else self.root, texts)

    def _settings(self, name: str) -> Attributes:
        elements = self.root.all(name)
        for element in elements:
            for child in element:
                path = f"{name}/{child.tag}"
                if path not in schema.KINDS and not self._left_out(child, path):
                    raise unknown(child, child.words, ("flag",) if name == "option" else ("lengthrange",))
        return self._merged(elements, name)

    def _notes_of_settings(self) -> None:
        kind = schema.KINDS["option"]
        for name, (text, source) in self.option.texts.items():
            if name in kind.solver.split():
                what = "settings of MuJoCo's solver; step and method are arguments of mbd.simulate"
                self.left_out.note("option", name, what, minor=True)
            elif name in kind.acts and not same(text, kind.acts[name][0]):
                self.left_out.refuse(f"option@{name}", place(source), kind.acts[name][1])

    def enabled(self, name: str) -> bool:
        """Whether a part of the simulation is switched on by <option><flag .../></option>."""
        return self.flags.word(name, ("enable", "disable"), "enable") == "enable"

    def _sequence(self) -> str:
        text = self.compiler.text("eulerseq")
        if text is None:
            return "xyz"
        if len(text) != 3 or any(letter not in "xyzXYZ" for letter in text):
            raise self.compiler.error("eulerseq", "three of the letters x, y, z, X, Y, Z")
        return text

    # --- default classes

    def _read_classes(self) -> None:
        todo = [(element, "") for element in self.root.all("default")][::-1]
        while todo:
            element, parent = todo.pop()
            name = element.get("class") or ("main" if not parent else "")
            for attribute in element.attributes:
                if attribute != "class":
                    raise unknown(element, f"attribute {shortened(attribute)!r}", ("class",))
            if not name:
                raise element.error('has no class; expected <default class="...">')
            if not parent and name != "main":
                raise element.error(f"the outermost class is {shortened(name)!r}; expected main, or no name")
            if parent:
                if name in self.classes:
                    raise element.error(f"the class {shortened(name)!r} is there already; expected another name")
                self.parents[name] = parent
                self.classes[name] = {kind: dict(texts) for kind, texts in self.classes[parent].items()}
                self.actuator_defaults[name] = []
            for child in element:
                self._read_default(child, name)
            todo.extend((child, name) for child in element.children[::-1] if child.tag == "default")

    def _read_default(self, element: Element, name: str) -> None:
        if element.tag not in schema.DEFAULT_FOR:
            raise unknown(element, element.words, schema.DEFAULT_FOR)
        path = schema.DEFAULT_FOR[element.tag]
        if element.tag in schema.ACTUATORS:
            if path is not None:
                self._check_attributes(element, path)
            self.actuator_defaults[name].append(element)
        elif element.tag == "tendon" or path is not None:
            if path is not None:
                self._check_attributes(element, path)
            self.children(element, element.tag, ("layer",) if element.tag == "material" else ())
            stored = self.classes[name].setdefault(element.tag, {})
            if any(turn in element.attributes for turn in TURNS):
                for turn in TURNS:
                    stored.pop(turn, None)
            stored |= {key: (text, element) for key, text in element.attributes.items()}

    def class_of(self, element: Element, childclass: str | None) -> str:
        """The default class of an element."""
        name = element.get("class")
        if name is not None and name not in self.classes:
            close = difflib.get_close_matches(name, list(self.classes), 1, 0.6)
            known = ", ".join(list(self.classes)[:8])
            hint = f"; did you mean {close[0]!r}?" if close else f"; expected one of {known}"
            raise element.error(f"class = {shortened(name)!r} is not in the file{hint}")
        return name or childclass or "main"

    def childclass(self, element: Element, inherited: str | None) -> str | None:
        """The default class of everything inside of a body or a frame."""
        name = element.get("childclass")
        if name is not None and name not in self.classes:
            raise element.error(f"childclass = {shortened(name)!r} is not in the file; expected a default class")
        return name or inherited

    def _defaults(self, element: Element, path: str, childclass: str | None) -> dict[str, tuple[str, Element]] | None:
        last = path.rpartition("/")[2]
        kind = "equality" if path.startswith("equality/") else "tendon" if path.startswith("tendon/") else last
        if schema.DEFAULT_FOR.get(kind, path) is None and kind != "tendon":
            return None
        if kind not in schema.DEFAULT_FOR or kind in schema.ACTUATORS or element.tag == "freejoint":
            return None
        return self.classes[self.class_of(element, childclass)].get(kind)

    # --- ranges

    def limited(self, attributes: Attributes, flag: str, range_: str) -> bool:
        """Whether a range holds: asked for, or by itself where one is given."""
        word = attributes.word(flag, ("true", "false", "auto"), "auto")
        defined = range_ in attributes and bool(attributes.numbers(range_, 2).any())
        if word == "auto" and defined and not self.automatic_limits:
            raise attributes.error(range_, f'{flag}="true" or "false" with it, because autolimits is false')
        if word == "true" and not defined:
            raise attributes.element.error(f'{flag} is "true", but there is no {range_}')
        return word == "true" or (word == "auto" and defined)
