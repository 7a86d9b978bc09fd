/** Version control and its hosts. */
import { GIT } from "./git.ts";
import { fetches, pushes } from "./operand-judges.ts";
import type { ProgramSpec } from "./option-table.ts";

export const VCS: readonly ProgramSpec[] = [
  GIT,
  {
    names: "hg chg",
    plain:
      "-y|--noninteractive -q|--quiet -v|--verbose --color= --debug --traceback --time --version -h|--help --hidden --pager=",
    starts: "--debugger --profile",
    reads: "--config= --config-file=",
    moves: "-R|--repository= --cwd=",
    isPersistent: true,
    abbreviates: true,
    isClosed: true,
    commands: {
      "status|st": {},
      diff: {},
      "log|history": {
        plain:
          "-l|--limit= -r|--rev= -p|--patch -T|--template= -G|--graph -u|--user= -k|--keyword= -b|--branch= -f|--follow",
      },
      "commit|ci": { plain: "-m|--message= -A|--addremove -u|--user= --amend -d|--date=" },
      "add remove|rm addremove forget rename|move|mv copy|cp revert resolve": {},
      "update|up|checkout|co": {},
      "branch branches bookmarks|bookmark tag tags heads tip parents identify|id annotate|blame cat files manifest grep summary|sum paths root version help phase merge graft shelve unshelve strip rebase histedit evolve backout verify outgoing|out incoming|in":
        {},
      pull: {
        plain: "-u|--update -r|--rev= -b|--branch= -B|--bookmark= -f",
        starts: "-e|--ssh= --remotecmd=",
        operands: fetches,
      },
      push: {
        plain: "-f|--force -r|--rev= -B|--bookmark= -b|--branch= --new-branch",
        starts: "-e|--ssh= --remotecmd=",
        operands: pushes,
      },
      clone: {
        plain: "-U -u|--updaterev= -r|--rev= -b|--branch= --pull --stream",
        starts: "-e|--ssh= --remotecmd=",
        operands: fetches,
      },
      bisect: { plain: "-r|--reset -g|--good -b|--bad -s|--skip -e|--extend -U", starts: "-c|--command=" },
      "archive export": { plain: "-r|--rev= -t|--type= -p|--prefix= -X= -I=", writes: "-o|--output=" },
    },
  },
  {
    names: "svn svnadmin svnlook svnsync",
    plain:
      "--username= --password= --no-auth-cache --non-interactive --trust-server-cert -q|--quiet -v|--verbose -r|--revision= -m|--message= -N|--depth= -c|--change= --xml --incremental -l|--limit= --stop-on-copy --force",
    starts: "--diff-cmd= --diff3-cmd= --editor-cmd= --diff -x|--extensions=",
    reads: "--config-dir= --config-option= -F|--file= --targets=",
    isPersistent: true,
    commands: {
      "checkout|co": {},
      "update|up": {},
      "commit|ci": {},
      "status|st|stat": {},
      "delete|del|remove|rm": {},
      "diff|di": {},
      "blame|praise|annotate|ann": {},
      "log info add cat list|ls merge mkdir move|mv|rename|ren copy|cp cleanup resolve revert export import lock unlock switch|sw relocate":
        {},
      "propset|pset|ps propedit|pedit|pe propdel|pdel|pd propget|pget|pg proplist|plist|pl": {},
    },
  },
  {
    names: "gh glab hub",
    plain: "-R|--repo= -h|--help --version --hostname=",
    isPersistent: true,
    commands: {
      alias: { commands: { list: {}, "set delete import": { deed: "writes" } } },
      "extension|extensions|ext": {
        commands: { "list|ls search browse": {}, "install upgrade remove create exec": { deed: "starts" } },
      },
      api: {
        plain:
          "-H|--header= -q|--jq= -t|--template= --paginate --slurp -i|--include --silent --verbose --cache= -p|--preview=",
        connects: "-X|--method= -f|--raw-field= -F|--field= --input=",
      },
      auth: { commands: { status: {}, "login logout refresh setup-git token switch": { deed: "writes" } } },
      config: { commands: { "get list|ls": {}, "set clear-cache": { deed: "writes" } } },
      browse: { deed: "starts" },
      "issue|i": {
        commands: {
          "list|ls view status develop": { starts: "-w|--web" },
          "create|new close reopen edit delete comment lock unlock pin unpin transfer": {
            plain: "-t|--title= -b|--body= -a|--assignee= -l|--label= -m|--milestone= -p|--project=",
            starts: "-e|--editor -w|--web",
            reads: "-F|--body-file= -T|--template=",
          },
        },
      },
      "pr|mr": {
        commands: {
          "list|ls view status checks diff": { starts: "-w|--web" },
          "checkout|co": {},
          "create|new close reopen edit merge comment review ready lock unlock update-branch": {
            plain:
              "-t|--title= -b|--body= -B|--base= -H|--head= -a|--assignee= -l|--label= -r|--reviewer= -d|--draft -f|--fill -m|--merge -s|--squash --rebase --auto --admin -c|--comment",
            starts: "-e|--editor -w|--web",
            reads: "-F|--body-file= -T|--template=",
          },
        },
      },
      repo: {
        commands: {
          "list|ls view": { starts: "-w|--web" },
          "clone fork create|new delete edit archive rename sync set-default deploy-key": {},
        },
      },
      release: {
        commands: { "list|ls view download verify": {}, "create|new delete edit upload delete-asset": {} },
      },
      run: { commands: { "list|ls view watch download cancel rerun delete": {} } },
      workflow: { commands: { "list|ls view run enable disable": {} } },
      "secret variable ssh-key gpg-key label cache gist project ruleset search status codespace org attestation completion ci copilot":
        {
          commands: {
            "list|ls view get set delete remove add create edit clone upload ssh cp code commits issues prs repos":
              {},
          },
        },
    },
  },
  {
    names: "jj",
    plain: "--ignore-working-copy --no-pager --color= --quiet --at-operation|--at-op= --debug -h|--help",
    reads: "--config= --config-file= --config-toml=",
    moves: "-R|--repository=",
    isPersistent: true,
    commands: {
      git: { commands: { "push fetch clone init import export remote": {} } },
      "log st|status diff show new commit describe|desc edit squash rebase abandon bookmark|b op|operation undo restore split resolve file config fix util workspace":
        {},
    },
  },
  {
    names: "tig gitk lazygit",
    starts: "-c=",
    moves: "-C= --git-dir= --work-tree= -p|--path= -g= -w= -ucf|--use-config-file= -ucd|--use-config-dir=",
  },
  {
    names: "pre-commit",
    reads: "-c|--config=",
    commands: {
      run: { plain: "-a|--all-files --files= -v|--verbose", reads: "-c|--config=" },
      "install uninstall autoupdate clean gc init-templatedir migrate-config sample-config try-repo validate-config validate-manifest":
        {},
    },
  },
];
