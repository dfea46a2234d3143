"""What can be changed in a program itself, without its source: donations, and the type that parameters are stored in.

    Entry      %arg0: f32[512,512]   %arg1: s32[8]   ->   f32[512,512], f32[]
    pairs      arg0 -> result 0                           as JAX pairs donated buffers: donated already, else the first
                                                          of the same type
    donate     the aliases of all pairs
    narrow     arg0, and what it is paired with, as bf16: widened where they are read, narrowed where they are returned

Everything is an edit of an MLIR module (raw_program.py). What would change a dimension, or what the program computes,
is no edit: that is a change of the source.
"""

from __future__ import annotations

from typing import Any, Dict, List

from .raw_program import Program

_ALIASES = "mhlo.input_output_alias"
_ALIAS = ('{{alias = {{kind = "may_alias", parameter_index = array<i64>, parameter_number = {0} : i64}}, '
          'output_index = array<i64{1}>}}')
# Layouts name tiles, which are others for bfloat16: without them the compiler lays out as jax asks it to by default.
_LAYOUTS = ("parameter_layouts", "parameter_tiles", "result_layout", "result_tiles")


def donate(program: Program) -> int:
    """Gives every result the place of its parameter. How many had none before; 0: there is nothing to donate."""
    entry = _Entry(program)
    pairs, before = entry.pairs(), len(entry.donated())
    if len(pairs) > before:
        entry.write_aliases(pairs)
    return len(pairs) - before


def narrow(program: Program) -> int:
    """Stores float32 parameters, and the results that are their new values, as bfloat16. How many parameters."""
    entry = _Entry(program)
    narrowed = [i for i, one in enumerate(entry.block.arguments) if _is_f32(one.type)]
    results = [result for parameter, result in entry.pairs().items() if parameter in narrowed]
    with entry.context, entry.unknown:
        for parameter in narrowed:
            entry.narrow_parameter(parameter)
        for result in results:
            entry.narrow_result(result)
        entry.retype()
    return len(narrowed)


class _Entry:
    """The entry computation: the function that every conversion of XLA's names main."""

    def __init__(self, program: Program) -> None:
        from jax._src.lib.mlir import ir

        self.ir = ir
        self.module = program.module.operation
        self.context = self.module.context
        self.unknown = ir.Location.unknown(self.context)
        self.function = next(one for one in program.module.body.operations
                             if one.operation.name == "func.func" and one.name.value == "main")
        self.block = self.function.regions[0].blocks[0]
        self.end = list(self.block.operations)[-1].operation

    def pairs(self) -> Dict[int, int]:
        """Parameter -> result of the same type: what is donated, then JAX's rule, the first that is free."""
        pairs = self.donated()
        for result, value in enumerate(self.end.operands):
            if result in pairs.values():
                continue
            alike = (i for i, one in enumerate(self.block.arguments) if i not in pairs and one.type == value.type)
            parameter = next(alike, None)
            if parameter is not None:
                pairs[parameter] = result
        return pairs

    def donated(self) -> Dict[int, int]:
        """Parameter -> result, as the program says already."""
        made: Dict[int, int] = {}
        if _ALIASES in self.module.attributes:
            for one in self.module.attributes[_ALIASES]:
                result = list(one["output_index"])
                made[self.ir.IntegerAttr(one["alias"]["parameter_number"]).value] = result[0] if result else 0
        return made

    def write_aliases(self, pairs: Dict[int, int]) -> None:
        is_tuple = len(self.end.operands) > 1
        told = (_ALIAS.format(parameter, f": {result}" if is_tuple else "") for parameter, result in pairs.items())
        self.module.attributes[_ALIASES] = self.ir.Attribute.parse(f"[{', '.join(told)}]", self.context)

    def narrow_parameter(self, number: int) -> None:
        parameter = self.block.arguments[number]
        wide = parameter.type
        parameter.set_type(self._narrow_type(wide))
        cast = self._cast(parameter, wide, self.ir.InsertionPoint.at_block_begin(self.block))
        parameter.replace_all_uses_except(cast.result, cast)

    def narrow_result(self, number: int) -> None:
        value = self.end.operands[number]
        cast = self._cast(value, self._narrow_type(value.type), self.ir.InsertionPoint(self.end))
        self.end.operands[number] = cast.result

    def retype(self) -> None:
        """Says the types of the function anew."""
        types = self.ir.FunctionType.get([one.type for one in self.block.arguments],
                                         [one.type for one in self.end.operands])
        self.function.attributes["function_type"] = self.ir.TypeAttr.get(types)
        for name in _LAYOUTS:
            if f"mhlo.xla_entry_computation_{name}" in self.module.attributes:
                del self.module.attributes[f"mhlo.xla_entry_computation_{name}"]

    def _cast(self, value: Any, to: Any, where: Any) -> Any:
        return self.ir.Operation.create("stablehlo.convert", results=[to], operands=[value], ip=where)

    def _narrow_type(self, wide: Any) -> Any:
        return self.ir.RankedTensorType.get(_shape(wide), self.ir.BF16Type.get())


def _is_f32(kind: Any) -> bool:
    return str(getattr(kind, "element_type", "")) == "f32"


def _shape(kind: Any) -> List[int]:
    return list(kind.shape)
