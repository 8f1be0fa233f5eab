"""What is looked for in structured output, and answers that try to break the search."""

import json
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from rag_rule_explainer import (
    Answer,
    InvalidInput,
    Verdict,
    cites,
    contains,
    equals,
    is_valid,
    json_path,
    one_of,
    refuses,
    same_answer,
)
from rag_rule_explainer.predicates import Predicate, negated, negation_of
from tests.clock import cheap
from tests.predicates.cases import case, holds, judged

DOSE: Any = {"dose": {"unit": "mg", "amount": 5, "daily": True}, "notes": ["zinc", "iron"], "brand": None}
TEXT = json.dumps(DOSE)
WRITTEN = [
    case(TEXT),
    case(f"\n {TEXT} "),
    case(f"```json\n{TEXT}\n```"),
    case(f"Here it is:\n\n```JSON \r\n{TEXT}\n```\nTake care."),
    case(f"```\n{TEXT}\n```"),
    case(f"```python\nprint()\n```\n```json\n{TEXT}\n```"),
    case(Answer("prose", value=DOSE)),
]


class Dose(BaseModel):
    unit: str
    amount: float


@dataclass
class Prescription:
    dose: Dose


def is_large(amount: float) -> bool:
    return amount > 100


class TestJsonPath:
    @pytest.mark.parametrize("given_", WRITTEN)
    def test_json_is_found_wherever_applications_put_it(self, given_: Any) -> None:
        assert holds(json_path("$.dose.unit", equals="mg"), given_)

    def test_a_value_of_objects_is_what_json_says_of_them(self) -> None:
        assert holds(
            json_path("$.dose.unit", equals="mg"),
            case(Answer("", Prescription(Dose(unit="mg", amount=1)))),
        )
        assert holds(json_path("$.unit", equals="mg"), case(Answer("{}", Dose(unit="mg", amount=1))))

    def test_the_text_counts_where_json_says_nothing_of_the_value(self) -> None:
        for value in (object(), {"a": object()}, {"a": float("nan")}, "<Dose>", None):
            assert holds(json_path("$.dose"), case(Answer(TEXT, value)))

    def test_values_are_compared_as_json(self) -> None:
        assert holds(json_path("$.dose.amount", equals=5.0), case(TEXT))
        assert holds(json_path("$.notes", equals=("zinc", "iron")), case(TEXT))
        assert holds(json_path("$.brand", equals=None), case(TEXT))
        assert holds(json_path("$.dose", equals={"amount": 5, "daily": True, "unit": "mg"}), case(TEXT))
        assert not holds(json_path("$.dose.daily", equals=1), case(TEXT))
        assert not holds(json_path("$.dose.amount", equals="5"), case(TEXT))
        assert not holds(json_path("$.a", equals=[True]), case('{"a": [1]}'))

    def test_one_of_several_will_do(self) -> None:
        assert holds(json_path("$.notes[*]", equals="iron"), case(TEXT))
        assert holds(json_path("$..unit", equals="mg"), case(TEXT))
        assert not holds(json_path("$.notes[*]", equals="gold"), case(TEXT))

    def test_existence(self) -> None:
        assert holds(json_path("$.brand"), case(TEXT))
        assert not holds(json_path("$.brands"), case(TEXT))
        assert holds(json_path("$.error", exists=False), case(TEXT))
        assert not holds(json_path("$.brand", exists=False), case(TEXT))
        assert not holds(json_path("$.error", exists=False), case("prose"))

    def test_a_function_of_the_value(self) -> None:
        assert holds(json_path("$.dose.amount", is_=lambda amount: amount < 10), case(TEXT))
        assert not holds(json_path("$.dose.amount", is_=is_large), case(TEXT))
        with pytest.raises(InvalidInput, match="return True, False"):
            judged(json_path("$.dose.amount", is_=lambda _: "yes"), case(TEXT))

    def test_a_predicate_of_the_value(self) -> None:
        assert holds(json_path("$.notes[*]", is_=contains("IRON")), case(TEXT))
        assert holds(json_path("$.dose.unit", is_=one_of(["MG", "g"]) & ~refuses()), case(TEXT))
        assert holds(json_path("$.dose", is_=json_path("$.unit", equals="mg")), case(TEXT))
        assert holds(json_path("$.dose.amount", is_=equals("5")), case(TEXT))
        assert holds(json_path("$.notes[0]", is_=cites("D2")), case('{"notes": ["so [2]"]}'))

    def test_what_stays_the_same_is_the_baselines_value_there(self) -> None:
        unit = json_path("$.dose.unit", is_=same_answer())
        other = json.dumps({"dose": {"unit": "MG"}, "more": 1})
        assert holds(unit, case(other, baseline=TEXT))
        assert not holds(unit, case(other.replace("MG", "g"), baseline=TEXT))
        assert not holds(unit, case(other, baseline="prose"))

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("prose", "the answer is no JSON"),
            ("{}", "there is no $.dose.unit"),
            ('{"dose": "mg"}', "there is no $.dose.unit"),
            ('{"dose": {"unit": "g"}}', '$.dose.unit is "g"'),
        ],
    )
    def test_reasons(self, text: str, reason: str) -> None:
        assert judged(json_path("$.dose.unit", equals="mg"), case(text)).reason == reason

    @pytest.mark.parametrize(
        "path",
        [
            "",
            "dose.unit",
            "$.",
            "$[",
            "$.a[?@.b",
            "$.a ",
            "$[99999999999999999999]",
            "$.a..b..c..d",
            7,
            pytest.param("$" + "[?(@" * 999, id="nested too deep"),
        ],
    )
    def test_malformed_paths(self, path: str) -> None:
        with pytest.raises(InvalidInput, match=r"JSON path|name the steps"):
            json_path(path)

    def test_bad_arguments(self) -> None:
        with pytest.raises(InvalidInput, match="combine two with &"):
            json_path("$.a", equals=1, is_=contains("a"))
        with pytest.raises(InvalidInput, match="combine two with &"):
            json_path("$.a", equals=None, exists=False)
        with pytest.raises(InvalidInput, match="JSON cannot say"):
            json_path("$.a", equals=float("nan"))
        with pytest.raises(InvalidInput, match="use equals="):
            json_path("$.a", is_="mg")  # type: ignore[arg-type] -- a mistake, on purpose

    @pytest.mark.parametrize(
        ("predicate", "clause", "opposite"),
        [
            (json_path("$.a", equals="mg"), 'the answer\'s $.a is "mg"', 'the answer\'s $.a is not "mg"'),
            (json_path("$.a"), "the answer has $.a", "the answer has no $.a"),
            (
                json_path("$.a", exists=False),
                "the answer is JSON without $.a",
                "the answer is no JSON, or has $.a",
            ),
            (json_path("$.a", is_=is_large), "is_large($.a) is true", "is_large($.a) is false"),
            (
                json_path("$.a", is_=lambda _: True),
                "the given function of $.a is true",
                "the given function of $.a is false",
            ),
            (
                json_path("$.a", is_=~contains("x")),
                "at $.a, the answer does not contain 'x'",
                "at $.a, the answer contains 'x'",
            ),
            (
                json_path("$.a", is_=contains("x") & contains("y")),
                "at $.a, (the answer contains 'x' and the answer contains 'y')",
                "at $.a, (the answer does not contain 'x' or the answer does not contain 'y')",
            ),
            (is_valid(Dose), "the answer is a valid Dose", "the answer is not a valid Dose"),
            (
                is_valid(list[int]),
                "the answer is a valid list[int]",
                "the answer is not a valid list[int]",
            ),
        ],
    )
    def test_they_read_well(self, predicate: Predicate, clause: str, opposite: str) -> None:
        assert str(predicate) == clause
        assert negation_of(predicate) == str(negated(predicate)) == opposite


class TestIsValid:
    def test_models_and_other_types(self) -> None:
        dose = '{"unit": "mg", "amount": 5}'
        assert holds(is_valid(Dose), case(dose))
        assert holds(is_valid(Dose), case(f"```json\n{dose}\n```"))
        assert holds(is_valid(Prescription), case(Answer("", {"dose": {"unit": "g", "amount": 1}})))
        assert holds(is_valid(list[int]), case("[1, 2]"))
        assert holds(is_valid(Annotated[int, Field(gt=0)]), case("5"))
        assert not holds(is_valid(Annotated[int, Field(gt=0)]), case("-5"))

    def test_the_first_error_is_the_reason(self) -> None:
        assert judged(is_valid(Dose), case('{"unit": "mg"}')).reason == "amount: Field required"
        assert judged(is_valid(Dose), case("prose")).reason == "the answer is no JSON"
        nested = judged(is_valid(list[Dose]), case('[{"unit": "mg", "amount": "x"}]')).reason
        assert nested.startswith("0.amount: Input should be a valid number")

    @pytest.mark.parametrize("kind", ["Nowhere", 7, Dose(unit="mg", amount=1), is_large])
    def test_what_is_no_type(self, kind: Any) -> None:
        with pytest.raises(InvalidInput, match=r"give a pydantic model|define it first"):
            is_valid(kind)

    def test_equal_types_make_equal_predicates(self) -> None:
        assert is_valid(Dose) == is_valid(Dose)
        assert hash(is_valid(Dose)) == hash(is_valid(Dose))
        assert is_valid(Dose) != is_valid(Prescription)
        assert hash(is_valid(Annotated[int, Field(gt=0)])) is not None

    def test_types_with_the_same_name_have_keys_of_their_own(self) -> None:
        class Other(BaseModel):
            unit: str

        Other.__name__ = "Dose"
        keys = {is_valid(kind).memo_key(case("{}")) for kind in (Dose, Other)}
        assert len(keys) == 2


HOSTILE = [
    "[" * 100_000,
    "[" * 150 + "]" * 150,
    '{"a":' * 100_000,
    '{"a":' * 150 + "1" + "}" * 150,
    "1" * 100_000,
    "-1e999",
    "1e-99999999",
    "NaN",
    "[Infinity]",
    '"\\ud800"',
    '"\ud800"',
    "\x00",
    '{"a": 1, "a": 2}',
    "```json\n" * 20_000,
    "```" * 50_000,
    "`" * 100_000,
    "```\n[\n```" * 20_000,
    json.dumps({"a": [{"a": each} for each in range(5_000)]}),
    '{"__class__": "x", "$ref": "#"}',
]
PREDICATES = [
    json_path("$.a", equals=1),
    json_path("$..a..a", equals=7),
    json_path("$..*", equals="x"),
    json_path("$[?@.a > 1 && match(@.b, 'x.*')]"),
    json_path("$[?length(@.a) == count(@..b)]", exists=False),
    json_path("$", is_=same_answer()),
    json_path("$", is_=contains("x") | refuses()),
    is_valid(Dose),
    is_valid(list[int]),
    is_valid(Any),
]


@pytest.mark.spread(fast=3)
@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:12].encode("unicode_escape").decode())
def test_hostile_answers_are_judged_and_at_once(text: str) -> None:
    with cheap(30):
        for predicate in PREDICATES:
            hash(predicate.memo_key(case(text, baseline=text)))
            assert judged(predicate, case(text, baseline=text)).verdict is not Verdict.UNKNOWN


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "b"]) | st.text(), inner, max_size=4)
    ),
)


@given(VALUES | st.text())
def test_any_value_has_one_verdict_and_its_negation_the_other(value: Any) -> None:
    for given_ in (case(Answer("prose", value)), case(json.dumps(value)), case(str(value))):
        for predicate in PREDICATES:
            assert holds(predicate, given_) is not holds(negated(predicate), given_)


@given(VALUES, VALUES)
def test_equal_keys_mean_equal_verdicts(first: Any, second: Any) -> None:
    cases = [case(Answer("x", first)), case(Answer("y", second)), case(json.dumps(first))]
    for predicate in PREDICATES:
        by_key = {predicate.memo_key(each): judged(predicate, each) for each in cases}
        assert all(by_key[predicate.memo_key(each)] == judged(predicate, each) for each in cases)


def test_the_same_json_is_judged_once_however_it_is_wrapped() -> None:
    for predicate in (json_path("$.dose"), json_path("$.dose.unit", is_=contains("m")), is_valid(Dose)):
        assert predicate.memo_key(case(TEXT)) == predicate.memo_key(case(f"```json\n{TEXT}\n```"))
        assert predicate.memo_key(case(TEXT)) != predicate.memo_key(case("{}"))
    assert json_path("$.a", is_=is_large).memo_key(case(TEXT)) is None
    inner = json_path("$.a", is_=cites())
    assert inner.memo_key(case('{"a": 1}')) != inner.memo_key(case('{"a": 1}', kept=("D1",)))


TEXTS_AS_VALUES = [("yes", "yes"), ('{"n": 1}', {"n": 1}), ("1", 1)]


@pytest.mark.parametrize(("value", "wanted"), TEXTS_AS_VALUES, ids=["text", "object", "number"])
def test_a_value_that_is_a_text_is_read_like_any_other_value(value: str, wanted: object) -> None:
    assert holds(json_path("$", equals=wanted), case(Answer("something else", value)))


def test_numbers_of_numpy_are_numbers_of_a_value() -> None:
    np = pytest.importorskip("numpy")
    given = case(Answer("so", {"n": np.int64(1), "all": np.array([1, 2])}))
    assert holds(json_path("$.n", equals=1), given)
    assert holds(json_path("$.all[*]", equals=2), given)
