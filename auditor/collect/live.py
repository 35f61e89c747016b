"""Live collection: one Nornir task per device in threads; devices come out as they finish.

What a device does wrong becomes failed outputs or one gap over table "*" of that device; nothing else notices.
"""

from __future__ import annotations

import logging
import queue
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from nornir.core import Nornir
from nornir.core.inventory import ConnectionOptions, Host, Hosts
from nornir.core.inventory import Inventory as NornirInventory
from nornir.core.plugins.connections import ConnectionPluginRegister
from nornir.core.task import Result, Task
from nornir.plugins.runners import ThreadedRunner

from auditor.canonical import printable
from auditor.collect import Collected, LoginReport
from auditor.collect.cli_session import CliConnection
from auditor.collect.exec_channel import ExecConnection
from auditor.collect.guard import SUDO_TEST, UNAME, path_for, transport_for
from auditor.collect.https import HttpsConnection, Login
from auditor.collect.inventory import Inventory, Route
from auditor.collect.napalm_session import NapalmConnection
from auditor.collect.output import Answer, Request, answered, raw_output
from auditor.collect.plugin import Limits, Plugin
from auditor.collect.rest import RestConnection
from auditor.collect.script import Command
from auditor.collect.shell_session import ShellConnection
from auditor.collect.ssh import Dialler, Unreached
from auditor.collect.survey import Survey
from auditor.collect.web import tls
from auditor.errors import PlatformError, SetupError
from auditor.model import Device, Gap, GapReason, Platform, Privilege, RawOutput, Status, Transport
from auditor.platforms import platforms as all_platforms
from auditor.settings import Collection

EXEC, SHELL, HTTPS = "auditor_exec", "auditor_shell", "auditor_https"
CLI, NAPALM, REST = "auditor_cli", "auditor_napalm", "auditor_rest"
"""Names of the connection plugins in Nornir's register."""

MAX_ROUNDS = 5
"""First the fixed commands, then names and fallbacks; more rounds only for fallbacks of fallbacks."""

ConnectionPluginRegister.register(EXEC, ExecConnection)
ConnectionPluginRegister.register(SHELL, ShellConnection)
ConnectionPluginRegister.register(HTTPS, HttpsConnection)
ConnectionPluginRegister.register(CLI, CliConnection)
ConnectionPluginRegister.register(NAPALM, NapalmConnection)
ConnectionPluginRegister.register(REST, RestConnection)

_WAYS = {
    Transport.EXEC: EXEC, Transport.SHELL: SHELL, Transport.CLI: CLI, Transport.NAPALM: NAPALM, Transport.HTTPS: REST
}  # fmt: skip
"""The plugin of each way. A platform whose usual way is HTTPS is a BMC."""
_UNIX = (Transport.EXEC, Transport.SHELL)
"""The two ways into a Unix shell; each stands in for the other."""


T = TypeVar("T")
_log = logging.getLogger(__name__)


class LiveCollector:
    """Collects over SSH, as a `Collector`. A key file, password command or SSH configuration that cannot be used is a
    SetupError before the first device."""

    def __init__(self, inventory: Inventory, settings: Collection, platforms: Mapping[str, Platform] | None = None) -> None:
        self._routes = inventory.routes
        self._settings = settings
        self._platforms = dict(all_platforms() if platforms is None else platforms)
        self._limits = Limits(settings.login_timeout, settings.max_output)
        self._login, self._tls = Login(settings.bmc), tls(settings.bmc.ca_file)
        self._api_tls = tls(settings.api.ca_file)
        for device in inventory.devices:
            self._check_transport(device)

    def collect(self, devices: Sequence[Device], reads: frozenset[str] | None) -> Iterator[Collected]:
        """Every device once, as it finishes. Planned devices are not contacted."""
        wanted = None if reads is None else frozenset(reads)

        def work(host: Host, device: Device) -> Collected:
            return self._collect(host, device, wanted)

        def broken(device: Device, reason: GapReason, detail: str, seconds: float) -> Collected:
            gap = Gap(device.name, "*", "", reason, _with_maintenance(device, detail))
            return Collected(device, gaps=(gap,), seconds=seconds)

        yield from self._run([device for device in devices if device.status is not Status.PLANNED], work, broken)
        for device in devices:
            if device.status is Status.PLANNED:
                detail = "its status is planned: not contacted"
                yield Collected(device, gaps=(Gap(device.name, "*", "", GapReason.NOT_COLLECTED, detail),))

    def login_test(self, devices: Sequence[Device]) -> Iterator[LoginReport]:
        """Log in, try `sudo -n`, and see whose version command is answered; every device once, as it finishes."""
        yield from self._run(devices, self._test, lambda device, reason, detail, seconds: LoginReport(
            device, reason, _with_maintenance(device, detail), seconds=seconds
        ))  # fmt: skip

    # threads

    def _run(
        self,
        devices: Sequence[Device],
        work: Callable[[Host, Device], T],
        broken: Callable[[Device, GapReason, str, float], T],
    ) -> Iterator[T]:
        """Nornir's threads on one side, an iterator on the other; ends the rest when the reader leaves."""
        if not devices:
            return
        done: queue.Queue[T | None] = queue.Queue(maxsize=2 * self._settings.workers)
        stop = threading.Event()
        dialler = Dialler(self._settings)
        named = {device.name: device for device in devices}

        def one(task: Task) -> Result:
            device = named[task.host.name]
            if stop.is_set():
                return Result(task.host)
            begin = time.monotonic()
            try:
                item = work(task.host, device)
            except Unreached as failure:
                item = broken(device, failure.reason, failure.detail, time.monotonic() - begin)
            except Exception as error:  # a fault of ours must not take the other devices along
                _log.exception("collecting %s failed", device.name)
                detail = f"internal error: {type(error).__name__}: {printable(str(error), 200)}"
                item = broken(device, GapReason.NOT_COLLECTED, detail, time.monotonic() - begin)
            finally:
                task.host.close_connections()
            done.put(item)
            return Result(task.host)

        def run() -> None:
            try:
                nornir.run(task=one, name="collect")
            finally:
                dialler.close()
                done.put(None)

        nornir = Nornir(
            inventory=NornirInventory(Hosts({device.name: self._host(device, dialler) for device in devices})),
            runner=ThreadedRunner(num_workers=self._settings.workers),
        )
        thread = threading.Thread(target=run, name="collect", daemon=True)
        thread.start()
        try:
            while (item := done.get()) is not None:
                yield item
        finally:
            stop.set()
            while thread.is_alive():
                dialler.close()
                try:
                    done.get(timeout=0.1)
                except queue.Empty:
                    continue
            thread.join()

    def _host(self, device: Device, dialler: Dialler) -> Host:
        route = self._routes.get(device.name) or Route(device.address or device.name, device.port, aaa_group=device.aaa_group)
        extras: dict[str, Any] = {"dialler": dialler, "name": device.name, "route": route, "limits": self._limits}
        known = [self._platforms[name] for name in device.platforms if name in self._platforms]
        kind = known[0].netmiko if known else "linux"
        bmc = {
            "name": device.name, "address": device.bmc_address or route.hostname, "group": device.aaa_group, "login": self._login,
            "tls": self._tls, "output": self._settings.max_output, "seconds": self._settings.device_deadline,
        }  # fmt: skip
        api = {**extras, "tls": self._api_tls, "seconds": self._settings.device_deadline}
        driver = next((platform.napalm for platform in known if platform.napalm), "")
        options = {
            HTTPS: ConnectionOptions(extras=bmc),
            REST: ConnectionOptions(extras=api),
            NAPALM: ConnectionOptions(extras={**api, "driver": driver}),
            EXEC: ConnectionOptions(extras=extras),
            SHELL: ConnectionOptions(extras={**extras, "device_type": kind}),
            CLI: ConnectionOptions(extras={**extras, "device_type": kind, "pagers": known[0].pagers if known else ()}),
        }
        return Host(device.name, hostname=route.hostname, port=route.port, connection_options=options, data={"route": route})

    # one device

    def _check_transport(self, device: Device) -> None:
        """Raises SetupError for a device that the inventory wants reached in a way that none of its platforms has."""
        route = self._routes.get(device.name)
        known = [self._platforms[name] for name in device.platforms if name in self._platforms]
        if route is None or route.transport is None or not known:
            return
        ways = {way for platform in known for way in (platform.transport, *platform.also)}
        ways |= set(_UNIX) if ways & set(_UNIX) else set()
        if route.transport not in ways:
            names = ", ".join(platform.name for platform in known)
            raise SetupError(f"{device.name}: transport {route.transport}: {names} is reached by {', '.join(sorted(ways))} only")

    def _known(self, device: Device) -> list[Platform]:
        for name in device.platforms:
            if name not in self._platforms:
                raise PlatformError(f"{device.name}: no platform {name!r}")
        return [self._platforms[name] for name in device.platforms]

    def _channel(self, host: Host, platform: Platform) -> Plugin:
        if platform.transport is Transport.HTTPS:
            return host.get_connection(HTTPS, _NO_CONFIG)  # type: ignore[no-any-return]
        return host.get_connection(_WAYS[transport_for(platform, host.data["route"].transport)], _NO_CONFIG)  # type: ignore[no-any-return]

    def _command(self, text: str, privilege: Privilege, seconds: float) -> Command:
        return Command(text, privilege, min(seconds, self._settings.command_deadline))

    def _collect(self, host: Host, device: Device, reads: Iterable[str] | None) -> Collected:
        begin = time.monotonic()
        outputs: list[RawOutput] = []
        surveys = [(platform, Survey(device, platform, reads)) for platform in self._known(device)]
        lost: dict[str, Unreached] = {}

        def unanswered(survey: Survey, request: Request, failure: Unreached) -> None:
            answer = Answer(failure=failure.reason, detail=failure.detail)
            outputs.append(raw_output(device, request, answer, datetime.now(UTC)))
            survey.take(request, outputs[-1])

        for _ in range(MAX_ROUNDS):
            by_channel: dict[int, tuple[Plugin, list[tuple[Survey, Request]]]] = {}
            for platform, survey in surveys:
                for asked in survey.next_requests():
                    if platform.name in lost:  # one login is enough
                        unanswered(survey, asked, lost[platform.name])
                        continue
                    try:
                        channel = self._channel(host, platform)
                    except Unreached as failure:
                        if all(other.transport is not Transport.HTTPS for other, _ in surveys):
                            raise
                        lost[platform.name] = failure
                        unanswered(survey, asked, failure)
                        continue
                    try:
                        request = _as_sent(channel, asked)
                    except Unreached as failure:
                        unanswered(survey, asked, failure)
                        continue
                    by_channel.setdefault(id(channel), (channel, []))[1].append((survey, request))
            for channel, requests in by_channel.values():
                commands = [
                    self._command(request.command, request.source.privilege, request.source.seconds) for _, request in requests
                ]
                answers = channel.ask(commands)
                at = datetime.now(UTC)
                for (survey, request), answer in zip(requests, answers, strict=True):
                    output = raw_output(device, request, answer, at, limit=self._settings.max_output)
                    survey.take(request, output)
                    outputs.append(output)
            if not by_channel or all(channel.spent for channel, _ in by_channel.values()):
                break
        gaps = [gap for _, survey in surveys for gap in survey.finish()]
        seconds = time.monotonic() - begin
        return _judged(Collected(device, tuple(outputs), tuple(gaps), seconds))

    def _test(self, host: Host, device: Device) -> LoginReport:
        begin = time.monotonic()
        own = self._known(device)
        channel = self._channel(host, own[0])
        if not isinstance(channel, ExecConnection | ShellConnection):
            return self._test_api(channel, device, [other for other in own if self._channel(host, other) is channel], begin)
        shells = [platform for platform in self._platforms.values() if platform.transport in (Transport.EXEC, Transport.SHELL)]
        probes = [(platform, source) for platform in shells if (source := _probe(platform)) is not None]
        sudo = SUDO_TEST.removeprefix("sudo -n ")
        commands = [self._command(UNAME, Privilege.NONE, 10), self._command(sudo, Privilege.SUDO, 10)]
        commands += [self._command(request.command, Privilege.NONE, request.source.seconds) for _, request in probes]
        uname, tried, *rest = channel.ask(commands)
        if all(answer.failure is not None for answer in (uname, tried, *rest)):
            raise Unreached(uname.failure or GapReason.UNREACHABLE, uname.detail)
        now = datetime.now(UTC)
        like = [
            platform.name
            for (platform, request), answer in zip(probes, rest, strict=True)
            if _recognised(request, answer, device, now)
        ]
        return LoginReport(
            device, detail=printable(_first_line(uname), 120), sudo=tried.status == 0, answers_like=tuple(like),
            seconds=time.monotonic() - begin,
        )  # fmt: skip

    def _test_api(self, channel: Plugin, device: Device, own: Sequence[Platform], begin: float) -> LoginReport:
        """What is no shell is asked what its own platforms declare, and nothing else."""
        probes = [request for platform in own for request in (_probe(platform, channel),) if request is not None]
        commands = [self._command(request.command, Privilege.NONE, request.source.seconds) for request in probes]
        answers = channel.ask(commands)
        if not answers:
            raise Unreached(GapReason.NOT_COLLECTED, "nothing that could be asked for a test is declared")
        if all(answer.failure is not None for answer in answers):
            raise Unreached(answers[0].failure or GapReason.UNREACHABLE, answers[0].detail)
        now = datetime.now(UTC)
        pairs = zip(probes, answers, strict=True)
        like = [request.platform.name for request, answer in pairs if _recognised(request, answer, device, now)]
        return LoginReport(device, answers_like=tuple(like), seconds=time.monotonic() - begin)


def _as_sent(channel: Plugin, request: Request) -> Request:
    """The request in the words in which this channel asks it; raises Unreached for what it has no words for."""
    if not isinstance(channel, RestConnection):
        return request
    if not request.source.rest:
        raise Unreached(GapReason.UNSUPPORTED, "its REST API does not tell this; over SSH it is asked for")
    return replace(request, command=f"GET {path_for(request.platform, request.source, request.parameters)}")


def _probe(platform: Platform, channel: Plugin | None = None) -> Request | None:
    """The command that tells a platform apart: its first unprivileged, fixed source of the table `system`, or of any table."""
    fixed = [
        source for source in platform.sources if source.sent and source.parameter is None and source.privilege is Privilege.NONE
    ]
    source = next((source for source in fixed if "system" in source.tables()), fixed[0] if fixed else None)
    if isinstance(channel, RestConnection):
        source = next((source for source in fixed if source.rest), None)
    if source is None:
        return None
    request = Request(platform, source, source.command)
    return request if channel is None else _as_sent(channel, request)


def _recognised(request: Request, answer: Answer, device: Device, at: datetime) -> bool:
    """Whether a probe was answered as its platform answers: several have a `show version`."""
    output = raw_output(device, request, answer, at)
    return answered(request, output) and all(re.search(anchor, output.body, re.MULTILINE) for anchor in request.source.anchor)


def _first_line(answer: Answer) -> str:
    lines = (answer.stdout or answer.stderr).decode("utf-8", "replace").splitlines()
    return lines[0] if lines else ""


def _judged(collected: Collected) -> Collected:
    """A device of which every command failed for one reason of the device, not of the command, gave nothing at all."""
    outputs = [output for output in collected.outputs if output.failure is not GapReason.UNSUPPORTED]
    reasons = {output.failure for output in outputs}
    whole_device = {GapReason.UNREACHABLE, GapReason.TIMEOUT, GapReason.AUTH}
    details = {output.detail for output in outputs}
    if not outputs or len(reasons) != 1 or len(details) != 1 or not reasons <= whole_device:
        return collected
    reason = next(iter(reasons))
    assert reason is not None
    detail = _with_maintenance(collected.device, next(iter(details)))
    gap = Gap(collected.device.name, "*", "", reason, detail)
    return Collected(collected.device, gaps=(gap,), seconds=collected.seconds)


def _with_maintenance(device: Device, detail: str) -> str:
    if device.maintenance_until is None or device.maintenance_until < datetime.now(UTC):
        return detail
    return f"{detail} (in maintenance until {device.maintenance_until.isoformat()})"


class _NoConfiguration:
    """Nornir's connections want a configuration; ours read none of it."""


_NO_CONFIG: Any = _NoConfiguration()
