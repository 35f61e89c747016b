"""Which commands a device is asked, round by round: first all fixed ones, then those that need names, and fallbacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from auditor.collect.commands import named
from auditor.collect.guard import PARAMETER, commands_for, wanted_sources
from auditor.collect.output import Request, answered, gaps_for
from auditor.model import Device, Gap, GapReason, Platform, RawOutput, Source

MAX_NAMES = 1024
"""Names that one answer may yield for one command. The largest switch has 512 ports."""


class Survey:
    """The rounds of one platform of one device. Ask `next_requests`, hand the outputs to `take`, until
    nothing is left; then `finish`."""

    def __init__(self, device: Device, platform: Platform, reads: Iterable[str] | None) -> None:
        self._device, self._platform = device, platform
        self._open: list[Source] = [source for source in wanted_sources(platform, reads) if source.sent]
        self._begun = {source.key for source in self._open}
        self._outputs: dict[str, list[tuple[Request, RawOutput]]] = {}
        self._gaps: list[Gap] = []

    def take(self, request: Request, output: RawOutput) -> None:
        """Note what came back for a request of the last round."""
        self._outputs.setdefault(request.source.key, []).append((request, output))

    def next_requests(self) -> list[Request]:
        """The requests of the next round; empty when all is asked."""
        for source in list(self._fallbacks()):
            self._begin(source)
        requests: list[Request] = []
        waiting: list[Source] = []
        for source in self._open:
            found = self._requests(source)
            if found is None:
                waiting.append(source)
            else:
                requests += found
        self._open = waiting
        return requests

    def finish(self) -> list[Gap]:
        """The gaps of everything that had no output: names that were not plain, sources whose names nobody told."""
        for source in self._open:
            detail = f"its names come from {' or '.join(self._naming(source))}, which gave no answer"
            self._gaps += gaps_for(self._device, source, self._why(source), detail)
        self._open = []
        return self._gaps

    def _requests(self, source: Source) -> list[Request] | None:
        """The requests of one source; None while its names are not known."""
        if source.parameter is None:
            return [Request(self._platform, source, commands_for(self._platform, source))]
        for key in source.parameter.sources:
            body = next((output.body for request, output in self._outputs.get(key, ()) if answered(request, output)), None)
            if body is not None:
                return list(self._with_names(source, named(source.parameter.names, body)))
        return None

    def _with_names(self, source: Source, names: list[str]) -> Iterator[Request]:
        assert source.parameter is not None
        plain = [name for name in dict.fromkeys(names) if PARAMETER.fullmatch(name)]
        wrong = sorted({name for name in names if not PARAMETER.fullmatch(name)})
        if wrong:
            detail = f"not sent: {wrong[0]!r} is no plain name" + (f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else "")
            self._gaps += gaps_for(self._device, source, GapReason.NOT_COLLECTED, detail)
        if len(plain) > MAX_NAMES:
            detail = f"{len(plain)} names, of which the first {MAX_NAMES} were asked for"
            self._gaps += gaps_for(self._device, source, GapReason.NOT_COLLECTED, detail)
        for name in plain[:MAX_NAMES]:
            parameters = {source.parameter.name: name}
            yield Request(self._platform, source, commands_for(self._platform, source, parameters), parameters)

    def _fallbacks(self) -> Iterator[Source]:
        """For each source that was asked and gave no answer, its first fallback that was not begun yet."""
        open_keys = {source.key for source in self._open}
        for primary in self._platform.sources:
            family = [
                primary,
                *(source for source in self._platform.sources if source.fallback_for == primary.key and source.sent),
            ]
            begun = [source.key for source in family if source.key in self._begun]
            if primary.key not in self._outputs or open_keys.intersection(begun) or any(map(self._has_answer, begun)):
                continue
            yield from [source for source in family if source.key not in self._begun][:1]

    def _begin(self, source: Source) -> None:
        """Ask a source, and what it needs for names."""
        for key in (source.key, *self._naming(source)):
            if key not in self._begun:
                self._begun.add(key)
                self._open.append(self._platform.source(key))

    def _has_answer(self, key: str) -> bool:
        return any(answered(request, output) for request, output in self._outputs.get(key, ()))

    def _naming(self, source: Source) -> tuple[str, ...]:
        return () if source.parameter is None else source.parameter.sources

    def _why(self, source: Source) -> GapReason:
        """The reason of the naming source that failed, so that one cause has one reason."""
        for key in self._naming(source):
            for _, output in self._outputs.get(key, ()):
                return output.failure or GapReason.UNPARSED
        return GapReason.NOT_COLLECTED
