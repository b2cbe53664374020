//! Generates the client from offledger's descriptor set: neither protoc nor buf is needed.
use prost::Message;
use prost_types::FileDescriptorSet;
use std::{env, error::Error, fs};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-env-changed=OFFLEDGER_DESCRIPTORS");
    let path = env::var("OFFLEDGER_DESCRIPTORS").unwrap_or("../../../gen/offledger.binpb".into());
    println!("cargo::rerun-if-changed={path}");
    let bytes = fs::read(&path).map_err(|error| format!("{path}: {error}"))?;
    let mut definitions = FileDescriptorSet::decode(bytes.as_slice())?;
    // google/api and buf/validate define options only. prost-types has the code of google/protobuf.
    definitions
        .file
        .retain(|file| file.name().starts_with("offledger/") || file.name().starts_with("google/protobuf/"));
    tonic_prost_build::configure()
        .build_server(false)
        .include_file("offledger.rs")
        .compile_fds(definitions)?;
    Ok(())
}
