"""Sizes out of a ``config.json``: under any of their names, as whole numbers, with notes of what was assumed."""

from __future__ import annotations

from core.config_families import FAMILIES, INNER_PARTS, NAMES, Family, family_key
from core.config_json import Object, shown
from core.messages import InputError, Message, message

MAX_LAYERS = 100_000
MAX_SIZE = 10**12  # larger ones are not worth spelling out; the bounds of each size are tighter


def refuse(code: str, **params: object) -> InputError:
    """The error for a file that cannot be used."""
    return InputError(message(code, "error", "architecture", **params))


def kind_of(config: Object) -> str:
    """``model_type``, or ""."""
    given = config.get("model_type")
    return given if isinstance(given, str) else ""


def class_of(config: Object) -> str:
    """The first of ``architectures``, or ""."""
    given = config.get("architectures")
    first = given[0] if isinstance(given, list) and given else ""
    return first if isinstance(first, str) else ""


class Reader:
    """Looks sizes up in a configuration, under any of their names, and keeps the notes."""

    def __init__(self, whole: Object, config: Object, *, nested: bool) -> None:
        self.config, self.whole, self.nested = config, whole, nested
        self.layers: list[Object] = [config, *(config[n] for n in INNER_PARTS if isinstance(config.get(n), dict))]
        self.called: dict[str, str] = {}  # field -> the name the file has it under
        self.notes: list[Message] = []
        kinds = [kind_of(config), *(class_of(c) for c in (config, whole)), kind_of(whole)]
        known = [k for k in kinds if k and family_key(k) in FAMILIES]
        self.title = shown((known or [k for k in kinds if k] or [""])[0])
        self.known = bool(known)
        self.key = family_key(known[0]) if known else ""
        self.family = FAMILIES.get(self.key, Family())

    def note(self, code: str, **params: object) -> None:
        self.notes.append(message(code, "note", "architecture", **params))

    def find(self, names: tuple[str, ...]) -> tuple[str, object]:
        """The first of ``names`` that has a value, and the value; the first, and ``None``."""
        for layer in self.layers:
            for name in names:
                if layer.get(name) is not None:
                    return name, layer[name]
        return names[0], None

    def has(self, field: str) -> bool:
        """Whether any of a size's names stands in the file, with a value or as ``null``."""
        return any(name in layer for layer in self.layers for name in NAMES[field])

    def number(self, field: str) -> int | None:
        """A size under any of its names; ``None`` where the file has none, or has ``null``."""
        name, value = self.find(NAMES[field])
        self.called.setdefault(field, name)
        if value is None:
            return None
        self.called[field] = name
        return self.whole_number(name, value, mean=field in ("d_ff", "dense_d_ff"))

    def whole_number(self, name: str, value: object, *, mean: bool = False) -> int:
        """``value`` as a whole number; a list of equal ones as one of them, of unequal widths as their mean."""
        if isinstance(value, list):
            if not 0 < len(value) <= MAX_LAYERS:
                raise refuse("config_not_number", name=name, given=shown(value))
            numbers = [self.whole_number(name, v) for v in value if not isinstance(v, list)]
            if len(numbers) == len(value) and len(set(numbers)) == 1:
                return numbers[0]
            if len(numbers) < len(value) or not mean:
                raise refuse("config_uneven", name=name)
            used = round(sum(numbers) / len(numbers))
            self.note("config_mean", name=name, used=used)
            return used
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value != int(value):
            raise refuse("config_not_number", name=name, given=shown(value))
        if value < 0:
            raise refuse("config_negative", name=name, given=shown(value))
        if value > MAX_SIZE:
            raise refuse("config_too_big", name=name, given=shown(value))
        return int(value)

    def needed(self, field: str) -> int:
        """A size that every model has: the file's, or in a nested part the family's default."""
        found = self.number(field)
        if found is not None:
            return found
        default = self.family.sizes.get(field)
        if default is None or not self.nested:
            raise refuse("config_missing", names=", ".join(NAMES[field]))
        return self.assumed(NAMES[field][0], default)

    def assumed(self, name: str, value: int) -> int:
        """A family's default, noted."""
        self.note("config_default", name=name, value=value, family=self.title)
        return value

    def flag(self, name: str) -> bool | None:
        """A yes or no of the file."""
        found, value = self.find((name,))
        if value is None or isinstance(value, bool):
            return value
        raise refuse("config_not_flag", name=found, given=shown(value))
