# Words that only the daemon knows. They are written by strangers: compadd quotes them, and none is
# evaluated here.
_antidrift_words() {
    local kind=$1 word next= socket=
    local -a found
    for word in "${_antidrift_typed[@]}"; do
        if [[ -n $next ]]; then
            socket=$word next=
        else
            case $word in
                (--socket) next=1 ;;
                (--socket=*) socket=${word#*=} ;;
            esac
        fi
    done
    socket=${(Q)socket}
    # A path that would have to be evaluated names nobody.
    [[ $socket != '~/'* ]] || socket=$HOME/${socket[3,-1]}
    [[ $socket != *['$`*?~']* ]] || return 1
    found=("${(@f)$(command antidrift __complete $kind ${socket:+"$socket"} 2>/dev/null)}")
    found=(${found:#})
    (( $#found )) || return 1
    [[ $kind == presets ]] || compset -P '*,'
    compadd -a found
}
