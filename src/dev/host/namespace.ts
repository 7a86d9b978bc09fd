/**
 * Children in a pid namespace of their own, made by bubblewrap. The daemon's child is bwrap; its child is the namespace's
 * first process, a shell, whose child is the program. The kernel ends the whole namespace with its first process, that one
 * is killed with bwrap, and bwrap with the daemon: nothing inside outlives any of them, whatever it does.
 *
 * bwrap ends by itself only after the namespace is empty. What the program leaves behind has a moment to say its last (the
 * end of a pipe, written to a file), then hears TERM, and is gone half a second later.
 *
 * A program sees and signals only what is in its namespace: no other child of the daemon, and nothing else on the host
 * either. bwrap also forbids to gain rights, so `sudo` and other setuid programs do not work within; for an ordinary user,
 * who gets a user namespace, files of others seem to belong to nobody. For root, the settings of the operating system's kernel
 * are read-only.
 */
import { constants } from "node:os";
import { findSystemProgram } from "../program.ts";
import { Family } from "./family.ts";
import type { ExecEnd, Isolation, Job, JobSignal, OsChildSpec } from "./job.ts";
import { childrenOf, descendantsOf, findProcess, type OsProcess, sendSignal } from "./procfs.ts";

/** `closed`: places of the host that are read-only for each of its children. */
export function namespaceIsolation(bwrap: string, closed: readonly string[] = []): Isolation {
  const host = [...HOST, ...closed.flatMap((path) => ["--ro-bind", path, path])];
  return {
    ownership: "namespace",
    asksAtStart: true,
    wrap: (launch) => [
      ...within(launch.enter, bwrap),
      ...OPTIONS,
      ...(launch.confined ?? host),
      ...["--chdir", launch.cwd, "--"],
      ...firstProcess(launch),
    ],
    job: (leader, mark) => new NamespaceJob(leader, mark),
  };
}

function within([first, ...words]: readonly string[] = [], bwrap: string): [string, ...string[]] {
  return first === undefined ? [bwrap] : [first, ...words, bwrap];
}

/** A session of its own: `kill 0`, as scripts do at their end, must not reach bwrap, whose death ends everything at once. */
const OPTIONS = "--die-with-parent --new-session --unshare-pid --as-pid-1".split(" ");
const HOST = "--dev-bind / / --proc /proc".split(" ");

/**
 * The shell keeps its own words (`Killed`) off the program's stderr, and outlives an INT to its group. It does nothing where
 * it is not the first of a namespace, for there `kill -1` would reach everything of this user; and nothing without an answer
 * from the daemon (prepared-child.ts): one that died while this was set up would never be heard dying. What is left in the end
 * has 0.1 s, then TERM and 0.5 s; the status is told when nothing is. All it runs but `sleep` is built in, and that is `$0`,
 * because the PATH is the program's: where the host has none, what is left has no time.
 */
function firstProcess({ program, args }: OsChildSpec): string[] {
  return ["/bin/sh", "-c", FIRST, findSystemProgram("sleep") ?? ":", program, ...args];
}

/** The program prints to 5 and 6; through 7 and 8 it came to its loopback. Its environment is the shell's too: names of ours must not be in it. */
const FIRST = `[ $$ = 1 ] || exit 125
trap : INT
[ -e /proc/$$/fd/5 ] || exec 5>&1 6>&2
exec 2>/dev/null 7>&- 8>&-
if [ -e /proc/$$/fd/3 ]; then
  echo >&3; read -r crux_words <&3 || exit 125
  [ -z "$crux_words" ] || set --
  while [ \${crux_words:-0} -gt 0 ]; do
    read -r crux_lines <&3 && IFS= read -r crux_word <&3 || exit 125
    while [ $crux_lines -gt 1 ]; do
      IFS= read -r crux_line <&3 || exit 125
      crux_word="$crux_word
$crux_line" crux_lines=$((crux_lines - 1))
    done
    set -- "$@" "$crux_word"; crux_words=$((crux_words - 1))
  done
fi
(exec "$@" >&5 2>&6 3>&- 4>&- 5>&- 6>&-)
code=$?
exec 5>&- 6>&-
for pause in .01 .03 .06 TERM .01 .03 .06 .1 .1 .1 .1; do
  set -- /proc/[0-9]*
  [ $# -gt 1 ] || { echo $code >&3; break; }
  case $pause in TERM) kill -s TERM -- -1 ;; *) "$0" $pause 3>&- ;; esac
done
exit $code`;

/** A program that starts processes without end is not chased for ever. */
const maxRounds = 16;

class NamespaceJob implements Job {
  /** bwrap; leads a process group in which the first process is until it is set up. */
  readonly #outer: number;
  readonly #mark: string;
  readonly #bornAtMs = performance.now();
  #first: OsProcess | undefined;
  /** Programs were seen: when none is left, all is over but for bwrap's own end, which must tell how they ended. */
  #hasBegun = false;
  readonly #sent = new Set<string>();

  constructor(outer: number, mark: string) {
    this.#outer = outer;
    this.#mark = mark;
  }

  /** To the programs, never to bwrap: its death would leave them no time. */
  signal(name: JobSignal): boolean {
    this.#sent.add(name);
    const first = this.#findFirst();
    const inside = first === undefined ? [] : descendantsOf(first.pid);
    if (inside.length > 0) this.#hasBegun = true;
    else if (this.#hasBegun && first !== undefined) return this.#signalLast(first.pid, name);
    if (first === undefined || inside.length === 0) return this.#signalSetup(name);
    if (name === "SIGCONT") this.#signalSetup(name);
    if (name === "SIGSTOP") stopAll(first.pid);
    else signalAll(first.pid, inside, name);
    return true;
  }

  stopped(): readonly number[] {
    const first = this.#findFirst();
    const inside = first === undefined ? [] : descendantsOf(first.pid);
    return inside.filter((pid) => findProcess(pid)?.isStopped === true);
  }

  kill(): void {
    this.#sent.add("SIGKILL");
    const first = this.#findFirst();
    sendSignal(-this.#outer, "SIGKILL");
    if (first !== undefined) sendSignal(first.pid, "SIGKILL");
  }

  left(leader: ExecEnd): readonly number[] {
    if (leader.signal === null) return [];
    const first = this.#first;
    if (first === undefined) return new Family(this.#outer, this.#mark, this.#bornAtMs).members();
    return findProcess(first.pid)?.startTicks === first.startTicks ? [first.pid] : [];
  }

  /** bwrap tells of a program that died of a signal as a shell would; one that we sent is told as what it was. */
  endOf(leader: ExecEnd): ExecEnd {
    const name = signalOfStatus(leader.code);
    return name !== undefined && this.#sent.has(name) ? { code: null, signal: name } : leader;
  }

  /** Nobody was seen any more; whoever was missed is in the first one's group. */
  #signalLast(first: number, name: JobSignal): boolean {
    sendSignal(-first, name);
    return false;
  }

  /** The program has not begun: whatever is there is bwrap's own. */
  #signalSetup(name: JobSignal): boolean {
    const first = this.#findFirst();
    const isHeard = sendSignal(-this.#outer, name);
    // an end that reaches bwrap alone may come before the first process is bound to it
    const isEnd = name !== "SIGSTOP" && name !== "SIGCONT";
    if (first !== undefined) sendSignal(first.pid, isEnd ? "SIGKILL" : name);
    return isHeard;
  }

  #findFirst(): OsProcess | undefined {
    const [pid] = this.#first === undefined ? childrenOf(this.#outer) : [];
    if (pid !== undefined) this.#first = findProcess(pid);
    return this.#first;
  }
}

/** The first process leads the group and hears it too: the kernel spares it what it does not handle. */
function signalAll(first: number, inside: readonly number[], name: JobSignal): void {
  sendSignal(-first, name);
  for (const pid of inside) if (findProcess(pid)?.group !== first) sendSignal(pid, name);
}

/** Until nobody new is found: a process that is stopped starts no other. The first one goes on; it has to see the end. */
function stopAll(first: number): void {
  let stopped = -1;
  for (let round = 0; round < maxRounds; round++) {
    const inside = descendantsOf(first);
    if (inside.length === stopped) break;
    stopped = inside.length;
    signalAll(first, inside, "SIGSTOP");
  }
  sendSignal(first, "SIGCONT");
}

function signalOfStatus(code: number | null): string | undefined {
  if (code === null || code <= 128) return undefined;
  return Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
}
