"""Events as OpenTelemetry spans: one projector for the live path, for replay and for the exporters."""
