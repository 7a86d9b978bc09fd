/**
 * One command of a process attacks the next: its sandbox, which waits already, what it will find in their folders, and the
 * machine. Each pair is tried beside a pair whose first command does nothing.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { HostProcesses } from "../../src/dev/host/exec.ts";
import { findProcess, listPids } from "../../src/dev/host/procfs.ts";
import { Sandboxes } from "../../src/dev/host/sandbox/sandbox.ts";
import { bashSpec, commandOf } from "../../src/dev/host/testing.ts";
import { until } from "../../src/dev/testing.ts";

interface Sabotage {
  readonly name: string;
  readonly attack: string;
  /** What is run next; absent: LOOK. */
  readonly next?: string;
}

export interface Sabotaged {
  readonly name: string;
  /** What confines commands there. */
  readonly kind: string;
  /** What the next command does and finds, and what it does after a command that has done nothing. */
  readonly found: string;
  readonly expected: string;
  /** Processes that are left, by their command lines; what differs outside. */
  readonly left: readonly string[];
}

/** How a command finds itself. */
const LOOK = `ulimit -n -u -f -t; nice; umask; pwd; type -p ls cat; ls -A . "$TMPDIR"; grep -E '^(Sig[PBIC]|Cap|NoNew|Seccomp:|Cpus_allowed:)' /proc/self/status
cat < /dev/null && echo x > "$TMPDIR/mine" && cat "$TMPDIR/mine" && rm "$TMPDIR/mine"; hostname; ls /proc/self/fd | wc -l; ipcs -m | wc -l`;
const ALL =
  "for pid in /proc/[0-9]*; do pid=${pid#/proc/}; [ $pid = $$ ] || [ $pid = $BASHPID ] || { ACT; }; done";
const each = (act: string) => ALL.replace("ACT", act);
const syscall = (x64: number, arm64: number) => (process.arch === "arm64" ? arm64 : x64);

export const SABOTAGE: readonly Sabotage[] = [
  {
    name: "traces whatever it sees",
    attack: each(`perl -e 'syscall(${syscall(101, 117)}, 16, 0 + shift, 0, 0)' $pid`),
  },
  {
    name: "writes into the memory of whatever it sees",
    attack: each(": >> /proc/$pid/mem; echo 1000 > /proc/$pid/oom_score_adj"),
  },
  {
    name: "tells statuses by whatever is open",
    attack: each("for fd in /proc/$pid/fd/*; do printf '\\n.\\n0\\n' > $fd; done"),
  },
  {
    name: "takes descriptors of others",
    attack: each(`perl -e 'my $p = syscall(434, 0 + shift, 0); syscall(438, $p, $_, 0) for 0 .. 9' $pid`),
  },
  {
    name: "limits and slows down whatever it sees",
    attack: each(
      "prlimit --pid $pid --nofile=9 --cpu=1 --fsize=0; renice -n 19 -p $pid; taskset -p 1 $pid; ionice -c 3 -p $pid",
    ),
  },
  {
    name: "stops and kills whatever it can",
    attack: `${each("kill -STOP $pid; kill -KILL $pid")}; kill -STOP -1`,
  },
  {
    name: "leaves descriptors, traps, limits and a mask",
    attack:
      "mkfifo fifo; exec 8> open 9<> fifo; rm open fifo; ulimit -n 20 -f 0; trap '' TERM INT HUP; umask 777; cd /; set -e",
  },
  {
    name: "leaves processes that hide, and refuse to end",
    attack: `for i in 1 2 3; do env -i perl -e 'use POSIX; exit if fork; POSIX::setsid(); exit if fork; $SIG{$_} = "IGNORE" for qw(TERM HUP INT); close $_ for *STDIN, *STDOUT, *STDERR; exec { "/bin/sleep" } "canary-left", 60'; done`,
  },
  {
    name: "forks until it has hundreds",
    attack: `perl -e '$0 = "canary-left"; for (1 .. 7) { fork } sleep 60' > /dev/null 2>&1 & sleep 0.3`,
  },
  {
    name: "forks as it is ended",
    attack: `perl -e '$0 = "canary-left"; $SIG{TERM} = "IGNORE"; my $n = 0; while ($n++ < 400) { exit if fork; select undef, undef, undef, 0.002 }' > /dev/null 2>&1 &`,
  },
  {
    name: "fills its temporary folder",
    attack: `cat /dev/zero > "$TMPDIR/full"; :`,
    next: `rm -f "$TMPDIR/full"; ${LOOK}`,
  },
  {
    name: "puts links and pipes where temporary files will be",
    attack: `ln -s /outside/planted "$TMPDIR/mine"; mkfifo "$TMPDIR/fifo"`,
    next: '{ echo x > "$TMPDIR/mine"; } 2> /dev/null; rm -f "$TMPDIR/mine" "$TMPDIR/fifo"; echo on',
  },
  {
    name: "swaps a temporary folder while the next works in it",
    attack: `mkdir "$TMPDIR/d"; (cd "$TMPDIR"; exec -a canary-left setsid bash -c 'while :; do mv d e; ln -s /outside d; rm d; mv e d; done' > /dev/null 2>&1 &)`,
    next: 'for i in $(seq 200); do echo x > "$TMPDIR/d/planted"; done 2>/dev/null; rm -rf "$TMPDIR/d" "$TMPDIR/e"; echo on',
  },
  {
    name: "takes its temporary folder away",
    attack: 'rm -rf "$TMPDIR"; mv "$TMPDIR" "$TMPDIR-moved"; ln -sT /etc "$TMPDIR"; chmod 700 "$TMPDIR"',
  },
  {
    name: "puts programs by the names of others",
    attack:
      "for name in ls cat bash sh perl node git; do printf '#!/bin/sh\\necho evil\\n' > $name; chmod +x $name; done; alias ls='echo evil'; ls() { echo evil; }; export -f ls; hash -p $PWD/cat cat; mkdir -p bin && cp ls bin/",
    next: `rm -rf ls cat bash sh perl node git bin; ${LOOK}`,
  },
  {
    name: "runs a shell by another name",
    attack:
      "cp /bin/bash harmless; exec -a sshd ./harmless -c 'cat /outside/secret; echo x > /outside/planted; echo x > /etc/hosts; rm harmless'",
  },
  {
    name: "leaves shared memory, a name and locks",
    attack:
      "ipcmk -M 4096; ipcmk -Q; hostname evil; exec 9> lock; flock 9; (exec -a canary-left sleep 60 > /dev/null 2>&1 &)",
    next: `flock -n lock echo free; rm lock; ${LOOK}`,
  },
];

const [WORK, TMP] = ["/arena/work", "/small/tmp"];

export async function next(_: object, tell: (sabotaged: Sabotaged) => void): Promise<void> {
  for (const dir of [WORK, TMP, "/arena/next"]) mkdirSync(dir, { recursive: true });
  writeFileSync("/outside/secret", "SECRET");
  const exec = new HostProcesses({
    ...{ kernelId: "k-next", epoch: 1, pipesDir: "/arena/next/pipes" },
    sandboxes: new Sandboxes({ dir: "/arena/next/sb", ledgerDir: "/arena/next/ledger" }),
  });
  const { sandbox } = exec;
  const [before, others] = [mounts(), listPids()];
  const kind = sandbox.available ? sandbox.kind : sandbox.why;
  for (const { name, attack, next: script = LOOK } of SABOTAGE) {
    const expected = await pair(exec, ":", script);
    const found = await pair(exec, attack, script);
    const left = listPids()
      .map(commandOf)
      .filter((line) => line.startsWith("canary-left"));
    const outside = readdirSync("/outside").filter((each) => each !== "secret");
    tell({
      name,
      kind,
      found,
      expected,
      left: [...left, ...outside, ...readdirSync(WORK), ...readdirSync(TMP)],
    });
  }
  await exec.close();
  const standing = () => listPids().filter((pid) => !others.includes(pid) && findProcess(pid) !== undefined);
  await until(() => standing().length === 0, "nothing is left").catch(() => {});
  tell({ name: "the end", kind, found: mounts(), expected: before, left: standing().map(commandOf) });
}

const mounts = (): string => readFileSync("/proc/self/mountinfo", "utf8");

/** The second runs in the sandbox that has waited while the first ran. */
async function pair(exec: HostProcesses, first: string, second: string): Promise<string> {
  const over = new AbortController();
  const process = { id: first, until: over.signal };
  const run = async (script: string) => {
    const sandbox = {
      write: [WORK],
      protect: [],
      hide: ["/run", "/outside/secret"],
      show: [],
      network: "off",
      tmp: TMP,
    } as const;
    const env = { PATH: "/usr/bin:/bin", LANG: "C" };
    const { spec, out } = bashSpec(script, { cwd: WORK, sandbox, isMerged: true, process, env });
    const { code, error } = await exec.run(spec, new AbortController().signal).exited;
    return `${out()}${error?.message ?? ""}\n${code}`;
  };
  await run(":");
  await until(() => exec.spares === 1, "one waits");
  await run(first);
  const told = await run(second);
  over.abort();
  return told;
}
