# bash completion for skink. Load it with: source <(skink completion bash)

_skink() {
	local IFS=$'\n' current=${COMP_WORDS[COMP_CWORD]} words
	words=($("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1))
	words=("${words[@]#--*=}") # bash splits --flag=value into three words
	[[ $current != '=' ]] || current=''
	case ${words[0]} in
	:files) COMPREPLY=($(compgen -f -- "$current")) && compopt -o filenames 2>/dev/null ;;
	:folders) COMPREPLY=($(compgen -d -- "$current")) && compopt -o filenames 2>/dev/null ;;
	*) COMPREPLY=($(compgen -W "${words[*]}" -- "$current")) ;;
	esac
}

complete -F _skink skink
