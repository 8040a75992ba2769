#compdef tactus
# Completion of tactus for zsh. The program itself knows what can follow.
_tactus() {
	local -x PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
	local line word
	local -a described
	for line in "${(@f)$("${words[1]}" complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
		case $line in
		('') ;;
		(:files)
			compset -P '--*='
			_files
			return
			;;
		(:command*)
			(( CURRENT -= ${line#:command } ))
			shift "${line#:command }" words
			_normal
			return
			;;
		(*)
			word=${line%%$'\t'*}
			if [[ $line == *$'\t'* ]]; then
				described+=("${word//:/\\:}:${line#*$'\t'}")
			else
				described+=("${word//:/\\:}")
			fi
			;;
		esac
	done
	(( $#described )) && _describe -V tactus described
}
_tactus "$@"
