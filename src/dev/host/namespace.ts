/**
 * Runs each child in a pid namespace of its own, made by a wrapper (wrapper.ts). The daemon's child is the wrapper; its
 * child is the first process of the namespace, a shell; the shell's child is the program. The kernel ends the whole
 * namespace when its first process ends, that process is killed when the wrapper ends, and the wrapper is killed when the
 * daemon ends. So nothing inside outlives any of them, whatever it does.
 *
 * The wrapper ends by itself only after the namespace is empty. Processes that the program leaves behind get a short time
 * to finish (for example the reader of a pipe that writes a file), then receive TERM, and are killed half a second
 * later.
 *
 * A program sees and can signal only processes of its own namespace: no other child of the daemon, and no other
 * process of the host. The wrapper also sets no_new_privs, so `sudo` and other setuid programs do not work inside. An
 * ordinary user gets a user namespace too, where files of other users appear to belong to nobody. For root, the
 * settings of the host's kernel are read-only.
 */
import { constants } from "node:os";
import { findSystemProgram } from "../program.ts";
import { Family } from "./family.ts";
import type { ExecEnd, Isolation, Job, JobSignal, OsChildSpec } from "./job.ts";
import { childrenOf, descendantsOf, findProcess, isOpenBelow, type OsProcess, sendSignal } from "./procfs.ts";
import type { Wrapper } from "./wrapper.ts";

/** `closed`: paths of the host that are mounted read-only for each child. */
export function namespaceIsolation(wrapper: Wrapper, closed: readonly string[] = []): Isolation {
  const host = [...HOST, ...closed.flatMap((path) => ["--ro-bind", path, path])];
  return {
    ownership: "namespace",
    wrapper,
    asksAtStart: true,
    wrap: (launch) => [
      ...within(launch.enter, wrapper),
      ...OPTIONS,
      ...(launch.confined ?? host),
      ...["--chdir", launch.cwd, "--"],
      ...(launch.first ?? firstProcess(launch)),
    ],
    job: (leader, mark) => new NamespaceJob(ofWrapper(leader), mark),
  };
}

function within([first, ...words]: readonly string[] = [], wrapper: Wrapper): readonly [string, ...string[]] {
  return first === undefined ? wrapper.words : [first, ...words, ...wrapper.words];
}

/**
 * A new session, because `kill 0`, which scripts call at their end, must not reach the wrapper: its death would end
 * everything at once.
 */
const OPTIONS = "--die-with-parent --new-session --unshare-pid --as-pid-1".split(" ");
const HOST = "--dev-bind / / --proc /proc".split(" ");

/**
 * The shell keeps its own messages (`Killed`) off the program's stderr, and survives an INT to its group. It refuses
 * to run unless it is the first process of a namespace, because `kill -1` would otherwise reach every process of this
 * user. It also refuses to run without an answer from the daemon (prepared-child.ts): had the daemon died during
 * setup, its death would never be noticed. Processes left at the end get 0.1 s, then TERM and 0.5 s; the status is
 * reported when none is left. All it runs except `sleep` is built in. `sleep` is passed as `$0`, because PATH is the
 * program's; on a host without `sleep`, the remaining processes get no time.
 */
function firstProcess({ program, args }: OsChildSpec): string[] {
  return ["/bin/sh", "-c", FIRST, findSystemProgram("sleep") ?? ":", program, ...args];
}

/**
 * The program's output goes to fds 5 and 6; 7 and 8 are the namespaces of its loopback. The shell's environment is
 * also the program's, so it must not contain variables of ours.
 */
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
  echo . >&3
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

/** Bound on the rounds of stopping: a program may start processes without end. */
const maxRounds = 16;

/** Where the first process is found. */
interface Place {
  /** The pid of its wrapper. It leads a process group, which the first process belongs to until it is set up. */
  readonly outer?: number;
  /** Its pid; undefined: there is none, or not yet. */
  first(): number | undefined;
  /** Absent: it has a wrapper. Else what it is sent once it is there. False: it will never be. */
  later?(name: JobSignal | "SIGKILL"): boolean;
}

const ofWrapper = (outer: number): Place => ({ outer, first: () => childrenOf(outer)[0] });

export class NamespaceJob implements Job {
  readonly #place: Place;
  readonly #mark: string;
  readonly #bornAtMs = performance.now();
  #first: OsProcess | undefined;
  /**
   * True once programs were seen. After that, no programs means that only the wrapper is left; it must end by itself, as
   * it reports how they ended.
   */
  #hasBegun = false;
  readonly #sent = new Set<string>();
  /** The signal that ended the setup, before there was a program. */
  #endedBy: JobSignal | undefined;

  constructor(place: Place, mark: string) {
    this.#place = place;
    this.#mark = mark;
  }

  /** Signals the programs, never the wrapper: its death would leave them no time. */
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

  /** Once it is over, the wrapper is set up, and its death ends the first process; that one need not be looked for. */
  kill(isOver = false): void {
    this.#sent.add("SIGKILL");
    const first = isOver ? undefined : this.#findFirst();
    this.#sendOuter("SIGKILL");
    if (first !== undefined) sendSignal(first.pid, "SIGKILL");
  }

  left(leader: ExecEnd): readonly number[] {
    if (leader.signal === null) return [];
    const first = this.#first;
    const { outer } = this.#place;
    if (first === undefined)
      return outer === undefined ? [] : new Family(outer, this.#mark, this.#bornAtMs).members();
    return findProcess(first.pid)?.startTicks === first.startTicks ? [first.pid] : [];
  }

  /** The wrapper and the first process have it open too, and never read it. */
  holds(link: string): boolean {
    const first = this.#findFirst();
    return first === undefined || (isOpenBelow(first.pid, link) ?? true);
  }

  /**
   * The wrapper reports a program that died of a signal as a shell would (128 + number); a signal that we sent is reported
   * as that signal.
   */
  endOf(leader: ExecEnd): ExecEnd {
    const status = signalOfStatus(leader.code);
    // the setup was killed in the name of that signal
    const name = status === "SIGKILL" && !this.#sent.has(status) ? (this.#endedBy ?? status) : status;
    return name !== undefined && this.#sent.has(name) ? { code: null, signal: name } : leader;
  }

  /** No program was found; any that was missed is in the group of the first process. */
  #signalLast(first: number, name: JobSignal): boolean {
    sendSignal(-first, name);
    return false;
  }

  /** The program has not begun: every process there belongs to the wrapper. */
  #signalSetup(name: JobSignal): boolean {
    const first = this.#findFirst();
    const isHeard = this.#sendOuter(name);
    // a fatal signal may reach the wrapper before the first process is set to die with it
    const isEnd = name !== "SIGSTOP" && name !== "SIGCONT";
    if (isEnd) this.#endedBy = name;
    if (first !== undefined) sendSignal(first.pid, isEnd ? "SIGKILL" : name);
    return isHeard;
  }

  #sendOuter(name: JobSignal | "SIGKILL"): boolean {
    const { outer, later } = this.#place;
    if (outer !== undefined) return sendSignal(-outer, name);
    return this.#first === undefined ? later?.(name) === true : true;
  }

  #findFirst(): OsProcess | undefined {
    const pid = this.#first === undefined ? this.#place.first() : undefined;
    if (pid !== undefined) this.#first = findProcess(pid);
    return this.#first;
  }
}

/**
 * The first process leads the group and receives the signal too; the kernel drops signals that it does not handle.
 */
function signalAll(first: number, inside: readonly number[], name: JobSignal): void {
  sendSignal(-first, name);
  for (const pid of inside) if (findProcess(pid)?.group !== first) sendSignal(pid, name);
}

/**
 * Repeats until no new process is found: a stopped process starts no other. Their number says nothing, because one may
 * have ended while another began. The first process is continued; it has to see the end.
 */
function stopAll(first: number): void {
  const stopped = new Set<number>();
  for (let round = 0; round < maxRounds; round++) {
    const inside = descendantsOf(first);
    if (inside.every((pid) => stopped.has(pid))) break;
    for (const pid of inside) stopped.add(pid);
    signalAll(first, inside, "SIGSTOP");
  }
  sendSignal(first, "SIGCONT");
}

export function signalOfStatus(code: number | null): string | undefined {
  if (code === null || code <= 128) return undefined;
  return Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
}
