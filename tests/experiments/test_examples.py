"""Which examples are drawn, and which of their sources come first."""

import pytest

from rag_rule_explainer import InvalidInput
from rag_rule_explainer.experiments.examples import Criteria, Example, drawn
from tests.experiments.records import example


def ids(found: Example, count: int, seed: int | None = None) -> list[str]:
    return [source.id for source in found.first(count, seed)]


class TestTheFirstSources:
    def test_the_necessary_ones_come_first_and_the_others_as_published(self) -> None:
        found = example(sources=5)
        assert ids(found, 5) == ["D4", "D5", "D1", "D2", "D3"]
        assert ids(found, 1) == ["D4"]
        assert found.distractors == ("D1", "D2", "D3")

    @pytest.mark.parametrize("seed", [None, 0, 7])
    def test_fewer_are_the_beginning_of_more(self, seed: int | None) -> None:
        found = example()
        assert all(ids(found, n, seed) == ids(found, 10, seed)[:n] for n in range(1, 11))
        assert sorted(ids(found, 10, seed)) == sorted(source.id for source in found.sources)

    def test_a_seed_orders_the_distractors_of_each_example_anew(self) -> None:
        orders = {tuple(ids(example(name), 10, seed)) for name in "ab" for seed in range(3)}
        assert len(orders) == 6
        assert {order[:2] for order in orders} == {("D9", "D10")}
        assert ids(example(), 10, 3) == ids(example(), 10, 3)

    @pytest.mark.parametrize("count", [0, 11])
    def test_a_count_that_there_is_not(self, count: int) -> None:
        with pytest.raises(InvalidInput, match=f"{count} sources were asked for, and 'q1' has 10"):
            example().first(count)


class TestDrawing:
    many = tuple(example(f"q{number}") for number in range(40))

    def test_the_seed_and_the_ids_alone_decide(self) -> None:
        first = drawn(self.many, 10, 1).examples
        assert drawn(reversed(self.many), 10, 1).examples == first
        assert drawn(self.many, 10, 2).examples != first
        assert len(set(first)) == 10

    def test_fewer_are_the_beginning_of_more(self) -> None:
        all_of_them = drawn(self.many, 40, 5).examples
        assert set(all_of_them) == set(self.many)
        assert drawn(self.many, 7, 5).examples == all_of_them[:7]

    def test_every_example_is_drawn_about_as_often(self) -> None:
        times = [sum(each in drawn(self.many, 10, s).examples for s in range(200)) for each in self.many]
        assert sum(times) == 2000
        assert 25 <= min(times) <= max(times) <= 80  # 50 each, and a standard deviation of 6

    def test_what_is_not_admitted_is_counted_by_why(self) -> None:
        given = [
            example("good"),
            example("three", necessary=3),
            example("few", sources=9),
            example("long", answer="x" * 101),
            example("just", answer="x" * 100),
            example("lost", necessary=1, hops=2),
        ]
        found = drawn(given, 2, 0)
        assert {each.id for each in found.examples} == {"good", "just"}
        assert (found.eligible, found.seen) == (2, 6)
        assert found.objections == {
            "the number of necessary sources is not 2": 1,
            "fewer than 10 sources": 1,
            "an answer of more than 100 characters": 1,
            "a necessary source is not among its sources": 1,
        }

    def test_at_least_so_many_necessary_ones(self) -> None:
        given = [example(str(k), necessary=k) for k in (1, 2, 3, 4)]
        assert drawn(given, 3, 0, Criteria(most_necessary=None)).eligible == 3
        assert drawn(given, 1, 0, Criteria(fewest_necessary=3, most_necessary=3)).eligible == 1

    def test_more_than_there_are(self) -> None:
        given = [*self.many, example("few", sources=2)]
        with pytest.raises(InvalidInput, match=r"41 examples .* 40 of 41 .*; 1: fewer than 10 sources"):
            drawn(given, 41, 0)
        with pytest.raises(InvalidInput, match=r"0 of 1 can be drawn.*; give another file"):
            drawn([example("few", sources=2)], 1, 0)
        with pytest.raises(InvalidInput, match="at least 1"):
            drawn(given, 0, 0)
