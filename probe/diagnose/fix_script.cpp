#include "probe/diagnose/fix_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/language.h"
#include "base/text.h"
#include "probe/files/change.h"

namespace clvet {
namespace {

std::string comment(const std::string& text) {
  std::string out;
  for (const std::string& line : split(clean_utf8(text), '\n')) out += "# " + line + "\n";
  return out;
}

// What the script prints: the name of a variable of the shell, and its text with %s for each field.
std::string said(const char* name, const std::string& text) {
  return fmt::format("{}={}\n", name, shell_word(text));
}

std::string texts() {
  constexpr const char* kA = "%s";
  return said("usage", tr("usage: sh {} [--dry-run|--apply|--undo]", kA)) +
         said("is_link", tr("{} is a link and may lead out of {}: do this by hand", kA, kA)) +
         said("already", tr("already done: {}", kA)) +
         said("of_another", tr("{} is another script's, or changed since: undo that first", kA)) +
         said("changed", tr("{} was changed since: left as it is", kA)) +
         said("not_there", tr("{} is not there", kA)) + said("restored", tr("restored {}", kA)) +
         said("would_link", tr("would link {} -> {}", kA, kA)) +
         said("linked", tr("linked {} -> {}", kA, kA)) +
         said("would_write", tr("would write {}: {}", kA, kA)) + said("wrote", tr("wrote {}", kA)) +
         said("would_move", tr("would move {} to {}", kA, kA)) +
         said("moved", tr("moved {} to {}", kA, kA)) + said("yourself", tr("by hand: {}", kA));
}

std::string head() {
  return "#!/bin/sh\n" +
         comment(tr("Made by 'clvet discover --fix-script'. Read it before you run it.")) +
         comment("  sh FILE            " + tr("say what it would do")) +
         comment("  sh FILE --apply    " + tr("do it")) +
         comment("  sh FILE --undo     " + tr("take it back")) +
         comment(tr("CLVET_FIX_ROOT=FOLDER: the tree to work on.")) + texts();
}

constexpr const char* kMode = R"sh(set -eu
mode=${1:---dry-run}
say() { text=$1; shift; printf "$text\n" "$@" | LC_ALL=C tr -d '\001-\010\013-\037\177' || :; }
case $mode in --dry-run | --apply | --undo) ;; *) say "$usage" "$0" >&2; exit 2 ;; esac
)sh";

constexpr const char* kTools = R"sh(case $root in '' | /*) ;; *) root=$PWD/$root ;; esac
root=${root%/}
failed=0
warn() { say "$@" >&2; failed=1; }
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
      if [ "$mode" != --undo ]; then warn "$is_link" "$at" "$root"; fi
      return 1
    fi
    at=${at%/*}
  done
}
made() { there "$1.clvet-before" || there "$1.clvet-new"; }
missing() { # PATH: true where it is still to be made
  if made "$1" && there "$1"; then
    if ours "$1" "$2"; then say "$already" "$1"; else warn "$of_another" "$1"; fi
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
  if there "$1" && ! ours "$1" "$2"; then warn "$changed" "$1"; return 0; fi
  rm -f "$1"
  if there "$1.clvet-before"; then mv "$1.clvet-before" "$1"; else rm "$1.clvet-new"; leave "$1"; fi
  say "$restored" "$1"
}
link() { # PATH TARGET
  inside "$1" || return 0
  ours() { [ -L "$1" ] && [ "$(readlink "$1")" = "$2" ]; }
  case $mode in
    --dry-run) say "$would_link" "$1" "$2" ;;
    --apply) if missing "$1" "$2"; then ln -s -- "$2" "$1.clvet-part"; put "$1"; say "$linked" "$1" "$2"; fi ;;
    --undo) restore "$1" "$2" ;;
  esac
}
file() { # PATH TEXT, which ends with a newline of its own
  inside "$1" || return 0
  ours() { [ -f "$1" ] && [ ! -L "$1" ] && [ "$(cat "$1"; echo .)" = "$2
." ]; }
  case $mode in
    --dry-run) say "$would_write" "$1" "$2" ;;
    --apply)
      if missing "$1" "$2"; then
        printf '%s\n' "$2" > "$1.clvet-part"
        chmod 644 "$1.clvet-part"
        put "$1"
        say "$wrote" "$1"
      fi ;;
    --undo) restore "$1" "$2" ;;
  esac
}
move() { # FROM TO
  inside "$1" && inside "$2" || return 0
  case $mode in
    --dry-run) say "$would_move" "$1" "$2" ;;
    --apply)
      if there "$2"; then :; elif there "$1"; then mv "$1" "$2"; say "$moved" "$1" "$2"; else warn "$not_there" "$1"; fi ;;
    --undo) if there "$2" && ! there "$1"; then mv "$2" "$1"; say "$restored" "$1"; fi ;;
  esac
}
by_hand() { if [ "$mode" != --undo ]; then say "$yourself" "$1"; fi; }
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
  std::string text = head() + kMode + body + kTools + "\nforward() {\n:\n";
  for (const std::string& row : forward) text += row;
  text += "}\nbackward() {\n:\n";
  std::reverse(forward.begin(), forward.end());
  for (const std::string& row : forward) text += row;
  return text + "}\nif [ \"$mode\" = --undo ]; then backward; else forward; fi\nexit $failed\n";
}

}  // namespace clvet
