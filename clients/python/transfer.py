"""Requests for a transfer factory, and what a wallet reads of the response."""

import base64
import time

from google.protobuf.timestamp_pb2 import Timestamp
from offledger.choice_arguments.v1 import common_pb2, transfer_pb2 as transfer_v1
from offledger.choice_arguments.v2 import common_pb2 as common_v2, transfer_pb2 as transfer_v2
from offledger.transfer_instruction.v1.transfer_instruction_pb2 import (
    GetTransferFactoryRequest,
    TransferFactoryWithChoiceContext,
)
from report import env, require


def _common() -> dict:
    now = int(time.time())
    return {
        "amount": "10.0",
        "instrument_id": common_pb2.InstrumentId(admin=env("REGISTRAR"), id=env("INSTRUMENT")),
        "requested_at": Timestamp(seconds=now),
        "execute_before": Timestamp(seconds=now + 3600),
    }


def version1() -> GetTransferFactoryRequest:
    """With the arguments of TransferFactory_Transfer in version 1, which names parties."""
    transfer = transfer_v1.Transfer(sender=env("SENDER"), receiver=env("RECEIVER"), **_common())
    arguments = transfer_v1.TransferArguments(expected_admin=env("REGISTRAR"), transfer=transfer)
    return GetTransferFactoryRequest(registrar_party=env("REGISTRAR"), transfer_v1=arguments)


def version2(receiver: bool = True) -> GetTransferFactoryRequest:
    """With the arguments of version 2, which names accounts. Without a receiver it is invalid."""
    transfer = transfer_v2.Transfer(
        sender=common_v2.Account(owner=env("SENDER")),
        receiver=common_v2.Account(owner=env("RECEIVER")) if receiver else None,
        **_common(),
    )
    arguments = transfer_v2.TransferArguments(transfer=transfer, actors=[env("SENDER")])
    return GetTransferFactoryRequest(registrar_party=env("REGISTRAR"), transfer_v2=arguments)


def read(factory: TransferFactoryWithChoiceContext) -> str:
    """Reads all that a wallet needs of a response, and compares it with the contracts of the ledger."""
    kind = TransferFactoryWithChoiceContext.TransferKind.Name(factory.transfer_kind)
    require(kind == "offer", f"transfer kind must be offer, but is {kind}")
    factory_id = factory.factory_id
    require(factory_id == env("FACTORY_ID"), f"factory id must be {env('FACTORY_ID')}, but is {factory_id}")
    values = factory.choice_context.choice_context_data.values
    require("utility.digitalasset.com/instrument-configuration" in values, f"the context must name the configuration, but has {sorted(values)}")
    entry = values["utility.digitalasset.com/instrument-configuration"]
    found = (entry.tag, entry.value.string_value)
    expected = ("AV_ContractId", env("CONFIGURATION_ID"))
    require(found == expected, f"instrument-configuration must be {expected}, but is {found}")
    blob = base64.b64decode(env("FACTORY_BLOB"))
    disclosed = factory.choice_context.disclosed_contracts
    require(
        any(one.contract_id == factory_id and one.created_event_blob == blob for one in disclosed),
        f"the factory must be disclosed with its blob, but {len(disclosed)} other contracts are",
    )
    return (
        f"factory {factory_id[:10]}…, {kind}; context {', '.join(sorted(values))}; "
        f"{len(disclosed)} disclosed contracts, the factory's blob has {len(blob)} bytes"
    )
