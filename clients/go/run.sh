#!/usr/bin/env bash
# Generates the code and builds the programs ("build"), or runs the checks of a stack ("grpc-go", "connect-go").
# The tools of go.mod generate the code. OFFLEDGER_DESCRIPTORS names another descriptor set, BUF another buf.
set -euo pipefail
cd "$(dirname "$0")"
if [[ "$1" == build ]]; then
  "${BUF:-../../node_modules/.bin/buf}" generate "${OFFLEDGER_DESCRIPTORS:-../../gen/offledger.binpb}" \
    --path offledger --template ../buf/buf.gen.go.yaml >&2
  go vet ./... >&2
  go build -o build/ ./cmd/... >&2
else
  status=0
  "build/$1" || status=$?
  [[ "$1" != grpc-go ]] || build/load || status=$?
  [[ "$1" != connect-go ]] || build/cache || status=$?
  exit "$status"
fi
