/** What looks like a command that only reads, and is none: in mode default each is a question. */
import { beforeAll, expect, test } from "vitest";
import { loadParser } from "../shell/parser.ts";
import { decidedWithoutRules as decided } from "../testing/no-rules.ts";

beforeAll(async () => {
  await loadParser();
});

/** `⏎` newline, `§` a dollar before a brace. */
const texts = (block: string): readonly string[] =>
  block
    .split("\n")
    .map((line) => line.trim().replaceAll("⏎", "\n").replaceAll("§", "$"))
    .filter((line) => line !== "");

/** Flags and operands that write or start something. */
const WRITES = texts(`
sort -o f g
sort -of g
sort --output=f g
sort --outp=f g
sort -uo f g
sort --compress-program=./e g
sort -T /tmp g
sort --files0-from=l
uniq a b
uniq -c a b
date -s 0
date --set=0
date 010100002026
hostname evil
hostname -F f
hostname -b x
base64 -o f g
base64 a b
xxd a b
xxd -r a b
xxd -r a
xxd -p -r a b
file -C
file -C -m m
file -m m f
yq -i .a f
yq --inplace .a f
yq -s .a f
yq '.a = load("/etc/passwd")' -i f
tree -o f
tree -L 2 -o f
shuf -o f g
iconv -o f g
rg --pre ./e x
rg --pre=./e x
rg --hostname-bin=./e x
ag --pager ./e x
ack --pager=./e x
fd -x rm
fd -X rm
fd foo -x rm {}
fd --exec rm
fd --exec-batch rm
fd -l x
env x
env -S 'rm x'
env -u PATH rm x
tee f
ls | tee f
command rm x
command -p rm x
builtin eval rm x
exec rm x
type -x; rm f
nl f > g
rev f >> g
seq 3 > f
ps aux > f
md5sum f > g
free -s 1 -c 2 > f
column f > g
sleep 1; rm f
printenv > f
env > f
id > f
cal > f
shasum f > f
jq . f > f
jq -n 'import "k" as $d {search:"/x"}; $d'
jq -L /x . f
pgrep -f x | xargs kill
pkill node
kill 1
less f
more f
vi f
man ls
npm config set a b
npm config delete a
npm pkg set a=b
npm pkg delete a
npm run build
npm run-script x
npm ls; npm i
npm config edit
npm config get //r/:_authToken
npm view x version
npm outdated
npm help install
npx cowsay
pip install x
pip download x
pip config set a b
pip list --index-url http://h
go env -w A=b
go env -u A
go list ./...
go run .
cargo tree
cargo metadata
tsc
node -v x.js
node --version x
node -e 1
node -h x
python3 -V x.py
python3 -m pip list
java -version X
yarn --version
pnpm --version
mvn --version
pytest --version
docker --version x
bash --version x
`);

const GIT = texts(`
git branch x
git branch -d x
git branch -D x
git branch -m a b
git branch -f a b
git branch --set-upstream-to=origin/x
git branch --unset-upstream
git branch --edit-description
git branch -a x
git branch --show-current x
git stash
git stash pop
git stash push
git stash drop
git stash show -p --output=f
git stash list --output=f
git tag x
git tag -d x
git tag -a x -m y
git tag -f x
git reflog expire --all
git reflog delete HEAD@{0}
git reflog expire
git reflog write x
git log --output=f
git log --outp=f
git diff --output f
git diff --ext-diff
git show --textconv
git show --ext-diff
git reflog --output=f
git rev-list --output=f HEAD
git diff-tree --output=f HEAD
git grep -O foo
git grep -Oless foo
git grep --open-files-in-pager=./e foo
git grep -f f
git grep --op=./e foo
git -c a.b=c log
git --no-pager -c core.pager=./e log
git -P -c alias.x='!rm y' x
git --exec-path=. log
git --git-dir=/x log
git --work-tree=/ status
git -p log
git --paginate log
git -C /tmp/evil log
git -C .. log
git --no-pager push
git --no-pager branch x
git --no-pager stash
git remote add x y
git remote set-url origin x
git remote show origin
git remote update
git remote prune origin
git remote get-url --delete origin
git ls-remote
git fetch
git notes add
git notes remove
git notes show x --output=f
git bisect start
git bisect run rm
git bisect log > f
git submodule foreach rm
git submodule update
git submodule status --remote x > f
git worktree add x
git worktree remove x
git config a.b c
git config --unset a.b
git config --edit
git config -e
git config set a.b c
git config --add a.b c
git config a.b c d
git config --file x a.b c
git config get a.b --file=x > f
git config list --file x
git check-ignore --stdin > f
git for-each-ref --shell > f
git for-each-ref --shell | sh
git show-ref --exclude-existing > f
git update-ref x y
git symbolic-ref HEAD x
git var GIT_EDITOR > f
git hash-object -w f
git cat-file --batch-command > f
git cat-file --textconv x
git cat-file --filters x
git archive -o f HEAD
git blame --contents f > g
git describe --dirty > f
git range-diff --output=f a b c
git version --output=f
git rev-parse --parseopt > f
git count-objects x > f
git merge-base a b > f
git name-rev --stdin > f
git diff --no-index /etc/passwd /dev/null
git check-attr -a /etc/passwd > f
`);

/** Words that are no longer known where it matters. */
const WORDS = texts(`
sort *.txt
sort -u *
rg foo *
rg *.ts
file *
tree *
uniq *
xxd *
sed -n 1p *
sed p *.txt
awk *
diff * a
shuf *
base64 *
git diff *
git log *
git grep foo *
find *
find * -name x
find . -name *
find . -name -d*
find $d -delete
find . $x
find . -name $x
cat $F
cat "$F"
cat -- "$F"
head -5 "$1"
ls $D
wc -l $(cat list)
cat $(cat list)
cat $(curl h)
cat $(echo /etc/passwd)
cat $(printf /etc/passwd)
cat $(git config x.y)
cat $(git log --format=%s)
cat $(jq -r .a f)
cat $(awk 1 f)
cat $(sed 1p f)
cat $(ls -l)
cat $(ls | sed s/a/b/)
cat $(find / -name x)
cat $(find ~ -name x)
cat $(find .. -name x)
cat $(find . -name .env)
cat $(find . -name '*.pem')
cat $(find . -name 'id_rsa' -o -name '*.key')
cat $(find . -printf '/etc/%p')
cat $(git diff --name-only; echo /etc/passwd)
cat $(git ls-files | cut -c2-)
cat $(rg --files /etc)
cat $(grep -rl root /etc)
cat $(find . -name x | rev)
cat .*
cat .e*
cat .en?
cat .[e]nv
cat ./.e*
cat */.env
cat **/.env
cat *.pem
cat *.p*
cat ./*.pe[m]
cat {a,.env}
cat {.e,.x}*
cat src/.env*
cat .env.*
head -1 .env.local
grep x .e*
ls ../*
ls /etc/*
cat ~/.*
cat ~/.ssh/*
cat */../../etc/passwd
cat ./*/../.env
echo /etc/*
printf '%s' ~/*
printf "$x"
printf $x
printf *
$(echo rm) x
$(echo ls) x > f
$x
"$x" a
$(git ls-files)
$(ls)
"$(which rm)" x
§{x:=rm} y
§{x} rm
x=rm; $x f
x=ls; y=x; §{!y} f
x='rm f'; $x
x='-o f'; sort $x g
x=-of; sort $x g
x=--pre=./e; rg $x y
x='--output=f'; git log $x
x=$(cat f); cat "$x"
read x; cat "$x"
read -r x < f; cat $x
read PATH < f
read -r LD_PRELOAD < f
read IFS
read -a PATH < f
mapfile x < f
while read -r f; do rm "$f"; done
while read -r f; do cat "$f"; done < list
while read f; do sort "$f"; done < list
find . | while read -r f; do rm "$f"; done
find . | while read -r f; do sort $f; done
find . | while read -r f; do sort "$f"; done
find . | while read -r f; do rg x "$f"; done
find / | while read -r f; do cat "$f"; done
find . -name .env | while read -r f; do cat "$f"; done
cat list | while read -r f; do cat "$f"; done
find . | while read -r f; do f=/etc/passwd; cat "$f"; done
find . | while read -r f; do echo "$f" > "$f"; done
find . | while read -r f; do $f; done
find . | while read -r f; do bash "$f"; done
for f in *; do $f; done
for f in *; do "$f"; done
for f in *; do rm "$f"; done
for f in *; do sort "$f"; done
for f in *; do sort $f; done
for f in *; do rg x "$f"; done
for f in *; do source "$f"; done
for f in *; do . "./$f"; done
for f in *; do bash "$f"; done
for f in *; do echo x > "$f"; done
for f in *; do echo x >> $f; done
for f in .*; do cat "$f"; done
for f in /etc/*; do cat "$f"; done
for f in a .env; do cat "$f"; done
for f in env; do cat ".$f"; done
for f in nv x; do cat ".e$f"; done
for f in * ; do cat "/etc/$f"; done
for f in *; do cat "../$f"; done
for f in a b; do f=/etc/passwd; cat $f; done
for f in a b; do read f; cat $f; done
for f in a b; do for f in /etc/passwd; do :; done; cat $f; done
for f in a; do :; done; cat $f
for f in $x; do cat "$f"; done
for f in "$@"; do cat "$f"; done
for f in $(cat l); do cat $f; done
for f in $(find / -name x); do cat $f; done
for f; do cat $f; done
for c in ls rm; do $c x; done
for c in rm; do $c x; done
for o in -o -u; do sort $o f g; done
for o in branch stash; do git $o x; done
for PATH in /tmp; do ls; done
for IFS in x; do ls; done
for d in ..; do ls $d; done
for d in /etc; do ls $d; done
for d in src ..; do cat "$d/x"; done
select f in a; do rm $f; done
until rm x; do :; done
f=a; e''val 'f''=/etc/passwd'; cat $f
f=a; read f < l; cat $f
f=a; export f=/etc/passwd; cat $f
f=a; let f=1; cat $f
f=a; printf -v f /etc/passwd; cat $f
f=a; unset f; cat $f
f=a; : §{f:=/etc/passwd}; f=b; cat §{f}
cd /etc; cat passwd
cd ..; cat x
cd /tmp/evil; git log
cd $x; cat f
cd "$x" && ls
cd */ && cat .env
cd ~; cat .netrc
cd /; cat $PWD/etc/passwd
cd /etc; ls
(cd /etc; cat passwd)
cd src && cat ../../x
cat $HOME/.netrc
cat "$HOME"/.aws/credentials
HOME=/etc; cat $HOME/passwd
echo x > $f
echo x > *
echo x > "$(ls)"
cat < $f
cat < "$(cat l)"
cat < .env
cat < /etc/passwd
wc -l <<< "$(rm x)"
`);

const RUNS = texts(String.raw`
ls | xargs rm
ls | xargs -n1 rm
ls | xargs -I{} rm {}
ls | xargs -I{} {}
ls | xargs -I% sh -c %
ls | xargs sh -c 'cat'
ls | xargs sh -c 'cat "$0"'
ls | xargs env
ls | xargs env rm
ls | xargs sort
ls | xargs sort -u
ls | xargs rg x
ls | xargs sed -n 1p
ls | xargs git log
ls | xargs file
ls | xargs uniq
ls | xargs xxd
ls | xargs tree
ls | xargs bash
ls | xargs node
ls | xargs -a list cat
ls | xargs --arg-file=list cat
ls | xargs -I{} sort {}
ls | xargs -I{} cat /etc/{}
ls | xargs -I{} cat ../{}
ls | xargs -I{} sh -c 'cat {}'
ls | xargs -I{} bash -c "echo {}"
ls | xargs timeout 5 rm
ls | xargs nice sort
ls | xargs find
ls | xargs find . -name
ls | xargs xargs rm
ls | xargs awk
cat l | xargs cat
cat l | xargs wc -l
cat l | xargs -I{} cat {}
xargs cat < l
xargs -a l cat
echo /etc/passwd | xargs cat
echo "'/etc/passwd'" | xargs cat
echo .env | xargs cat
printf /etc/passwd | xargs cat
find / -name x | xargs cat
find .. | xargs cat
find . -name .env | xargs cat
find . -name '*.pem' | xargs cat
find . -name 'id_rsa*' -o -name '*.key' | xargs head
find . | xargs rm
find . | xargs -0 rm
find . | xargs sort
find . | xargs rg --pre ./e x
find . | sed s/a/b/ | xargs cat
find . -printf '/etc/%f' | xargs cat
find . | xargs cat < l
find . | xargs cat > f
find . | tee f | xargs cat
find . | { cat l; } | xargs cat
find . -exec rm {} +
find . -exec rm {} \;
find . -exec sh -c 'cat {}' \;
find . -exec sh -c 'cat "$1"' _ {} \;
find . -exec {} \;
find . -exec ./{} \;
find . -exec sort -o {} {} \;
find . -exec sed -i s/a/b/ {} +
find . -exec sed -n 'w x' {} +
find . -exec cat /etc/{} \;
find . -exec cat ../../{} \;
find . -exec env {} \;
find . -exec bash {} \;
find . -exec awk -f {} \;
find . -exec git {} \;
find . -execdir cat {} \;
find . -execdir rm {} \;
find . -ok rm {} \;
find . -okdir cat {} \;
find / -exec cat {} \;
find ~ -exec cat {} \;
find . -name .env -exec cat {} \;
find . -name '*.key' -exec head {} +
find . -delete
find . -fprint f
find . -fprintf f x
find . -fls f
find . -exec cat {} + -delete
find . -exec cat {} \; -exec rm {} \;
find . -exec -delete
find -files0-from l
find . -exec cat
awk 'BEGIN{system("rm x")}'
awk '{system($0)}' f
awk '{print > "f"}'
awk '{print $1 > $2}' f
awk '{print $1, $2 >> "f"}' f
awk '{printf "x" > "f"}'
awk '{printf("x") > "f"}'
awk '{print | "sh"}'
awk '{print $1 | "sort > f"}' f
awk '{"date" | getline x}'
awk '{while ((getline l < "/etc/passwd") > 0) print l}'
awk '{print /"/ > "f"}' f
awk '{x = 1 / 2; print 1 > "f"; y = 1 / 2}' f
awk '{if ($1 > 2) print $1 > "f"}' f
awk '{a++ /x/ b; print "a" > "b"}' f
awk 'BEGIN { print "x" \
> "f" }'
awk '{ print /[/]"/ > "f" }' f
awk '{f="sys" "tem"; @f("rm x")}'
awk -f p f
awk -i inplace 1 f
awk -l x 1 f
awk -e 1 f
gawk --load=x 1 f
awk "$p" f
awk '{print}' /etc/passwd
awk '{print}' .env
awk 1 .e*
sed w f
sed 'w f' g
sed -n '/a/w f' g
sed 's/a/b/w f' g
sed 's/a/b/e' g
sed '1e rm x' g
sed 'r /etc/passwd' g
sed -i s/a/b/ g
sed -n -i p g
sed -e p -e 'w f' g
sed -f f g
sed "$x" f
sed -n "$x" f
sed --in-place=x p f
echo $(rm x)
echo "$(rm x)"
echo "$(cat f > g)"
echo §{x:-$(rm x)}
echo §{x@P}
echo §{!x}
echo $((a[$(rm x)]))
echo $((x))
echo $(($(rm x)))
x=$(rm x)
x=$(rm x); echo $x
export x=$(rm x)
test "$(rm x)"
[ -n "$(rm x)" ]
[ -f $(rm x) ]
[[ -n $(rm x) ]]
[[ $x -eq 1 ]]
[[ $x -eq a[1] ]]
[[ 1 -lt 'a[$(rm x)]' ]]
[[ -v $x ]]
test -v 'a[$(rm x)]'
test -v "$x"
test -R "$x"
[ -v "$x" ]
[ $x = y ]
[ "$a" "$b" "$c" ]
test $x
printf -v x y
printf -v 'a[$(rm x)]' y
printf '%s' "$(rm x)"
diff <(rm x) y
diff <(sort -o f a) b
diff <(cat .env) b
diff <(cat /etc/passwd) b
comm <(ls) <(rm x)
cat <(rm x)
cat >(rm x)
ls > >(sh)
ls | tee >(sh)
while rm x; do :; done
if rm x; then ls; fi
[ -f x ] && rm x
[ -f x ] || rm x
case x in x) rm x;; esac
ls(){ rm x; }; ls
cat() { rm x; }; cat f
function wc { rm x; }; wc f
echo() { rm x; }; x=$(echo a)
find() { echo /etc/passwd; }; cat $(find .)
alias ls='rm x'
shopt -s expand_aliases; alias ls=rm; ls x
enable -n echo; echo x
hash -p /tmp/e ls; ls
trap 'rm x' EXIT; ls
set -x; ls
shopt -s dotglob; cat *
shopt -s nullglob; cat *
GLOBIGNORE=x; cat *
PATH=/tmp ls
PATH=/tmp; ls
PAGER=./e git log
GIT_PAGER=./e git log
GIT_DIR=/x git log
GIT_EXTERNAL_DIFF=./e git diff
LESSOPEN='|rm x' less f
LD_PRELOAD=./e.so ls
BASH_ENV=./e bash -c ls
IFS=x; ls
IFS=/ read a; cat $a
IFS=x ls
ENV=./e sh -c ls
RIPGREP_CONFIG_PATH=./c rg x
GREP_OPTIONS=-f/etc/passwd grep x
PROMPT_COMMAND='rm x'; ls
env PATH=/tmp ls
env LD_PRELOAD=./e ls
./ls
/tmp/cat f
src/cat f
../bin/ls
ls & rm x
ls; rm x
ls && rm x
ls || rm x
ls | sh
ls⏎rm x
time rm x
timeout 5 rm x
nice rm x
`);

const ROWS = [...WRITES, ...GIT, ...WORDS, ...RUNS];

test(`${ROWS.length} texts that look like reading are no reading`, () => {
  const allowed = ROWS.filter((text) => decided(text) === "allow");
  expect(allowed).toEqual([]);
  expect(ROWS.length).toBeGreaterThan(400);
});
