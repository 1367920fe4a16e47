
# Words that only the daemon knows. They are written by strangers: each is quoted before it stands on
# a command line, and none is evaluated here.
_antidrift_with_words() {
    _antidrift "$@"

    # What is typed as one word; readline breaks it at : = @ too.
    local line=${COMP_LINE:0:COMP_POINT} at=$COMP_CWORD
    local typed=${COMP_WORDS[COMP_CWORD]} rest
    while ((at > 1)); do
        rest=${line%"$typed"}
        [[ $rest != *[[:space:]] && $rest == *"${COMP_WORDS[at-1]}" ]] || break
        ((at--))
        typed=${COMP_WORDS[at]}$typed
    done

    local word command="" sub="" skip=""
    for word in "${COMP_WORDS[@]:1:at-1}"; do
        if [[ $skip ]]; then
            [[ $word == = ]] || skip=""
            continue
        fi
        case $word in
            --socket) skip=1 ;;
            -*) ;;
            *) if [[ ! $command ]]; then command=$word; elif [[ ! $sub ]]; then sub=$word; fi ;;
        esac
    done

    local option="" part=$typed kind=""
    [[ ${COMP_WORDS[at-1]} == --?* ]] && option=${COMP_WORDS[at-1]}
    if [[ $typed == --*=* ]]; then
        option=${typed%%=*} part=${typed#*=}
    fi
    case "$command,$option,$sub" in
        start,--allow,* | ontask,--class,* | allow,,add) kind=windows ;;
        allow,,rm) kind=classes ;;
        start,,*) [[ $part == @* ]] && kind=presets ;;
    esac
    [[ $kind && $part != -* ]] || return 0
    COMPREPLY=()
    compopt +o bashdefault +o default 2>/dev/null

    # Within quotes only words that need none are offered.
    local quoted=""
    if [[ $part == [\'\"]* ]]; then
        quoted=1 part=${part:1}
    fi
    [[ $kind == presets ]] || part=${part##*,}
    local before=${typed%"$part"} quote
    [[ $quoted ]] && before=${before%[\'\"]}
    local -a words=()
    mapfile -t words < <(command antidrift __complete "$kind" 2>/dev/null)
    for word in "${words[@]}"; do
        printf -v quote %q "$word"
        [[ $quoted && $quote != "$word" ]] && continue
        [[ $quote == "$part"* ]] || continue
        # Readline puts back what stands before its own word.
        word=$before$quote
        COMPREPLY+=("${word#"${typed%"$2"}"}")
    done
}

if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -F _antidrift_with_words -o nosort -o bashdefault -o default antidrift
else
    complete -F _antidrift_with_words -o bashdefault -o default antidrift
fi
