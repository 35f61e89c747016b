"""Settings of a project: `auditor.yaml`, overridden by environment variables `AUDITOR_*`.

`AUDITOR_STORE` sets `store`; two underscores descend: `AUDITOR_COLLECTION__WORKERS`. No credential is ever read from the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from auditor import yamldoc
from auditor.errors import ErrorList, FileError, SetupError
from auditor.model import Severity
from auditor.yamldoc import YamlDocument

FILE = "auditor.yaml"

SECRET_KEY = re.compile(r"(?i)^(?:.*[_-])?(?:password|passwd|passphrase|secret|token|api[_-]?key)$")
"""Keys that would hold a credential. They are refused in every document of a project."""

_UNITS = {"s": 1, "min": 60, "m": 60, "h": 3600, "d": 86400}


def duration(value: Any) -> timedelta:
    """A time span as settings and documents write it: `26h`, `14d`, `30s`; raises ValueError in words."""
    if isinstance(value, timedelta):
        return value
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|min|m|h|d)", value.strip()) if isinstance(value, str) else None
    if found is None:
        raise ValueError("a duration is a number with s, min, h or d, such as 26h")
    return timedelta(seconds=float(found.group(1)) * _UNITS[found.group(2)])


Duration = Annotated[timedelta, BeforeValidator(duration)]
"""A time span, written `26h`, `14d`, `30s`."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Retention(_Part):
    """How long stored things are kept. Raw outputs that an unresolved finding cites are kept longer."""

    raw: Duration = timedelta(days=14)
    history: Duration = timedelta(days=730)


class Credentials(_Part):
    """Where credentials come from. Tried in this order: key file, agent, password."""

    username: str = ""
    key_file: Path | None = None
    use_agent: bool = True
    password_env: str = Field(default="AUDITOR_PASSWORD", pattern=r"[A-Za-z_][A-Za-z0-9_]*")
    password_command: tuple[str, ...] = ()
    keyring_service: str = ""


class Bmc(_Part):
    """The account for BMCs, with its password in the environment, and the authority that signed their certificates."""

    username: str = ""
    password_env: str = Field(default="AUDITOR_BMC_PASSWORD", pattern=r"[A-Za-z_][A-Za-z0-9_]*")
    ca_file: Path | None = None


class Api(_Part):
    """The account for the APIs of switches over HTTPS (eAPI, NX-API, NVUE), and the authority that signed their certificates.

    Without a name it is that of `credentials`. The password stands in the environment: `<password_env>_<AAA group>`, else
    `<password_env>`.
    """

    username: str = ""
    password_env: str = Field(default="AUDITOR_PASSWORD", pattern=r"[A-Za-z_][A-Za-z0-9_]*")
    ca_file: Path | None = None


class Collection(_Part):
    """How devices are reached. Times in seconds unless a unit is written; `max_output` in bytes per command.

    More than 100 threads in one process are slower, not faster (docs: performance).
    """

    workers: int = Field(default=50, ge=1, le=100)
    connect_timeout: float = Field(default=10, gt=0, le=300)
    login_timeout: float = Field(default=20, gt=0, le=300)
    command_deadline: float = Field(default=60, gt=0, le=3600)
    device_deadline: float = Field(default=180, gt=0, le=7200)
    max_output: int = Field(default=64 * 1024 * 1024, ge=1024)
    logins_per_second: float = Field(default=30, gt=0)
    known_hosts: tuple[Path, ...] = (Path("~/.ssh/known_hosts"), Path("/etc/ssh/ssh_known_hosts"))
    ssh_config: Path | None = Path("~/.ssh/config")
    credentials: Credentials = Credentials()
    bmc: Bmc = Bmc()
    api: Api = Api()


class Settings(BaseSettings):
    """All settings of a project; paths are absolute once loaded."""

    model_config = SettingsConfigDict(
        env_prefix="AUDITOR_", env_nested_delimiter="__", extra="forbid", frozen=True, nested_model_default_partial_update=True
    )

    project: Path = Path()
    inventory: Path = Path("inventory")
    baselines: Path = Path("baselines")
    plan: Path = Path("plan/plan.csv")
    fabric: Path = Path("fabric.yaml")
    parsers: Path | None = None
    store: str = "sqlite:///auditor.db"
    raw: Path = Path("raw")
    peer_max_age: Duration = timedelta(hours=26)
    retention: Retention = Retention()
    collection: Collection = Collection()
    fail_on: Severity = Severity.ERROR

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - pydantic's signature
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment wins over the file."""
        return env_settings, init_settings


def load(project: Path, *, required: bool = True) -> Settings:
    """Settings of the project folder, its paths made absolute.

    Without `required` a folder that has no `auditor.yaml` gives the defaults. Raises FileError (or ErrorList of them) with
    file and line, SetupError for a wrong environment variable.
    """
    project = project.expanduser().resolve()
    file = project / FILE
    if not file.exists():
        if required:
            raise SetupError(f"{project} is no project folder: it has no {FILE} (`-C DIR` names another folder)")
        document = YamlDocument({}, str(file), "")
    else:
        document = yamldoc.read(file)
    data = {} if document.data is None else document.data
    if not isinstance(data, dict):
        raise document.error(FileError, "must be a mapping of settings")
    errors: list[SetupError] = [*_credentials_in(document, data, ()), *_unknown_keys(document, data, Settings, ())]
    if errors:
        raise ErrorList(errors) if len(errors) > 1 else errors[0]
    try:
        settings = Settings(**{**data, "project": project})
    except ValidationError as error:
        raise _readable(document, error) from None
    return _absolute(settings, project)


def suggest(word: str, known: Iterator[str] | list[str]) -> str:
    """` (did you mean 'x'?)` for a word that is close to a known one, else an empty text."""
    close = get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _credentials_in(document: YamlDocument, data: Any, path: tuple[str | int, ...]) -> Iterator[SetupError]:
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        if isinstance(key, str) and SECRET_KEY.fullmatch(key):
            yield document.error(
                FileError,
                f"{key!r}: no credential may stand in a project file; use an SSH agent, `key_file`, the environment variable"
                " AUDITOR_PASSWORD, `keyring_service` or `password_command` under `collection.credentials`",
                *path, key,
            )  # fmt: skip
        elif path == () and key == "store" and isinstance(value, str) and _has_password(value):
            yield document.error(
                FileError,
                "the database URL holds a password; give it in the environment variable AUDITOR_STORE or in a pgpass file",
                *path, key,
            )  # fmt: skip
        else:
            yield from _credentials_in(document, value, (*path, key))


def _has_password(url: str) -> bool:
    try:
        return bool(urlsplit(url).password)
    except ValueError:
        return True


def _unknown_keys(document: YamlDocument, data: Any, model: type[BaseModel], path: tuple[str | int, ...]) -> Iterator[SetupError]:
    fields = {name: field for name, field in model.model_fields.items() if (path, name) != ((), "project")}
    for key, value in data.items():
        if SECRET_KEY.fullmatch(key):
            continue
        if key not in fields:
            where = ".".join(map(str, path)) or FILE
            yield document.error(FileError, f"{where} has no setting {key!r}{suggest(key, list(fields))}", *path, key)
            continue
        kind = fields[key].annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            if isinstance(value, dict):
                yield from _unknown_keys(document, value, kind, (*path, key))
            else:
                yield document.error(FileError, f"{key!r} must be a mapping of settings", *path, key)


def _readable(document: YamlDocument, error: ValidationError) -> SetupError:
    """Pydantic's errors as ours: at the line of the file where the value stands, else by environment variable."""
    errors: list[SetupError] = []
    for one in error.errors(include_url=False):
        path = tuple(one["loc"])
        name, words = ".".join(map(str, path)), one["msg"].removeprefix("Value error, ")
        if _stands_in(document.data, path):
            errors.append(document.error(FileError, f"{name}: {words}", *path))
        else:
            variable = "AUDITOR_" + "__".join(str(part).upper() for part in path)
            errors.append(SetupError(f"environment variable {variable}: {words}"))
    return ErrorList(errors) if len(errors) > 1 else errors[0]


def _stands_in(data: Any, path: tuple[str | int, ...]) -> bool:
    for part in path:
        if isinstance(data, dict) and part in data:
            data = data[part]
        else:
            return isinstance(data, list) and isinstance(part, int)
    return True


def _absolute(settings: Settings, project: Path) -> Settings:
    def place(path: Path) -> Path:
        return project / path.expanduser()

    paths = {name: place(getattr(settings, name)) for name in ("inventory", "baselines", "plan", "fabric", "raw")}
    parsers = None if settings.parsers is None else place(settings.parsers)
    store = settings.store
    relative = re.fullmatch(r"(sqlite(?:\+\w+)?):///([^/:][^:]*)", store)
    if relative:
        store = f"{relative.group(1)}:///{project / relative.group(2)}"
    old = settings.collection
    key = old.credentials.key_file
    collection = old.model_copy(
        update={
            "known_hosts": tuple(place(path) for path in old.known_hosts),
            "ssh_config": None if old.ssh_config is None else place(old.ssh_config),
            "credentials": old.credentials.model_copy(update={"key_file": None if key is None else place(key)}),
            "bmc": old.bmc.model_copy(update={"ca_file": None if old.bmc.ca_file is None else place(old.bmc.ca_file)}),
            "api": old.api.model_copy(update={"ca_file": None if old.api.ca_file is None else place(old.api.ca_file)}),
        }
    )
    return settings.model_copy(update={**paths, "parsers": parsers, "store": store, "collection": collection})
