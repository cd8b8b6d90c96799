#!/bin/bash
# ci/check_release.sh FILE...: each program or shared library is fit for boards: stripped and below 10 MiB; needs no library but
# glibc's own, of 2.31 or older; has no symbol of its own that a driver's library could find (a library shows clvet's public names
# and nothing else); calls nothing that reaches a network.
set -uo pipefail
export LC_ALL=C
failed=0

# Names that a library of clvet may show: C functions, and what is of clvet::v1.
public='^clvet_[a-z0-9_]+(@|$)|^CLVET_[0-9]+|^_Z(N|NK|T[A-Za-z])+(h?n?[0-9]+_)?N?K?5clvet2v1'

# check PROGRAM: prints its facts; its faults to stderr
check() {
  local program=$1 size needed others newest exported network fault faults=()
  readelf -h "$program" >/dev/null 2>&1 || { echo "$program: no ELF file" >&2; return 1; }
  size=$(stat -L -c %s "$program")
  [ "$size" -lt $((10 << 20)) ] || faults+=("$size bytes, 10 MiB or more")
  ! readelf -SW "$program" | grep -q ' \.symtab ' || faults+=("not stripped")

  needed=$(readelf -dW "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort)
  grep -qx 'libc\.so\.6' <<<"$needed" || faults+=("not linked with glibc")
  others=$(grep -vxE 'lib(c|m)\.so\.6|lib(dl|pthread)\.so\.[02]|librt\.so\.1|ld-linux[-a-z0-9_]*\.so\.[12]' <<<"$needed")
  [ -z "$others" ] || faults+=("needs $(paste -sd" " <<<"$others")")
  newest=$(readelf -VW "$program" | grep -o 'Name: GLIBC_[A-Z0-9.]*' | sed 's/.*: //' | sort -uV | tail -n 1)
  if [ "$(printf '%s\n' "$newest" GLIBC_2.31 | sort -V | tail -n 1)" != GLIBC_2.31 ]; then
    faults+=("needs $newest, newer than GLIBC_2.31")
  fi

  # A variable of glibc's own may be copied into a program: such a symbol carries glibc's version.
  exported=$(readelf --dyn-syms -W "$program" | awk '$5 ~ /GLOBAL|WEAK|UNIQUE/ && $7 != "UND" && $8 !~ /@GLIBC_/ {print $8}')
  if readelf -dW "$program" | grep -q '(SONAME)'; then exported=$(grep -vE "$public" <<<"$exported"); fi
  [ -z "$exported" ] || faults+=("shows its symbols: $(head -n 5 <<<"$exported" | paste -sd" ")")
  network=$(readelf --dyn-syms -W "$program" | awk '$7 == "UND" {sub(/@.*/, "", $8); print $8}' |
    grep -xE 'connect|bind|listen|accept4?|getaddrinfo|gethostby.*|res_.*')
  [ -z "$network" ] || faults+=("calls $(paste -sd" " <<<"$network")")

  if [ ${#faults[@]} -gt 0 ]; then
    for fault in "${faults[@]}"; do echo "$program is not fit for boards: $fault" >&2; done
    return 1
  fi
  echo "$program: $size bytes," "needs $newest:" "$(paste -sd" " <<<"$needed")"
}

[ $# -gt 0 ] || { sed -n '2,4s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2; }
for program in "$@"; do check "$program" || failed=1; done
exit $failed
