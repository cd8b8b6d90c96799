#compdef clvet
# zsh completion for clvet, made by 'clvet completion zsh'
_clvet() {
  local cur=$words[CURRENT] before=$words[CURRENT-1] at=clvet flags='' verbs='' word i
  if [[ $cur == --*=* ]]; then
    before=${cur%%=*}
    compset -P '*='
  fi
  for ((i = 2; i < CURRENT; ++i)); do
    word=$words[i]
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
    compadd -- ${=flags}
  elif [[ -n $verbs ]]; then
    compadd -- ${=verbs}
  else
    _files
  fi
}
_clvet "$@"
