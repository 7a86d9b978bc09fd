/**
 * The principal of a connection, decided when it is accepted. A cookie can prove a user; nothing gives a child more
 * rights.
 */
import { timingSafeEqual } from "node:crypto";
import type { GrantBy } from "../../abi/grants.ts";
import type { ChildClient } from "../../kernel/ports/kernel-api.ts";

export type Principal =
  /** `isProven`: it has presented the cookie of this daemon's start. */
  | { readonly kind: "user"; readonly isProven: boolean; readonly uid: number | null }
  /** An OS process started by one of Crux's own processes. */
  | { readonly kind: "process"; readonly client: ChildClient }
  /** An OS child of an unknown process, or one that left before it could be identified. */
  | { readonly kind: "guest" };

/** What the host reports about the peer of a connection. */
export type Peer =
  | { readonly kind: "own"; readonly uid: number }
  | { readonly kind: "other_user"; readonly uid: number }
  /** A program of the process with this uuid; null: the process is not known. */
  | { readonly kind: "child"; readonly uuid: string | null }
  | { readonly kind: "gone" }
  /** The host cannot identify the peer: the private folder of the socket is the only protection. */
  | { readonly kind: "unknown" };

/**
 * The process whose program it is; null: it is the user's, or its process is not known. `socketOf`: the process through
 * whose socket it connected.
 */
export function ownerOf(peer: Peer, socketOf: string | null): string | null {
  return peer.kind === "child" ? peer.uuid : socketOf;
}

/**
 * `findChild`: undefined for a process that has ended. `socketOf`: the process through whose socket it connected; null:
 * the user's socket.
 */
export function principalOf(
  peer: Peer,
  socketOf: string | null,
  findChild: (uuid: string) => ChildClient | undefined,
): Principal {
  const uuid = ownerOf(peer, socketOf);
  if (peer.kind === "child" || socketOf !== null) {
    const client = uuid === null ? undefined : findChild(uuid);
    if (client === undefined) return { kind: "guest" };
    return client.isPersons && socketOf === null ? user(null) : { kind: "process", client };
  }
  if (peer.kind === "gone" || peer.kind === "other_user") return { kind: "guest" };
  return user(peer.kind === "own" ? peer.uid : null);
}

function user(uid: number | null): Principal {
  return { kind: "user", isProven: false, uid };
}

/** Compared in constant time. Without an expected cookie nothing can be proven. */
export function isCookie(expected: string | undefined, shown: string): boolean {
  if (expected === undefined) return false;
  const [a, b] = [Buffer.from(expected), Buffer.from(shown)];
  return a.length === b.length && timingSafeEqual(a, b);
}

export function nameOf(principal: Principal): string {
  return principal.kind === "process" ? `process:${principal.client.pid}` : principal.kind;
}

/** The giver of a grant, as recorded in the grant. */
export function grantedBy(principal: Principal, client = ""): GrantBy {
  const uid = principal.kind === "user" ? principal.uid : null;
  return { principal: nameOf(principal), client, uid };
}
