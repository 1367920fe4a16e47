# Words that only the daemon knows. They are written by strangers: compadd quotes them, and none is
# evaluated here.
_antidrift_words() {
    local kind=$1
    local -a found
    found=("${(@f)$(command antidrift __complete $kind 2>/dev/null)}")
    found=(${found:#})
    (( $#found )) || return 1
    [[ $kind == presets ]] || compset -P '*,'
    compadd -a found
}
