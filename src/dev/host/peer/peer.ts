/**
 * Decides whether the process at the other end of a connection is an OS child of ours, or a descendant of one. The
 * decision goes by ancestry, which a process cannot change: in a pid namespace every process descends from the one
 * that bubblewrap started. Without bubblewrap a program may leave its line of descent; then the mark in the
 * environment it was started with shows that it is ours, though not whose.
 */

import { findProcess, hasProcfs, readEnviron } from "../procfs.ts";
import { findReadPeer, type PeerCredentials, type ReadPeer } from "./peer-credentials.ts";

export type HostPeer =
  | { readonly kind: "own"; readonly uid: number }
  | { readonly kind: "other_user"; readonly uid: number }
  | { readonly kind: "child"; readonly uuid: string | null }
  | { readonly kind: "gone" }
  | { readonly kind: "unknown" };

interface Around {
  /**
   * The owner of an OS process that the daemon started, null if the owner is not known; undefined: the daemon did not
   * start it.
   */
  ownerOf(osPid: number): string | null | undefined;
  /** `CRUX_OWNER=` and the common beginning of this kernel's marks. */
  readonly mark: string;
  readonly uid?: number;
  readonly read?: ReadPeer | undefined;
}

/** Retries: a line of descent is read link by link, and may change meanwhile. */
const TRIES = 3;

export class Peers {
  readonly #around: Around;
  #read: ReadPeer | undefined;
  #isLooked = false;

  constructor(around: Around) {
    this.#around = around;
  }

  /** Whether this host reports the credentials of a peer. */
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

  /** Loads the library at the first connection, as that takes milliseconds. */
  #find(): ReadPeer | undefined {
    if (!this.#isLooked) this.#read = "read" in this.#around ? this.#around.read : findReadPeer();
    this.#isLooked = true;
    return this.#read;
  }

  #ownUser({ pid, uid }: PeerCredentials): HostPeer {
    // pid 0: outside of this pid namespace, so it cannot be a child of ours
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
