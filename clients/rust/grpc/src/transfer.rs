//! Requests for a transfer factory, and what a wallet reads of the response.
use crate::proto::offledger::choice_arguments::{v1, v2};
use crate::proto::offledger::transfer_instruction::v1::{
    GetTransferFactoryRequest, TransferFactoryWithChoiceContext, get_transfer_factory_request::TypedArguments,
    transfer_factory_with_choice_context::TransferKind,
};
use crate::report::{Outcome, env};
use base64::{Engine, engine::general_purpose::STANDARD};
use prost_types::{Timestamp, value::Kind};
use std::time::{Duration, SystemTime};

fn instrument() -> Option<v1::InstrumentId> {
    Some(v1::InstrumentId {
        admin: env("REGISTRAR"),
        id: env("INSTRUMENT"),
    })
}

fn account(owner: String) -> Option<v2::Account> {
    Some(v2::Account {
        owner: Some(owner),
        ..Default::default()
    })
}

fn request(arguments: TypedArguments) -> GetTransferFactoryRequest {
    GetTransferFactoryRequest {
        registrar_party: env("REGISTRAR"),
        typed_arguments: Some(arguments),
        ..Default::default()
    }
}

fn in_an_hour() -> Option<Timestamp> {
    Some((SystemTime::now() + Duration::from_secs(3600)).into())
}

/// The arguments of `TransferFactory_Transfer` in version 1, which names parties.
pub fn version1() -> GetTransferFactoryRequest {
    request(TypedArguments::TransferV1(v1::TransferArguments {
        expected_admin: Some(env("REGISTRAR")),
        transfer: Some(v1::Transfer {
            sender: env("SENDER"),
            receiver: env("RECEIVER"),
            amount: "10.0".into(),
            instrument_id: instrument(),
            requested_at: Some(SystemTime::now().into()),
            execute_before: in_an_hour(),
            ..Default::default()
        }),
    }))
}

fn transfer2(receiver: Option<v2::Account>) -> GetTransferFactoryRequest {
    request(TypedArguments::TransferV2(v2::TransferArguments {
        transfer: Some(v2::Transfer {
            sender: account(env("SENDER")),
            receiver,
            amount: "10.0".into(),
            instrument_id: instrument(),
            requested_at: Some(SystemTime::now().into()),
            execute_before: in_an_hour(),
            ..Default::default()
        }),
        actors: vec![env("SENDER")],
    }))
}

/// The arguments of version 2, which names accounts.
pub fn version2() -> GetTransferFactoryRequest {
    transfer2(account(env("RECEIVER")))
}

/// An invalid request.
pub fn without_receiver() -> GetTransferFactoryRequest {
    transfer2(None)
}

/// Reads all that a wallet needs of a response, and compares it with the contracts of the ledger.
pub fn read(factory: &TransferFactoryWithChoiceContext) -> Outcome {
    if factory.factory_id != env("FACTORY_ID") {
        return Err(format!(
            "factory id must be {}, but is {:?}",
            env("FACTORY_ID"),
            factory.factory_id
        ));
    }
    if factory.transfer_kind() != TransferKind::Offer {
        return Err(format!(
            "transfer kind must be offer, but is {:?}",
            factory.transfer_kind()
        ));
    }
    let context = factory
        .choice_context
        .as_ref()
        .ok_or("the response must have a choice context")?;
    let data = context
        .choice_context_data
        .as_ref()
        .ok_or("the context must have data")?;
    let configuration = data
        .values
        .get("utility.digitalasset.com/instrument-configuration")
        .ok_or("the context must have instrument-configuration")?;
    let expected = Some(Kind::StringValue(env("CONFIGURATION_ID")));
    if configuration.tag != "AV_ContractId"
        || configuration.value.as_ref().and_then(|value| value.kind.clone()) != expected
    {
        return Err(format!(
            "instrument-configuration must be AV_ContractId {}, but is {configuration:?}",
            env("CONFIGURATION_ID")
        ));
    }
    let blob = STANDARD
        .decode(env("FACTORY_BLOB"))
        .map_err(|error| error.to_string())?;
    let disclosed = &context.disclosed_contracts;
    if !disclosed
        .iter()
        .any(|one| one.contract_id == factory.factory_id && one.created_event_blob == blob)
    {
        return Err(format!(
            "the factory must be disclosed with its blob, but {} other contracts are",
            disclosed.len()
        ));
    }
    let mut names: Vec<_> = data.values.keys().map(String::as_str).collect();
    names.sort_unstable();
    Ok(format!(
        "factory {}…, {:?}; context {}; {} disclosed contracts, the factory's blob has {} bytes",
        &factory.factory_id[..10],
        factory.transfer_kind(),
        names.join(", "),
        disclosed.len(),
        blob.len()
    ))
}
