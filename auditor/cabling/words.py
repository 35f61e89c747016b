"""What the installer reads: titles of causes and work orders, from the catalogue `data/sentences.yaml`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources

from auditor import yamldoc
from auditor.cabling.faceplate import find_cage
from auditor.canonical import printable
from auditor.model import CableCause, Device, Hand, Move, Place, Plan

LANGUAGES = ("en", "zh")

SHOWN = 4
"""Names that a sentence lists before it only counts the rest."""

LONGEST = 120
"""Characters of one name or reason that a device gave."""


@cache
def catalogue(lang: str) -> Mapping[str, str]:
    """Every sentence by its key. Raises ValueError for a language that the catalogue does not have."""
    if lang not in LANGUAGES:
        raise ValueError(f"no language {lang!r}: there are {', '.join(LANGUAGES)}")
    name = "sentences.yaml"
    text = resources.files("auditor").joinpath("data", name).read_text("utf-8")
    return {key: texts[lang] for key, texts in yamldoc.parse(text, name).data["sentences"].items()}


def sentence(cause: CableCause, lang: str) -> str:
    """The title of a cause: what happened, without a full stop."""
    return _Speaker(lang).title(cause)


def steps(cause: CableCause, plan: Plan, devices: Mapping[str, Device], lang: str) -> tuple[str, ...]:
    """The work order of a cause, a sentence for each step; for many causes `WorkOrders` reads the plan only once."""
    return WorkOrders(plan, devices, lang).steps(cause)


class WorkOrders:
    """Writes work orders for one plan: with rack and position of each device as the inventory has them, else the plan."""

    def __init__(self, plan: Plan, devices: Mapping[str, Device], lang: str) -> None:
        self._speak = _Speaker(lang)
        self._devices = devices
        self._racks: defaultdict[str, str] = defaultdict(str)
        self._positions: defaultdict[str, str] = defaultdict(str)
        self._ids: dict[Place, str] = {}
        for link in plan.links:
            for end in (link.a, link.b):
                self._racks[end.device] = self._racks[end.device] or end.rack
                self._positions[end.device] = self._positions[end.device] or end.position
                if end.id:
                    self._ids[end.place] = end.id

    def steps(self, cause: CableCause) -> tuple[str, ...]:
        """What to look at first, then every hand movement."""
        speak, form = self._speak, cause.params.get("form", cause.kind.value)
        words = speak.words(cause)
        lead = next(filter(speak.has, (f"first.{form}", f"look.{form}", f"first.{cause.kind.value}")), None)
        first = [] if lead is None else [speak.say(lead, **words)]
        if "fleet" in cause.params and cause.moves:
            first.insert(0, speak.say("first.fleet", hosts=speak.count("host", int(cause.params["fleet"]))))
        return (*first, *(self._step(move) for move in cause.moves))

    def _step(self, move: Move) -> str:
        speak = self._speak
        source, target = self._cage(move.source), self._cage(move.target)
        far = speak.names([self._cage((place,)) for place in move.far], all_=True)
        label = speak.say("extra.label", label=move.label) if move.label else ""
        key = "move.look.far" if move.hand is Hand.LOOK and move.far else f"move.{move.hand.value}"
        other_end = speak.say("place.other_end", far=far) if far else speak.say("place.other_end.hangs")
        said = [speak.say(key, source=source, target=target, far=far, other_end=other_end, label=label)]
        if move.look_first:
            key = "extra.look_first.lay" if move.hand is Hand.LAY else "extra.look_first"
            said.insert(0, speak.say(key, target=target, far=far))
        if move.takes_along:
            links = speak.count("link", len(move.takes_along))
            names = speak.names([name.replace("|", " – ") for name in move.takes_along])
            said.append(speak.say("extra.takes_along", links=links, names=names))
        return speak.joined(said)

    def _cage(self, places: Sequence[Place]) -> str:
        """A port with all that helps to find it: rack, position, the id of the plan, cage and row."""
        if not places:
            return ""
        device, port = places[0]
        known = self._devices.get(device)
        rack = (known.rack if known is not None else "") or self._racks[device]
        position = (known.position if known is not None else "") or self._positions[device]
        cage = find_cage(known.hardware_model, port) if known is not None else None
        details = [
            self._speak.say(f"place.{name}", **{name: value}) for name, value in (("rack", rack), ("position", position)) if value
        ]
        if places[0] in self._ids:
            details.append(printable(self._ids[places[0]], LONGEST))
        if cage is not None:
            details.append(self._speak.say(".".join(filter(None, ("place.cage", cage.row))), cage=str(cage.number)))
        ports = self._speak.names([port for _, port in places], all_=True)
        key = "place.port.details" if details else "place.port"
        return self._speak.say(key, device=device, port=ports, details=self._speak.say("place.separator").join(details))


class _Speaker:
    """Fills the sentences of one language."""

    def __init__(self, lang: str) -> None:
        self._texts = catalogue(lang)
        self._between = "" if lang == "zh" else " "

    def has(self, key: str) -> bool:
        return key in self._texts

    def say(self, key: str, **words: str) -> str:
        said = self._texts[key].format_map({name: printable(word, 4000) for name, word in words.items()})
        return said.replace("） ", "）")

    def joined(self, sentences: Sequence[str]) -> str:
        return self._between.join(sentences)

    def count(self, noun: str, number: int) -> str:
        return self.say(f"n.{noun}.one" if number == 1 else f"n.{noun}.many", n=str(number))

    def names(self, names: Sequence[str], *, all_: bool = False) -> str:
        """Names in a row; of many only the first ones and how many more there are."""
        shown = [printable(name, LONGEST) for name in (names if all_ else names[:SHOWN])]
        between = self.say("list.separator")
        if len(shown) < len(names):
            return self.say("list.more", some=between.join(shown), more=str(len(names) - len(shown)))
        return self.say("list.last", some=between.join(shown[:-1]), last=shown[-1]) if len(shown) > 1 else "".join(shown)

    def title(self, cause: CableCause) -> str:
        return self.say(f"title.{cause.params.get('form', cause.kind.value)}", **self.words(cause))

    def words(self, cause: CableCause) -> dict[str, str]:
        """The words of a cause's sentences: its params, with lists and counts put into words."""
        params = cause.params
        out = {name: printable(text, LONGEST) for name, text in params.items() if "\n" not in text}
        for name in ("hosts", "switches", "ring", "devices"):
            if name in params:
                out["names" if name != "ring" else name] = self.names(params[name].split("\n"))
        for name, noun in (("hosts", "host"), ("switches", "switch")):
            if name in params:
                number = len(params[name].split("\n"))
                count = self.count(noun, number)
                out["who"] = out["names"] if number == 1 else self.say("who", count=count, names=out["names"])
        for name, noun in (("cables", "cable"), ("links", "link")):
            if name in params:
                out[name] = self.count(noun, int(params[name]))
        if "step" in params and params["step"].lstrip("-").isdecimal():
            out["steps"], out["ports"] = (self.count(noun, abs(int(params["step"]))) for noun in ("step", "port"))
        if params.get("racks"):
            racks = params["racks"].split("\n")
            out["racks"] = self.say(f"n.rack.{'one' if len(racks) == 1 else 'many'}", names=self.names(racks))
        for name, key, words in (("pairs", "pair", ("here", "there")), ("ends", "end", ("near", "far"))):
            if name in params:
                rows = [dict(zip(words, line.split("\t"), strict=True)) for line in params[name].split("\n")]
                out[name] = self.names([self.say(key, **row) for row in rows])
                out[key] = self.say(key, **rows[0])
        return out
