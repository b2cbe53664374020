"""Calls a service with the generated client. Arguments: the URL of the service, the path of its document."""

import json
import sys

import offledger_client as api


def main(url: str, path: str) -> None:
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    operations = {one["operationId"]: one for methods in document["paths"].values() for one in methods.values()}
    examples = {one["name"]: one.get("example") for it in operations.values() for one in it.get("parameters", [])}
    registrar = examples["registrarParty"]
    done = []

    with api.ApiClient(api.Configuration(host=url)) as client:
        instruments = api.MetadataV1Api(client).list_instruments(registrar, page_size=25).instruments
        assert instruments, "the registrar has no instruments"
        done.append(f"{len(instruments)} instruments")

        # Typed arguments, and the ones of the example.
        example = body_of(operations["getTransferFactory"])
        parties = example["choiceArguments"]["transfer"]
        transfer = api.Transfer(
            sender=parties["sender"],
            receiver=parties["receiver"],
            amount="1.0",
            instrument_id=api.InstrumentId(admin=registrar, id=parties["instrumentId"]["id"]),
        )
        request = api.GetTransferFactoryRequest(choice_arguments=api.TransferArguments(transfer=transfer))
        factory = api.TransferInstructionV1Api(client).get_transfer_factory(registrar, request)
        assert factory.transfer_kind == "offer", factory.transfer_kind
        assert factory.choice_context.disclosed_contracts[0].debug_payload, "no debug fields"
        done.append(f"transfer factory {factory.transfer_kind}")

        request2 = api.GetTransferFactoryRequestV2.from_dict(body_of(operations["getTransferFactoryV2"]))
        assert request2.choice_arguments.transfer.sender.owner, "accounts are not typed"
        factory2 = api.TransferInstructionV2Api(client).get_transfer_factory_v2(registrar, request2)
        assert factory2.factory_id == factory.factory_id, "the versions give different factories"
        done.append(f"v2 transfer factory {factory2.transfer_kind}")

        context = api.BurnV0Api(client).get_burn_request_accept_context(examples["burnRequestId"])
        assert context.disclosed_contracts[0].created_at, "no time of creation"
        done.append(f"burn request with {len(context.disclosed_contracts)} contracts")

        try:
            api.MetadataV1Api(client).get_registry_info("nobody::1220")
            raise AssertionError("an unknown registrar has an info")
        except api.exceptions.NotFoundException as error:
            assert isinstance(error.data, api.ErrorResponse), error.data
            assert "nobody::1220" in error.data.error
            done.append("404")
    print(", ".join(done))


def body_of(operation: dict) -> dict:
    return operation["requestBody"]["content"]["application/json"]["example"]


if __name__ == "__main__":
    main(*sys.argv[1:])
