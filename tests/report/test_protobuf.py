"""The wire format, held against the protobuf library."""

from __future__ import annotations

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.wrappers_pb2 import DoubleValue, Int64Value, StringValue, UInt64Value
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from rtrace_otel.report import protobuf as pb


def test_the_example_of_the_specification() -> None:
    """Field 1 with the value 150 is ``08 96 01``."""
    assert bytes.fromhex("089601") == pb.integer(1, 150)


@given(st.integers(-(2**63), 2**63 - 1))
def test_signed_numbers(value: int) -> None:
    """A negative one takes ten bytes, and comes back."""
    assert value == Int64Value.FromString(pb.integer(1, value)).value


@given(st.integers(0, 2**64 - 1))
def test_unsigned_numbers(value: int) -> None:
    """All 64 bits."""
    assert value == UInt64Value.FromString(pb.integer(1, value)).value
    assert value == Span.FromString(pb.fixed64(7, value)).start_time_unix_nano


@given(st.floats(allow_nan=False))
def test_doubles(value: float) -> None:
    """Infinity too."""
    assert value == DoubleValue.FromString(pb.double(1, value)).value


@given(st.text())
def test_texts(value: str) -> None:
    """Text that UTF-8 can hold comes back."""
    assert value == StringValue.FromString(pb.text(1, value)).value


def test_text_that_utf8_cannot_hold() -> None:
    """A lone surrogate does not make the file unreadable."""
    assert "a?b" == StringValue.FromString(pb.text(1, "a\ud800b")).value


@given(st.text(max_size=300), st.text(max_size=300))
def test_messages_within_messages(key: str, value: str) -> None:
    """A field that holds a message, with field numbers above 15 and lengths above 127."""
    expected = KeyValue(key=key, value=AnyValue(string_value=value))
    assert expected == KeyValue.FromString(pb.text(1, key) + pb.message(2, pb.text(1, value)))
    option = FileDescriptorProto(message_type=[{"name": key, "field": [{"json_name": value}]}])
    field = pb.message(2, pb.text(FieldDescriptorProto.JSON_NAME_FIELD_NUMBER, value))
    assert option == FileDescriptorProto.FromString(pb.message(4, pb.text(1, key) + field))
