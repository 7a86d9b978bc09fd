/** The workspaces that the user has trusted. */
import { Fault } from "../../../abi/errors.ts";
import type { WireWorkspace } from "../../../abi/methods/trust.ts";
import type { WorkspaceView } from "../../../abi/trust.ts";
import type { TrustDesk } from "../../../kernel/ports/trust.ts";
import type { ServerDeps } from "../deps.ts";
import type { Handler } from "../handler.ts";
import { grantedBy } from "../principal.ts";

export const trustList: Handler<"trust.list"> = async (_params, { deps }) => {
  const workspaces = deskOf(deps)
    .list()
    .map(({ root, at, by, items, isSessionOnly }) => ({
      root,
      at: new Date(at).toISOString(),
      by,
      items,
      session_only: isSessionOnly,
    }));
  return { payload: { workspaces } };
};

export const trustShow: Handler<"trust.show"> = async (
  { dir, compose, pending = false, diff = false },
  { deps },
) => {
  const view = await deskOf(deps).show(dir, { withDiff: diff, compose });
  return { payload: wireWorkspace(view, pending) };
};

export const trustAdd: Handler<"trust.add"> = async (
  { dir, compose, seen, hour: isForHour },
  { deps, principal },
) => {
  const { principal: kind, uid } = grantedBy(principal);
  const by = uid === null ? kind : `${kind} ${uid}`;
  const { root, items, isSessionOnly } = await deskOf(deps).add(dir, seen, { by, compose, isForHour });
  return { payload: { root, items, session_only: isSessionOnly } };
};

export const trustDecline: Handler<"trust.decline"> = async ({ dir, seen }, { deps }) => {
  await deskOf(deps).decline(dir, seen);
  return { payload: undefined };
};

export const trustRemove: Handler<"trust.remove"> = async ({ dir }, { deps }) => {
  const { root, isRemoved } = await deskOf(deps).remove(dir);
  return { payload: { root, removed: isRemoved } };
};

function deskOf({ trust }: ServerDeps): TrustDesk {
  if (trust !== undefined) return trust;
  throw new Fault({ code: "UNAVAILABLE", message: "this daemon keeps no trust: no workspace is trusted" });
}

function wireWorkspace(view: WorkspaceView, isPending: boolean): WireWorkspace {
  const items = isPending ? view.items.filter(({ state }) => state !== "trusted") : view.items;
  return {
    root: view.root,
    trusted: view.isTrusted,
    session_only: view.isSessionOnly,
    main: view.main,
    declined: view.isDeclined,
    items: items.map(({ acts, ...item }) => ({ ...item, acts: [...acts] })),
    refused: view.refused.map((each) => ({ ...each })),
  };
}
