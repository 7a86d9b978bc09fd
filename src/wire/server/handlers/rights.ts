/** Modes of processes, and grants. */
import type { GrantView } from "../../../abi/grants.ts";
import { asPid } from "../../../abi/ids.ts";
import type { WireGrant } from "../../../abi/rights-methods.ts";
import type { Handler } from "../handler.ts";

/** Whoever has the right to call it speaks for the person. */
const BY = { principal: "user", client: "", uid: null } as const;

export const processMode: Handler<"process.mode"> = async ({ pid, mode }, { kernel }) => {
  const payload = await kernel.rights.mode(asPid(pid), mode === undefined ? undefined : { mode, by: BY });
  return { payload };
};

export const grantList: Handler<"grant.list"> = async ({ pid }, { kernel }) => {
  const grants = await kernel.rights.grants(pid === undefined ? undefined : asPid(pid));
  return { payload: { grants: grants.map(wireGrant) } };
};

export const grantRemove: Handler<"grant.remove"> = async ({ id, pid, kill = false }, { kernel }) => {
  const where = pid === undefined ? {} : { pid: asPid(pid) };
  await kernel.rights.removeGrant(id, BY, { ...where, isKilling: kill });
  return { payload: undefined };
};

function wireGrant({ at, expiresAt, pid, root, uses, requestId: _, ...grant }: GrantView): WireGrant {
  return {
    ...grant,
    at: new Date(at).toISOString(),
    ...(pid === undefined ? {} : { pid }),
    ...(root === undefined ? {} : { root }),
    ...(expiresAt === undefined ? {} : { expires_at: new Date(expiresAt).toISOString() }),
    ...(uses === undefined ? {} : { uses }),
  };
}
