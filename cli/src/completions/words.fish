
# Words that only the daemon knows. They are written by strangers: fish quotes what a command
# substitution gives, but for one thing, and none is evaluated here.
function __antidrift_words
    set -l socket (commandline -opc | string match -rg -- '^--socket=(.*)')
    set -l named (commandline -opc)
    if set -l at (contains -i -- --socket $named)
        set socket $named[(math $at + 1)]
    end
    # A path that would have to be evaluated names nobody.
    set socket (string replace -r '^~/' "$HOME/" -- $socket[1])
    if string match -qr '[$*?~]' -- $socket
        return
    end
    set -l typed (commandline -ct | string unescape | string replace -r '^--[^=]*=' '')
    set -l before ''
    if test $argv[1] != presets
        set before (string match -r '^.*,' -- $typed)
    end
    for word in (command antidrift __complete $argv[1] $socket 2>/dev/null)
        # The one thing at a word's beginning that fish does not quote.
        string match -q '~*' -- "$before$word"
        or printf '%s%s\n' "$before" "$word"
    end
end
complete -c antidrift -n "__fish_antidrift_using_subcommand start; and string match -q '@*' -- (commandline -ct)" -f -a "(__antidrift_words presets)"
complete -c antidrift -n "__fish_antidrift_using_subcommand allow; and __fish_seen_subcommand_from add" -f -a "(__antidrift_words windows)"
complete -c antidrift -n "__fish_antidrift_using_subcommand allow; and __fish_seen_subcommand_from rm" -f -a "(__antidrift_words classes)"
