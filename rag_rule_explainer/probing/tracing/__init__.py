"""This package adds an explanation's data to the traces of its replays, for each tracer that an
application may use: LangSmith, OpenTelemetry and OpenInference."""
