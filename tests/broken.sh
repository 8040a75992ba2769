# shellcheck shell=bash disable=SC2154
# Sourced by tests that break the scheduler on purpose in the simulator: its sources are compiled once, and for each break the changed file again.

# node distances and capacities are the machine's; a simulated one has its own.
whole() {
	local file
	printf 'int node_distances_read(void) { return 0; }\nint capacities_read(void) { return 0; }\n' >"$scratch/apart.c"
	mkdir "$scratch/objects" || return
	for file in tests/unit/sim_property_test.c src/sim/*.c src/sched/scx_places.c src/base/{say,hash,sort}.c "$scratch/apart.c"; do
		compile "$file" "$scratch/objects/$(basename "$file" .c).o" || return
	done
	gcc "$scratch"/objects/*.o -o "$scratch/whole" -lm
}
compile() { gcc -std=gnu11 -O1 -w -D_GNU_SOURCE "-I$PWD/$(dirname "$1")" "-iquote$PWD/src/sim" -c "$1" -o "$2"; }

# breaks NAME 'PROPERTY' FILE 'SED': that change is made, and that property does not hold any more
breaks() {
	local folder=$scratch/$1 seen
	mkdir -p "$folder/src/sim" && cp "src/sim/$3" "$folder/src/sim/" && ln -s "$PWD/core" "$folder/core" && ln -s "$PWD"/src/{base,sched} "$folder/src/"
	cp src/sim/*.h "$folder/src/sim/"
	sed -i "$4" "$folder/src/sim/$3"
	if cmp -s "$folder/src/sim/$3" "src/sim/$3"; then
		fails "the policy is broken: $1" true
		return
	fi
	mkdir "$folder/objects" && cp "$scratch"/objects/*.o "$folder/objects/" && compile "$folder/src/sim/$3" "$folder/objects/${3%.c}.o" && gcc "$folder"/objects/*.o -o "$folder/test" -lm
	LOADS=${LOADS:-300} timeout 300 "$folder/test" >"$scratch/said" 2>&1
	seen=$(grep -E "^not ok.*($2)" "$scratch/said" | head -n 1)
	say_measured "$1: ${seen:-nothing failed}"
	like "a policy that $1 is found out: $2" "$seen" "$2"
}
