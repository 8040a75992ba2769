#!/usr/bin/env bash
# Libraries that were made to cost much: a million symbols, names of a megabyte that all share; neither memory nor time goes.
# not beside: tactus cuda, whose folders are counted
. tests/tap.sh

as_user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
chmod 755 "$scratch"
mkdir "$scratch/his"
cp build/workloads/mapper "$scratch/mapper"
# make_crafted FILE SYMBOLS NAME-BYTES PLACES: so many functions at so many places, whose names are all ends of one long name
# that begins again and again
cat >"$scratch/craft.py" <<'END'
import struct, sys
path, symbols, name_bytes, places = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
names = b"\0" + (b"cuGraphA" * (name_bytes // 8 + 1))[:name_bytes] + b"\0"
at = 64 + 56 + 3 * 64
table = b"".join(struct.pack("<IBBHQQ", 1 + i % max(name_bytes // 8 - 1, 1) * 8, 0x12, 0, 1, 0x1000 + i % places, 1) for i in range(symbols))
code_at = at + len(table) + len(names)
out = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, 62, 1, 0, 64, 120, 0, 64, 56, 1, 64, 3, 0)
out += struct.pack("<IIQQQQQQ", 1, 5, code_at, 0x1000, 0x1000, places, places, 4096)
out += bytes(64)
out += struct.pack("<IIQQQQIIQQ", 0, 11, 0, 0, at, len(table), 2, 0, 8, 24)
out += struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, at + len(table), len(names), 0, 0, 1, 0)
open(path, "wb").write(out + table + names + b"\x90" * places)
END
mkdir "$scratch/his/long" "$scratch/his/many" "$scratch/his/fits" "$scratch/his/egl"
python3 "$scratch/craft.py" "$scratch/his/long/libcuda.so.1" 400000 4000 400000
python3 "$scratch/craft.py" "$scratch/his/many/libcuda.so.1" 800000 80 800000
python3 "$scratch/craft.py" "$scratch/his/fits/libcuda.so.1" 16000 120 4000
python3 "$scratch/craft.py" "$scratch/his/egl/libEGL.so.1" 32000 2000000 4000
chown -R 65534:65534 "$scratch/his"
: >"$scratch/held"
mkfifo "$scratch/go"
chmod 666 "$scratch/go"
# What is there already is looked at before the first word.
"${as_user[@]}" "$scratch/mapper" hold "$scratch"/his/*/lib* <"$scratch/go" >"$scratch/held" &
holder=$!
exec 3>"$scratch/go"
wait_for "$scratch/held" mapped
cat >"$scratch/measure.py" <<'END'
import resource, subprocess, sys
with open(sys.argv[1], "w") as said:
    run = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=said)
    try:
        run.wait(15)
    except subprocess.TimeoutExpired:
        run.kill()
        run.wait()
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_maxrss, round((used.ru_utime + used.ru_stime) * 1000))
END
read -r cuda_kb cuda_ms < <(python3 "$scratch/measure.py" "$scratch/err" "$tactus" cuda --json -d 0.3 3>&-)
read -r roles_kb roles_ms < <(python3 "$scratch/measure.py" "$scratch/other-err" "$tactus" roles --json -d 0.3 3>&-)
exec 3>&-
wait $holder
read -r without_kb without_ms < <(python3 "$scratch/measure.py" "$scratch/other-err" "$tactus" cuda --json -d 0.3)
holds "crafted libcudas take at most 16 MB more ($cuda_kb KB, $without_kb KB without)" test $((cuda_kb - without_kb)) -le 16384
holds "a start with crafted libcudas takes at most three times the CPU time of one without ($cuda_ms ms, $without_ms ms)" test "$cuda_ms" -le $((3 * without_ms))
holds "a crafted libEGL leaves all of tactus below 48 MB ($roles_kb KB)" test "$roles_kb" -le 49152
like "a library with too many symbols is told" "$(cat "$scratch/err")" 'many/libcuda.so.1: its table of dynamic symbols is too large'
say_measured "cuda: $cuda_kb KB and $cuda_ms ms with crafted libraries, $without_kb KB and $without_ms ms without; roles: $roles_kb KB and $roles_ms ms"
done_testing
