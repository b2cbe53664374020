//! Repeats calls that the service refuses as unavailable, with tower: tonic has no retries of its own.
use super::{Client, Factory, GetTransferFactoryRequest};
use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
    time::Duration,
};
use tonic::{Code, Status};
use tower::{Service, ServiceBuilder, ServiceExt, retry::Policy};

const MAX_ATTEMPTS: usize = 20;

#[derive(Clone, Default)]
struct RetryUnavailable {
    /// How each attempt ended.
    ended: Arc<Mutex<Vec<Code>>>,
}

impl Policy<GetTransferFactoryRequest, Factory, Status> for RetryUnavailable {
    type Future = Pin<Box<dyn Future<Output = ()> + Send>>;

    fn retry(
        &mut self,
        _request: &mut GetTransferFactoryRequest,
        result: &mut Result<Factory, Status>,
    ) -> Option<Self::Future> {
        let mut ended = self.ended.lock().ok()?;
        ended.push(result.as_ref().err().map_or(Code::Ok, Status::code));
        let status = result.as_ref().err()?;
        if status.code() != Code::Unavailable || ended.len() == MAX_ATTEMPTS {
            return None;
        }
        // The service names the time in retry-after.
        let seconds = status.metadata().get("retry-after")?.to_str().ok()?.parse().ok()?;
        Some(Box::pin(tokio::time::sleep(Duration::from_secs(seconds))))
    }

    fn clone_request(&mut self, request: &GetTransferFactoryRequest) -> Option<GetTransferFactoryRequest> {
        Some(request.clone())
    }
}

/// The result, and how each attempt ended.
pub async fn unavailable(client: Client, request: GetTransferFactoryRequest) -> (Result<Factory, Status>, Vec<Code>) {
    let policy = RetryUnavailable::default();
    let ended = policy.ended.clone();
    let mut service = ServiceBuilder::new()
        .retry(policy)
        .service_fn(move |request: GetTransferFactoryRequest| {
            let mut client = client.clone();
            async move {
                client
                    .get_transfer_factory(request)
                    .await
                    .map(tonic::Response::into_inner)
            }
        });
    let result = match service.ready().await {
        Ok(ready) => ready.call(request).await,
        Err(status) => Err(status),
    };
    let ended = ended.lock().map_or_else(|_| vec![], |codes| codes.clone());
    (result, ended)
}
