//! Calls offledger with tonic.
mod report;
mod retry;
mod transfer;

/// The code that build.rs generates.
mod proto {
    include!(concat!(env!("OUT_DIR"), "/offledger.rs"));
}

use proto::offledger::transfer_instruction::v1::{GetTransferFactoryRequest, TransferFactoryWithChoiceContext};
use proto::offledger::transfer_instruction::v2::transfer_instruction_service_client::TransferInstructionServiceClient;
use report::{Outcome, Report, env};
use std::{process::ExitCode, time::Duration};
use tonic::{Code, Request, Status, transport::Channel};
use tonic_types::StatusExt;

type Client = TransferInstructionServiceClient<Channel>;
type Factory = TransferFactoryWithChoiceContext;

const PATIENCE: Duration = Duration::from_secs(30);

#[tokio::main]
async fn main() -> ExitCode {
    let mut report = Report::default();
    report.add("retry", retried().await);
    report.add(
        "typed transfer-factory, version 2",
        read(call("OFFLEDGER_URL", transfer::version2(), PATIENCE).await),
    );
    report.add(
        "typed transfer-factory, version 1",
        read(call("OFFLEDGER_URL", transfer::version1(), PATIENCE).await),
    );
    report.add("invalid argument", invalid_argument().await);
    let result = call("OFFLEDGER_URL_TOKENS", transfer::version2(), PATIENCE).await;
    report.add("token missing", refused(result, Code::Unauthenticated, ""));
    report.add("token", read(with_token().await));
    report.add("deadline", deadline().await);
    report.exit_code()
}

async fn open(variable: &str) -> Result<Client, Status> {
    let endpoint = Channel::from_shared(env(variable)).map_err(|error| Status::invalid_argument(error.to_string()))?;
    Ok(Client::new(endpoint.connect_lazy()))
}

async fn call(variable: &str, message: GetTransferFactoryRequest, limit: Duration) -> Result<Factory, Status> {
    let mut request = Request::new(message);
    request.set_timeout(limit);
    let mut client = open(variable).await?;
    client
        .get_transfer_factory(request)
        .await
        .map(tonic::Response::into_inner)
}

async fn with_token() -> Result<Factory, Status> {
    let mut request = Request::new(transfer::version2());
    let value = format!("Bearer {}", env("OFFLEDGER_TOKEN"));
    let value = value
        .parse()
        .map_err(|_| Status::invalid_argument("the token must be ASCII"))?;
    request.metadata_mut().insert("authorization", value);
    request.set_timeout(PATIENCE);
    let mut client = open("OFFLEDGER_URL_TOKENS").await?;
    client
        .get_transfer_factory(request)
        .await
        .map(tonic::Response::into_inner)
}

async fn retried() -> Outcome {
    let client = open("OFFLEDGER_URL_STARTING").await.map_err(describe)?;
    let (result, ended) = retry::unavailable(client, transfer::version2()).await;
    let ended = ended.iter().map(|code| format!("{code:?}")).collect::<Vec<_>>();
    let factory = result.map_err(|error| format!("{}, after attempts that ended with {ended:?}", describe(error)))?;
    if ended.len() < 2 || ended[0] != "Unavailable" {
        return Err(format!(
            "the first attempt must be Unavailable, but the attempts ended with {ended:?}"
        ));
    }
    transfer::read(&factory)?;
    Ok(format!("attempts ended with {}", ended.join(", ")))
}

async fn invalid_argument() -> Outcome {
    let result = call("OFFLEDGER_URL", transfer::without_receiver(), PATIENCE).await;
    let fields = match &result {
        Err(status) => status.get_details_bad_request().map_or(vec![], |details| {
            details
                .field_violations
                .into_iter()
                .map(|violation| violation.field)
                .collect()
        }),
        Ok(_) => vec![],
    };
    let detail = refused(result, Code::InvalidArgument, "receiver")?;
    if std::env::var("OFFLEDGER_EXPECT_DETAILS").as_deref() != Ok("1") {
        return Ok(detail);
    }
    if fields.is_empty() {
        return Err("the details must name fields in google.rpc.BadRequest, but have none".into());
    }
    Ok(format!("{detail}; fields {fields:?}"))
}

/// tonic reports a deadline that passes as CANCELLED, where other stacks report DEADLINE_EXCEEDED.
async fn deadline() -> Outcome {
    let limit = Duration::from_millis(300);
    let result = call("OFFLEDGER_URL_SLOW", transfer::version2(), limit).await;
    refused(result, Code::Cancelled, "Timeout expired")
}

fn read(result: Result<Factory, Status>) -> Outcome {
    transfer::read(&result.map_err(describe)?)
}

fn describe(status: Status) -> String {
    format!("{:?}: {}", status.code(), status.message())
}

/// Checks the code of an error, and that the service says why.
fn refused(result: Result<Factory, Status>, code: Code, message: &str) -> Outcome {
    match result {
        Err(status) if status.code() == code && !status.message().is_empty() && status.message().contains(message) => {
            Ok(describe(status))
        }
        Err(status) => Err(format!(
            "must be {code:?} with {message:?}, but is {}",
            describe(status)
        )),
        Ok(_) => Err(format!("must be {code:?}, but is ok")),
    }
}
