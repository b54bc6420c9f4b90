# fish completion for skink. Write it to ~/.config/fish/completions/skink.fish.

function __skink_complete
	set -l words (commandline -opc)
	set -l current (commandline -ct)
	set -l found ($words[1] __complete $words[2..] $current 2>/dev/null)
	set -l flag (string match -r -- '^--[^=]*=' $current)
	set -l rest (string replace -r -- '^--[^=]*=' '' $current)
	switch "$found[1]"
		case :files
			printf '%s\n' "$flag"(__fish_complete_path $rest)
		case :folders
			printf '%s\n' "$flag"(__fish_complete_directories $rest)
		case '*'
			printf '%s\n' $found
	end
end

complete -c skink -f -a '(__skink_complete)'
