"""This module rewrites error messages for the command line, where settings have the names of options."""

import re

_OPTIONS = {
    "limits.replays": "--max-replays",
    "limits.tokens": "--max-tokens",
    "limits.cost": "--max-cost",
    "limits.seconds": "--max-seconds",
    "concurrency": "--concurrency",
    "timeout": "--timeout",
    "retries.most": "--retries",
    "speculate": "--speculate",
    "merge_duplicates": "--similarity",
    "max_violation": "--max-violation",
    "confidence": "--confidence",
    "max_rules": "--max-rules",
    "noise.samples": "--samples",
    "noise.recheck": "--recheck",
    "noise.min_confidence": "--min-confidence",
    "replay_bound": "--replay-bound",
    "answer_tokens": "--answer-tokens",
    "seconds_per_replay": "--seconds-per-replay",
    "judge_samples": "--judge-samples",
    "batch": "--judge-batch",
    "partition": "--partition",
    "granularity": "--granularity",
    "pinned": "--pinned",
    "ignore": "--ignore",
}
_BEGINS = re.compile(rf"({'|'.join(map(re.escape, _OPTIONS))})(?= (?:is|has|names) )")
_SAID_OTHERWISE = (
    (", or None for no bound", ""),
    (", or None", ", or leave it out"),
    ("give True, False, or the share", "give the share"),
    ("ask for more samples, such as 9", "ask for more, such as --samples 9"),
    (" write one such as [r'request no\\. \\d+']", " write one such as 'request no\\. \\d+'"),
    (
        "pass answer_of=, a function from the output to a str or an Answer",
        "name a function of one input that returns its answer as a str",
    ),
    (
        "pass question_of=, a function from the input to the question",
        'say what it is with --question, or give an --input such as {"question": "..."}',
    ),
    (
        "cut off at its length limit (allow_length=True takes it as an answer)",
        "cut off at its length limit; raise that limit (often max_tokens), or give fewer sources",
    ),
    (
        "give a namespace, an age in days, or ask for everything",
        "give --namespace, --older-than-days, or --all",
    ),
    (
        "everything is pruned whatever its namespace and age; leave those out, or everything",
        "--all prunes every namespace and age; leave out --namespace and --older-than-days, or --all",
    ),
    ("pass false_condition='warn' (--yes)", "pass --yes"),
)


def as_typed(message: str) -> str:
    """Returns an error message in which names of settings are replaced by the matching options."""
    begun = _BEGINS.match(message)
    if begun is not None:
        message = _OPTIONS[begun[1]] + message[begun.end() :]
    for of_code, of_commands in _SAID_OTHERWISE:
        message = message.replace(of_code, of_commands)
    return message
