# bash completion for clvet, made by 'clvet completion bash'
_clvet_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur"); }
_clvet_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}
_clvet() {
  local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} at=clvet
  local flags='' verbs='' word i
  COMPREPLY=()
  # The shell parts --option=value at the sign.
  if [[ $cur == = ]]; then
    cur=''
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD-2]}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    case "$at $word" in
@VERBS@
    esac
  done
  case "$at $before" in
@VALUES@
  esac
  case "$at" in
@WORDS@
  esac
  if [[ $cur == -* ]]; then
    _clvet_words "$flags"
  elif [[ -n $verbs ]]; then
    _clvet_words "$verbs"
  else
    _clvet_files
  fi
}
complete -F _clvet clvet
