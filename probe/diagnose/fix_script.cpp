#include "probe/diagnose/fix_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "probe/files/change.h"

namespace clvet {
namespace {

constexpr const char* kHead = R"sh(#!/bin/sh
# Made by 'clvet discover --fix-script'. Read it before you run it.
#   sh THIS            say what it would do
#   sh THIS --apply    do it
#   sh THIS --undo     take it back
# CLVET_FIX_ROOT=FOLDER: the tree to work on.
set -eu
mode=${1:---dry-run}
case $mode in --dry-run | --apply | --undo) ;; *) echo "usage: sh $0 [--dry-run|--apply|--undo]" >&2; exit 2 ;; esac
)sh";

constexpr const char* kTools = R"sh(case $root in '' | /*) ;; *) root=$PWD/$root ;; esac
root=${root%/}
failed=0
say() { printf '%s\n' "$1" | LC_ALL=C tr -d '\001-\010\013-\037\177' || :; }
warn() { say "$1" >&2; failed=1; }
there() { [ -e "$1" ] || [ -L "$1" ]; }
folders() { # of a path, made where they are missing, and marked
  at=${1%/*}
  if [ -z "$at" ] || [ -d "$at" ]; then return 0; fi
  folders "$at"
  at=${1%/*}
  mkdir "$at" && : > "$at/.clvet-made"
}
leave() { # folders that were made here and hold nothing else
  at=${1%/*}
  if [ -z "$at" ] || [ ! -e "$at/.clvet-made" ]; then return 0; fi
  rm "$at/.clvet-made"
  if rmdir "$at" 2>/dev/null; then leave "$at"; else : > "$at/.clvet-made"; fi
}
inside() { # the tree, so that its own links lead nowhere else
  if [ -z "$root" ]; then return 0; fi
  at=${1%/*}
  while [ -n "$at" ] && [ "$at" != "$root" ]; do
    if [ -L "$at" ]; then
      if [ "$mode" != --undo ]; then warn "$at is a link and may lead out of $root: do this by hand"; fi
      return 1
    fi
    at=${at%/*}
  done
}
made() { there "$1.clvet-before" || there "$1.clvet-new"; }
missing() { # PATH: true where it is still to be made
  if made "$1" && there "$1"; then
    if ours "$1" "$2"; then say "already done: $1"; else warn "$1 is another script's, or changed since: undo that first"; fi
    return 1
  fi
  folders "$1"
  rm -f "$1.clvet-part"
}
put() { # PATH: its new self, made beside it, takes its place; kept is what stood there, or that nothing did
  if made "$1"; then :; elif there "$1"; then mv "$1" "$1.clvet-before"; else : > "$1.clvet-new"; fi
  mv "$1.clvet-part" "$1"
}
restore() {
  rm -f "$1.clvet-part"
  if ! made "$1"; then leave "$1"; return 0; fi
  if there "$1" && ! ours "$1" "$2"; then warn "$1 was changed since: left as it is"; return 0; fi
  rm -f "$1"
  if there "$1.clvet-before"; then mv "$1.clvet-before" "$1"; else rm "$1.clvet-new"; leave "$1"; fi
  say "restored $1"
}
link() { # PATH TARGET
  inside "$1" || return 0
  ours() { [ -L "$1" ] && [ "$(readlink "$1")" = "$2" ]; }
  case $mode in
    --dry-run) say "would link $1 -> $2" ;;
    --apply) if missing "$1" "$2"; then ln -s -- "$2" "$1.clvet-part"; put "$1"; say "linked $1 -> $2"; fi ;;
    --undo) restore "$1" "$2" ;;
  esac
}
file() { # PATH TEXT, which ends with a newline of its own
  inside "$1" || return 0
  ours() { [ -f "$1" ] && [ ! -L "$1" ] && [ "$(cat "$1"; echo .)" = "$2
." ]; }
  case $mode in
    --dry-run) say "would write $1: $2" ;;
    --apply)
      if missing "$1" "$2"; then
        printf '%s\n' "$2" > "$1.clvet-part"
        chmod 644 "$1.clvet-part"
        put "$1"
        say "wrote $1"
      fi ;;
    --undo) restore "$1" "$2" ;;
  esac
}
move() { # FROM TO
  inside "$1" && inside "$2" || return 0
  case $mode in
    --dry-run) say "would move $1 to $2" ;;
    --apply)
      if there "$2"; then :; elif there "$1"; then mv "$1" "$2"; say "moved $1 to $2"; else warn "$1 is not there"; fi ;;
    --undo) if there "$2" && ! there "$1"; then mv "$2" "$1"; say "restored $1"; fi ;;
  esac
}
by_hand() { if [ "$mode" != --undo ]; then say "by hand: $1"; fi; }
)sh";

std::string command_of(const Change& change) {
  const std::string path = "\"$root\"" + shell_word(change.path);
  switch (change.kind) {
    case Change::Kind::kLink:
      return fmt::format("link {} {}\n", path, shell_word(change.value));
    case Change::Kind::kFile: {
      std::string_view text = change.value;
      if (text.ends_with('\n')) text.remove_suffix(1);
      return fmt::format("file {} {}\n", path, shell_word(text));
    }
    case Change::Kind::kMove:
      return fmt::format("move {} \"$root\"{}\n", path, shell_word(change.value));
    default:
      return fmt::format("by_hand {}\n", shell_word(fmt::format("export {}={}", change.path,
                                                                shell_word(change.value))));
  }
}

std::string comment(const std::string& text) {
  std::string out;
  for (const std::string& line : split(clean_utf8(text), '\n')) out += "# " + line + "\n";
  return out;
}

}  // namespace

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+:=,@";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos)
    return std::string(text);
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string fix_script(const std::vector<ScriptStep>& steps, const std::string& root) {
  std::vector<std::string> forward;
  std::set<std::string> written;
  for (const ScriptStep& step : steps) {
    if (step.changes.empty())
      forward.push_back(fmt::format("by_hand {}\n", shell_word(clean_utf8(step.why))));
    std::string why = comment(step.why);
    for (const Change& change : step.changes) {
      const bool writes = change.kind == Change::Kind::kLink || change.kind == Change::Kind::kFile;
      if (writes && !written.insert(change.path).second) continue;
      forward.push_back(std::exchange(why, {}) + command_of(change));
    }
  }
  const std::string body =
      fmt::format("default_root={}\nroot=${{CLVET_FIX_ROOT-$default_root}}\n", shell_word(root));
  std::string text = kHead + body + kTools + "\nforward() {\n:\n";
  for (const std::string& row : forward) text += row;
  text += "}\nbackward() {\n:\n";
  std::reverse(forward.begin(), forward.end());
  for (const std::string& row : forward) text += row;
  return text + "}\nif [ \"$mode\" = --undo ]; then backward; else forward; fi\nexit $failed\n";
}

}  // namespace clvet
