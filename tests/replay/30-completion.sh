#!/usr/bin/env bash
# What a shell offers while a command line is typed: the script is loaded into bash and asked as bash asks it. No root, no kernel.
. tests/tap.sh

mkdir "$scratch/bin"
cp "$tactus" "$scratch/bin/tactus"
PATH=$scratch/bin:$PATH
. completions/tactus.bash

# offered WORDS...: what bash would offer for the last word, on one line
offered() {
	COMP_WORDS=(tactus "$@") COMP_CWORD=$# COMPREPLY=()
	_tactus
	printf '%s\n' "${COMPREPLY[@]}" | paste -sd' '
}

listed=$("$tactus" --help | sed -nE 's/^  ([a-z]+) .*/\1/p' | grep -v '^tactus$' | paste -sd' ')
is "bash calls the function for tactus" "$(complete -p tactus)" "complete -F _tactus tactus"
is "the first word can be every command that --help lists, help and version" "$(offered '')" "$listed help version"
is "the beginning of 'version' is completed" "$(offered ver)" version
is "options that stand alone are offered" "$(offered --)" "--help --version"
is "what 'tactus config' is about can be every command" "$(offered config '')" "$listed"
is "an option of 'tactus config' itself is offered" "$(offered config --al)" --all
is "an option of a command is offered behind 'tactus config'" "$(offered config --json tasks --col)" "--columns --color"
is "every option of a command is offered behind 'tactus config'" "$(offered config db list --)" "$(offered db list --)"
is "a value is offered behind 'tactus config'" "$(offered config run --actuator h)" hints
is "the beginning of a command is completed" "$(offered ev)" events
is "a part of 'db' is completed" "$(offered db ex)" export
is "the word after 'help' can be every command" "$(offered help '')" "$listed"
is "the beginning of an option is completed" "$(offered tasks --col)" "--columns --color"
is "nothing is offered where no option begins so" "$(offered tasks --nosuch)" ""
is "nothing is offered for a command that is none" "$(offered nosuch --)" ""
is "an option that a command has not is not offered" "$(offered stats --sort)" ""

for command in $listed "db list" "db summary" "db show" "db forget" "db import" "db merge" "db export" "db check"; do
	[ "$command" != db ] || continue
	# shellcheck disable=SC2086
	"$tactus" $command --help | sed '/Examples:/,/^$/d' | grep -oE '^( {2}|  -., |      |Also.*)-.*' | grep -oE -- '--[a-z][a-z-]+' | sort -u >"$scratch/helped"
	# shellcheck disable=SC2086
	offered $command -- | tr ' ' '\n' | grep -vx -- -- | sort >"$scratch/offered"
	holds "the options that are offered for '$command' are those of its help" diff "$scratch/helped" "$scratch/offered"
done

kinds=$("$tactus" events --only help --json | json '" ".join(r["kind"] for r in rows)')
is "events --only can be every kind of event, and help" "$(offered events --only '')" "$kinds help"
is "the second kind of a list is completed with the first before it" "$(offered events --only frame,ro)" frame,role
is "a value behind '=' is completed as bash splits it" "$(offered events --only = fram)" frame
is "right behind '=' every value is offered" "$(offered tasks --by =)" "thread process"
is "a choice of several is offered" "$(offered run --actuator '')" "auto scx hints none"
is "what stands for something else is not offered as a value" "$(offered cuda --api '')" "default all"
is "the formats of a database are offered" "$(offered db export --format '')" "own pddb2 json"
is "causes of --on are offered" "$(offered record --on '')" "late-frame xid"
is "causes are offered in a list" "$(offered record --on late-frame,x)" late-frame,xid
for cause in $(offered record --on ''); do holds "a cause that is offered is one ($cause)" "$tactus" config --config /dev/null record --on "$cause"; done
is "kinds of evidence are offered in a list" "$(offered roles --without gpu,wi)" gpu,wine
is "columns are offered by --sort" "$(offered cpus --sort busy)" "busy_ns busy_percent"
like "columns of a view are offered by --columns, each once" "$(offered latency --columns comm,p99)" '^comm,p99_ns comm,p999_ns$'
like "a process is offered by its number" " $(offered tasks -p $$) " " $$ "
touch "$scratch/one recording.tac"
is "a file is offered for -i, a blank in its name and all" "$(offered tasks -i "$scratch/one")" "$scratch/one recording.tac"
is "a file is offered behind a short option that follows others" "$(offered tasks -ji "$scratch/one")" "$scratch/one recording.tac"
is "a file is offered as a word where a command takes one" "$(offered db check "$scratch/one")" "$scratch/one recording.tac"
like "behind '--' a program is offered" " $(offered tasks -d 1 -- pytho) " ' python3 '
is "behind '--' and a program a file is offered" "$(offered tasks -- cat "$scratch/one")" "$scratch/one recording.tac"
is "a value is not taken for an option" "$(offered tasks --comm -- --by '')" "thread process"
is "what is offered has its meaning behind a tab" "$("$tactus" complete -- ev)" "events	every context switch as it happens"
ends "'complete' without words is bad usage" 2 'no words' "$tactus" complete

# Where the other shells are, their scripts are at least right by their own rules, and asked.
if command -v zsh >/dev/null; then holds "the script for zsh parses" zsh -n completions/tactus.zsh; fi
if command -v fish >/dev/null; then
	holds "the script for fish parses" fish -n completions/tactus.fish
	is "fish is offered a kind of event" \
		"$(fish -c 'source completions/tactus.fish; complete -C "tactus events --only=frame,ro"' 2>&1)" "--only=frame,role"
fi
done_testing
