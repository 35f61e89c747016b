"""What a VRP switch says of itself: `display version`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from auditor.facts import System
from auditor.model import Normalised

_SOFTWARE = re.compile(r"^VRP \(R\) software, Version (\S+) \(\S+ (V\d+R\d+\S*)\)", re.MULTILINE)
_BOX = re.compile(r"^(?:Quidway|HUAWEI|Huawei) (\S+) .*\buptime is \d", re.MULTILINE)


def version(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """The release of the product (`V200R010C00SPC600`), which is what notes and baselines name, and the model."""
    software, box = _SOFTWARE.search(body), _BOX.search(body)
    yield System(
        vendor="Huawei",
        os_name="VRP",
        os_version=None if software is None else software.group(2),
        hardware_model=None if box is None else box.group(1),
    )
