/** The subcommands of git. */
import { fetches, helpers, pushes } from "./operand-judges.ts";
import type { CommandSpec, ProgramSpec } from "./option-table.ts";

const PATCHES = `-p|--patch -u -s|--no-patch -U|--unified= --raw --patch-with-raw --indent-heuristic --no-indent-heuristic --minimal
  --patience --histogram --diff-algorithm= --stat=? --compact-summary --numstat --shortstat --summary --name-only --name-status
  --submodule=? --color=? --no-color --color-moved=? --word-diff=? --word-diff-regex= --color-words=? --no-renames --check --full-index
  --binary --abbrev=? -B=? -M|--find-renames=? -C|--find-copies=? --find-copies-harder -D -l= --diff-filter= -S= -G= --pickaxe-all
  --pickaxe-regex -R --relative=? -a|--text --ignore-cr-at-eol --ignore-space-at-eol -b -w|--ignore-all-space --ignore-space-change
  --ignore-blank-lines --inter-hunk-context= -W|--function-context --exit-code --quiet --no-ext-diff --no-textconv --no-prefix
  --src-prefix= --dst-prefix= --line-prefix= --cached --staged --merge-base -z --no-index -O=`;
const LOGS = `${PATCHES} -n|--max-count= --skip= --since= --after= --until= --before= --author= --committer= --grep= --all-match
  --invert-grep -i|--regexp-ignore-case -E|--extended-regexp -F|--fixed-strings -P|--perl-regexp --merges --no-merges --first-parent --all
  --branches=? --tags=? --remotes=? --glob= --exclude= --reflog --oneline --graph --decorate=? --no-decorate --follow -L= --format=?
  --pretty=? --abbrev-commit --no-abbrev-commit --date= --date-order --topo-order --author-date-order --reverse -g|--walk-reflogs
  --left-right --cherry-pick --cherry-mark --cherry --boundary --simplify-by-decoration --show-signature --notes=? --no-notes -c --cc -m -r
  -t --root --full-history --source --use-mailmap --mailmap`;
const DIFF: CommandSpec = { plain: PATCHES };
const LOG: CommandSpec = { plain: LOGS };
const COMMITS = `-a|--all -p|--patch -v|--verbose -q|--quiet -m|--message= -F|--file= -C|--reuse-message= -c|--reedit-message= --fixup=
  --squash= --amend --no-edit -s|--signoff -n|--no-verify --verify --allow-empty --allow-empty-message --author= --date= --dry-run
  --porcelain --short --cleanup= -t -S|--gpg-sign=? --no-gpg-sign -i|--include -o|--only -u|--untracked-files=? -z --reset-author
  --trailer= --status --no-status --interactive -e|--edit`;
const MERGES = `--ff --no-ff --ff-only --squash --no-squash -s|--strategy= -X|--strategy-option= --stat -n|--no-stat --no-commit --commit
  --no-edit -m|--message= -F|--file= --abort --continue --quit -v|--verbose -q|--quiet --allow-unrelated-histories --autostash
  --no-autostash --signoff --no-verify -S|--gpg-sign=? --log=? --no-log --rebase=? -r --no-rebase`;
const FETCHES = `--all -a|--append --atomic --depth= --deepen= --shallow-since= --unshallow --dry-run -f|--force -k|--keep --multiple
  -p|--prune -P|--prune-tags -n|--no-tags -t|--tags --refmap= -j|--jobs= --set-upstream -q|--quiet -v|--verbose --progress -o|--server-option=
  -4|--ipv4 -6|--ipv6 --filter= --recurse-submodules=? --no-recurse-submodules --negotiation-tip= --auto-gc --write-fetch-head`;

const COMMANDS: Readonly<Record<string, CommandSpec>> = {
  "add|stage": {
    plain: `-n|--dry-run -v|--verbose -f|--force -i|--interactive -p|--patch -u|--update -A|--all --no-all -N|--intent-to-add --refresh
      --ignore-errors --chmod= --renormalize --sparse`,
    starts: "-e|--edit",
  },
  "am annotate check-attr check-ignore cherry commit-tree count-objects fsck hash-object ls-tree merge-base merge-tree mv":
    {},
  apply: {
    plain:
      "--check --stat --numstat --summary -R|--reverse -3|--3way --index --cached -p= -C= -v -q --recount --reject",
  },
  archive: { plain: "--format= --prefix= -v -l|--list -0 -9", writes: "-o|--output=", connects: "--remote=" },
  bisect: {
    commands: {
      "start bad new good old skip next reset log terms visualize view": {},
      run: { deed: "starts" },
      replay: { deed: "reads" },
    },
  },
  blame: {
    plain: "-b -L= -l -t -S= -p -M=? -C=? -h -f -n -s -e -w --root --date= --porcelain --line-porcelain",
    reads: "--contents=",
  },
  branch: {
    plain: `-d|--delete -D -m|--move -M -c|--copy -C -f|--force -a|--all -r|--remotes -l|--list -v|--verbose -q|--quiet -u|--set-upstream-to=
      --unset-upstream -t|--track=? --no-track --contains=? --no-contains=? --merged=? --no-merged=? --sort= --format= --points-at=
      --show-current --color=? --no-color --column=? --no-column -i|--ignore-case --abbrev=? --create-reflog`,
    starts: "--edit-description",
  },
  "cat-file": {
    plain: "-t -s -e -p --batch=? --batch-check=? --batch-all-objects --filters",
    starts: "--textconv",
  },
  checkout: {
    plain: `-q|--quiet -f|--force -b= -B= -t|--track=? --no-track --detach -d --orphan= --ours --theirs -m|--merge --conflict= -p|--patch -l
      --ignore-skip-worktree-bits --progress --no-progress --guess --no-guess --overwrite-ignore --recurse-submodules=?`,
  },
  "cherry-pick revert": {
    plain: `-e|--edit --no-edit -x -m|--mainline= -n|--no-commit -s|--signoff -S|--gpg-sign=? --ff --allow-empty --keep-redundant-commits
      --strategy= -X|--strategy-option= --continue --skip --abort --quit --cleanup=`,
  },
  clean: { plain: "-d -f|--force -i|--interactive -n|--dry-run -q|--quiet -e|--exclude= -x -X" },
  clone: {
    plain: `-l|--local --no-hardlinks -s|--shared -q|--quiet -v|--verbose --progress -n|--no-checkout --bare --mirror -o|--origin= -b|--branch=
      --depth= --shallow-since= --single-branch --no-single-branch --no-tags --filter= --sparse -j|--jobs= --also-filter-submodules
      --remote-submodules --recurse-submodules=? --recursive=? --reject-shallow --dissociate -4|--ipv4 -6|--ipv6 --server-option=
      --revision= --ref-format=`,
    starts: "-u|--upload-pack=",
    reads: "-c|--config= --template= --reference= --reference-if-able= --bundle-uri=",
    moves: "--separate-git-dir=",
    operands: fetches,
  },
  commit: { plain: COMMITS, reads: "--template= --pathspec-from-file=" },
  describe: {
    plain:
      "--tags --all --always --long --dirty=? --broken=? --exact-match --abbrev=? --match= --exclude= --contains --candidates= --first-parent",
  },
  diff: DIFF,
  "diff-files diff-index diff-tree": LOG,
  fetch: { plain: FETCHES, starts: "--upload-pack=", operands: fetches },
  "for-each-ref": {
    plain:
      "--count= --sort= --format= --points-at= --merged=? --no-merged=? --contains=? --shell --perl --python --tcl",
  },
  "format-patch": {
    plain: `${LOGS} -N -s|--signoff --stdout --cover-letter --attach=? --inline --thread=? --numbered-files -v= --start-number= --in-reply-to= --to= --cc= --rfc --base= -k -q`,
    writes: "-o|--output-directory=",
  },
  gc: { plain: "--aggressive --auto --prune=? --quiet -q --force --keep-largest-pack" },
  grep: {
    plain: `-e= -i -I -v -w -a -h -H -E -G -P -F -n -l -L -c -o -p -q -r -W -z --line-number --column --name-only --only-matching --count --all-match
      --heading --break --context= -A= -B= -C= --cached --untracked --no-index --and --or --not --max-depth= --color=? --no-color --threads=
      --recurse-submodules --exclude-standard --no-exclude-standard --full-name --show-function --function-context -m= --ignore-case
      --word-regexp --invert-match --text --files-with-matches --files-without-match --max-count= --quiet --extended-regexp --fixed-strings
      --perl-regexp --basic-regexp --null --textconv=? -f=`,
    starts: "-O|--open-files-in-pager=? --textconv",
  },
  init: {
    plain: "-q|--quiet --bare -b|--initial-branch= --shared=? --object-format= --ref-format=",
    reads: "--template=",
    moves: "--separate-git-dir=",
  },
  "log|whatchanged": LOG,
  "ls-files": {
    plain:
      "-c -d -m -o -i -s -t -u -k -z -v -f -x= -X= --cached --deleted --modified --others --ignored --stage --exclude= --exclude-standard --full-name --error-unmatch --format= --directory --eol",
  },
  "ls-remote": {
    plain:
      "-h|--heads -t|--tags --refs -q|--quiet --exit-code --get-url --sort= --symref --branches -o|--server-option=",
    starts: "--upload-pack= --exec=",
    operands: fetches,
  },
  merge: { plain: MERGES, starts: "-e|--edit" },
  notes: {
    plain: "--ref= -m= -f|--force -F= -C= -c= -n -v -q --allow-empty",
    commands: { "list add copy append show merge remove prune get-ref": {}, edit: { deed: "starts" } },
  },
  prune: { plain: "-n|--dry-run -v|--verbose --expire= --progress" },
  pull: { plain: `${FETCHES} ${MERGES}`, starts: "--upload-pack= -e|--edit", operands: fetches },
  push: {
    plain: `-v|--verbose -q|--quiet -n|--dry-run --porcelain -u|--set-upstream --all --branches --tags --follow-tags --atomic --no-verify --verify
      --thin --no-thin --progress --no-progress -d|--delete -f|--force --force-with-lease=? --no-force-with-lease --force-if-includes --mirror
      --prune -4|--ipv4 -6|--ipv6 --signed=? -o|--push-option= --recurse-submodules=`,
    starts: "--receive-pack= --exec=",
    connects: "--repo=",
    operands: pushes,
    alike: { "--force": /^\+|^--mirror$/, "--delete": /^:./, "--mirror": /^$/ },
  },
  "range-diff": LOG,
  "read-tree rev-parse show-ref symbolic-ref update-index update-ref verify-commit verify-tag version write-tree name-rev check-mailmap var stripspace patch-id column mktree mktag unpack-objects rerere pack-refs prune-packed show-index verify-pack":
    {},
  rebase: {
    plain: `--onto= --keep-base --continue --skip --abort --quit --apply --merge -m -q|--quiet -v|--verbose --stat -n|--no-stat --no-verify --verify
      -C= -f|--force-rebase --no-ff --fork-point --no-fork-point --ignore-whitespace --whitespace= --signoff -i|--interactive -r|--rebase-merges=?
      --root --autosquash --no-autosquash --autostash --no-autostash -s|--strategy= -X|--strategy-option= -S|--gpg-sign=? --empty=
      --reapply-cherry-picks --update-refs --committer-date-is-author-date --reset-author-date --show-current-patch`,
    starts: "-x|--exec= --edit-todo",
  },
  reflog: LOG,
  remote: {
    plain: "-v|--verbose",
    commands: {
      "show prune get-url rename remove|rm set-head set-branches update": {},
      add: { plain: "-t= -m= -f --tags --no-tags --mirror=?", deed: "connects" },
      "set-url": { plain: "--push --add --delete", deed: "connects" },
    },
  },
  "reset restore rm switch": {
    plain: `-q|--quiet --soft --mixed --hard --merge --keep -N -p|--patch --pathspec-file-nul -s|--source= -W|--worktree -S|--staged --ours --theirs -m
      --conflict= --ignore-unmerged --overlay --no-overlay -f|--force -n|--dry-run -r --cached --ignore-unmatch -c|--create= -C|--force-create=
      -d|--detach --guess --no-guess --discard-changes -t|--track=? --no-track --orphan= --recurse-submodules=?`,
  },
  "rev-list": LOG,
  shortlog: { plain: `${LOGS} -n|--numbered -s|--summary -e|--email -c|--committer --group= -w=?` },
  show: LOG,
  "show-branch": {
    plain:
      "-a|--all -r|--remotes --current --topo-order --list --more= --merge-base --independent --no-name --sha1-name --topics -g=?",
  },
  "sparse-checkout": { commands: { "list set add reapply disable init check-rules": {} } },
  stash: {
    plain:
      "-p|--patch -S|--staged -k|--keep-index --no-keep-index -u|--include-untracked -a|--all -q|--quiet -m|--message= --index",
    commands: { "list show": LOG, "push save pop apply drop clear create store branch export import": {} },
  },
  status: {
    plain:
      "-s|--short -b|--branch --porcelain=? --long -v|--verbose -u|--untracked-files=? --ignore-submodules=? --ignored=? -z --column=? --no-column --ahead-behind --no-ahead-behind --renames --no-renames --find-renames=? --show-stash",
  },
  submodule: {
    plain: "-q|--quiet --cached",
    commands: {
      "status init deinit summary sync absorbgitdirs set-branch": {},
      foreach: { deed: "starts" },
      add: { deed: "connects" },
      update: { deed: "connects" },
      "set-url": { deed: "connects" },
    },
  },
  tag: {
    plain: `-a|--annotate -s|--sign --no-sign -f|--force -d|--delete -v|--verify -n=? -l|--list --sort= --color=? -i --column=? --no-column
      --contains=? --no-contains=? --merged=? --no-merged=? --points-at= -m|--message= -F|--file= --cleanup= --create-reflog --format= --trailer=`,
    starts: "-e|--edit",
    reads: "-u|--local-user=",
  },
  worktree: {
    commands: {
      "list remove prune lock unlock move repair": {},
      add: {
        plain:
          "-f|--force -d|--detach -b= -B= --lock --reason= -q --track --guess-remote --orphan --checkout --no-checkout",
      },
    },
  },
  config: { deed: "writes" },
};

export const GIT: ProgramSpec = {
  names: "git",
  plain: `-P|--no-pager --no-replace-objects --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --no-optional-locks
      --no-lazy-fetch --no-advice -v|--version -h|--help --html-path --man-path --info-path --attr-source=`,
  starts: "-p|--paginate",
  reads: "-c= --config-env=",
  moves: "-C= --git-dir= --work-tree= --namespace= --bare --exec-path=? --super-prefix=",
  isClosed: true,
  commands: Object.fromEntries(Object.entries(COMMANDS).map(([name, spec]) => [name, withCommon(spec)])),
};

/** Options by which any subcommand may start, write or bring in something, unless its own row says otherwise. */
function withCommon(spec: CommandSpec): CommandSpec {
  const common = {
    starts: `--ext-diff --textconv --open-files-in-pager=? --upload-pack= --receive-pack= --exec= --pager=? --extcmd= --to-cmd= --cc-cmd=
      --smtp-server= --sendmail-cmd= --post-rewrite --tool= --edit-description`,
    writes: "--output= --output-directory= --build-fake-ancestor= --unsafe-paths",
    reads: "--template= --config= --pathspec-from-file=",
    moves: "--separate-git-dir=",
  };
  const own = new Set(
    [spec.plain, spec.starts, spec.writes, spec.reads, spec.moves, spec.connects]
      .join(" ")
      .split(/[\s|]+/)
      .map((name) => name.replace(/=\??$/, "")),
  );
  const kept = (text: string) =>
    text
      .split(/\s+/)
      .filter((word) => !own.has(word.replace(/=\??$/, "")))
      .join(" ");
  return {
    ...spec,
    operands: spec.operands ?? helpers,
    starts: `${spec.starts ?? ""} ${kept(common.starts)}`,
    writes: `${spec.writes ?? ""} ${kept(common.writes)}`,
    reads: `${spec.reads ?? ""} ${kept(common.reads)}`,
    moves: `${spec.moves ?? ""} ${kept(common.moves)}`,
    ...(spec.commands === undefined
      ? {}
      : {
          commands: Object.fromEntries(
            Object.entries(spec.commands).map(([name, each]) => [name, withCommon(each)]),
          ),
        }),
  };
}
