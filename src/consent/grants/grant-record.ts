/**
 * Grants as the journal stores them. Each is sealed with a key that only the daemon can read, together with the history
 * it lies in: a grant that was forged or moved is not valid.
 */
import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";
import { GRANT_SCOPES, type Grant } from "../../abi/grants.ts";
import type { ProcUuid } from "../../abi/ids.ts";
import type { JournalRecord } from "../../kernel/ports/journal.ts";
import type { GrantEvent } from "../../kernel/process/rights/grant-list.ts";

/** The body of `grant.add`, version 1. */
type SealedGrant = Grant & { readonly mac: string };

export function sealed(grant: Grant, home: ProcUuid, key: KeyObject): SealedGrant {
  return { ...grant, mac: macOf(grant, home, key) };
}

export function readGrant(record: JournalRecord, key: KeyObject): GrantEvent {
  const body = (record.body ?? {}) as Partial<SealedGrant>;
  if (record.kind !== "grant.add") return refOf(record.kind, body.id);
  if (body.rule === undefined) return { kind: "other" };
  if (body.id === undefined && body.mac === undefined) return unsealed(record);
  if (!isGrant(body)) return { kind: "bad", why: `grant of record ${record.lsn} is not understood` };
  const { mac, ...grant } = body;
  if (isEqual(mac, macOf(grant, record.proc, key))) return { kind: "add", grant };
  return { kind: "bad", why: `grant ${grant.id} (${grant.rule}) has a wrong seal and does not count` };
}

function refOf(kind: JournalRecord["kind"], id: unknown): GrantEvent {
  if (typeof id !== "string") return { kind: "bad", why: `a record of ${kind} names no grant` };
  return { kind: kind === "grant.remove" ? "remove" : "use", id };
}

/** An "always" answer from versions that did not seal grants: `{rule, scope: "session"}`. */
function unsealed({ body, pid, seq, at, lsn }: JournalRecord): GrantEvent {
  const { rule, scope } = body as Partial<Grant>;
  if (typeof rule !== "string" || (scope !== undefined && scope !== "session"))
    return { kind: "bad", why: `grant of record ${lsn} is not understood` };
  const by = { principal: "user", client: "", uid: null };
  const own = { id: `g_${pid}.${seq}`, at, by, requestId: "" };
  return { kind: "add", grant: { ...own, behavior: "allow", rule, scope: "session" } };
}

function isGrant(body: Partial<SealedGrant>): body is SealedGrant {
  const { id, rule, behavior, scope, mac, at, by, requestId } = body;
  const texts = [id, rule, mac, requestId, by?.principal, by?.client];
  return (
    texts.every((text) => typeof text === "string") &&
    typeof at === "number" &&
    (behavior === "allow" || behavior === "ask" || behavior === "deny") &&
    GRANT_SCOPES.some((known) => known === scope)
  );
}

function macOf(grant: Grant, home: ProcUuid, key: KeyObject): string {
  const { id, at, by, behavior, rule, scope, pid, root, expiresAt, uses, epoch, requestId } = grant;
  const { principal, client, uid } = by;
  const all = [home, id, at, principal, client, uid, behavior, rule, scope, pid, root, expiresAt, uses];
  const since = epoch === undefined ? [] : [epoch];
  const text = JSON.stringify([...all, requestId, ...since].map((part) => part ?? null));
  return createHmac("sha256", key).update(text).digest("hex");
}

function isEqual(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.byteLength === other.byteLength && timingSafeEqual(one, other);
}
