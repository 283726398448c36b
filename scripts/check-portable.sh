#!/bin/bash
# States and scenes may not depend on the C library's sine, power and the like, whose last bits
# differ between compilers, libraries and processors: base/portable.h has the same ones everywhere.
# Measures and words may.
set -euo pipefail
cd "$(dirname "$0")/.."
functions='sin|cos|tan|sincos|asin|acos|atan|atan2|sinh|cosh|tanh|exp|exp2|expm1|log|log2|log10|log1p|pow|cbrt|hypot|erf|tgamma|lgamma'
found=$(grep -rnE "(^|[^_a-zA-Z.\"])($functions)\(" src/engine src/workshop/scene --include='*.c' --include='*.h' |
  grep -vE '^src/engine/measure/|^src/engine/base/(portable|words)\.|^src/workshop/scene/import' |
  grep -vE '^[^:]*:[0-9]*: *///?|^[^:]*:[0-9]*:[^"]*"[^"]*\b('"$functions"')\([^"]*"' || true)
if [ -n "$found" ]; then
  echo "$found"
  echo "check-portable: use the functions of base/portable.h"
  exit 1
fi
echo "check-portable: no function of the C library decides a state"
