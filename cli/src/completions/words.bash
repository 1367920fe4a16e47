
# Words that only the daemon knows. They are written by strangers: each is quoted before it stands on
# a command line, and none is evaluated here.
_antidrift_with_words() {
    _antidrift "$@"

    # What is typed as one word; readline breaks it at : = @ too.
    local line=${COMP_LINE:0:COMP_POINT} gap part at
    local -a typed=()
    for ((at = 0; at <= COMP_CWORD; at++)); do
        gap=${line%%[![:space:]]*}
        line=${line#"$gap"}
        part=${COMP_WORDS[at]}
        ((at < COMP_CWORD)) || part=$line
        if [[ $gap ]] || ((at == 0)); then
            typed+=("$part")
        else
            typed[${#typed[@]}-1]+=$part
        fi
        line=${line#"$part"}
    done
    local last=$((${#typed[@]} - 1))
    ((last > 0)) || return 0

    local word command="" sub="" socket="" next=""
    for word in "${typed[@]:1:last-1}"; do
        if [[ $next ]]; then
            socket=$word next=""
            continue
        fi
        case $word in
            --socket) next=1 ;;
            --socket=*) socket=${word#*=} ;;
            -*) ;;
            *) if [[ ! $command ]]; then command=$word; elif [[ ! $sub ]]; then sub=$word; fi ;;
        esac
    done

    local option="" kind=""
    word=${typed[last]} part=$word
    [[ ${typed[last-1]} == --?* && ${typed[last-1]} != *=* ]] && option=${typed[last-1]}
    if [[ $word == --*=* ]]; then
        option=${word%%=*} part=${word#*=}
    fi
    case "$command,$option,$sub" in
        start,--allow,* | ontask,--class,* | allow,,add) kind=windows ;;
        allow,,rm) kind=classes ;;
        start,,*) [[ $part == @* ]] && kind=presets ;;
    esac
    [[ $kind && $part != -* ]] || return 0
    COMPREPLY=()
    compopt +o bashdefault +o default 2>/dev/null

    # A path that would have to be evaluated names nobody.
    case $socket in \'*\' | \"*\") socket=${socket:1:${#socket}-2} ;; esac
    [[ $socket != '~/'* ]] || socket=$HOME/${socket:2}
    [[ $socket != *[\"\'\\\$\`*?~]* ]] || return 0

    # Within quotes only words that mean the same there are offered.
    local open="" special=""
    case $part in
        \'*) open=\' special="[']" ;;
        \"*) open=\" special='["$`\\!]' ;;
    esac
    [[ ! $open ]] || part=${part:1}
    [[ $kind == presets ]] || part=${part##*,}
    local before=${word%"$part"} readline=${word%"$2"} found quoted
    [[ ! $open ]] || before=${before/"$open"/}
    local -a words=()
    mapfile -t words < <(command antidrift __complete "$kind" ${socket:+"$socket"} 2>/dev/null)
    for found in "${words[@]}"; do
        if [[ ! $open ]]; then
            printf -v quoted %q "$found"
        elif [[ $found == *$special* ]]; then
            continue
        else
            quoted=$found
        fi
        [[ $quoted == "$part"* ]] || continue
        # Readline puts back what stands before its own word.
        found=$before$quoted
        COMPREPLY+=("${found#"$readline"}")
    done
}

if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -F _antidrift_with_words -o nosort -o bashdefault -o default antidrift
else
    complete -F _antidrift_with_words -o bashdefault -o default antidrift
fi
