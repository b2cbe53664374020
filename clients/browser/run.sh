#!/usr/bin/env bash
# Bundles the page ("build"), or also runs its checks in chromium ("connect-web", or no argument).
set -euo pipefail
cd "$(dirname "$0")"
exec node --import tsx main.ts "$@"
