/** Who stands behind a connection. Settled when it is accepted; a cookie can prove a user, and nothing makes a child more. */
import { timingSafeEqual } from "node:crypto";
import type { GrantBy } from "../../abi/grants.ts";
import type { ChildClient } from "../../kernel/ports/kernel-api.ts";

export type Principal =
  /** `isProven`: it has shown the cookie of this daemon's start. */
  | { readonly kind: "user"; readonly isProven: boolean; readonly uid: number | null }
  /** An OS process that one of Crux's own processes has started. */
  | { readonly kind: "process"; readonly client: ChildClient }
  /** An OS child of nobody who is known, or one that left before it could be looked at. */
  | { readonly kind: "guest" };

/** What the host knows of who has connected. */
export type Peer =
  | { readonly kind: "own"; readonly uid: number }
  | { readonly kind: "other_user"; readonly uid: number }
  /** Of a process by its uuid; null: of one that is not known. */
  | { readonly kind: "child"; readonly uuid: string | null }
  | { readonly kind: "gone" }
  /** It cannot be read on this host: the private folder of the socket stands in. */
  | { readonly kind: "unknown" };

/** Whose program it is; null: the user's, or of one that is not known. `socketOf`: whose own socket it came by. */
export function ownerOf(peer: Peer, socketOf: string | null): string | null {
  return peer.kind === "child" ? peer.uuid : socketOf;
}

/** `findChild`: undefined for a process that has ended. `socketOf`: whose own socket it came by; null: the user's. */
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

/** Compared in constant time. Without a cookie there is nothing to prove. */
export function isCookie(expected: string | undefined, shown: string): boolean {
  if (expected === undefined) return false;
  const [a, b] = [Buffer.from(expected), Buffer.from(shown)];
  return a.length === b.length && timingSafeEqual(a, b);
}

export function nameOf(principal: Principal): string {
  return principal.kind === "process" ? `process:${principal.client.pid}` : principal.kind;
}

/** As a grant names who gave it. */
export function grantedBy(principal: Principal, client = ""): GrantBy {
  const uid = principal.kind === "user" ? principal.uid : null;
  return { principal: nameOf(principal), client, uid };
}
