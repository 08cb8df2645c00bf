"""Questions about functions that call one another.

::

    @about_functions(recursive=True)
    def is_pure(function):           # asks is_pure of what the function calls
        ...

Asked about a function while its own answer is still sought, a question gets the answer
`recursive`: a call of itself adds nothing to what a function does otherwise.  For the
functions on the way that is a guess, so that an answer that rests on it is kept only
for the function at which the recursion closes.  Thereby it does not matter about which
function one asks first.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Hashable
from typing import TypeVar

Answer = TypeVar("Answer")


def about_functions(
    recursive: Answer,
) -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    """Remember the answers of a question ``question(function, *details)``.

    Parameters
    ----------
    recursive : object
        The answer about a function about which one is asking already.
    """

    def decorate(question: Callable[..., Answer]) -> Callable[..., Answer]:
        # What is being asked → how many questions were open before; the lowest such
        # number that each open question rests on.
        asked: dict[tuple[Hashable, ...], int] = {}
        rests_on: list[int] = []
        known: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()

        @functools.wraps(question)
        def answer(function: Callable, *details: Hashable) -> Answer:
            key = (function, *details)
            if key in asked:
                rests_on[-1] = min(rests_on[-1], asked[key])
                return recursive
            answers = known.setdefault(function, {})
            if details in answers:
                return answers[details]
            own = asked[key] = len(asked)
            rests_on.append(own)
            try:
                found = question(function, *details)
            finally:
                del asked[key]
                lowest = rests_on.pop()
            if lowest >= own:
                answers[details] = found
            else:
                rests_on[-1] = min(rests_on[-1], lowest)
            return found

        return answer

    return decorate
