# Is this the command on the line? '' where none is there yet.
function __cleave_is
    set -l words (commandline -opc)
    set -l skips no
    for word in $words[2..-1]
        if test $skips = yes
            set skips no
            continue
        end
        switch $word
            case --plugin --ansi
                set skips yes
            case '-*'
            case '*'
                test "$word" = "$argv[1]"
                return
        end
    end
    test -z "$argv[1]"
end

# Some words of a list, with commas between.
function __cleave_words
    set -l token (string replace -r '^--[a-z-]+=' '' -- (commandline -ct))
    set -l before (string match -r '^.*,' -- $token)
    for word in ($argv[1])
        echo "$before$word"
    end
end

