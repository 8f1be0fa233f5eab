"""This module sorts the options of the commands into panels, which are the headings of the help texts."""

from collections.abc import Sequence
from typing import Any, NamedTuple


class OptionPanel(NamedTuple):
    """An ``OptionPanel`` is a heading of the help texts.

    ``about``: the subject of its options, in words. ``main``: the names of the options that the short
    help names. ``others``: the names of all other options. A command shows only the options that it has.
    """

    heading: str
    about: str
    main: tuple[str, ...]
    others: tuple[str, ...] = ()


PANELS: tuple[OptionPanel, ...] = (
    OptionPanel(
        "Sources",
        "the question and its documents",
        ("question", "questions", "setting", "data", "judgements", "labels", "sources", "trace"),
        (
            "top_k",
            "exclude",
            "replace",
            "add",
            "rounds",
            "documents",
            "pinned",
            "baseline",
            "trace_id",
            "corpus",
            "id_of",
            "examples",
            "count",
            "necessary",
            "shuffle_distractors",
            "seed",
        ),
    ),
    OptionPanel(
        "Application",
        "what answers",
        ("app", "model", "base_url", "key"),
        (
            "framework",
            "input_key",
            "input",
            "scope",
            "on_new_query",
            "on_no_retrieval",
            "ignore",
            "replay_bound",
            "source_kinds",
            "omit",
            "replay_of",
            "on_new_tool_call",
            "safe_tools",
            "unexecuted_tools",
            "temperature",
            "max_output_tokens",
            "reasoning_effort",
            "prompt",
            "prompt_file",
            "shuffle_sources",
            "answer_without_sources",
            "ask_without_sources",
        ),
    ),
    OptionPanel(
        "Condition",
        "what is asked of an answer",
        ("rule", "predicate", "good", "forbid", "max_size", "kind"),
        ("omission_predicate", "besides", "pattern", "numbers_from", "every_statement", "language"),
    ),
    OptionPanel(
        "Judge",
        "a model that decides it",
        ("judge_model", "reference"),
        (
            "judge_base_url",
            "judge_key",
            "judge_samples",
            "judge_batch",
            "judge_prompt",
            "judge_prompt_file",
        ),
    ),
    OptionPanel(
        "Search",
        "which rules, and how they are found",
        ("rules", "miner", "miners", "subsets"),
        (
            "merge_duplicates",
            "similarity",
            "granularity",
            "partition",
            "others",
            "max_rules",
            "max_violation",
            "confidence",
            "jointly",
            "neighbours",
            "sizes",
            "speculate",
            "lockstep",
        ),
    ),
    OptionPanel(
        "Noise",
        "answers that vary",
        ("samples", "vote", "fdr"),
        ("recheck", "min_confidence", "repeat_check", "deterministic", "blame_replays"),
    ),
    OptionPanel(
        "Cost",
        "what may be spent",
        ("max_replays", "max_cost", "yes"),
        (
            "all_replays",
            "all_tokens",
            "all_cost",
            "all_seconds",
            "workers",
            "engine",
            "ray_address",
            "actors",
            "ray_working_dir",
            "replays_per_minute",
            "tokens_per_minute",
            "max_tokens",
            "max_seconds",
            "price",
            "answer_tokens",
            "seconds_per_replay",
            "concurrency",
            "timeout",
            "retries",
            "store",
            "namespace",
            "older_than_days",
            "all",
        ),
    ),
    OptionPanel(
        "Output",
        "how it is written",
        ("out", "folder", "format", "json", "fail_on"),
        ("annotate", "annotate_to", "send", "explanations", "figures", "legend", "show", "help"),
    ),
)
"""All panels, in the order in which the help texts show them."""

_ALL = [(name, panel.heading) for panel in PANELS for name in (*panel.main, *panel.others)]
_PLACES = {name: place for place, (name, _) in enumerate(_ALL)}


def panelled(options: Sequence[Any]) -> list[Any]:
    """Returns the arguments, and then the options in the order of their panels, each with the heading of
    its panel. If an option belongs to no panel, all arguments and options are returned unchanged."""
    named = [option for option in options if option.param_type_name == "option"]
    if not all(option.name in _PLACES for option in named):
        return list(options)
    for option in named:
        option.rich_help_panel = _ALL[_PLACES[option.name]][1]
    return sorted(options, key=lambda option: _PLACES.get(option.name, -1))


def panels_in_short(options: Sequence[Any]) -> list[tuple[str, str]]:
    """Returns, for each panel that has some of these options, its heading and one line. The line names
    the main options, and counts the others."""
    written = {option.name: option.opts[0] for option in options}
    lines = list[tuple[str, str]]()
    for panel in PANELS:
        named = [written[name] for name in panel.main if name in written]
        more = sum(name in written for name in panel.others)
        if named or more:
            counted = [f"+{more}"] if more else []
            lines.append((panel.heading, f"{panel.about}: {' '.join([*named, *counted])}"))
    return lines
