#!/usr/bin/env bash
# Generates the code and builds the program ("build"), or runs its checks ("grpc-java"). Without an argument: both.
# OFFLEDGER_PROTO names another folder of proto files.
set -euo pipefail
cd "$(dirname "$0")"
[[ "${1:-}" == grpc-java ]] || mvn -q -B package ${OFFLEDGER_PROTO:+-Doffledger.proto="$OFFLEDGER_PROTO"} >&2
[[ "${1:-}" == build ]] || exec java -jar target/client.jar
