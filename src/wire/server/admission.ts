/**
 * Who gets a connection, decided when it is accepted. The programs of processes have a quota for each process, one for each
 * line of descent (what one process has started, and what those have) and one for all of them together; what is beyond the last
 * is only for the user's own clients, so no program shuts the user out. Nothing waits here: who finds no room is refused.
 */
import type { Fact } from "../../abi/fact.ts";
import { PROTOCOL } from "../../abi/wire.ts";
import { ownerOf, type Peer } from "./principal.ts";

export type Claimant =
  | { readonly kind: "user" }
  /** An OS process below `uuid`, whose oldest ancestor is `line`. null: of a process that is not known. */
  | { readonly kind: "program"; readonly uuid: string | null; readonly line: string };

export type Admission =
  | { readonly kind: "admitted"; leave(): void }
  | { readonly kind: "refused"; readonly message: string; readonly hint?: string; readonly fact?: Fact };

const USER: Claimant = { kind: "user" };
const UNKNOWN: Claimant = { kind: "program", uuid: null, line: "" };

/**
 * A program stays one although it is the user's own: what it opens counts as its process's. `socketOf`: whose own socket it came
 * by; null: the user's. `line`: of the process; undefined: that has ended.
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
