# SPDX-License-Identifier: MIT
# Completion of weft for bash. Verbs, options and operations are asked of the command itself, so that this file
# needs no change when they do.
_weft_ask() { "${COMP_WORDS[0]}" "$@" 2>/dev/null; }
_weft_words() { # the choices for "$1" go to COMPREPLY
    local IFS=$' \t\n'
    COMPREPLY=($(compgen -W "$1" -- "$2"))
}
_weft_types='bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128'

# the last name of an expression, completed to operations and to names that have been given values
_weft_expression() {
    local cur=$1 head tail names
    tail=${cur##*[!A-Za-z0-9_]}
    head=${cur%"$tail"}
    [[ -n $tail ]] || return 0
    names="$(_weft_ask ops | sed -n -e 's/^\([a-z][a-z0-9_]*\) .*/\1/p' -e 's/^  //p')"
    compopt -o nospace 2>/dev/null
    COMPREPLY=($(compgen -P "$head" -S '(' -W "$names" -- "$tail"))
}

_weft() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} whole=${COMP_LINE:0:COMP_POINT}
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        _weft_words "$(_weft_ask --help | grep -o 'weft [a-z][a-z]*' | cut -d' ' -f2) --help --version" "$cur"
        return
    fi
    case $prev in
    -o | --out) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")); return ;;
    --backend) _weft_words 'auto interp jit' "$cur"; return ;;
    --isa) _weft_words 'best scalar avx2 avx512 neon' "$cur"; return ;;
    --html) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -X '!*.html' -- "$cur") $(compgen -d -- "$cur")); return ;;
    --graph) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -X '!*.weft' -- "$cur") $(compgen -d -- "$cur")); return ;;
    --color) _weft_words 'auto always never' "$cur"; return ;;
    --threads | --rounds) return ;;
    esac
    case $cur in
    --*) _weft_words "$(_weft_ask --help | grep -oe '--[a-z][a-z-]*' | sort -u)" "$cur"; return ;;
    esac
    if ((COMP_CWORD == 2)); then
        _weft_expression "$cur"
    elif [[ $whole =~ [[:space:]][A-Za-z_][A-Za-z0-9_]*=([^=[:space:]]*)$ ]]; then # NAME=VALUE, cut at = by readline
        compopt -o nospace -o filenames 2>/dev/null
        cur=${BASH_REMATCH[1]}
        [[ ${COMP_WORDS[COMP_CWORD]} == *=?* ]] && return
        COMPREPLY=($(compgen -f -X '!*.npy' -- "$cur") $(compgen -d -- "$cur") $(compgen -S '[' -W "$_weft_types" -- "$cur"))
    fi
}
complete -F _weft weft
