/**
 * Decides, when a connection is accepted, whether it is admitted. The programs of processes have a quota per process,
 * one per line of descent (what one process has started, and what those have) and one for all together; the remaining
 * connections are only for the user's own clients, so no program can lock the user out. Connections do not wait:
 * without room they are refused.
 */
import type { Fact } from "../../abi/fact.ts";
import { PROTOCOL } from "../../abi/wire.ts";
import { ownerOf, type Peer } from "./principal.ts";

export type Claimant =
  | { readonly kind: "user" }
  /** A program below the process `uuid`, whose oldest ancestor is `line`. null: the process is not known. */
  | { readonly kind: "program"; readonly uuid: string | null; readonly line: string };

export type Admission =
  | { readonly kind: "admitted"; leave(): void }
  | { readonly kind: "refused"; readonly message: string; readonly hint?: string; readonly fact?: Fact };

const USER: Claimant = { kind: "user" };
const UNKNOWN: Claimant = { kind: "program", uuid: null, line: "" };

/**
 * A program counts for its process even if it acts for the user. `socketOf`: the process through whose socket it
 * connected; null: the user's socket. `line`: the process's line of descent; undefined: the process has ended.
 */
export function claimantOf(peer: Peer, socketOf: string | null, line: string | undefined): Claimant {
  const uuid = ownerOf(peer, socketOf);
  if (uuid !== null) return line === undefined ? UNKNOWN : { kind: "program", uuid, line };
  return peer.kind === "own" || peer.kind === "unknown" ? USER : UNKNOWN;
}

export class Admissions {
  readonly #ofProcess = new Map<string, number>();
  readonly #ofLine = new Map<string, number>();
  #ofPrograms = 0;
  #all = 0;

  get size(): number {
    return this.#all;
  }

  admit(claimant: Claimant): Admission {
    const refusal = this.#refusal(claimant);
    if (refusal !== undefined) return { kind: "refused", ...refusal };
    this.#count(claimant, 1);
    let isIn = true;
    return {
      kind: "admitted",
      leave: () => {
        if (isIn) this.#count(claimant, -1);
        isIn = false;
      },
    };
  }

  #refusal(claimant: Claimant): { message: string; hint?: string } | undefined {
    const { maxConnections: all, ofPrograms, ofLine, ofProcess } = LIMITS;
    if (claimant.kind === "program") {
      const { uuid, line } = claimant;
      const whose = uuid === null ? "programs of unknown processes" : "the programs of this process";
      if ((this.#ofProcess.get(uuid ?? "") ?? 0) >= ofProcess)
        return { message: `too many connections of ${whose} (${ofProcess})`, hint: CLOSE_SOME };
      if ((this.#ofLine.get(line) ?? 0) >= ofLine)
        return {
          message: `too many connections of this process and its relatives (${ofLine})`,
          hint: CLOSE_SOME,
        };
      if (this.#ofPrograms >= ofPrograms)
        return { message: `too many connections of programs (${ofPrograms})`, hint: CLOSE_SOME };
    }
    return this.#all >= all ? { message: `too many connections (${all})` } : undefined;
  }

  #count(claimant: Claimant, by: 1 | -1): void {
    this.#all += by;
    if (claimant.kind === "user") return;
    this.#ofPrograms += by;
    add(this.#ofProcess, claimant.uuid ?? "", by);
    add(this.#ofLine, claimant.line, by);
  }
}

const CLOSE_SOME = "close some of those that are open";

const LIMITS = {
  maxConnections: PROTOCOL.maxConnections,
  ofPrograms: PROTOCOL.maxConnections - PROTOCOL.connectionsOfUser,
  ofLine: PROTOCOL.maxConnectionsOfLine,
  ofProcess: PROTOCOL.maxConnectionsOfProcess,
} as const;

function add(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
