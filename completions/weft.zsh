#compdef weft
# SPDX-License-Identifier: MIT
# Completion of weft for zsh. Verbs, options and operations are asked of the command itself.
_weft_operations() {
    local -a names
    names=(${(f)"$($words_command ops 2>/dev/null | sed -n -e 's/^\([a-z][a-z0-9_]*\) .*/\1/p' -e '/^  /s/ \{1,\}/\n/gp' | grep .)"})
    compset -P '*[^A-Za-z0-9_]'
    compadd -S '(' -q -a names
}
_weft_value() {
    local -a types
    types=(bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128)
    if compset -P '*='; then
        _files -g '*.npy'
        compadd -S '[' -q -a types
    fi
}
_weft() {
    local words_command=$words[1]
    local -a verbs options
    if ((CURRENT == 2)); then
        verbs=(${(f)"$($words_command --help 2>/dev/null | grep -o 'weft [a-z][a-z]*' | cut -d' ' -f2 | sort -u)"} --help --version)
        compadd -a verbs
        return
    fi
    case $words[CURRENT-1] in
    -o | --out) _files; return ;;
    --backend) compadd auto interp jit; return ;;
    --isa) compadd best scalar avx2 avx512 neon; return ;;
    --html) _files -g '*.html'; return ;;
    --graph) _files -g '*.weft'; return ;;
    --color) compadd auto always never; return ;;
    --threads | --rounds) return ;;
    esac
    if [[ $PREFIX == -* ]]; then
        options=(${(f)"$($words_command --help 2>/dev/null | grep -oe '--[a-z][a-z-]*' | sort -u)"})
        compadd -a options
    elif ((CURRENT == 3)); then
        _weft_operations
    else
        _weft_value
    fi
}
if [[ $funcstack[1] == _weft ]]; then _weft "$@"; else compdef _weft weft; fi
