//! Calls the token standard's API over REST with the crate canton-token, which needs no code from offledger.
use base64::{Engine, engine::general_purpose::STANDARD};
use canton_core::Error;
use canton_daml::{Party, TextMap, Timestamp};
use canton_proto::com::daml::ledger::api::v2::command::Command;
use canton_token::types::{metadata, v1, v2};
use canton_token::v2::transfer as transfer_v2;
use canton_token::{RegistryClient, TokenCommand, TransferKind};
use serde_json::json;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

type Outcome = Result<String, Box<dyn std::error::Error>>;

#[tokio::main]
async fn main() -> ExitCode {
    let mut failed = false;
    let mut report = |check: &str, outcome: Outcome| {
        failed |= outcome.is_err();
        let ok = outcome.is_ok();
        let detail = outcome.unwrap_or_else(|error| error.to_string());
        println!("{}", json!({ "check": check, "ok": ok, "detail": detail }));
    };
    report("retry", retried().await);
    report("instrument", instrument().await);
    report(
        "transfer-factory, version 1",
        version1("OFFLEDGER_URL").await.and_then(read),
    );
    report("transfer-factory, version 2", version2().await.and_then(read));
    report("not found", not_found().await);
    report(
        "token missing",
        refused(version1("OFFLEDGER_URL_TOKENS").await, 401, ""),
    );
    report("deadline", deadline().await);
    ExitCode::from(u8::from(failed))
}

fn registry(variable: &str, registrar: &str) -> Result<RegistryClient, Box<dyn std::error::Error>> {
    let base = format!("{}/api/token-standard/v0/registrars/{registrar}", env(variable)?);
    Ok(RegistryClient::new(&base)?)
}

fn env(name: &str) -> Result<String, String> {
    std::env::var(name).map_err(|_| format!("{name} must be set: run npm run test:clients"))
}

fn microseconds(after: Duration) -> Result<Timestamp, Box<dyn std::error::Error>> {
    let time = (SystemTime::now() + after).duration_since(SystemTime::UNIX_EPOCH)?;
    Ok(Timestamp(i64::try_from(time.as_micros())?))
}

fn no_metadata() -> metadata::Metadata {
    metadata::Metadata { values: TextMap::new() }
}

async fn version1(variable: &str) -> Result<TokenCommand, Box<dyn std::error::Error>> {
    let admin = Party::parse(&env("REGISTRAR")?)?;
    let transfer = v1::transfer_instruction::Transfer {
        sender: Party::parse(&env("SENDER")?)?,
        receiver: Party::parse(&env("RECEIVER")?)?,
        amount: "10.0".parse()?,
        instrument_id: v1::holding::InstrumentId {
            admin: admin.clone(),
            id: env("INSTRUMENT")?,
        },
        requested_at: microseconds(Duration::ZERO)?,
        execute_before: microseconds(Duration::from_secs(3600))?,
        input_holding_cids: vec![],
        meta: no_metadata(),
    };
    Ok(canton_token::transfer(&registry(variable, admin.as_str())?, &admin, transfer).await?)
}

async fn version2() -> Result<TokenCommand, Box<dyn std::error::Error>> {
    let admin = Party::parse(&env("REGISTRAR")?)?;
    let sender = Party::parse(&env("SENDER")?)?;
    let account = |owner: Party| v2::holding::Account {
        owner: Some(owner),
        provider: None,
        id: String::new(),
    };
    let transfer = v2::transfer_instruction::Transfer {
        sender: account(sender.clone()),
        receiver: account(Party::parse(&env("RECEIVER")?)?),
        amount: "10.0".parse()?,
        instrument_id: v2::holding::InstrumentId {
            admin: admin.clone(),
            id: env("INSTRUMENT")?,
        },
        requested_at: microseconds(Duration::ZERO)?,
        execute_before: microseconds(Duration::from_secs(3600))?,
        input_holding_cids: vec![],
        meta: no_metadata(),
    };
    let registry = registry("OFFLEDGER_URL", admin.as_str())?;
    Ok(transfer_v2(&registry, transfer, vec![sender]).await?)
}

/// Reads what a participant needs of the command, and compares it with the contracts of the ledger.
fn read(command: TokenCommand) -> Outcome {
    if command.transfer_kind() != Some(TransferKind::Offer) {
        return Err(format!("transfer kind must be offer, but is {:?}", command.transfer_kind()).into());
    }
    let Some(Command::Exercise(exercise)) = &command.command().command else {
        return Err("the command must exercise a choice".into());
    };
    if exercise.contract_id != env("FACTORY_ID")? {
        return Err(format!(
            "factory id must be {}, but is {}",
            env("FACTORY_ID")?,
            exercise.contract_id
        )
        .into());
    }
    if !format!("{:?}", exercise.choice_argument).contains(&env("CONFIGURATION_ID")?) {
        return Err(format!("the context must name the configuration {}", env("CONFIGURATION_ID")?).into());
    }
    let blob = STANDARD.decode(env("FACTORY_BLOB")?)?;
    let disclosed = command.disclosed_contracts();
    if !disclosed
        .iter()
        .any(|one| one.contract_id == exercise.contract_id && one.created_event_blob == blob)
    {
        return Err(format!(
            "the factory must be disclosed with its blob, but {} other contracts are",
            disclosed.len()
        )
        .into());
    }
    Ok(format!(
        "factory {}…, Offer; {} disclosed contracts, the factory's blob has {} bytes",
        &exercise.contract_id[..10],
        disclosed.len(),
        blob.len()
    ))
}

async fn instrument() -> Outcome {
    let registry = registry("OFFLEDGER_URL", &env("REGISTRAR")?)?;
    let info = registry.info().await?;
    if info.admin_id != env("REGISTRAR")? {
        return Err(format!("the admin must be {}, but is {}", env("REGISTRAR")?, info.admin_id).into());
    }
    let instrument = registry.instrument(&env("INSTRUMENT")?).await?;
    let instrument = instrument.ok_or("the registry must issue the instrument")?;
    Ok(format!("{}, {} decimals", instrument.id, instrument.decimals))
}

async fn not_found() -> Outcome {
    let result = registry("OFFLEDGER_URL", "nobody::1220")?.info().await;
    refused(result.map_err(Into::into), 404, "nobody::1220")
}

/// The crate sends no token: a service that requires one refuses it.
fn refused<T>(result: Result<T, Box<dyn std::error::Error>>, status: u16, message: &str) -> Outcome {
    match result {
        Ok(_) => Err(format!("must be HTTP {status}, but is ok").into()),
        Err(error) => match error.downcast_ref::<Error>() {
            Some(Error::Http { status: got, body, .. }) if *got == status && body.contains(message) => {
                Ok(format!("HTTP {got}: {body}"))
            }
            _ => Err(format!("must be HTTP {status} with {message:?}, but is {error}").into()),
        },
    }
}

/// With an HTTP client of our own, which has a shorter deadline than the crate's.
async fn deadline() -> Outcome {
    let base = format!(
        "{}/api/token-standard/v0/registrars/{}",
        env("OFFLEDGER_URL_SLOW")?,
        env("REGISTRAR")?
    );
    let http = reqwest::Client::builder().timeout(Duration::from_millis(300)).build()?;
    match RegistryClient::with_http_client(&base, http)?.info().await {
        Err(error @ Error::Timeout) => Ok(error.to_string()),
        Err(error) => Err(format!("must be a timeout, but is {error}").into()),
        Ok(_) => Err("must be a timeout, but is ok".into()),
    }
}

/// Repeats what the service refuses because it has read no contracts yet.
async fn retried() -> Outcome {
    let mut ended = vec![];
    for _ in 0..20 {
        match version1("OFFLEDGER_URL_STARTING").await {
            Ok(command) if ended.is_empty() => {
                return Err(format!(
                    "the first attempt must be refused, but is {:?}",
                    command.transfer_kind()
                )
                .into());
            }
            Ok(command) => return read(command).map(|_| format!("attempts ended with {}, ok", ended.join(", "))),
            Err(error) => match error.downcast_ref::<Error>() {
                Some(http @ Error::Http { status: 503, .. }) if http.is_retriable() => ended.push("503"),
                _ => return Err(error),
            },
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    Err(format!("a retry must succeed, but the attempts ended with {}", ended.join(", ")).into())
}
