/**
 * The loopback network of a process: what one of its confined programs listens on, another can reach. It is a network namespace,
 * with the user namespace that owns it, in which nobody is at first: held by descriptors of ours, and entered on the way to
 * bubblewrap, which makes the sandbox within. It ends when the descriptors are closed and its last program is gone.
 *
 * It is for programs without any other network. Where hosts are allowed, each program has a way out on its own loopback, and
 * whoever shared that would share the way.
 */
import { execFile, spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { findSystemProgram, isExecutable } from "../../program.ts";
import { BWRAP, probeEnv } from "../isolation.ts";
import { sendSignal } from "../procfs.ts";

export interface Loopback {
  /** What stands before bubblewrap, which is given `fds` at ENTER_FD and after; the first is absolute. */
  readonly enter: readonly string[];
  readonly fds: readonly number[];
}

/** After the filter and the two for what is printed. */
const ENTER_FD = 7;

/** Two descriptors each; beyond, the longest unused is closed, and its process gets another. */
const maxKept = 64;
const giveUpMs = 2_000;
/** Long enough to be looked at; nobody has to end it. */
const HOLDER = `sleep 5 > /dev/null 2>&1 & echo $!`;
const MAKE = ["--unshare-user", "--unshare-net", "--dev-bind", "/", "/", "--", "/bin/sh", "-c", HOLDER];
/** All that a sandbox needs of the namespaces it is made in. */
const TRY = "--unshare-user --disable-userns --unshare-pid --ro-bind / / --proc /proc --dev /dev".split(" ");

export class Loopbacks {
  readonly #owner: string;
  readonly #bwrap = BWRAP.find(isExecutable);
  readonly #nsenter = findSystemProgram("nsenter");
  /** By process, the longest unused first. */
  readonly #made = new Map<string, Loopback>();
  #next: Loopback | undefined;
  #isMaking = false;
  /** A sandbox was made in one: what fails later is for a moment only. */
  #works = false;
  #isRefused = false;

  constructor(owner: string) {
    this.#owner = owner;
  }

  /** The same until `until` fires. undefined: none can be made here, and each program has its own. */
  of({ id, until }: { readonly id: string; readonly until: AbortSignal }): Loopback | undefined {
    const made = this.#made.get(id) ?? this.#first(id, until);
    if (made === undefined) return undefined;
    this.#made.delete(id);
    this.#made.set(id, made);
    for (const old of [...this.#made.keys()].slice(0, Math.max(0, this.#made.size - maxKept)))
      this.#leave(old);
    return made;
  }

  /** Makes what the next process will ask for, without holding up anybody. Never rejects. */
  async lookAhead(): Promise<void> {
    if (this.#next !== undefined || this.#isMaking || this.#cannot()) return;
    this.#isMaking = true;
    const made = await new Promise<Loopback | undefined>((resolve) => {
      execFile(this.#bwrap ?? "", MAKE, this.#options(), (_, stdout) => resolve(this.#hold(stdout)));
    });
    const isWell = made !== undefined && (this.#works || !(await this.#isRefusedWithin(made)));
    this.#isMaking = false;
    this.#next = this.#judged(made, isWell);
  }

  close(): void {
    this.#isRefused = true;
    if (this.#next !== undefined) close(this.#next);
    this.#next = undefined;
    for (const id of [...this.#made.keys()]) this.#leave(id);
  }

  #cannot(): boolean {
    return this.#isRefused || this.#bwrap === undefined || this.#nsenter === undefined;
  }

  #first(id: string, until: AbortSignal): Loopback | undefined {
    if (this.#cannot() || until.aborted) return undefined;
    const made = this.#next ?? this.#makeNow();
    this.#next = undefined;
    void this.lookAhead();
    if (made !== undefined) until.addEventListener("abort", () => this.#leave(id), { once: true });
    return made;
  }

  #makeNow(): Loopback | undefined {
    const made = this.#hold(spawnSync(this.#bwrap ?? "", MAKE, this.#options()).stdout);
    const isWell = made !== undefined && (this.#works || spawnSync(...this.#trial(made)).status === 0);
    return this.#judged(made, isWell);
  }

  #isRefusedWithin(made: Loopback): Promise<boolean> {
    return new Promise((resolve) => {
      execFile(...this.#trial(made), (error) => resolve(error !== null));
    });
  }

  #trial({ fds }: Loopback) {
    const [enter = "", ...words] = this.#enter(fds.map((fd) => `/proc/${process.pid}/fd/${fd}`));
    const within = [this.#bwrap ?? "", ...TRY, "--", "/bin/sh", "-c", ":"];
    return [enter, [...words, ...within], this.#options()] as const;
  }

  #enter([user, net]: readonly string[]): readonly string[] {
    return [this.#nsenter ?? "", "--preserve-credentials", `--user=${user}`, `--net=${net}`, "--"];
  }

  /** `holder`: the pid of who is in it. */
  #hold(holder: string): Loopback | undefined {
    const pid = Number(holder);
    if (!Number.isInteger(pid) || pid <= 1) return undefined;
    const fds: number[] = [];
    try {
      for (const name of ["user", "net"]) fds.push(openSync(`/proc/${pid}/ns/${name}`, "r"));
      return { fds, enter: this.#enter(fds.map((_, at) => `/proc/self/fd/${ENTER_FD + at}`)) };
    } catch {
      for (const fd of fds) closeSync(fd);
      return undefined;
    } finally {
      sendSignal(pid, "SIGKILL");
    }
  }

  #options() {
    return {
      encoding: "utf8",
      env: probeEnv(this.#owner),
      timeout: giveUpMs,
      killSignal: "SIGKILL",
    } as const;
  }

  #judged(made: Loopback | undefined, isWell: boolean): Loopback | undefined {
    this.#works ||= isWell;
    this.#isRefused ||= !this.#works;
    if (isWell && !this.#isRefused) return made;
    if (made !== undefined) close(made);
    return undefined;
  }

  #leave(id: string): void {
    const made = this.#made.get(id);
    if (made !== undefined && this.#made.delete(id)) close(made);
  }
}

function close({ fds }: Loopback): void {
  for (const fd of fds) closeSync(fd);
}
