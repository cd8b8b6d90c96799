# shellcheck shell=bash
# Sourced after ci/env.sh: Debian packages of any release and architecture, unpacked into a folder. No root, no maintainer
# script runs, nothing of this machine changes; what is fetched is checked against Debian's signed lists.

# debian_sources RELEASE...: lines of a sources.list, from where this machine gets its own Debian packages; `debian_kind` deb-src
# asks for sources.
debian_sources() {
  local kind=${debian_kind:-deb} sites release site
  sites=$(apt-get indextargets --format '$(REPO_URI) $(ORIGIN)' 'Created-By: Packages' | sed -n 's/ Debian$//p' | sort -u)
  [ -n "$sites" ] || die "apt knows no Debian archive: run 'apt-get update' first"
  for release in "$@"; do
    for site in $sites; do
      case $site in
        *security*) echo "$kind $site $release-security main" ;;
        *) echo "$kind $site $release main" ;;
      esac
    done
  done
}

# debian_apt FOLDER ARCHITECTURE RELEASE...: an apt of its own, which sees nothing installed, with fresh lists. To be used as
# `APT_CONFIG=FOLDER/apt.conf apt-get ...`.
debian_apt() {
  local folder=$1 architecture=$2
  shift 2
  mkdir -p "$folder"/{lists,archives}/partial "$folder/none"
  : >"$folder/status"
  debian_sources "$@" >"$folder/sources.list" || return
  cat >"$folder/apt.conf" <<CONF
Dir::Etc::main "$folder/none";
Dir::Etc::parts "$folder/none";
Dir::Etc::sourcelist "$folder/sources.list";
Dir::Etc::sourceparts "$folder/none";
Dir::Etc::preferencesparts "$folder/none";
Dir::State "$folder";
Dir::State::status "$folder/status";
Dir::Cache "$folder";
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
APT::Sandbox::User "root";
APT::Install-Recommends "false";
Acquire::Retries "3";
Acquire::Languages "none";
CONF
  APT_CONFIG=$folder/apt.conf apt-get -q update >"$folder/log" 2>&1 || { tail -n 5 "$folder/log" >&2; return 1; }
}

# debian_source FOLDER RELEASE PACKAGE: FOLDER/PACKAGE is Debian's source of the package, with Debian's patches.
debian_source() {
  local folder=$1 debian_kind=deb-src
  debian_apt "$folder" "$(dpkg --print-architecture)" "$2" &&
    (cd "$folder" && APT_CONFIG=$folder/apt.conf apt-get -q source --download-only "$3" &&
      dpkg-source --no-check -x "$3"_*.dsc "$3") >"$folder/log" 2>&1 || { tail -n 5 "$folder/log" >&2; return 1; }
}

# unpack_packages FOLDER PACKAGE_FILE...; links that were absolute stay inside the folder
unpack_packages() {
  local folder=$1 file link
  shift
  mkdir -p "$folder"
  for file in "$@"; do
    dpkg-deb --fsys-tarfile "$file" | tar -x -C "$folder" --no-same-owner --keep-directory-symlink || return
  done
  find "$folder" -type l -lname '/*' -print0 | while IFS= read -r -d '' link; do
    ln -snf "$(realpath -m --relative-to="$(dirname "$link")" "$folder$(readlink "$link")")" "$link"
  done
}

# debian_root FOLDER ARCHITECTURE RELEASE PACKAGE...: a root with these packages and all they need, as they come out of their
# archives: programs run in it, and dpkg, if it is among them, knows what is there. Made again only where the call differs.
debian_root() {
  local folder=$1 call="${*:2}" apt=$1-apt file
  [ "$(cat "$folder/.ready" 2>/dev/null)" = "$call" ] && return 0
  say "unpacking a root: $call"
  rm -rf "$folder" "$apt"
  debian_apt "$apt" "$2" "$3" &&
    APT_CONFIG=$apt/apt.conf apt-get -q -y --download-only install "${@:4}" >"$apt/log" 2>&1 ||
    { tail -n 5 "$apt/log" >&2; die "no root $folder"; }
  # Where Debian keeps one folder under two names.
  mkdir -p "$folder"/usr/{bin,sbin,lib,lib64} "$folder"/{proc,sys,dev,tmp}
  ln -s usr/bin usr/sbin usr/lib usr/lib64 "$folder/"
  unpack_packages "$folder" "$apt"/archives/*.deb || die "no root $folder"
  mkdir -p "$folder"/var/lib/dpkg/{info,updates,triggers}
  for file in "$apt"/archives/*.deb; do
    dpkg-deb --field "$file" | sed '/^Package:/a Status: install ok installed'
    echo
  done >"$folder/var/lib/dpkg/status"
  rm -rf "$apt"
  echo "$call" >"$folder/.ready"
}
