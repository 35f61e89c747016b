"""What SONiC says instead of an answer, what must not leave it, and what it cannot tell."""

from __future__ import annotations

from auditor.address import Layer
from auditor.model import Failure, GapReason, Unsupported

_STRING = r'"((?:[^"\\\n]|\\.)+)"'
_STRAIGHT = "goes from CONFIG_DB straight to orchagent: there is no applied layer to read"

# Each begins a line, so that a port description with the same words does no harm.
FAILURES = (
    Failure(r"^(?:Error: )?Root privileges are required.*", GapReason.PERMISSION, "needs root"),
    Failure(r"^sudo: .*", GapReason.PERMISSION, "sudo refused"),
    Failure(r"^\S+ is not in the sudoers file.*", GapReason.PERMISSION, "sudo refused"),
    Failure(r"^Sorry, user \S+ (?:is not allowed|may not).*", GapReason.PERMISSION, "sudo refused"),
    Failure(r"^\S+: (?:\S+: )?[Pp]ermission denied\s*$", GapReason.PERMISSION, "no permission"),
    Failure(r"^(?:Got )?[Pp]ermission denied while trying to connect.*", GapReason.PERMISSION, "no permission"),
    Failure(r"^\S*sh: (?:.+: )?(?:command )?not found.*", GapReason.REJECTED, "the shell refused it"),
    Failure(r"^\S+: command not found\s*$", GapReason.REJECTED, "the shell refused it"),
    Failure(r"^Traceback \(most recent call last\):", GapReason.REJECTED, "the command crashed"),
    Failure(r"^(?:\w+\.)*\w+(?:Error|Exception)(?:: .*)?$", GapReason.REJECTED, "the command crashed"),
    Failure(r"^Cannot find interface .*", GapReason.REJECTED, "the command failed"),
    Failure(r"^Usage: .*\[OPTIONS\].*", GapReason.REJECTED, "the command failed"),
    Failure(r"^Error: .*|^Aborted!\s*$", GapReason.REJECTED, "the command failed"),
    Failure(r"^Failed to (?:get cmd output|load output|run command).*", GapReason.REJECTED, "the command failed"),
    Failure(r"^Error response from daemon: .*", GapReason.REJECTED, "the container does not run"),
    Failure(r"^(?:\S+ )?\[(?:WARN|ALRT|CRIT)/\w+\] unable to connect.*", GapReason.REJECTED, "lldpd does not answer"),
    Failure(r"^\s*% ?(?:Error|Invalid|Unknown|Ambiguous|Incomplete)\b.*", GapReason.REJECTED, "another command line answered"),
)

SECRETS = (
    r'"(?:passkey|passphrase|password|bind_password|secret|primary_cak|fallback_cak|SNMP_USER_(?:AUTH|ENCRYPTION)_PASSWORD)"'
    r"[ \t]*:[ \t]*" + _STRING,
    # SNMP_COMMUNITY: the community is the key of its row; what stands in the row tells it
    _STRING + r'(?=\s*:\s*\{\s*"TYPE"\s*:\s*"R[OW]")',
    # NTP_KEY: type and value in either order
    r'"type"\s*:\s*"(?:md5|sha\d+)"\s*,[^{}]{0,200}?"value"\s*:\s*' + _STRING,
    r'"value"\s*:\s*' + _STRING + r'(?=[^{}]{0,200}"type"\s*:\s*"(?:md5|sha\d+)")',
    # the routing configuration, one JSON string in `bgpraw`
    r"\bpassword (?:\d )?([^\s\"\\]+)",
    r"\bmessage-digest-key \d+ md5 ([^\s\"\\]+)",
)

UNSUPPORTED = (
    Unsupported(
        "qos_port", ("trust", "dscp_map", "tc_to_queue", "tc_to_pg", "pfc_to_queue", "pfc_priorities"),
        f"PORT_QOS_MAP {_STRAIGHT}", Layer.APPLIED,
    ),
    Unsupported("dscp_map", ("traffic_class",), f"DSCP_TO_TC_MAP {_STRAIGHT}", Layer.APPLIED),
    Unsupported("class_map", ("kind", "to"), f"every such map {_STRAIGHT}", Layer.APPLIED),
    Unsupported("queue", ("scheduler", "weight"), f"QUEUE {_STRAIGHT}", Layer.APPLIED),
    Unsupported(
        "queue", ("ecn_enabled", "ecn_min_bytes", "ecn_max_bytes", "ecn_probability", "ecn_profile"),
        f"WRED_PROFILE {_STRAIGHT}", Layer.APPLIED,
    ),
    Unsupported("queue", ("buffer_profile",), "BUFFER_QUEUE is read from CONFIG_DB alone", Layer.APPLIED),
    Unsupported(
        "queue", ("watchdog_enabled", "watchdog_detection_s", "watchdog_restoration_s", "watchdog_action"),
        f"PFC_WD {_STRAIGHT}", Layer.APPLIED,
    ),
    Unsupported("qos_port", ("pfc_direction",), "SONiC tells only whether PFC is asymmetric: it pauses both ways"),
    Unsupported("qos_port", ("global_pause_rx", "global_pause_tx"), "CONFIG_DB has no setting of 802.3x pause"),
    Unsupported("system", ("vendor",), "no command names the maker in a form that all images share"),
    Unsupported("system", ("booted_at",), "show version prints local time without its zone"),
    Unsupported("interface", ("frame_bytes",), "SONiC counts IP bytes and prints no frame size"),
    Unsupported("interface", ("error_disabled",), "no document proves where SONiC tells it"),
    Unsupported("neighbour", ("heard_s",), "lldpd prints the time since the last change, not since the last frame"),
    Unsupported("buffer", ("total_bytes",), "no show command prints the size of the whole buffer"),
    Unsupported("firmware", ("pending_version", "part_number", "psid"), "the status table has running versions only"),
)  # fmt: skip
