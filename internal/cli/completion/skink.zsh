#compdef skink
# zsh completion for skink. Write it to a file _skink in a folder of $fpath.

_skink() {
	local -a found
	found=("${(@f)$("${words[1]}" __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
	case $found[1] in
	:files) compset -P '--*='; _files ;;
	:folders) compset -P '--*='; _files -/ ;;
	*)
		found=("${(@)found//:/\\:}")
		found=("${(@)found/$'\t'/:}")
		_describe skink found ;;
	esac
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
	_skink "$@"
else
	compdef _skink skink
fi
