#!/usr/bin/env bash
# Bundles the page ("build"), or runs its checks in chromium ("connect-web/connect", "connect-web/grpc-web").
set -euo pipefail
cd "$(dirname "$0")"
exec node --import tsx main.ts "$@"
