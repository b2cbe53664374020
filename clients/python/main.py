"""Calls offledger with grpcio."""

import json
import os
from collections.abc import Callable

import grpc
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from offledger.transfer_instruction.v1.transfer_instruction_pb2 import TransferFactoryWithChoiceContext
from offledger.transfer_instruction.v2.transfer_instruction_service_pb2_grpc import TransferInstructionServiceStub

import transfer
from report import Failure, Report, env, require

PATIENCE = 30.0

# Retries refusals of a service that has read no contracts yet. A service that is overloaded refuses in the same way.
RETRIES = json.dumps(
    {
        "methodConfig": [
            {
                "name": [{"service": "offledger.transfer_instruction.v2.TransferInstructionService"}],
                "retryPolicy": {
                    "maxAttempts": 5,
                    "initialBackoff": "2s",
                    "maxBackoff": "8s",
                    "backoffMultiplier": 2,
                    "retryableStatusCodes": ["UNAVAILABLE"],
                },
            }
        ]
    }
)


def call(variable: str, request, timeout: float = PATIENCE, metadata=(), options=()) -> TransferFactoryWithChoiceContext:
    """One call on a channel of its own."""
    target = env(variable).removeprefix("http://")
    with grpc.insecure_channel(target, options=options) as channel:
        return TransferInstructionServiceStub(channel).GetTransferFactory(request, timeout=timeout, metadata=metadata)


def retry() -> str:
    """The service refuses the first attempt. grpcio does not say so, but the call would fail without retries."""
    factory = call("OFFLEDGER_URL_STARTING", transfer.version2(), 2 * PATIENCE, options=[("grpc.service_config", RETRIES)])
    return transfer.read(factory)


def invalid_argument() -> str:
    errors: list[grpc.RpcError] = []
    request = transfer.version2(receiver=False)
    detail = refused(lambda: call("OFFLEDGER_URL", request), grpc.StatusCode.INVALID_ARGUMENT, "receiver", errors)
    if os.environ.get("OFFLEDGER_EXPECT_DETAILS") != "1":
        return detail
    status = rpc_status.from_call(errors[0])
    fields = []
    for one in status.details if status is not None else []:
        bad_request = error_details_pb2.BadRequest()
        if one.Unpack(bad_request):
            fields += [violation.field for violation in bad_request.field_violations]
    require(len(fields) > 0, f"the details must name fields in google.rpc.BadRequest, but are {status}")
    return f"{detail}; fields {fields}"


def refused(action: Callable[[], object], code: grpc.StatusCode, message: str = "", errors: list | None = None) -> str:
    """Checks the code of an error, and that the service says why."""
    try:
        action()
    except grpc.RpcError as error:
        if errors is not None:
            errors.append(error)
        described = f"{error.code().name}: {error.details()}"
        require(
            error.code() == code and bool(error.details()) and message in error.details(),
            f"must be {code.name} with {message!r}, but is {described}",
        )
        return described
    raise Failure(f"must be {code.name}, but is OK")


def main() -> None:
    report = Report()
    bearer = [("authorization", f"Bearer {env('OFFLEDGER_TOKEN')}")]
    report.check("retry", retry)
    for version, request in (("2", transfer.version2()), ("1", transfer.version1())):
        name = f"typed transfer-factory, version {version}"
        report.check(name, lambda request=request: transfer.read(call("OFFLEDGER_URL", request)))
    report.check("invalid argument", invalid_argument)
    report.check(
        "token missing",
        lambda: refused(lambda: call("OFFLEDGER_URL_TOKENS", transfer.version2()), grpc.StatusCode.UNAUTHENTICATED),
    )
    report.check(
        "token", lambda: transfer.read(call("OFFLEDGER_URL_TOKENS", transfer.version2(), metadata=bearer))
    )
    report.check(
        "deadline",
        lambda: refused(
            lambda: call("OFFLEDGER_URL_SLOW", transfer.version2(), timeout=0.3), grpc.StatusCode.DEADLINE_EXCEEDED
        ),
    )
    report.exit()


main()
