/** Tables of programs by what they do to other programs. Names are base names. */

export interface Wrapper {
  /** Flags without a value, spelled as they must stand. */
  readonly flags: readonly string[];
  /** Flags with one, in the next word or attached. */
  readonly valued: readonly string[];
  /** Operands before the inner command. */
  readonly operands?: number;
  /** It adds arguments of its own. */
  readonly isOpen?: boolean;
  /** Takes assignments, which are not analysed. */
  readonly isEnv?: boolean;
}

const plain: Wrapper = { flags: [], valued: [] };

export const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map<string, Wrapper>([
  ["env", { flags: ["-i", "--ignore-environment"], valued: ["-u", "--unset"], isEnv: true }],
  ["nice", { flags: [], valued: ["-n", "--adjustment"] }],
  ["ionice", { flags: ["-t"], valued: ["-c", "-n"] }],
  ["nohup", plain],
  ["setsid", { flags: ["-c", "-f", "-w", "--ctty", "--fork", "--wait"], valued: [] }],
  ["stdbuf", { flags: [], valued: ["-i", "-o", "-e", "--input", "--output", "--error"] }],
  ["time", { flags: ["-p"], valued: [] }],
  [
    "timeout",
    {
      flags: ["-v", "--verbose", "--foreground", "--preserve-status"],
      valued: ["-k", "-s", "--kill-after", "--signal"],
      operands: 1,
    },
  ],
  [
    "xargs",
    {
      flags: ["-0", "--null", "-r", "--no-run-if-empty", "-t", "--verbose", "-x", "--exit"],
      valued: ["-n", "--max-args", "-P", "--max-procs", "-L", "--max-lines", "-d", "--delimiter"],
      isOpen: true,
    },
  ],
  ["command", { flags: ["-p"], valued: [] }],
  ["builtin", plain],
  ["exec", plain],
]);

export const SHELLS: ReadonlySet<string> = new Set("bash sh dash zsh ksh ash fish csh tcsh rbash".split(" "));

/** Builtins that change what later commands mean, or evaluate their operands: no rule with content covers them. */
export const CHANGES_SHELL: ReadonlySet<string> = new Set(
  (
    "alias unalias shopt set enable hash complete compgen compopt bind fc history source . trap eval let declare " +
    "typeset export local readonly read mapfile readarray getopts unset wait test [ pushd popd dirs"
  ).split(" "),
);

/** Interpreters: a rule that names only the program would allow anything. */
const INTERPRETERS: ReadonlySet<string> = new Set(
  (
    "python python2 python3 node deno bun perl ruby php lua awk gawk mawk sed sqlite3 ed gdb make npx bunx pnpx uvx " +
    "osascript tclsh expect Rscript java ssh"
  ).split(" "),
);

/** Programs that start others named by their arguments, or agents that would. A deny rule whose name stands there may match. */
export const LAUNCHERS: ReadonlySet<string> = new Set([
  ...INTERPRETERS,
  ...(
    "sudo su doas pkexec runuser chroot unshare nsenter systemd-run at batch crontab docker podman kubectl parallel " +
    "flock watch script strace ltrace chrt taskset busybox toybox coproc entr npm pnpm yarn crux claude codex"
  ).split(" "),
]);
