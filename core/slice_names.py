"""A size as people type it: ``v5p-256``, ``4x4x8``, ``2 x v5p-256``, ``16 nodes``, ``64 x H100``, ``512``, ``2k``.

A size is a number of chips that is sold. Names of TPU slices may count TensorCores (v5p-128 has 64 chips), so names are
looked up in the tables and never computed. Slices that are joined count by their total, as the model knows no
network between slices smaller than the largest: 2 x v5p-256 is the size of 256 chips.
"""

from __future__ import annotations

import re
from math import prod

from core.catalogue import Catalogue
from core.messages import InputError, Message, joined, message
from core.names import MAX_NAME, SLICE_NAME
from core.numbers import parse_count
from core.records import Size

MAX_SHOWN = 60
EXAMPLE_CHIPS = 128
EXAMPLE_CORES = 128
_COUNTED = re.compile(r"[a-z0-9]+-([0-9]+)")

_TIMES = "[x×*]"
_CHIP_WORD = re.compile(r"(?<=.)\b ?(?:chip|gpu|tpu|accelerator)s?")
_SHAPE = re.compile(rf"[0-9]{{1,6}}(?: ?{_TIMES} ?[0-9]{{1,6}})+")
_MANY = re.compile(rf"([0-9]{{1,6}})(?: ?{_TIMES} ?| )(.+)")
_MANY_AFTER = re.compile(rf"(.+?) ?{_TIMES} ?([0-9]{{1,6}})")
_UNIT_WORD = re.compile(
    rf"(node|instance|server|host|machine|tray|rack|domain)s?(?: ?(?:of|{_TIMES}) ?([0-9]{{1,6}}))?"
)
_WHOLE_UNITS = ("rack", "domain")
# What may stand between two ways to say one size: "4x4x8, sold as v5p-256", "64 chips (v5p-128)".
_BETWEEN = re.compile(r"[()=]|,(?![0-9]{3}(?![0-9]))|\bsold as\b")
_KILO = re.compile(r"([0-9]{1,6}) ?k")


def parse_size(text: str, accelerator_id: str, catalogue: Catalogue) -> Size:
    """The size that ``text`` means.

    Parameters
    ----------
    text
        The name of a slice or instance, a shape in any order of its axes, a number of chips, nodes, trays or domains,
        or a number of any named ones. Case, spaces and the sign between factors do not matter. ``2k`` is 2,000 where
        that is sold and 2,048 otherwise.
    accelerator_id
        The chip; "" takes the one that the name says.
    catalogue
        The sizes that are sold.

    Raises
    ------
    InputError
        One sentence: not a size, not sold (with the nearest sizes that are), or a size of another chip.

    >>> from core.catalogue import load_catalogue
    >>> [parse_size(text, "", load_catalogue()).chips for text in ("v5p-256", "2 x V5P-256", "8 x p5.48xlarge")]
    [128, 256, 64]
    >>> parse_size("8x4x4", "tpu_v5p", load_catalogue()).sold_as
    'v5p-256'
    """
    if accelerator_id:
        catalogue.sizes(accelerator_id)  # an unknown chip is refused before its size is
    plain = " ".join(text.split()).casefold() if len(text) <= MAX_NAME else ""
    parts = [part for piece in _BETWEEN.split(plain) if (part := piece.strip(" .")) not in ("", "multislice")]
    sizes = [_Reading(text, accelerator_id, catalogue).size(part) for part in parts]
    if not sizes:
        raise InputError(_no_size(text, accelerator_id, catalogue))
    for part, size in zip(parts, sizes, strict=True):
        if size != sizes[0]:
            said = {"first": parts[0], "first_chips": sizes[0].chips, "second": part, "second_chips": size.chips}
            raise _refuse("size_differs", text, **said)
    return sizes[0]


def named_by_cores(accelerator_id: str, catalogue: Catalogue) -> tuple[Size, int] | None:
    """A size whose name counts the cores of its chips, and how many a chip has; ``None`` where names count chips.

    >>> from core.catalogue import load_catalogue
    >>> size, cores = named_by_cores("tpu_v5p", load_catalogue())
    >>> size.sold_as, size.chips, cores
    ('v5p-128', 64, 2)
    """
    size = catalogue.nearest_size(accelerator_id, EXAMPLE_CORES // 2)
    counted = _COUNTED.fullmatch(size.sold_as)
    cores, rest = divmod(int(counted[1]), size.chips) if counted and size.sold else (1, 0)
    return (size, cores) if cores > 1 and not rest else None


class _Reading:
    """One text on its way to a size of one chip."""

    def __init__(self, text: str, accelerator_id: str, catalogue: Catalogue):
        self.text, self.accelerator_id, self.catalogue = text, accelerator_id, catalogue

    def size(self, part: str) -> Size:
        """The size that a part of the text means."""
        number = _CHIP_WORD.sub("", part)
        if "$" not in number and (count := _count(number)) is not None:
            return self._counted(count, number)
        if _SHAPE.fullmatch(part):
            return self._shape([int(n) for n in re.split(_TIMES, part)])
        match = _MANY.fullmatch(part)
        found = (self._many(int(match[1]), match[2]) if match else None) or self._named(part) or self._unit(part)
        if found is None and (match := _MANY_AFTER.fullmatch(part)):
            found = self._many(int(match[2]), match[1])
        if found is None:
            raise InputError(_no_size(self.text, self.accelerator_id, self.catalogue))
        chip, chips = found
        if self.accelerator_id and chip != self.accelerator_id:
            raise self._other_chip(chip, chips)
        return self._sold(chip, chips)

    def _chip(self) -> str:
        if not self.accelerator_id:
            raise _refuse("size_chip_missing", self.text)
        return self.accelerator_id

    def _counted(self, count: float, number: str) -> Size:
        chip, kilo = self._chip(), _KILO.fullmatch(number)
        if kilo and not self.catalogue.size_of(chip, int(count)).sold:
            binary = self.catalogue.size_of(chip, int(kilo[1]) * 1024)
            return binary if binary.sold else self._sold(chip, count)
        return self._sold(chip, count)

    def _named(self, name: str, alone: int | None = None) -> tuple[str, int] | None:
        """The chip and the number of chips that a name says; ``alone``: that of a name that says no number."""
        found = self.catalogue.meanings(name)
        found = tuple(m for m in found if m[0] == self.accelerator_id) or found
        if len(found) == 1:
            chip, chips = found[0][0], found[0][1] or alone
            return (chip, chips) if chips else None
        if SLICE_NAME.fullmatch(name) or (found and alone):
            try:
                self.catalogue.resolve_alias(name)
            except InputError as error:
                if error.problem.code != "chip_unknown":
                    raise
        return None

    def _unit(self, name: str) -> tuple[str, int] | None:
        """A node, tray, instance or domain of the chip, by its kind or by its name."""
        word = _UNIT_WORD.fullmatch(name)
        if word is None:
            units = self.catalogue.units(self.accelerator_id) if self.accelerator_id else ()
            chips = next((n for n, called in units if name.removesuffix("s") == called.casefold()), None)
        else:
            # Slices have no nodes to count in: their hosts differ in chips.
            sliced = any(size.shape for size in self.catalogue.sizes(self._chip()))
            units = () if sliced else self.catalogue.units(self.accelerator_id)
            chips = units[0 if word[1] in _WHOLE_UNITS else -1][0] if units else None
            if word[2] and int(word[2]) != chips:
                return None
        return (self.accelerator_id, chips) if chips else None

    def _many(self, n: int, what: str) -> tuple[str, int] | None:
        """``n`` of what is named."""
        name = _CHIP_WORD.sub("", what)
        one = self._unit(what) or self._named(name, 1) or self._named(name.removesuffix("s"), 1)
        return (one[0], n * one[1]) if one else None

    def _shape(self, factors: list[int]) -> Size:
        chip, total = self._chip(), prod(factors)
        shaped = [size for size in self.catalogue.sizes(chip) if size.shape]
        for size in shaped:
            if _axes(factors) == _axes([int(n) for n in size.shape.split("x")]):
                return size
        if shaped:
            raise self._unsold(chip, total, of_shape=True)
        if len(factors) == 2 and factors[1] in [chips for chips, _ in self.catalogue.units(chip)]:
            return self._sold(chip, total)  # 16x8: nodes of eight
        raise InputError(_no_size(self.text, chip, self.catalogue))

    def _sold(self, chip: str, chips: float) -> Size:
        if not float(chips).is_integer():
            raise InputError(_no_size(self.text, chip, self.catalogue))
        size = self.catalogue.size_of(chip, int(chips))
        if not size.sold:
            raise self._unsold(chip, int(chips))
        return size

    def _unsold(self, chip: str, chips: int, *, of_shape: bool = False) -> InputError:
        below, above = self.catalogue.size_at_most(chip, chips), self.catalogue.size_at_least(chip, chips)
        label = self.catalogue.accelerators[chip].short_name
        near = [size for size in (below, above) if size is not None]
        if not near:
            return InputError(message("no_sizes", "error", "chips", chip=label))
        if above is None or below is None:
            code = "size_beyond" if above is None else "size_below"
        elif above == below:
            code = "size_shape_only"
        else:
            code = "size_shape_unsold" if of_shape else "size_unsold"
        return _refuse(code, self.text, chip=label, chips=chips, shape=near[0].shape, nearest=_either(near))

    def _other_chip(self, chip: str, chips: int) -> InputError:
        asked, names = self.accelerator_id, self.catalogue.accelerators
        near = self.catalogue.nearest_size(asked, chips)
        code = "size_other_chip" if near.sold else "size_other_chip_none"
        said = {"other": names[chip].short_name, "chip": names[asked].short_name, "nearest": _worded(near)}
        return _refuse(code, self.text, **said)


def _count(text: str) -> float | None:
    try:
        return parse_count(text)
    except ValueError:
        return None


def _axes(factors: list[int]) -> list[int]:
    """The axes of a shape without their order; those of one chip are none."""
    return sorted(n for n in factors if n != 1)


def _worded(size: Size) -> Message:
    """``64 chips (v5p-128)``; a name that is the number again is left out."""
    code = "size_chip" if size.chips == 1 else "size_chips"
    named = size.sold_as and not size.sold_as.startswith(f"{size.chips} chip")
    return message(code, n=size.chips, named=message("size_named", name=size.sold_as) if named else "")


def _either(sizes: list[Size]) -> Message | str:
    return joined([_worded(size) for size in {size.chips: size for size in sizes}.values()])


def _refuse(code: str, text: str, **params: object) -> InputError:
    return InputError(message(code, "error", "chips", given=text[:MAX_SHOWN], **params))


def _no_size(text: str, accelerator_id: str, catalogue: Catalogue) -> Message:
    """What to write instead, with examples of the chip."""
    given = text[:MAX_SHOWN]
    if not accelerator_id:
        return message("size_form_any", "error", "chips", given=given)
    chip = catalogue.accelerators[accelerator_id].short_name
    size = catalogue.nearest_size(accelerator_id, EXAMPLE_CHIPS)
    if not size.sold:
        return message("no_sizes", "error", "chips", chip=chip)
    units = catalogue.units(accelerator_id)
    if size.shape:
        shown: dict[str, object] = {"name": size.sold_as, "shape": size.shape, "n": size.chips}
        return message("size_form_slice", "error", "chips", given=given, chip=chip, **shown)
    if units and size.chips > units[-1][0]:
        nodes = {"nodes": size.chips // units[-1][0], "unit": units[-1][1], "n": size.chips}
        return message("size_form_nodes", "error", "chips", given=given, chip=chip, **nodes)
    return message("size_form_chips", "error", "chips", given=given, chip=chip, nearest=_worded(size))
