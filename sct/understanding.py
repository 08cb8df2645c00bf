"""What names, attributes and items mean at one place of a function.

::

    m = Model(w)        m: an object of the class Model, made here
    f = m.loss          f: the method Model.loss of m
    g = STEPS[0]        g: the function that the module's list holds

Statements come in order: each is asked about before it runs, and remembered after.
"""

from __future__ import annotations

import types

import gast

from . import meanings
from .classes import annotated
from .grammar import is_name, nodes, writes
from .meanings import Instance, Items, Made, Outside, Parent
from .resolve import MISSING, Scope

Env = dict[str, meanings.Known]


class Understanding:
    """Tells what expressions mean from what is known of names, in an `Env`.

    Attributes
    ----------
    scope : Scope
        What free names denote.
    count : dict
        How often each name of the function is bound.
    attributes : set of (str, str)
        The attributes that objects made here are given.
    trusted : dict
        The classes of given objects that what is written out rests on, by path.
    silent : set of str
        The names that are bound to functions alone.
    """

    def __init__(self, scope: Scope):
        self.scope = scope
        self.count: dict[str, int] = {}
        self.attributes: set[tuple[str, str]] = set()
        self.trusted: dict[tuple[str, ...], type] = {}
        self.silent: set[str] = set()

    def object(self, e: gast.AST) -> object:
        """The object that an expression of names from outside denotes."""
        local = any(is_name(n) and n.id in self.count for n in nodes(e))
        return MISSING if local else self.scope.resolve(e)

    def value(self, e: gast.AST, env: Env) -> meanings.Known | None:
        """What is known of the value of a name, an attribute or an element."""
        if isinstance(e, gast.Name):
            if e.id in env:
                return env[e.id]
            return None if e.id in self.count else meanings.of_object(self.object(e))
        if isinstance(e, gast.Attribute):
            return self.attribute(e, env)
        if isinstance(e, gast.Subscript) and isinstance(e.slice, gast.Constant):
            return self.item(self.value(e.value, env), e.slice.value)
        if isinstance(e, gast.Subscript) and not isinstance(e.slice, gast.Slice):
            return meanings.any_item(self.value(e.value, env))
        return None

    def item(self, whole: meanings.Known | None, key: object) -> meanings.Known | None:
        """What is known of an item of a list, tuple or dict."""
        try:
            if isinstance(whole, Items):
                return whole.parts[key]
            if isinstance(whole, Outside) and isinstance(
                whole.value, meanings.CONTAINERS
            ):
                return meanings.of_object(whole.value[key])
        except (KeyError, IndexError, TypeError):
            pass
        return None

    def attribute(self, e: gast.Attribute, env: Env) -> meanings.Known | None:
        owner = self.value(e.value, env)
        if isinstance(owner, Outside) and isinstance(owner.value, types.ModuleType):
            return meanings.of_object(getattr(owner.value, e.attr, MISSING))
        if isinstance(owner, Parent):
            return meanings.attribute(owner.cls, e.attr, owner.receiver, owner.after)
        if isinstance(owner, Instance):
            if _dotted(e) in env:
                return env[_dotted(e)]
            if e.attr in owner.parts:
                return owner.parts[e.attr]
            own = getattr(owner.sample, "__dict__", {})
            if e.attr in own:
                return meanings.of_object(own[e.attr])
            found = meanings.attribute(owner.cls, e.attr, e.value)
            if owner.path and found is None:
                path = (*owner.path, e.attr)
                found = meanings.of_class(annotated(owner.cls, e.attr), path=path)
            elif owner.path:
                self.trusted[owner.path] = owner.cls
            return found
        return meanings.of_object(self.object(e))

    def remember(self, s: gast.AST, env: Env) -> None:
        """What is known once a statement that stays has run."""
        if not isinstance(s, gast.Assign):
            for n in writes(s):
                forget(env, n)
            return
        target, source = _dotted(s.targets[0]), _dotted(s.value)
        value = self.value(s.value, env)
        if isinstance(s.value, Made):
            value = Instance(s.value.cls, made=True)
        parts = {k[len(source) :]: v for k, v in env.items() if _is_part(k, source)}
        for n in writes(s):
            forget(env, n)
        if isinstance(s.targets[0], gast.Attribute):
            owner, _, attr = target.rpartition(".")
            if not isinstance(env.get(owner), Instance):
                return
            self.attributes.add((owner, attr))
            forget(env, target)
        if not target or value is None:
            return
        if isinstance(s.targets[0], gast.Name) and not isinstance(value, Instance):
            if self.count[target] > 1:
                return
            self.silent.add(target)
        env[target] = value
        env.update({target + part: v for part, v in parts.items()})
        self.attributes |= {
            (target + n[len(source) :], a)
            for n, a in self.attributes
            if source and (n == source or _is_part(n, source))
        }

    def single(self, target: gast.AST) -> bool:
        return isinstance(target, gast.Name) and self.count[target.id] == 1


def forget(env: Env, key: str) -> None:
    """Forget what is known of a name, or of an attribute of one, and of its parts."""
    for k in [k for k in env if k == key or _is_part(k, key)]:
        del env[k]


def _is_part(key: str, whole: str) -> bool:
    return bool(whole) and key.startswith(f"{whole}.")


def _dotted(e: gast.AST) -> str:
    """A name or a chain of attributes as it is written; else an empty string."""
    attributes = []
    while isinstance(e, gast.Attribute):
        attributes.append(e.attr)
        e = e.value
    return ".".join([e.id, *reversed(attributes)]) if is_name(e) else ""
