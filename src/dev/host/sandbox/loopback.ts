/**
 * The loopback network of a process: a port that one of its confined programs listens on can be reached by its
 * others. It is a network namespace with the user namespace that owns it, empty at first: held open by descriptors of
 * ours, and entered on the way to the wrapper, which makes the sandbox inside. It ends when the descriptors are closed
 * and its last program has ended.
 *
 * It is for programs without any other network. If hosts are allowed, each program has a proxy on its own loopback,
 * and a program that shared that loopback could use the proxy too.
 */
import { execFile, spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { findSystemProgram } from "../../program.ts";
import { probeEnv } from "../isolation.ts";
import { sendSignal } from "../procfs.ts";
import type { Wrapper } from "../wrapper.ts";

export interface Loopback {
  /** The words put before the wrapper, which receives `fds` from ENTER_FD on; the first is an absolute path. */
  readonly enter: readonly string[];
  readonly fds: readonly number[];
}

/** The first free fd after the filter and the two output fds. */
const ENTER_FD = 7;

/**
 * Bound, as each holds two descriptors; at the bound the least recently used is closed, and its process gets a new
 * one.
 */
const maxKept = 64;
const giveUpMs = 2_000;
/** A process that lives long enough for its namespaces to be opened, and ends by itself. */
const HOLDER = `sleep 5 > /dev/null 2>&1 & echo $!`;
const MAKE = ["--unshare-user", "--unshare-net", "--dev-bind", "/", "/", "--", "/bin/sh", "-c", HOLDER];
/** Tries everything that a sandbox needs of the namespaces it is made in. */
const TRY = "--unshare-user --disable-userns --unshare-pid --ro-bind / / --proc /proc --dev /dev".split(" ");

export class Loopbacks {
  readonly #owner: string;
  readonly #wrapper: () => Wrapper | undefined;
  readonly #nsenter = findSystemProgram("nsenter");
  /** By process, the least recently used first. */
  readonly #made = new Map<string, Loopback>();
  #next: Loopback | undefined;
  #isMaking = false;
  /** True once a sandbox was made in one: a later failure is then only temporary. */
  #works = false;
  #isRefused = false;

  /** `wrapper`: what makes the sandboxes; undefined: there are none. */
  constructor(owner: string, wrapper: () => Wrapper | undefined) {
    this.#wrapper = wrapper;
    this.#owner = owner;
  }

  /**
   * The same network for a process until `until` fires. undefined: none can be made here, and each program has its
   * own.
   */
  of({ id, until }: { readonly id: string; readonly until: AbortSignal }): Loopback | undefined {
    const made = this.#made.get(id) ?? this.#first(id, until);
    if (made === undefined) return undefined;
    this.#made.delete(id);
    this.#made.set(id, made);
    for (const old of [...this.#made.keys()].slice(0, Math.max(0, this.#made.size - maxKept)))
      this.#leave(old);
    return made;
  }

  /** Makes the network of the next process in the background. Never rejects. */
  async lookAhead(): Promise<void> {
    if (this.#next !== undefined || this.#isMaking || this.#cannot()) return;
    this.#isMaking = true;
    const made = await new Promise<Loopback | undefined>((resolve) => {
      const [program, ...args] = this.#words(MAKE);
      execFile(program, args, this.#options(), (_, stdout) => resolve(this.#hold(stdout)));
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
    return this.#isRefused || this.#wrapper() === undefined || this.#nsenter === undefined;
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
    const [program, ...args] = this.#words(MAKE);
    const made = this.#hold(spawnSync(program, args, this.#options()).stdout);
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
    const within = this.#words([...TRY, "--", "/bin/sh", "-c", ":"]);
    return [enter, [...words, ...within], this.#options()] as const;
  }

  #words(options: readonly string[]): readonly [string, ...string[]] {
    const [program, ...own] = this.#wrapper()?.words ?? [""];
    return [program, ...own, ...options];
  }

  #enter([user, net]: readonly string[]): readonly string[] {
    return [this.#nsenter ?? "", "--preserve-credentials", `--user=${user}`, `--net=${net}`, "--"];
  }

  /** `holder`: the pid, as printed, of the process inside the new namespaces. */
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
