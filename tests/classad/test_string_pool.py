"""The pool of strings of a table: codes, lower-case forms, and results of functions of strings."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.classad.syntax import fold
from negotiator.classad.tables import StringPool


@given(st.lists(st.lists(st.text("abAB", max_size=3), max_size=6), max_size=5))
def test_codes_are_those_of_the_strings_in_the_order_in_which_they_came(batches):
    pool = StringPool()
    for batch in batches:
        assert [pool.strings[code] for code in pool.codes(batch).tolist()] == batch
    assert pool.strings == list(dict.fromkeys(text for batch in batches for text in batch))
    assert [pool.code(text) for text in pool.strings] == list(range(len(pool.strings)))


def test_a_string_that_is_looked_up_alone_is_added_once():
    pool = StringPool()
    assert [pool.code("a"), pool.code("b"), pool.code("a")] == [0, 1, 0]
    assert pool.codes(["b", "c"]).tolist() == [1, 2]
    assert pool.strings == ["a", "b", "c"]


@given(st.lists(st.lists(st.text("abAB\u00c4\u00e4", max_size=3), min_size=1, max_size=6), max_size=5))
def test_lower_case_forms_are_equal_exactly_for_strings_that_compare_as_equal(batches):
    pool = StringPool()
    for batch in batches:
        folded = pool.folded(pool.codes(batch))
        assert [pool.strings[code] for code in folded.tolist()] == [fold(text) for text in batch]


def test_the_lower_case_form_of_one_code_has_no_shape():
    pool = StringPool()
    assert pool.folded(np.asarray(pool.code("A"), np.int32)).shape == ()
    assert pool.strings == ["A", "a"]


def test_only_strings_that_are_asked_for_are_folded():
    pool = StringPool()
    codes = pool.codes(["A", "B"])
    pool.folded(codes[:1])
    assert pool.strings == ["A", "B", "a"]


def test_a_function_of_strings_is_called_once_for_each_string():
    calls = []

    def first(text):
        calls.append(text)
        return text[:1]

    pool = StringPool()
    for texts in (["ab", "ac"], ["ac", "b", "ab"]):
        found = pool.mapped("first", first, pool.codes(texts).astype(np.int64))
        assert [pool.strings[code] for code in found.tolist()] == [text[0] for text in texts]
    assert calls == ["ab", "ac", "b"]


@pytest.mark.parametrize("texts", [[], ["A", "b"]])
def test_a_pool_that_was_pickled_has_the_same_codes(texts):
    pool = StringPool()
    pool.codes(texts)
    found = pickle.loads(pickle.dumps(pool))  # noqa: S301
    assert found.strings == texts
    assert found.codes(["b", "A", "c"]).tolist() == pool.codes(["b", "A", "c"]).tolist()
