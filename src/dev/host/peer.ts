/**
 * Is who has connected one of our own OS children, or a child of one? Told by its ancestry, which it cannot change: in a pid
 * namespace every process hangs below the one that bubblewrap started. Without bubblewrap a program may leave its line of
 * descent; then the mark in the environment it was started with tells that it is ours, though not whose.
 */
import { findReadPeer, type PeerCredentials, type ReadPeer } from "./peer-credentials.ts";
import { findProcess, hasProcfs, readEnviron } from "./procfs.ts";

export type HostPeer =
  | { readonly kind: "own"; readonly uid: number }
  | { readonly kind: "other_user"; readonly uid: number }
  | { readonly kind: "child"; readonly uuid: string | null }
  | { readonly kind: "gone" }
  | { readonly kind: "unknown" };

interface Around {
  /** Of an OS process that the daemon started: whose it is, null where that is not known; undefined: it started no such. */
  ownerOf(osPid: number): string | null | undefined;
  /** `CRUX_OWNER=` and what begins the marks of this kernel. */
  readonly mark: string;
  readonly uid?: number;
  readonly read?: ReadPeer | undefined;
}

/** A line of descent is read link by link, and may change meanwhile. */
const TRIES = 3;

export class Peers {
  readonly #around: Around;
  #read: ReadPeer | undefined;
  #isLooked = false;

  constructor(around: Around) {
    this.#around = around;
  }

  /** Does this host tell who connects? */
  get areRead(): boolean {
    return this.#find() !== undefined;
  }

  of(fd: number): HostPeer {
    const peer = fd < 0 ? undefined : this.#find()?.(fd);
    if (peer === undefined) return { kind: "unknown" };
    const own = this.#around.uid ?? process.getuid?.() ?? 0;
    if (peer.uid !== own) return { kind: "other_user", uid: peer.uid };
    return this.#ownUser(peer);
  }

  /** Loading it takes milliseconds: with the first who comes. */
  #find(): ReadPeer | undefined {
    if (!this.#isLooked) this.#read = "read" in this.#around ? this.#around.read : findReadPeer();
    this.#isLooked = true;
    return this.#read;
  }

  #ownUser({ pid, uid }: PeerCredentials): HostPeer {
    // outside of this pid namespace, which none of our children can be
    if (pid === 0 || !hasProcfs) return { kind: "own", uid };
    for (let tries = 0; tries < TRIES; tries++) {
      const owner = this.#lineOf(pid);
      if (owner === "broken") continue;
      if (owner === "stranger")
        return this.#isMarked(pid) ? { kind: "child", uuid: null } : { kind: "own", uid };
      return { kind: "child", uuid: owner.uuid };
    }
    return { kind: "gone" };
  }

  #lineOf(peer: number): { readonly uuid: string | null } | "stranger" | "broken" {
    for (let pid = peer; pid > 1; ) {
      const owner = this.#around.ownerOf(pid);
      if (owner !== undefined) return { uuid: owner };
      if (pid === process.pid) return pid === peer ? "stranger" : { uuid: null };
      const parent = findProcess(pid)?.ppid;
      if (parent === undefined) return "broken";
      pid = parent;
    }
    return "stranger";
  }

  #isMarked(pid: number): boolean {
    return readEnviron(pid).includes(`\0${this.#around.mark}`);
  }
}
