# Completion of `pcontact` for bash. The names come from the tool itself, so they are always its own.

_pcontact()
{
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} tool=${COMP_WORDS[0]}
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W "$("$tool" info --list commands 2>/dev/null) --help --version" -- "$current"))
    elif [[ $command == bench ]] && ((COMP_CWORD == 2)); then
        COMPREPLY=($(compgen -W "$("$tool" info --list benchmarks 2>/dev/null) --help" -- "$current"))
    elif [[ $current == -* ]]; then
        local options=--help
        case $command in
            run | compare | exec | sweep) options+=" $("$tool" info --list settings 2>/dev/null | sed 's/^/--/')" ;;&
            run | compare | sweep) options+=" --step --time --csv" ;;&
            run | compare) options+=" --from" ;;&
            sweep) options+=" --vary --trials --seed --success --measure --rest --reach --resume --dry-run --threads" ;;
            run) options+=" --quiet" ;;
            compare) options+=" --format" ;;
            exec) options+=" --verbose" ;;
            info) options+=" --list --settings" ;;
        esac
        COMPREPLY=($(compgen -W "$options" -- "$current"))
    elif [[ $previous == --format ]]; then
        COMPREPLY=($(compgen -W "csv json" -- "$current"))
    elif [[ $previous == --model ]]; then
        COMPREPLY=($(compgen -W "native quick lcp convex implicit" -- "$current"))
    elif [[ $previous == --vary ]]; then
        compopt -o nospace 2>/dev/null
        COMPREPLY=($(compgen -W "$("$tool" info --list settings 2>/dev/null | sed 's/$/=/')" -- "$current"))
    elif [[ $command == run || $command == compare || $command == sweep ]]; then
        COMPREPLY=($(compgen -W "$("$tool" info --list worlds 2>/dev/null)" -- "$current") $(compgen -f -- "$current"))
    else
        COMPREPLY=($(compgen -f -- "$current"))
    fi
}
complete -o filenames -F _pcontact pcontact
