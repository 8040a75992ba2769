#!/usr/bin/env bash
# Scripts that root runs on many machines, and what others can do with them: names in /tmp that lie in wait, hosts called like options, what a
# host answers, a job's comment, a program named tactus in a job's PATH.
. tests/tap.sh

# A host that is reached by a script: what it says has an escape sequence in it.
mkdir "$scratch/bin" "$scratch/home"
cat >"$scratch/bin/reach" <<'END'
#!/bin/sh
echo "$1" >>"$REACHED"
cat >/dev/null
[ "$1" != bad ] || { printf 'no \033[2Jroom\n' >&2; exit 1; }
printf 'actuator  \033]0;title\007hints\n'
END
chmod +x "$scratch/bin/reach"
export REACHED=$scratch/reached SSH=$scratch/bin/reach
: >"$scratch/package.deb"
# Every name that a script may make of its own number is a link already, as a user would put them there.
echo "root's own" >"$scratch/home/precious"
install_as() { # the shell's own number is the script's
	sh -c 'ln -s "$1" "/tmp/tactus-install.$$"; echo "$$" >"$2"; exec sh deploy/install-hosts.sh "$3" one bad' sh "$scratch/home/precious" "$scratch/number" "$scratch/package.deb"
}
install_as >"$scratch/out" 2>"$scratch/err"
rm -f "/tmp/tactus-install.$(cat "$scratch/number")"
is "install-hosts.sh writes to no file that somebody left in /tmp for it" "$(cat "$scratch/home/precious")" "root's own"
is "install-hosts.sh says how a host stands, and what a host that failed said, as plain text" "$(LC_ALL=C grep -c '[^ -~]' "$scratch/out") $(wc -l <"$scratch/out")" "0 2"
ends_badly() { sh deploy/install-hosts.sh "$scratch/package.deb" -oProxyCommand=true >"$scratch/out" 2>&1; [ $? = 1 ] && ! grep -q Proxy "$REACHED"; }
holds "install-hosts.sh hands a host that is called like an option to nobody" ends_badly

# The job's scripts, with programs that note what they are told.
for program in tactus systemctl; do
	printf '#!/bin/sh\necho "%s $*" >>"%s"\n' $program "$scratch/told" >"$scratch/bin/$program"
	chmod +x "$scratch/bin/$program"
done
mkdir "$scratch/his"
printf '#!/bin/sh\necho his >>"%s"\n' "$scratch/told" >"$scratch/his/tactus"
chmod +x "$scratch/his/tactus"
for script in prolog epilog; do
	sed "s|^PATH=.*|PATH=$scratch/bin:/usr/bin:/bin|; s|/etc/default/|$scratch/|" deploy/slurm/$script.sh >"$scratch/$script.sh"
	like "$script.sh looks for programs in root's own folders alone" "$(sed -n '/^PATH=/p' deploy/slurm/$script.sh)" '^PATH=(/usr/local/sbin|/usr/sbin|/usr/bin|/sbin|/bin)(:(/usr/local/sbin|/usr/sbin|/usr/bin|/sbin|/bin))*$'
done
told() {
	rm -f "$scratch/told"
	PATH=$scratch/his:$PATH SLURM_JOB_COMMENT=$2 sh "$scratch/$1.sh"
	tr '\n' ';' <"$scratch/told"
}
is "a job's comment does not pause tactus for all others' jobs" "$(told prolog no-tactus)" "tactus resume;"
is "a job's comment is text and no command" "$(told prolog "\$(touch $scratch/touched);no-tactus'\"\`")$(ls "$scratch/touched" 2>/dev/null)" "tactus resume;"
echo JOBS_MAY_PAUSE=yes >"$scratch/tactus-slurm"
is "a job's comment pauses tactus where root said so" "$(told prolog no-tactus)" "tactus status;tactus pause;"
is "the job after it finds tactus at work" "$(told epilog no-tactus)" "tactus resume;"

# What a package does as root names fixed places, all of them root's.
is "a package's scripts touch root's own places alone" \
	"$(cat packaging/debian/{postinst,prerm,postrm} packaging/tactus.install | grep -oE '(^|[ =])/[a-z][a-zA-Z0-9_./-]*' | tr -d ' =' | sort -u | grep -vE '^/(run/systemd/system|run/tactus|var/lib/tactus|etc/systemd/system/[a-z.-]*/?[a-z.]*|bin/sh|dev/null)$' | tr '\n' ' ')" ""
done_testing
