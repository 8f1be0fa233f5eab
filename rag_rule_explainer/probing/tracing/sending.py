"""This module stops, during explanations, traces of replays that should not be sent: traces to an
endpoint that does not answer, and traces of replays that the user hides from tracers.

An application may get its tracer from anywhere, such as from the config of a call. So this module
replaces the methods of LangSmith's client and of OpenTelemetry's tracer, through which all traces pass.
"""

import sys
from collections.abc import Generator
from contextlib import AbstractContextManager
from functools import partial, wraps
from typing import Any

from . import endpoints, langsmith, late, late_runs, spans
from .marks import TracedReplay, being_traced, current_replay
from .receivers import Receivers
from .replacing import MakeReplacement, Replacing


def checked() -> AbstractContextManager[None]:
    """Stops, during the block, the traces of replays that should not be sent. To do so, replaces the
    methods through which LangSmith's client and OpenTelemetry's tracer send or begin traces. Each
    endpoint is checked once for an explanation."""
    return _methods.on()


def _wanted() -> Generator[tuple[type, str, MakeReplacement], None, None]:
    client = getattr(sys.modules.get("langsmith.client"), "Client", None)
    if client is not None:
        yield client, "create_run", _of_a_client
        yield client, "update_run", _of_a_client
    tracer = getattr(sys.modules.get("opentelemetry.sdk.trace"), "Tracer", None)
    if tracer is not None:
        yield tracer, "start_span", _of_a_tracer


_methods = Replacing(_wanted)


def _bound(method: Any, instance: Any) -> Any:
    """Returns a method that was read from a class, bound to an instance of this class. The method may be
    any object with ``__get__``, because an instrumentation may have replaced the original function."""
    return method.__get__(instance, type(instance))


def _of_a_client(send: Any) -> Any:
    @wraps(send)
    def sent(client: Any, *args: Any, **kwargs: Any) -> Any:
        call, replay = _bound(send, client), current_replay()
        if replay is None:
            return call(*args, **late_runs.as_sent(client, kwargs))
        if not replay.is_shown:
            return None
        replicas: Any = kwargs.get("_replica_auths")
        if replicas:
            # LangSmith sends this run to several services. The run is sent only to the services that
            # answer.
            live = [each for each in replicas if not _is_dead_client(replay, client, each.api_url)]
            return call(*args, **{**kwargs, "_replica_auths": live}) if live else None
        is_dead = _is_dead_client(replay, client, kwargs.get("api_url"))
        return None if is_dead else call(*args, **late_runs.as_sent(client, kwargs))

    return sent


def _is_dead_client(replay: TracedReplay, client: Any, api_url: str | None) -> bool:
    asked = langsmith.asked_at(client, api_url)
    return bool(asked) and all(_why_dead(replay, each) for each in asked)


def _of_a_tracer(start: Any) -> Any:
    @wraps(start)
    def started(tracer: Any, *args: Any, **kwargs: Any) -> Any:
        spans.mark_of(tracer)
        replay = current_replay()
        begin = _bound(start, tracer)
        if replay is not None and not replay.is_shown:
            return spans.unrecorded()
        if replay is not None:
            receivers = Receivers.of(tracer, partial(_why_dead, replay))
            if receivers.dead and not receivers.has_live_exporter:
                return spans.unrecorded()
            begin = receivers.limiting(begin)
        has_context = len(args) > 1 or kwargs.get("context") is not None
        around = None if has_context else late.span_around(tracer)
        if around is None:
            return begin(*args, **kwargs)
        with spans.current(around.span):
            return begin(*args, **kwargs)

    return started


def _why_dead(replay: TracedReplay, endpoint: str) -> str:
    """Returns a note that says why an endpoint gets no traces, and adds the note to the explanation.
    Returns an empty text if the endpoint answers. The first call for an endpoint checks it, and blocks
    until it answers or a time limit is over."""
    explanation = replay.explanation
    if not endpoint:
        return ""
    if endpoint not in explanation.endpoints:
        # An instrumentation may trace the HTTP request of this check. If that trace counted as a trace of
        # the replay, its endpoint would be checked too, and so on for ever.
        with being_traced(None):
            why = endpoints.why_not(endpoint)
        if explanation.endpoints.setdefault(endpoint, why) is why and why:
            explanation.take_note(why)
    return explanation.endpoints[endpoint]
