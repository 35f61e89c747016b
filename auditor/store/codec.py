"""Frozen values as JSON text and back, by their type; shared by everything the store keeps whole."""

from __future__ import annotations

import json
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from auditor.errors import StoreError

T = TypeVar("T")


class Codec(Generic[T]):
    """Reads and writes values of one type. The text is UTF-8 clean and free of NUL, whatever a device put in."""

    def __init__(self, kind: Any) -> None:
        self._adapter: TypeAdapter[T] = TypeAdapter(kind)

    def dump(self, value: T) -> str:
        """The value as JSON."""
        try:
            return self._adapter.dump_json(value).decode()
        except PydanticSerializationError:  # a lone surrogate: escaped, it can be kept
            return json.dumps(self._adapter.dump_python(value, mode="json"))

    def load(self, text: str) -> T:
        """The inverse of `dump`; raises StoreError when the text does not hold such a value."""
        try:
            return self._adapter.validate_json(text)
        except ValidationError:
            pass
        try:
            return self._adapter.validate_python(json.loads(text))
        except (ValidationError, ValueError) as error:
            raise StoreError(f"stored content is damaged: {str(error).splitlines()[0]}") from error
