"""Questions about functions that call one another."""

import pytest

from sct.questions import about_functions


def made(calls):
    """Functions by name, a question about them, and how often it was asked of each."""
    functions = {name: (lambda: None) for name in calls}
    names = {f: name for name, f in functions.items()}
    asked = dict.fromkeys(calls, 0)

    @about_functions(True)
    def harmless(function):
        name = names[function]
        asked[name] += 1
        return name != "writes" and all(harmless(functions[n]) for n in calls[name])

    return functions, harmless, asked


MUTUAL = {"f": ["g"], "g": ["f", "h"], "h": ["g", "writes"], "writes": []}


@pytest.mark.parametrize("order", ["fgh", "hgf", "gfh", "fhg"])
def test_the_order_of_questions_does_not_matter(order):
    functions, harmless, _ = made(MUTUAL)
    assert [harmless(functions[n]) for n in order] == [False] * 3


def test_recursion_that_does_no_harm():
    functions, harmless, _ = made({"f": ["g", "f"], "g": ["f"]})
    assert harmless(functions["g"]) and harmless(functions["f"])


def test_each_function_is_asked_about_once():
    names = [f"f{i}" for i in range(40)]
    calls = {n: [m, m] for n, m in zip(names, names[1:], strict=False)} | {"f39": []}
    functions, harmless, asked = made(calls)
    assert harmless(functions["f0"])
    assert set(asked.values()) == {1}


def test_details_are_part_of_the_question():
    @about_functions(False)
    def longer(function, than):
        return len(function.__name__) > than

    assert longer(made, 3) and not longer(made, 4)
    assert longer(made, 3)
