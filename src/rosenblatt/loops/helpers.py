"""Compile a helper to LLVM code that is linked into the loops that call it.

Subclasses of private classes of Numba; `compiler.TESTED_VERSIONS` lists where they work.
"""

from typing import Any

from numba.core import compiler
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_machinery import register_pass
from numba.core.dispatcher import _FunctionCompiler
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NativeLowering


class HelperLibrary(JITCodeLibrary):
    """The code of a helper and of the helpers it calls: linked, not optimized, no machine code."""

    reorders_sums = False

    def finalize(self) -> None:
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        if self.reorders_sums:  # in the order that the optimizer finds without the callers
            self._optimize_final_module()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return the null pointer: there is no machine code."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> "HelperLibrary":
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing: the variable exists only in the finished loop."""


@register_pass(mutates_CFG=True, analysis_only=False)
class HelperLowering(NativeLowering):
    """Numba's last pass, into a `HelperLibrary`."""

    _name = "helper_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = HelperLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        state.library.reorders_sums = bool(state.flags.fastmath)
        changed: bool = super().run_pass(state)
        return changed


class HelperCompiler(compiler.CompilerBase):
    """Numba's pipeline with this last pass."""

    def define_pipelines(self) -> list[Any]:
        pipeline = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.passes = [
            (HelperLowering if kind is NativeLowering else kind, reason)
            for kind, reason in pipeline.passes
        ]
        pipeline.finalize()
        return [pipeline]


class _WithoutWrappers(_FunctionCompiler):  # type: ignore[misc]
    def _customize_flags(self, flags: Any) -> Any:
        flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        return flags


class HelperDispatcher(CPUDispatcher):
    """The forms of a helper by the types of its arguments; Python cannot call them."""

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        super().__init__(function, {}, options, pipeline_class=HelperCompiler)
        self._compiler = _WithoutWrappers(function, self.targetdescr, options, {}, HelperCompiler)

    def add_overload(self, cres: Any) -> None:
        self.overloads[tuple(cres.signature.args)] = cres
