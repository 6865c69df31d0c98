"""A run as spans and figures of OpenTelemetry: made of the events in its journal, sent on request."""
