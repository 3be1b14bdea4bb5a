"""Rules on kernels: CUDA extensions, Triton, flash attention, xFormers, bitsandbytes, Apex."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from core.migration.finding import Hit
from core.migration.python_module import Module, Rule, last_name, once, rule
from core.migration.references import Reference, found, found_import, imports, keyword, references, text_of

EXTENSION = re.compile(
    r"^torch\.utils\.cpp_extension\.(load|load_inline|CUDAExtension)$|^(cupy|pycuda|cutlass|tilelang)\b|^numba\.cuda\b"
)
COMPILED = re.compile(r"(^|_)cuda(_(ext|lib|kernels?|impl|ops?))?$")
# Packages that are nothing but kernels of CUDA, whatever their name.
_KERNELS = (
    "causal_conv1d mamba_ssm fused_dense_lib dropout_layer_norm rotary_emb ft_attention fused_softmax_lib amp_C "
    "syncbn fast_multihead_attn exllama_kernels exllamav2_kernels grouped_gemm tinycudann nvdiffrast spconv "
    "MultiScaleDeformableAttention pointnet2_ops diff_gaussian_rasterization sageattention flashinfer"
)
KERNELS = frozenset(_KERNELS.split())
JIT = re.compile(r"^triton\.(runtime\.jit\.)?(jit|JITFunction)$")
_FLASH = ("flash_attn", "flash_attn_interface", "flash_attn_3", "flash_attn_2_cuda", "ring_flash_attn")
FLASH = re.compile(rf"^({'|'.join(_FLASH)})\b")
RAGGED = re.compile(r"varlen|bert_padding|unpad")
PADDING = re.compile(r"bert_padding|unpad")
FLASH_TEXT = re.compile(r"flash[-_]?att(entio)?n", re.IGNORECASE)
CHOOSES_SDPA = re.compile(
    r"^torch\.nn\.attention\.(sdpa_kernel|SDPBackend\b.*)$|^torch\.backends\.cuda\.(sdp_kernel|enable_\w*sdp)$"
)
SDPA = re.compile(
    r"^torch\.nn\.functional\.scaled_dot_product_attention$|^torch\._C\._nn\.scaled_dot_product_attention$"
)
LOW_BIT = re.compile(r"8bit|4bit|nf4|fp4|Int8|\.lib\.|quantize_blockwise|\.matmul$", re.IGNORECASE)
LOW_BITS = ("load_in_8bit", "load_in_4bit")
LOW_BIT_TEXT = re.compile(r"(adam|adamw|lion|adagrad|rmsprop|ademamix)\w*_(8bit|bnb)|bnb_8bit|^paged_\w+")


@rule(ast.Module)
def packages(module: Module, node: ast.Module) -> Iterator[Hit]:
    """P10 to P15: imports of packages of CUDA kernels. Each module of a package counts once in a file's block."""
    triton = False
    seen: set[ast.AST] = set()
    for imported in imports(module):
        dotted, top = imported.dotted, imported.package.partition(".")[0]
        if top == "triton":
            # The language comes with the package: one of the two is the place.
            plain = imported.package == "triton" and not dotted.startswith("triton.language")
            if plain and (isinstance(imported.statement, ast.Import) or not triton):
                triton = True
                yield from found_import(module, imported, "P11", seen, 0.95)
        elif top in _FLASH:
            if not PADDING.search(dotted):  # a kernel all the same, if of joined sequences
                yield from found_import(module, imported, "P12", seen, 0.95)
        elif top == "xformers":
            yield from found_import(module, imported, "P13", seen, 0.95)
        elif top == "bitsandbytes":
            yield from found_import(module, imported, "P14", seen, 0.95)
        elif top == "apex" and "apex.contrib" not in dotted:
            yield from found_import(module, imported, "P15", seen)
        elif top == "apex" or EXTENSION.match(dotted) or _is_compiled(top):
            yield from found_import(module, imported, "P15" if top == "apex" else "P10", seen)
    if not triton:
        language = next((i for i in imports(module) if i.package.partition(".")[0] == "triton"), None)
        if language is not None:
            yield from found_import(module, language, "P11", seen, 0.95)
    yield from _beside(module)


def _is_compiled(top: str) -> bool:
    return top in KERNELS or (COMPILED.search(top) is not None and top not in ("cuda", "torch_cuda"))


def _beside(module: Module) -> Iterator[Hit]:
    """P10: a compiled module of the package itself, which has no source beside the file."""
    folder = module.path.rpartition("/")[0]
    start = f"{folder}/" if folder else ""
    for statement in module.nodes(ast.ImportFrom):
        if statement.level != 1 or statement.module:
            continue
        for alias in statement.names:
            near = (f"{start}{alias.name}.py", f"{start}{alias.name}/__init__.py")
            if COMPILED.search(alias.name) and not any(path in module.siblings for path in near):
                yield from found(module, statement, "P10", 0.8, alias.lineno)


@rule(ast.Module)
def uses(module: Module, node: ast.Module) -> Iterator[Hit]:
    """P10 to P15: what is called of those packages."""
    bound: set[str] = set()
    for ref in references(module):
        dotted = ref.dotted
        if ref.annotation:
            continue
        if JIT.match(dotted):
            if isinstance(ref.node, ast.Attribute) and isinstance(ref.node.ctx, ast.Store):
                continue  # a stand-in is put in its place
            yield from found(module, ref.node, "P11", 0.95)
        elif dotted.startswith("torch.utils.cpp_extension."):
            if EXTENSION.match(dotted) and ref.call is not None and not _is_cpp(ref.call):
                yield from found(module, ref.node, "P10")
        elif FLASH.match(dotted):
            if ref.call is not None and not RAGGED.search(dotted):
                yield from found(module, ref.node, "P12", 0.95)
        elif CHOOSES_SDPA.match(dotted):
            if ref.call is not None:
                yield from found(module, ref.node, "P12", 0.85)
        elif SDPA.match(dotted):
            if ref.call is not None and (_runs_flash(ref.call) or _selects_sdpa(module)):
                yield from found(module, ref.node, "P12", 0.85)
        elif dotted.startswith("xformers."):
            if ref.call is not None:
                yield from found(module, ref.node, "P13", 0.95)
        elif dotted.startswith("bitsandbytes."):
            if LOW_BIT.search(dotted) and not _asks_type(module, ref) and not _bound_before(module, ref, bound):
                yield from found(module, ref.node, "P14", 0.95)
        elif dotted.startswith("apex.") and ref.call is not None:
            yield from found(module, ref.node, "P15")
        elif re.match(r"^transformers\.([\w.]+\.)?BitsAndBytesConfig$", dotted) and ref.call is not None:
            yield from found(module, ref.node, "P14")


def _is_cpp(call: ast.Call) -> bool:
    """Whether an extension is built of C++ alone: its sources are listed, and none is CUDA's."""
    given = keyword(call, "sources", "cuda_sources")
    if given is not None and given.arg == "cuda_sources":
        return False
    sources = given.value if given is not None else call.args[1] if len(call.args) > 1 else None
    if not isinstance(sources, ast.List) or not sources.elts:
        return False
    texts = [text_of(item) for item in sources.elts]
    name = last_name(call.func)
    return name != "CUDAExtension" and all(t is not None and t.endswith((".cpp", ".cc", ".c")) for t in texts)


def _runs_flash(call: ast.Call) -> bool:
    """Whether a call goes to the flash kernel on a GPU: causal by its word, or with no mask at all."""
    causal, mask = keyword(call, "is_causal"), keyword(call, "attn_mask")
    if mask is not None and not (isinstance(mask.value, ast.Constant) and mask.value.value is None):
        return False
    if len(call.args) > 3 or any(k.arg is None for k in call.keywords):
        return False
    return mask is None or (causal is not None and isinstance(causal.value, ast.Constant))


@once
def _selects_sdpa(module: Module) -> bool:
    """Whether the file asks which attention there is, or picks one."""
    return any(text.value == "scaled_dot_product_attention" for text in module.nodes(ast.Constant)) or any(
        CHOOSES_SDPA.match(ref.dotted) for ref in references(module)
    )


def _asks_type(module: Module, ref: Reference) -> bool:
    """Whether a class is only compared with: ``isinstance(layer, Linear4bit)``."""
    up = module.parent(ref.node)
    up = module.parent(up) if isinstance(up, ast.Tuple) else up
    return isinstance(up, ast.Call) and getattr(up.func, "id", "") in ("isinstance", "issubclass")


def _bound_before(module: Module, ref: Reference, bound: set[str]) -> bool:
    """Whether the same name was given another kernel of the package already: the branches of one choice."""
    up = module.parent(ref.node)
    if not isinstance(up, ast.Assign) or not isinstance(up.targets[0], ast.Name):
        return False
    name = up.targets[0].id
    if name in bound:
        return True
    bound.add(name)
    return False


@rule(ast.Call)
def options(module: Module, node: ast.Call) -> Iterator[Hit]:
    """P12, P13, P14: kernels that are asked for by a method, an argument or a test of what there is."""
    func = node.func
    name = last_name(func)
    if name == "hasattr" and len(node.args) == 2 and text_of(node.args[1]) == "scaled_dot_product_attention":
        yield from found(module, node, "P12", 0.85)
    elif name in ("enable_xformers_memory_efficient_attention", "set_use_memory_efficient_attention_xformers"):
        yield from found(module, node, "P13", 0.95)
    elif name in ("import_module", "__import__") and node.args and _is_compiled(text_of(node.args[0]) or ""):
        yield from found(module, node, "P10")
    elif name == "get_kernel" and node.args and any(FLASH_TEXT.search(t) for t in _texts(module, node.args[0])):
        yield from found(module, node, "P12")
    for given in node.keywords:
        if given.arg not in LOW_BITS or not (module.resolve(func) or "").endswith("BitsAndBytesConfig"):
            yield from _option(module, given.arg, given.value)


@rule(ast.Dict, ast.Assign)
def options_by_name(module: Module, node: ast.Dict | ast.Assign) -> Iterator[Hit]:
    """P12, P14: the same options in a table that is handed on: ``options["load_in_4bit"] = True``."""
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if text_of(key) not in LOW_BITS:  # a table of these is made for BitsAndBytesConfig, which is the place
                yield from _option(module, text_of(key), value)
    else:
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                yield from _option(module, text_of(target.slice), node.value)


def _option(module: Module, name: str | None, value: ast.expr) -> Iterator[Hit]:
    """What an option asks for by its name and value."""
    if name in ("attn_implementation", "_attn_implementation"):
        if FLASH_TEXT.search(text_of(value) or ""):
            yield from found(module, value, "P12")
    elif name in LOW_BITS:
        if _may_be_true(value):
            yield from found(module, value, "P14")
    elif name in ("optim", "optimizer", "optimizer_name") and LOW_BIT_TEXT.search(text_of(value) or ""):
        yield from found(module, value, "P14", 0.85)


def _may_be_true(node: ast.expr) -> bool:
    """Whether an option is on, or on under a condition: ``True if small else None``, ``bits == 4``."""
    if isinstance(node, ast.Compare):
        return True
    parts = (node.body, node.orelse) if isinstance(node, ast.IfExp) else (node,)
    return any(isinstance(part, ast.Constant) and part.value is True for part in parts)


def _texts(module: Module, node: ast.expr) -> list[str]:
    """The texts that an expression, or a name bound to some, can be."""
    return [text for part in (node, *module.bindings(node)) if isinstance(part, ast.AST) and (text := text_of(part))]


RULES: tuple[Rule, ...] = (packages, uses, options, options_by_name)
