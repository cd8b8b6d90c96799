#!/bin/bash
# ci/drivers.sh COMMAND: OpenCL drivers to test on, made from Debian's packages and pip alone, never shipped.
#   intel                    Intel's CPU runtime (OpenCL 3.1, real fp16; Intel EULA; x86-64) below $CLVET_TEST_INTEL
#   trixie                   a Debian 13 root below $CLVET_TEST_TRIXIE: newer PoCL and Mesa (root, x86-64; nightly)
#   mali                     that root and Mesa's Mali compilers in it (ci/mesa_mali.sh)
#   run DRIVER COMMAND...    COMMAND where libOpenCL.so.1 shows this driver alone
#   matrix [--nightly] CLVET [DRIVER...]   probes the drivers of ci/expectations and compares each report with its file;
#                            every change: those not marked nightly. Exit 1: one differs; 77: a driver is not installed (1 with --nightly)
# DRIVER: pocl | rusticl | oclgrind | intel | trixie-pocl | trixie-rusticl, or, where the compiler is real and execution does
# nothing, mali:ID (ci/mesa_mali.sh) | amd:NAME | nouveau:CHIP
# Making a driver again changes nothing.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"

usage() { sed -n '2,11s/^# //p' "${BASH_SOURCE[0]}"; exit 2; }

make_intel() {
  local dir=$CLVET_TEST_INTEL requirements=$CLVET_ROOT/ci/requirements-intel.txt
  local library=$dir/lib/libintelocl.so
  if [ "$(uname -m)" != x86_64 ]; then
    say "Intel's runtime exists for x86-64 only: left out"
    return 0
  fi
  if cmp -s "$requirements" "$dir/.ready" && [ -e "$library" ] &&
    [ "$(cat "$dir/icd/intel.icd" 2>/dev/null)" = "$library" ]; then
    return 0
  fi
  say "installing Intel's OpenCL runtime for the tests"
  rm -rf "$dir"
  mkdir -p "$dir"
  python -m venv "$dir"
  "$dir/bin/pip" install -q --retries 5 --no-deps --no-compile --only-binary :all: --require-hashes \
    -r "$requirements" >&2
  [ -e "$library" ] || die "$library: not in the package"
  mkdir -p "$dir/icd"
  echo "$library" >"$dir/icd/intel.icd"
  cp "$requirements" "$dir/.ready"
}

make_trixie() {
  local dir=$CLVET_TEST_TRIXIE
  [ -e "$dir/.ready" ] && return 0
  [ "$(uname -m)" = x86_64 ] || die "the Debian 13 root is for x86-64 only"
  [ "$(id -u)" = 0 ] || die "the Debian 13 root needs root"
  command -v debootstrap >/dev/null || die "debootstrap not found: run 'bash ci/setup.sh --test'"
  say "making a Debian 13 root for the tests"
  rm -rf "$dir"
  mkdir -p "$dir"
  debootstrap --variant=minbase --include=pocl-opencl-icd,mesa-opencl-icd,mesa-drm-shim,ocl-icd-libopencl1 trixie "$dir" \
    >"$dir.log" 2>&1 || { tail -n 5 "$dir.log" >&2; die "no Debian 13 root"; }
  rm "$dir.log"
  touch "$dir/.ready"
}

make_mali() {
  make_trixie
  [ -e "$CLVET_TEST_TRIXIE/opt/mesa-mali/lib/libRusticlOpenCL.so.1" ] || bash "$CLVET_ROOT/ci/mesa_mali.sh" "$CLVET_TEST_TRIXIE"
}

# place DRIVER: sets variables (its environment), library (what must be there) and root ('' or its Debian root).
place() {
  local trixie_mesa=(OCL_ICD_VENDORS=/etc/OpenCL/vendors/rusticl.icd) mali=/opt/mesa-mali
  root=''
  case $1 in
    pocl)
      library=/etc/OpenCL/vendors/pocl.icd
      variables=(OCL_ICD_VENDORS=$library) ;;
    rusticl)
      library=/etc/OpenCL/vendors/rusticl.icd
      variables=(OCL_ICD_VENDORS=$library RUSTICL_ENABLE=llvmpipe) ;;
    oclgrind)
      library=/usr/lib/oclgrind/liboclgrind-rt-icd.so
      mkdir -p "$CLVET_SETUP_CACHE/oclgrind"
      echo "$library" >"$CLVET_SETUP_CACHE/oclgrind/oclgrind.icd"
      # Its images are deleted as what they are not (Oclgrind 21.10), which the address sanitizer would end.
      variables=(OCL_ICD_VENDORS="$CLVET_SETUP_CACHE/oclgrind"
        ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}new_delete_type_mismatch=0") ;;
    intel)
      library=$CLVET_TEST_INTEL/icd/intel.icd
      variables=(OCL_ICD_VENDORS="$CLVET_TEST_INTEL/icd") ;;
    trixie-pocl)
      root=$CLVET_TEST_TRIXIE library=$root/etc/OpenCL/vendors/pocl.icd
      variables=(OCL_ICD_VENDORS=/etc/OpenCL/vendors/pocl.icd) ;;
    trixie-rusticl)
      root=$CLVET_TEST_TRIXIE library=$root/etc/OpenCL/vendors/rusticl.icd
      variables=("${trixie_mesa[@]}" RUSTICL_ENABLE=llvmpipe RUSTICL_FEATURES=fp16,fp64) ;;
    mali:*)
      root=$CLVET_TEST_TRIXIE library=$root$mali/lib/libRusticlOpenCL.so.1
      variables=(OCL_ICD_VENDORS=$mali/etc/OpenCL/vendors/rusticl.icd PAN_GPU_ID="${1#*:}" RUSTICL_ENABLE=panfrost
        RUSTICL_FEATURES=fp16 LD_PRELOAD=$mali/lib/libpanfrost_noop_drm_shim.so:$mali/lib/libsyncfix.so) ;;
    amd:*)
      root=$CLVET_TEST_TRIXIE library=$root/usr/lib/x86_64-linux-gnu/libamdgpu_noop_drm_shim.so
      variables=("${trixie_mesa[@]}" AMDGPU_GPU_ID="${1#*:}" RUSTICL_ENABLE=radeonsi LD_PRELOAD=libamdgpu_noop_drm_shim.so) ;;
    nouveau:*)
      root=$CLVET_TEST_TRIXIE library=$root/usr/lib/x86_64-linux-gnu/libnouveau_noop_drm_shim.so
      variables=("${trixie_mesa[@]}" NOUVEAU_CHIPSET="${1#*:}" RUSTICL_ENABLE=nouveau LD_PRELOAD=libnouveau_noop_drm_shim.so) ;;
    *) die "unknown driver '$1'" ;;
  esac
}

# in_root ROOT VARIABLES... COMMAND...: the root sees /proc, /sys, /dev, this checkout and the set-up's cache under their own
# names. They are bound in a mount namespace of the command's own, so that nothing can be left mounted below ROOT.
in_root() {
  local root=$1
  shift
  unshare -m --propagation private bash -euc '
    root=$1 source=$2 cache=$3
    shift 3
    for name in proc sys dev; do mount --rbind "/$name" "$root/$name"; done
    for name in "$source" "$cache"; do mkdir -p "$root$name"; mount --bind "$name" "$root$name"; done
    exec chroot "$root" env "$@"' _ "$root" "$CLVET_ROOT" "$CLVET_SETUP_CACHE" "$@"
}

# run_on DRIVER COMMAND...
run_on() {
  local variables library root
  place "$1"
  shift
  [ -e "$library" ] || die "$library: not installed"
  if [ -z "$root" ]; then env "${variables[@]}" "$@"; else in_root "$root" "${variables[@]}" "$@"; fi
}

# fields FILE: its driver, whether it is nightly, whether `run` is expected, then the probe's arguments; one a line.
fields() { python "$CLVET_ROOT/ci/check_expectations.py" --fields "$1"; }

# answers_from_host DRIVER CLVET FOLDER: with a report that holds no right combination, a model is answered by the CPU path,
# and rightly: as without any report.
answers_from_host() {
  local driver=$1 clvet=$2 folder=$3 model=$CLVET_MODELS/ch_ppocr_mobile_v2.0_cls_infer.onnx
  local call=("$clvet" run "$model" --quiet --input "x=$CLVET_ROOT/tests/data/images/$4" --image-size 192x48 --mean 127.5
    --scale 0.00784313725 --bgr)
  [ -e "$model" ] || { say "$driver: no model, run 'bash ci/setup.sh --test' first"; return 1; }
  run_on "$driver" "${call[@]}" --report "$folder/report.json" --output-dir "$folder/run" || return 1
  "${call[@]}" --device host --output-dir "$folder/host" || return 1
  python - "$folder" <<'PY'
import json, pathlib, sys
folder = pathlib.Path(sys.argv[1])
record = json.loads((folder / "run/run.json").read_text())
where = {node["where"] for node in record["nodes"]}
outputs = sorted(path.name for path in (folder / "host").glob("*.npy"))
same = outputs and all((folder / "run" / name).read_bytes() == (folder / "host" / name).read_bytes() for name in outputs)
if where != {"host"} or not same:
    sys.exit(f"FAULT: run answered from {sorted(where)}, {'the same as' if same else 'otherwise than'} without OpenCL")
PY
}

# probe_one FILE CLVET: 0, 1 (differs) or 77 (driver not installed)
probe_one() {
  local file=$1 clvet=$2 driver nightly answers arguments lines variables library root status=0
  mapfile -t lines < <(fields "$file")
  driver=${lines[0]} nightly=${lines[1]} answers=${lines[2]} arguments=("${lines[@]:3}")
  place "$driver"
  if [ ! -e "$library" ]; then
    say "$driver: $library is not installed: not tried"
    return 77
  fi
  local folder=$CLVET_ROOT/out/drivers/$(basename "$file" .json)
  rm -rf "$folder"
  mkdir -p "$folder"
  run_on "$driver" env CLVET_STATE_DIR="$folder/state" "$clvet" probe --quiet --library libOpenCL.so.1 "${arguments[@]}" \
    --out "$folder/report.json" 2>"$folder/stderr" || status=$?
  if [ "$status" -gt 1 ]; then
    tail -n 5 "$folder/stderr" >&2
    say "$driver: probe ended with $status"
    return 1
  fi
  python "$CLVET_ROOT/ci/check_expectations.py" "$folder/report.json" "$file" || return 1
  if [ "$answers" = host ]; then CLVET_STATE_DIR=$folder/state answers_from_host "$driver" "$clvet" "$folder" text-1.png || return 1; fi
}

matrix() {
  local wanted=False clvet file lines status worst=0
  if [ "${1:-}" = --nightly ]; then wanted=True; shift; fi
  [ $# -ge 1 ] || usage
  clvet=$(readlink -f "$1")
  [ -x "$clvet" ] || die "$1: no such program"
  shift
  for file in "$CLVET_ROOT"/ci/expectations/*.json; do
    mapfile -t lines < <(fields "$file")
    if [ $# -gt 0 ]; then
      case " $* " in *" ${lines[0]} "*) ;; *) continue ;; esac
    fi
    [ "${lines[1]}" = "$wanted" ] || continue
    status=0
    probe_one "$file" "$clvet" || status=$?
    if [ "$status" = 1 ] || [ "$worst" = 0 ]; then worst=$status; fi
  done
  if [ "$wanted" = True ] && [ "$worst" = 77 ]; then worst=1; fi
  return "$worst"
}

command=${1:-}
[ $# -gt 0 ] && shift
case $command in
  intel) make_intel ;;
  trixie) make_trixie ;;
  mali) make_mali ;;
  run) [ $# -ge 2 ] || usage; run_on "$@" ;;
  matrix) matrix "$@" ;;
  *) usage ;;
esac
