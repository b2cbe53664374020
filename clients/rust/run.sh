#!/usr/bin/env bash
# Builds the programs ("build"), or runs the checks of a stack ("tonic", "canton-token").
# build.rs generates the code. OFFLEDGER_DESCRIPTORS names another descriptor set, by its absolute path.
set -euo pipefail
cd "$(dirname "$0")"
case "$1" in
  build) cargo build --locked --quiet --target-dir build >&2 ;;
  tonic) exec build/debug/wallet-grpc ;;
  canton-token) exec build/debug/wallet-rest ;;
esac
