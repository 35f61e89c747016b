"""The packet buffer of SONiC: pools, and the priority groups of every port with what their profiles reserve.

CONFIG_DB and APPL_DB hold these tables in one form, so both are read here. Facts that the code relies on, with where they were
read:

- `xoff` of a profile is the headroom of a group: what it may still take after pause was sent; `xoff` of a pool is headroom that
  its groups share (saibuffer.h, SAI_BUFFER_PROFILE_ATTR_XOFF_TH). Without it, or with 0, a profile has no headroom.
- `dynamic_th` n is an alpha of 2^n of what is free in the pool; `static_th` is a limit of shared use in bytes, on top of what is
  reserved, and 0 is no limit (saibuffer.h, SHARED_DYNAMIC_TH, SHARED_STATIC_TH). `size` is what is reserved; where it holds
  the headroom (`size` >= `xoff`), pause is sent that much earlier.
- `pg_lossless_<Mbit/s>_<length>_profile` is made for a speed and a cable length, in the traditional model from a table of the
  platform (buffermgr, doSpeedUpdateTask), in the dynamic one by calculation, with `_mtu`, `_th` or a gearbox before the last
  word (buffermgrdyn, getDynamicProfileName).
- In the dynamic model the profile `NULL`, and one with `headroom_type` `dynamic`, are computed by buffermgrd; so are pool sizes
  that are not given. CONFIG_DB cannot tell them: only APPL_DB has the result, under a name of its own.
- On some platforms a port that is administratively down has no lossless groups (buffermgr, doSpeedUpdateTask).
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

from auditor import canonical
from auditor.facts import Buffer, BufferPool, PriorityGroup, Value
from auditor.model import GapReason, Normalised, Unread
from auditor.platforms.sonic.cells import Cells, text, whole_number
from auditor.platforms.sonic.config_db import Database, numbers_of, port_keys, reference

GROUP_COLUMNS = (
    "lossless", "profile", "size_bytes", "headroom_bytes", "xon_bytes", "threshold_kind", "threshold", "xoff_trigger_bytes",
    "profile_cable_length_m", "profile_speed", "pool",
)  # fmt: skip
POOL_COLUMNS = ("direction", "size_bytes", "mode", "shared_headroom_bytes")

_GENERATED = re.compile(r"pg_lossless_(\d{1,7})_(\d{1,5}m)(?:_.*)?_profile")
_COMPUTED = "computed by buffermgrd in the dynamic model: only APPL_DB has the result"


@dataclass(frozen=True, slots=True)
class _Profile:
    """What every group with this profile has, and what of it cannot be told."""

    values: Mapping[str, Value]
    unread: tuple[Unread, ...] = ()


def priority_groups(database: Database) -> Iterator[Normalised]:
    """Every priority group that is bound to a profile. A group without a row is bound to none: it is absent."""
    if not database.holds("BUFFER_PG"):
        yield Unread(PriorityGroup, reason=GapReason.NOT_COLLECTED, detail="the database lacks the table BUFFER_PG")
        return
    profiles: dict[str, _Profile] = {}
    dynamic = is_dynamic(database)
    for key, fields in database.rows("BUFFER_PG"):
        ports, _, numbers = key.partition("|")
        try:
            groups = numbers_of(numbers)
            name = reference(text(fields["profile"]))
        except (ValueError, KeyError) as error:
            for port in port_keys(ports):
                yield Unread(PriorityGroup, (database.port(port),), detail=f"BUFFER_PG {key[:60]!r}: {error}")
            continue
        if name not in profiles:
            profiles[name] = _profile(database, name, dynamic)
        profile = profiles[name]
        for port in port_keys(ports):
            for group in groups:
                where = (database.port(port), str(group))
                yield PriorityGroup(port=where[0], pg=where[1], **profile.values)  # type: ignore[arg-type]
                yield from (replace(item, key=where) for item in profile.unread)


def made_at_start(database: Database) -> Iterator[Unread]:
    """Groups that a saved file need not hold: buffermgrd makes one for each PFC priority when it starts, from the speed and the
    cable length of the port, and writes it to the running CONFIG_DB (buffermgr, doSpeedUpdateTask)."""
    bound = set()
    for key, _ in database.rows("BUFFER_PG"):
        with contextlib.suppress(ValueError):
            bound |= {(port, number) for port in port_keys(key) for number in numbers_of(key.partition("|")[2])}
    for key, fields in database.rows("PORT_QOS_MAP"):
        with contextlib.suppress(ValueError):
            for port, number in product(port_keys(key), canonical.number_list(text(fields.get("pfc_enable", "")))):
                if (port, number) not in bound:
                    detail = "not in the file, and made by buffermgrd when it starts"
                    yield Unread(PriorityGroup, (database.port(port), str(number)), None, GapReason.UNSUPPORTED, detail)


def _profile(database: Database, name: str, dynamic: bool) -> _Profile:
    rows = dict(database.rows("BUFFER_PROFILE"))
    if name == "NULL" and dynamic:
        return _Profile({"lossless": True}, (_rest(GapReason.UNSUPPORTED, _COMPUTED),))
    if name not in rows:
        known = {} if name == "NULL" else {"profile": database.name(name)}
        return _Profile(known, (_rest(GapReason.UNPARSED, f"buffer profile {name[:60]!r} is not in the database"),))
    fields = rows[name]
    cells = Cells(PriorityGroup, "", "")
    cells.read("pool", fields.get("pool"), database.name)
    for field, convert, kind in (("dynamic_th", _alpha, "dynamic"), ("static_th", _bytes, "static")):
        if fields.get(field) is not None:
            cells.values["threshold_kind"] = kind
            cells.read("threshold", fields[field], convert)
    if dynamic and fields.get("headroom_type") == "dynamic":
        cells.values["lossless"] = True
        return _Profile(cells.values, (*cells.unread, _rest(GapReason.UNSUPPORTED, _COMPUTED)))
    cells.values["profile"] = database.name(name)
    for field, column in (("size", "size_bytes"), ("xoff", "headroom_bytes"), ("xon", "xon_bytes")):
        cells.read(column, fields.get(field), whole_number)
    if any(item.column == "headroom_bytes" for item in cells.unread):
        cells.unread.append(Unread(PriorityGroup, cells.key, "lossless", detail="its headroom cannot be read"))
    else:
        cells.values["lossless"] = bool(cells.values.get("headroom_bytes"))
        _trigger(cells.values)
    generated = _GENERATED.fullmatch(name)
    if generated is not None:
        cells.values["profile_speed"] = int(generated.group(1)) * 10**6
        cells.values["profile_cable_length_m"] = canonical.metres(generated.group(2))
    return _Profile(cells.values, tuple(cells.unread))


def _rest(reason: GapReason, detail: str) -> Unread:
    """A gap for every column of the group that has no value; the key is set later."""
    return Unread(PriorityGroup, ("",), None, reason, detail)


def _trigger(values: dict[str, Value]) -> None:
    """The level at which a lossless group with a static limit sends pause."""
    limit, headroom, size = (values.get(column, 0) for column in ("threshold", "headroom_bytes", "size_bytes"))
    if values["lossless"] and values.get("threshold_kind") == "static" and limit:
        values["xoff_trigger_bytes"] = int(limit) + max(0, int(size) - int(headroom))  # type: ignore[arg-type]


def _alpha(raw: str) -> float:
    """2^n for the n of `dynamic_th`; raises ValueError beyond what mmuconfig takes (-8 to 8)."""
    if not re.fullmatch(r"-?[0-8]", raw):
        raise ValueError(f"no exponent of a dynamic threshold: {raw[:60]!r}")
    return float(2.0 ** int(raw))


def _bytes(raw: str) -> float:
    return float(whole_number(raw))


def buffer_pools(database: Database) -> Iterator[Normalised]:
    """Every pool. A size that the dynamic model computes, or a shared headroom that follows from a ratio, is not known here."""
    if not database.holds("BUFFER_POOL"):
        yield Unread(BufferPool, reason=GapReason.NOT_COLLECTED, detail="the database lacks the table BUFFER_POOL")
        return
    dynamic = is_dynamic(database)
    ratios = (row.get("over_subscribe_ratio") for _, row in database.rows("DEFAULT_LOSSLESS_BUFFER_PARAMETER"))
    shares = any(str(ratio) not in ("0", "None", "") for ratio in ratios)
    for name, fields in database.rows("BUFFER_POOL"):
        cells = Cells(BufferPool, database.name(name))
        cells.read("direction", fields.get("type"), _word)
        cells.read("mode", fields.get("mode"), _word)
        cells.read("size_bytes", fields.get("size"), whole_number)
        cells.read("shared_headroom_bytes", fields.get("xoff"), whole_number)
        computed = [
            ("size_bytes", "size", dynamic),
            ("shared_headroom_bytes", "xoff", shares and fields.get("type") == "ingress"),
        ]
        for column, field, by_daemon in computed:
            if by_daemon and field not in fields:
                cells.unread.append(Unread(BufferPool, cells.key, column, GapReason.UNSUPPORTED, _COMPUTED))
        yield from cells.rows()


def _word(raw: str) -> str:
    if raw not in ("ingress", "egress", "both", "static", "dynamic"):
        raise ValueError(f"unknown word {raw[:60]!r}")
    return raw


def is_dynamic(database: Database) -> bool:
    """Whether buffermgrd computes the lossless buffers: the model says so, or its parameters are there."""
    model = dict(database.rows("DEVICE_METADATA")).get("localhost", {}).get("buffer_model")
    return model == "dynamic" or (model is None and any(True for _ in database.rows("DEFAULT_LOSSLESS_BUFFER_PARAMETER")))


def buffer(found: list[Database]) -> Iterator[Normalised]:
    """The buffer: model, mode, ingress pools. Of several ASICs only what they agree on.

    `model`: dynamic when `buffer_model` says so, static (SONiC: traditional) otherwise, also when it is absent. `mode`: lossless
    when an ingress profile reserves headroom (`xoff`; only ingress profiles have one), or when the dynamic model computes
    such profiles (DEFAULT_LOSSLESS_BUFFER_PARAMETER). `ingress_pools` leaves out the zero pools of unused ports.
    """
    cells = Cells(Buffer)
    try:
        rows = [_buffer(database) for database in found if len(found) == 1 or database.prefix]
    except ValueError as error:
        yield Unread(Buffer, detail=str(error))
        return
    if not any(rows):
        return
    for column in ("model", "vendor_word", "mode", "ingress_pools"):
        values = {row.get(column) for row in rows}
        if len(values) > 1:
            cells.unread.append(Unread(Buffer, (), column, GapReason.CONFLICT, "the ASICs of this box differ"))
        elif None in values:
            cells.unread.append(Unread(Buffer, (), column, detail="the database lacks the tables that tell it"))
        else:
            cells.values[column] = values.pop()  # type: ignore[assignment]
    yield from cells.rows()


def _buffer(database: Database) -> dict[str, str | int]:
    out: dict[str, str | int] = {}
    if database.complete:
        word = text(dict(database.rows("DEVICE_METADATA")).get("localhost", {}).get("buffer_model", "traditional"))
        out |= {"model": "dynamic" if word == "dynamic" else "static", "vendor_word": word}
    if database.holds("BUFFER_PROFILE", "DEFAULT_LOSSLESS_BUFFER_PARAMETER"):
        headroom = any(text(fields.get("xoff", "0")) != "0" for _, fields in database.rows("BUFFER_PROFILE"))
        lossless = headroom or any(True for _ in database.rows("DEFAULT_LOSSLESS_BUFFER_PARAMETER"))
        out["mode"] = "lossless" if lossless else "lossy"
    if database.holds("BUFFER_POOL"):
        pools = [fields for _, fields in database.rows("BUFFER_POOL") if fields.get("type") == "ingress"]
        out["ingress_pools"] = sum(fields.get("size") != "0" for fields in pools)
    return out
