"""What is true of the applications that leave something, and what is to be told of each."""

import os
from collections.abc import Callable
from dataclasses import dataclass

from rag_rule_explainer import Explanation, StateShared
from tests.integrations.known import TEXTS, Rules, omission, retention
from tests.integrations.leaving import (
    afterwards,
    by_commands,
    computed_names,
    guilty,
    hidden,
    innocent,
    inside,
    kept_harmlessly,
    outside,
    services,
    set_aside,
    set_behind,
    set_beside,
    set_elsewhere,
    set_farther,
    set_for_all,
    set_in_libraries,
    set_in_process,
    set_once,
    shown_only,
)
from tests.integrations.leaving.parts import KEY, Leaving, said
from tests.integrations.spoilt import subsets


@dataclass(frozen=True)
class Shape:
    """An application, and what is told of it; nothing where its rules are proved."""

    build: Leaving
    told: str = ""

    @property
    def name(self) -> str:
        return self.build.__name__


CHANGED = "models replied the same after the search as before it"
SHAPES = (
    Shape(afterwards.a_breaker_that_counts, CHANGED),
    Shape(afterwards.set_by_a_helper, CHANGED),
    Shape(afterwards.set_by_another_name, CHANGED),
    Shape(afterwards.set_on_its_class, "type(self).thin, where the next run finds it"),
    Shape(afterwards.filled_by_the_first_run, "self.alert, where the next run finds it"),
    Shape(outside.in_the_environment),
    Shape(outside.by_putenv),
    Shape(outside.once_in_the_environment),
    Shape(outside.sticking_in_the_environment),
    Shape(outside.sticking_in_a_dict, "state['mode'], where the next run finds it"),
    Shape(inside.read_before_it_is_set, "state['mode'], where the next run finds it"),
    Shape(inside.set_as_an_event, "calm.set, where the next run finds it"),
    Shape(inside.on_an_open_shelf, "shelf['mode'], where the next run finds it"),
    Shape(outside.in_a_file_each_time),
    Shape(outside.once_in_a_file, "was written by the baseline and read by the replay on"),
    Shape(outside.once_in_json, "settings.json' was written by the baseline and read by the replay on"),
    Shape(outside.once_in_a_pickle, "mode.pickle' was written by the baseline and read by the replay on"),
    Shape(outside.sticking_in_a_file, "was written by the replay on"),
    Shape(outside.a_mark_that_is_there, "is left by a run, and the code asks which files are there"),
    Shape(outside.once_on_a_shelf, "shelf"),
    Shape(outside.once_in_a_database, "was not the same when the baseline and the replay on"),
    Shape(outside.sticking_in_a_database, "reads the table 'modes' of a database"),
    Shape(inside.by_a_cached_method, "mode() keeps what it gave before, and goes by 'found'"),
    Shape(inside.by_a_cached_function, "mode() keeps what it gave before, and goes by 'known'"),
    Shape(
        inside.by_a_cached_function_of_another, "mode() keeps what it gave before, and goes by 'state'"
    ),
    Shape(inside.by_a_cached_search, "mode() keeps what it gave before, and searches"),
    Shape(inside.put_by_a_method),
    Shape(inside.appended_by_a_method, "modes.append, where the next run finds it"),
    Shape(inside.updated_by_a_partial, "state.update, where the next run finds it"),
    Shape(inside.noted_in_a_thread, "state['mode'] in a thread or task that nobody waits for"),
    Shape(inside.noted_by_an_executor, "state.__setitem__ in a thread or task that nobody waits for"),
    Shape(inside.in_a_task, "state['mode'] in a thread or task that nobody waits for"),
    Shape(inside.by_an_executor),
    Shape(inside.by_a_hidden_model_at_times, "models whose requests are seen replied the same"),
    Shape(hidden.in_a_context_variable),
    Shape(hidden.named_in_a_context_variable),
    Shape(hidden.in_the_default_of_a_context_variable, CHANGED),
    Shape(hidden.in_a_default, "writes memo['mode'], where the next run finds it"),
    Shape(hidden.on_a_function, "writes known.most, where the next run finds it"),
    Shape(hidden.in_a_generator, "the baseline changed answer.highest"),
    Shape(hidden.in_an_iterator, "the baseline changed answer.modes"),
    Shape(hidden.in_a_namespace, "'alert' of SimpleNamespace was set in the baseline"),
    Shape(hidden.on_its_class_by_the_first_run, "type(self).alert, where the next run finds it"),
    Shape(hidden.only_reported),
    Shape(hidden.in_a_queue, CHANGED),
    Shape(hidden.in_a_queue_that_is_made_when_it_is_needed, "as before the baseline"),
    Shape(hidden.in_a_queue_that_is_emptied),
    Shape(hidden.in_what_a_cache_knows, CHANGED),
    Shape(hidden.in_the_order_of_a_dict, CHANGED),
    Shape(hidden.on_a_module, CHANGED),
    Shape(hidden.in_a_partial, CHANGED),
    Shape(hidden.in_a_list_of_a_partial, "as before the baseline"),
    Shape(hidden.by_what_it_prints, "fidelity not checked"),
    Shape(hidden.before_an_early_return, "self.topic, where the next run finds it"),
    *(Shape(each, "") for each in set_once.HARMLESS),
    *(Shape(each, "fidelity not checked") for each in set_once.SET_ONCE),
    *(Shape(each) for each in (*set_aside.HARMLESS, *set_beside.HARMLESS)),
    *(Shape(each, "fidelity not checked") for each in set_aside.SET_ASIDE),
    *(Shape(each, "fidelity not checked") for each in set_beside.SET_BESIDE),
    *(Shape(each, "fidelity not checked") for each in set_elsewhere.SET_ELSEWHERE),
    *(Shape(each) for each in (*services.HARMLESS, *set_farther.HARMLESS, *set_behind.HARMLESS)),
    Shape(services.with_a_service_in_bytes, "fidelity not checked"),
    *(Shape(each, "a service that may keep it") for each in services.TELLING),
    *(Shape(each, "fidelity not checked") for each in set_farther.SET_FARTHER),
    *(Shape(each, "fidelity not checked") for each in set_behind.SET_BEHIND),
    *(Shape(each, "fidelity not checked") for each in set_in_process.SET_IN_PROCESS),
    Shape(set_in_process.a_name_of_the_thread_for_each_run),
    *(Shape(each, "fidelity not checked") for each in set_in_libraries.SET_IN_LIBRARIES),
    *(Shape(each, "fidelity not checked") for each in set_for_all.SET_FOR_ALL),
    *(Shape(each) for each in (*innocent.INNOCENT, *by_commands.HARMLESS, *computed_names.HARMLESS)),
    *(Shape(each, "fidelity not checked") for each in by_commands.BY_COMMANDS),
    *(Shape(each, "fidelity not checked") for each in computed_names.COMPUTED_NAMES),
    *(Shape(each) for each in kept_harmlessly.KEPT_HARMLESSLY),
    *(Shape(each, "fidelity not checked") for each in kept_harmlessly.KEPT_AND_DECIDING),
    *(Shape(each, "fidelity not checked") for each in guilty.GUILTY),
    *(Shape(each, "fidelity not checked") for each in shown_only.DECIDING),
)


def rules_of(build: Leaving) -> tuple[Rules, Rules]:
    """What is true of an application on three documents: each choice of them is run in a fresh state."""
    names, bad = frozenset("abd"), dict[frozenset[str], bool]()
    for kept in subsets("abd"):
        os.environ.pop(KEY, None)
        answer = build(lambda _, kept=kept: [TEXTS[each] for each in kept], said)
        bad[frozenset(kept)] = "bad" in answer("why?")
    os.environ.pop(KEY, None)
    retained = [each for each in bad if all(bad[other] for other in bad if each <= other)]
    omitted = [each for each in bad if not any(bad[names - other] for other in bad if each <= other)]
    return minimal(retained), minimal(omitted)


def minimal(rules: list[frozenset[str]]) -> Rules:
    return {each for each in rules if not any(other < each for other in rules)}


RACING = frozenset(
    {
        "read_before_it_is_set",
        "noted_in_a_thread",
        "noted_by_an_executor",
        "in_a_task",
        "by_a_number_that_decides",
        "a_client_of_each_thread_made_of_a_run",
        "a_list_of_each_thread",
        "a_client_of_each_thread_that_is_told",
        "in_a_database_of_a_command",
        "in_a_folder_beside_a_script",
        "in_a_folder_that_a_script_names",
        "in_a_folder_that_a_script_computes",
        "a_bucket_that_only_thin_runs_empty",
        "a_queue_of_models",
        "a_simple_queue_of_models",
    }
)
"""What these leave comes early or late, or to one of several threads, so a repeated replay at times shows
it at once."""


def checked(shape: Shape, explain: Callable[[str], Explanation]) -> None:
    """Asserts what ``check`` does; an application whose task races with its runs may also be refused."""
    try:
        explanation = explain("why?")
    except StateShared:
        if shape.name not in RACING:
            raise
    else:
        check(shape, explanation)


def check(shape: Shape, explanation: Explanation) -> None:
    """Asserts that the rules are true, or that nobody is led to believe that they are."""
    claims = {rule.claim for rule in explanation.rules}
    if shape.told:
        assert claims <= {"unverified"}
        assert not explanation.complete
        assert explanation.warnings[0].startswith("fidelity not checked")
        assert shape.told in explanation.warnings[0]
        return
    assert claims == {"proved"}, explanation.warnings
    assert (retention(explanation), omission(explanation)) == rules_of(shape.build)
