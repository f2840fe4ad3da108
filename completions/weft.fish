# SPDX-License-Identifier: MIT
# Completion of weft for fish. Verbs, options and operations are asked of the command itself.
function __weft_command
    set -l words (commandline -opc)
    echo $words[1]
end
function __weft_verbs
    set -l weft (__weft_command)
    $weft --help 2>/dev/null | string match -rga 'weft ([a-z]+)' | sort -u
end
function __weft_options
    set -l weft (__weft_command)
    $weft --help 2>/dev/null | string match -ra -- '--[a-z][a-z-]*' | sort -u
end
function __weft_at
    test (count (commandline -opc)) -eq $argv[1]
end
# the last name of the expression, completed to an operation
function __weft_operations
    set -l weft (__weft_command)
    set -l head (commandline -ct | string replace -r '[A-Za-z0-9_]*$' '')
    for name in ($weft ops 2>/dev/null | string match -rg '^([a-z][a-z0-9_]*) ') ($weft ops 2>/dev/null | string match -r '^  .*' | string split -n ' ')
        echo "$head$name("
    end
end
function __weft_values
    set -l head (commandline -ct | string match -r '^[A-Za-z_][A-Za-z0-9_]*=')
    test -n "$head"; or return
    for file in *.npy
        echo "$head$file"
    end
    for type in bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128
        echo {$head}{$type}'['
    end
end
complete -c weft -f
complete -c weft -n '__weft_at 1' -a '(__weft_verbs)'
complete -c weft -n '__weft_at 1' -a '--help --version'
complete -c weft -n 'not __weft_at 1; and string match -q -- "-*" (commandline -ct)' -a '(__weft_options)'
complete -c weft -n '__weft_at 2; and not string match -q -- "-*" (commandline -ct)' -a '(__weft_operations)'
complete -c weft -n 'not __weft_at 1; and not __weft_at 2' -a '(__weft_values)'
complete -c weft -s o -l out -r -F
complete -c weft -l backend -x -a 'auto interp jit'
complete -c weft -l isa -x -a 'best scalar avx2 avx512 neon'
complete -c weft -l html -r -F
complete -c weft -l graph -r -F
complete -c weft -l color -x -a 'auto always never'
complete -c weft -l threads -x
complete -c weft -l rounds -x
