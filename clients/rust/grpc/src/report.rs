//! Prints a line of JSON for each check.
use serde_json::json;
use std::process::ExitCode;

/// What a check saw, or why it failed.
pub type Outcome = Result<String, String>;

#[derive(Default)]
pub struct Report {
    failed: bool,
}

impl Report {
    pub fn add(&mut self, check: &str, outcome: Outcome) {
        self.failed |= outcome.is_err();
        let ok = outcome.is_ok();
        let detail = outcome.unwrap_or_else(|reason| reason);
        println!("{}", json!({ "check": check, "ok": ok, "detail": detail }));
    }

    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(u8::from(self.failed))
    }
}

/// An environment variable, which must be set.
pub fn env(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| {
        eprintln!("{name} must be set: run npm run test:clients");
        std::process::exit(2)
    })
}
