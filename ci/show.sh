# shellcheck shell=bash
# Sourced after ci/env.sh: what ci/release_show.sh and ci/packages_show.sh do in roots that ci/debian.sh made. `failed` is 1 after a
# fault.
failed=0

# in_root ROOT COMMAND...: as if it were this machine; the folder `show` beside the root is its /tmp/show. Mounts, and the part of qemu
# as the reader of arm64 programs, belong to namespaces of the command's own.
in_root() {
  unshare --user --map-root-user --mount --propagation private bash -euc '
    root=$1
    shift
    if [ -e "$root/lib/ld-linux-aarch64.so.1" ] && ! chroot "$root" true 2>/dev/null; then
      mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
      cat /usr/lib/binfmt.d/qemu-aarch64.conf >/proc/sys/fs/binfmt_misc/register
    fi
    for name in proc sys dev; do mount --rbind "/$name" "$root/$name"; done
    mount -t tmpfs none "$root/tmp"
    mkdir "$root/tmp/show"
    mount --bind "$root/../show" "$root/tmp/show"
    exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin HOME=/tmp CLVET_STATE_DIR=/tmp/show/state "$@"' _ "$@"
}

# expect NAME STATUS PATTERN COMMAND...: the command ends so, and one line of what it prints fits
expect() {
  local name=$1 wanted=$2 pattern=$3 status=0 output
  shift 3
  output=$("$@" 2>&1 </dev/null) || status=$?
  if [ "$status" != "$wanted" ] || ! grep -qE "$pattern" <<<"$output"; then
    printf '%s\n' "$output" | tail -n 30 >&2
    say "FAILED: $name (exit $status, wanted $wanted and '$pattern')"
    failed=1
  else
    say "ok: $name: $(grep -m 1 -E "$pattern" <<<"$output")"
  fi
}
