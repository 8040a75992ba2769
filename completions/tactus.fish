# Completion of tactus for fish. The program itself knows what can follow.
function __tactus_complete
	set -lx PATH $PATH /usr/local/sbin /usr/sbin /sbin
	set -l words (commandline -opc)
	set -l last (commandline -ct)
	for line in ($words[1] complete -- $words[2..-1] $last 2>/dev/null)
		switch $line
			case ':files'
				set -l kept (string match -r -- '^--[^=]*=' $last)
				for path in (__fish_complete_path (string replace -r -- '^--[^=]*=' '' $last))
					echo "$kept$path"
				end
			case ':command*'
				set -l from (string replace ':command ' '' $line)
				set -e words[1..$from]
				complete -C (string join ' ' -- $words $last)
			case '*'
				echo $line
		end
	end
end
complete -c tactus -f -a '(__tactus_complete)'
