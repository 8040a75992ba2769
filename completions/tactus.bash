# Completion of tactus for bash. The program itself knows what can follow.
_tactus() {
	local PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin IFS=$'\n' line word=${COMP_WORDS[COMP_CWORD]}
	COMPREPLY=()
	while IFS= read -r line; do
		case $line in
		:files)
			[ "$word" != = ] || word=''
			compopt -o filenames 2>/dev/null
			while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$word")
			;;
		:command*)
			if declare -F _command_offset >/dev/null; then
				IFS=$' \t\n' _command_offset "${line#:command }"
			elif ((COMP_CWORD == ${line#:command })) && [[ $word != */* ]]; then
				while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -c -- "$word")
			else
				compopt -o filenames 2>/dev/null
				while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$word")
			fi
			;;
		*) COMPREPLY+=("${line%%$'\t'*}") ;;
		esac
	done < <("${COMP_WORDS[0]}" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _tactus tactus
