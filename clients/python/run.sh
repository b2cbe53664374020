#!/usr/bin/env bash
# Installs packages and generates code ("build"), or runs the checks ("grpcio").
# OFFLEDGER_PROTO names another folder that has proto/ and third_party/.
set -euo pipefail
cd "$(dirname "$0")"
python=build/venv/bin/python
if [[ "$1" == build ]]; then
  [[ -x $python ]] || python3 -m venv build/venv
  "$python" -m pip install --quiet --disable-pip-version-check --requirement requirements.txt >&2
  source="${OFFLEDGER_PROTO:-../..}"
  rm -rf gen
  mkdir gen
  # buf/validate has no package on PyPI that fits, so its code is generated too. google/api has: googleapis-common-protos.
  mapfile -t files < <(cd "$source/proto" && find offledger -name '*.proto' | sort)
  "$python" -m grpc_tools.protoc -I "$source/proto" -I "$source/third_party" \
    --python_out=gen --pyi_out=gen --grpc_python_out=gen "${files[@]}" buf/validate/validate.proto
else
  PYTHONPATH=gen exec "$python" main.py
fi
