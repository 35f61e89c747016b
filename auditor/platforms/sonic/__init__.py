"""SONiC, the community image with its `show` commands in a Linux shell.

Traps, each met in a capture or in the vendor's source:

- The name of a command does not tell which database it reads; see the source of each table. What is called running
  configuration is CONFIG_DB: what was written, not what the ASIC does. QoS maps, their ports, queues and the watchdog go from
  there straight to orchagent, so no applied layer of them can be read.
- Errors are plain text with exit status 0 (`Cannot find interface …`), and a table cut in the middle ends like a whole one.
- `show interfaces status` without rows means that the databases are not ready, not that the switch has no ports.
- lldpctl lives in a container; the one on the host calls `docker exec`, which needs root. The image lets every user run it
  with sudo, as `show lldp table` does by itself.
- MTU counts IP bytes.
- "No module" means that STATE_DB has no entry for one: xcvrd found none, or could not read it, or does not run. So it is not said
  of a port that is up, nor where no port has a module.
- Commands for cables: `lldpctl -f json` (else `show lldp neighbors`, else `show lldp table`), `show interfaces transceiver
  presence`, `show interfaces transceiver eeprom`, `show mac`, `show arp`, `show ndp`, `show interfaces portchannel`. The address
  tables come and go by themselves; they are read where a rule asks for them.
- On a box with several ASICs names carry the ASIC (`asic0/Ethernet-BP4`) where the output tells it; tables that merge the
  ASICs list front ports alone, and internal ports in them are a gap.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from auditor.address import Layer
from auditor.facts import Firmware, Interface, Optic, QosPort, Queue, Row, System
from auditor.model import Census, Fill, Normalised, Parser, Platform, Source, Transport
from auditor.platforms.sonic import addresses, appl_db, lldp, optics, pools, tables
from auditor.platforms.sonic.cells import Cells
from auditor.platforms.sonic.database import RUNNING, SAVED
from auditor.platforms.sonic.limits import FAILURES, SECRETS, UNSUPPORTED


def version(groups: Mapping[str, Any], _parameters: Mapping[str, str]) -> Iterable[Normalised]:
    """The running image and the serial number of the chassis. Raises ValueError without the first line."""
    found = groups.get("system", [])
    if len(found) != 1:
        raise ValueError("no line 'SONiC Software Version'")
    cells = Cells(System)
    cells.values["os_name"] = "SONiC"
    cells.read("os_version", found[0].get("os_version"), lambda raw: raw.removeprefix("SONiC."))
    for column in ("kernel", "image_id", "serial"):
        cells.read(column, found[0].get(column), str)
    return cells.rows()


def front_port(row: Row) -> bool:
    """Whether the tables of ports list this interface: a front port, not one inside the box, an aggregate or `eth0`."""
    return re.fullmatch(r"Ethernet\d[\w/]*", row.key[0]) is not None


PLATFORM = Platform(
    name="sonic",
    title="SONiC (community image, click CLI)",
    netmiko="linux",
    transport=Transport.EXEC,
    sources=(
        RUNNING,
        SAVED,
        appl_db.PORTS,
        appl_db.BUFFERS,
        pools.CONFIGURED,
        pools.APPLIED,
        Source(
            key="interfaces_status",
            command="show interfaces status",
            aliases=("show interface status", "intfutil -c status"),
            fills=(
                Fill(Interface, Layer.APPLIED, ("enabled", "up", "mtu", "mtu_shown", "speed", "alias", "lanes")),
                Fill(Optic, Layer.APPLIED, ("present", "type"), whole=False),
            ),
            parser=Parser.TEXT,
            normalise=tables.interfaces_status,
            anchor=(r"^\s*Interface\s+Lanes\s+Speed\s+MTU\b.*\bOper\s+Admin\b",),
            proof={"interface": r"^\s*{0}\s", "optic": r"^\s*{0}\s"},
            proven_by="captures sonic/ut_t0_mixed_speed, sonic/dut_40g; sonic-utilities scripts/intfutil",
        ),
        Source(
            key="interfaces_fec_status",
            command="show interfaces fec status",
            fills=(Fill(Interface, Layer.APPLIED, ("fec",)),),
            parser=Parser.TEXT,
            normalise=tables.fec_status,
            anchor=(r"^\s*Interface\s+FEC Oper\s+FEC Admin\b",),
            proof={"interface": r"^\s*{0}\s"},
            proven_by="capture sonic/cmdref_generic; sonic-utilities scripts/intfutil",
        ),
        *lldp.SOURCES,
        *optics.SOURCES,
        *addresses.SOURCES,
        Source(
            key="pfcwd_config",
            command="pfcwd show config",
            aliases=("show pfcwd config", "sudo pfcwd show config"),
            fills=(
                Fill(
                    Queue, Layer.CONFIGURED,
                    ("watchdog_enabled", "watchdog_detection_s", "watchdog_restoration_s", "watchdog_action"),
                ),
            ),
            parser=Parser.TEXT,
            normalise=tables.watchdog,
            anchor=(r"^\s*PORT\s+ACTION\s+DETECTION TIME\b",),
            proof={"queue": r"^\s*{0}\s"},
            proven_by="captures sonic/ut_single, ut_history, ut_multi_asic_brs; sonic-utilities pfcwd/main.py",
        ),
        Source(
            key="pfcwd_stats",
            command="pfcwd show stats",
            aliases=("show pfcwd stats", "sudo pfcwd show stats"),
            fills=(Fill(Queue, Layer.APPLIED, ("watchdog_state",)),),
            parser=Parser.TEXT,
            normalise=tables.watchdog_stats,
            anchor=(r"^\s*QUEUE\s+STATUS\s+STORM DETECTED/RESTORED\b",),
            proof={"queue": r"^\s*{0}:{1}\s"},
            proven_by="capture sonic/ut_single; sonic-utilities pfcwd/main.py (collect_stats)",
        ),
        Source(
            key="pfc_priority",
            command="show pfc priority",
            aliases=("pfc show priority",),
            fills=(Fill(QosPort, Layer.CONFIGURED, ("pfc_priorities",)),),
            parser=Parser.TEXT,
            normalise=tables.pfc_priority,
            anchor=(r"^Interface\s+Lossless priorities\b",),
            proof={"qos_port": r"^\s*{0}\s"},
            proven_by="captures sonic/ut_multi_asic, ut_multi_asic_unknown_port; sonic-utilities pfc/main.py",
        ),
        Source(
            key="version",
            command="show version",
            fills=(Fill(System, Layer.APPLIED, ("os_name", "os_version", "kernel", "image_id", "serial")),),
            parser=Parser.TTP,
            template="show_version",
            normalise=version,
            anchor=(r"^SONiC Software Version: \S", r"^Kernel: \S", r"^Build commit: \S", r"^Serial Number:"),
            proof={
                "system.os_name": r"^SONiC Software Version:", "system.os_version": r"^SONiC Software Version:",
                "system.kernel": r"^Kernel:", "system.image_id": r"^Build commit:", "system.serial": r"^Serial Number:",
            },
            proven_by="capture sonic/cisco8201_202305; sonic-utilities show/main.py",
            seconds=20.0,
        ),
        Source(
            key="platform_firmware",
            command="show platform firmware status",
            aliases=("show platform firmware", "fwutil show status", "sudo fwutil show status"),
            fills=(Fill(Firmware, Layer.APPLIED, ("version",)),),
            parser=Parser.TEXT,
            normalise=tables.firmware,
            anchor=(r"^Chassis\s+Module\s+Component\s+Version\b",),
            proof={"firmware.version": r"(?i)(?<!\w){0}(?!\w)"},
            proven_by="captures sonic/cmdref_msn3800, cmdref_msn3800_early; sonic-utilities show/platform.py",
            seconds=30.0,
        ),
    ),
    failures=FAILURES,
    pagers=(r"--\s?[Mm]ore\s?--",),
    prompts=(r"[\w.-]+@[\w.-]+:[^\r\n]{0,120}[$#] ?$",),
    secrets=SECRETS,
    unsupported=UNSUPPORTED,
    censuses=(
        Census("interfaces_status", (appl_db.PORTS.key, RUNNING.key), front_port),
        Census("interfaces_fec_status", (appl_db.PORTS.key, RUNNING.key), front_port),
        Census("transceiver_presence", ("interfaces_status",), front_port),
        Census("transceiver_eeprom", ("interfaces_status",), front_port),
    ),
)  # fmt: skip
