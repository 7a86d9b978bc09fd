/** Programs, classified by how they treat other programs and text. Names are base names. */
import { posix } from "node:path";

export const wordList = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== "");
const set = (text: string): ReadonlySet<string> => new Set(wordList(text));

export const SHELLS = set("bash sh dash zsh ksh mksh ash fish csh tcsh rbash pwsh powershell");

/** Shells whose `-c` text is analysed. */
export const POSIX_SHELLS = set("bash sh dash zsh");

/** Syntax that bash adds to that of every shell: `[[ a > b ]]` compares in bash but writes a file elsewhere. */
const OF_BASH =
  /\$['"[]|\[\[|\]\]|\(\(|&>|>&(?!\s*[\d-])|<<<|[<>]\(|\|&|\+=|=\(|\{(?!\s)|~[+-]|\b(?:function|select|coproc|time|source)\b/;

/**
 * Whether the shell may read the text differently from bash, whose grammar is used for the analysis. zsh does so with
 * every pattern.
 */
export function isForeign(name: string, text: string): boolean {
  if (name === "bash") return false;
  const bare = text.replaceAll(/\$\{\w+\}/g, "");
  return OF_BASH.test(bare) || (name === "zsh" && !/^[\w\s.,:/@%+;|'"-]*$/.test(bare));
}

/** Interpreters, package runners and builders: what they run is in files and arguments that are not analysed. */
const INTERPRETERS = set(
  `python python2 python3 pypy pypy3 node nodejs deno bun perl ruby php lua luajit awk gawk mawk nawk sqlite3 ed ex gdb lldb make
   gmake cmake ninja npx bunx pnpx uvx osascript tclsh expect Rscript java groovy scala julia ghci irb jshell psql mysql m4 dc bc`,
);

/** Programs that run another program, named by their arguments, often elsewhere or as another user. */
const ELSEWHERE = set(
  `sudo su doas pkexec runuser chroot unshare nsenter systemd-run at batch crontab ssh scp sftp mosh docker podman nerdctl kubectl
   machinectl lxc-attach flatpak snap firejail bwrap proot fakeroot setpriv capsh gosu run0 entr npm pnpm yarn cargo go tsx ts-node
   bundle bundler pipenv pdm hatch rye corepack mise asdf direnv nix nix-shell conda mamba micromamba rustup unbuffer chronic rlwrap gtimeout
   setarch prlimit numactl perf valgrind rr socat tmux screen sshpass xvfb-run start-stop-daemon run-parts dbus-run-session nodemon watchexec
   concurrently dotenv doppler op aws-vault ccache sccache distcc bear scan-build faketime torsocks proxychains proxychains4 cpulimit
   systemd-inhibit pipx poetry uv just task rake ant gradle mvn bazel crux claude codex`,
);

/**
 * Programs that run others: only a rule that begins with the program's name covers them, and a deny rule may match if
 * its command is among their words. `sed` and `awk` are here for uses that the table of read-only commands does not
 * cover.
 */
export const LAUNCHERS: ReadonlySet<string> = new Set([
  ...INTERPRETERS,
  ...ELSEWHERE,
  "sed",
  "gsed",
  "tar",
  "man",
]);

/** Builtins that change what later commands mean, or that run text later: no allow rule covers them. */
export const CHANGES_SHELL = set(
  "alias unalias shopt enable hash complete compgen compopt bind fc history source . trap coproc pushd popd dirs logout suspend",
);

/** Builtins that evaluate their operands, except plain names and numbers. */
export const EVALUATES_OPERANDS = set(
  "let declare typeset local export readonly read mapfile readarray getopts unset wait test [ [[",
);

/** Reserved words: one as the name of a command is a misreading. */
export const RESERVED = set(
  "if then elif else fi for while until do done case esac select in function coproc { } ! [[ ]] ((",
);

const SYSTEM = set("/usr/bin /bin /usr/sbin /sbin /usr/local/bin /opt/homebrew/bin");

/** A path counts as the program of its name only in a system directory; a bare name is looked up in PATH. */
export function isSystemProgram(path: string): boolean {
  return !path.includes("/") || SYSTEM.has(posix.dirname(path));
}
